"""Without scikit-learn, mechanisms have the methods that they have with it."""

import pickle

import numpy as np
import pytest
import sklearn.base
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, validate_data

from shoal import _plain_estimator as plain

FLOATS = [np.float64, np.float32, np.float16]


def make(base, transformer, names):
    """Return the same estimator, of scikit-learn's base classes or of ours."""

    class Scaler(names, transformer, base):
        def __init__(self, factor=1.0, *, inner=None, limits=(0.0, 1.0)):
            self.factor = factor
            self.inner = inner
            self.limits = limits

        def fit(self, X, y=None):
            self.n_features_in_ = len(X[0])
            return self

        def transform(self, X):
            return np.asarray(X) * self.factor

    return Scaler


Theirs = make(
    sklearn.base.BaseEstimator, sklearn.base.TransformerMixin, sklearn.base.OneToOneFeatureMixin
)
Ours = make(plain.BaseEstimator, plain.TransformerMixin, plain.OneToOneFeatureMixin)


class Holder(plain.BaseEstimator):
    def __init__(self, held=None):
        self.held = held


def both(call):
    return call(Ours), call(Theirs)


@pytest.mark.parametrize(
    "call",
    [
        lambda kind: kind().get_params(),
        lambda kind: kind(2.0, limits=None).get_params(deep=False),
        lambda kind: sorted(kind(inner=kind(3.0)).get_params()),
        lambda kind: kind(inner=kind()).set_params(inner__factor=5.0, factor=2.0).inner.factor,
        lambda kind: repr(kind()),
        lambda kind: repr(kind(2.0, limits=(1, 2))),
        lambda kind: repr(kind(inner=kind(3.0))),
        lambda kind: kind(3.0).fit_transform([[1.0, 2.0]]).tolist(),
        lambda kind: kind().fit([[1.0, 2.0]]).get_feature_names_out().tolist(),
        lambda kind: kind().fit([[1.0, 2.0]]).get_feature_names_out(["a", "b"]).tolist(),
        lambda kind: vars(kind(2.0).fit([[1.0]])),
        lambda kind: kind(2.0).fit([[1.0]]).__getstate__(),
    ],
)
def test_answers_are_those_of_scikit_learn(call):
    ours, theirs = both(call)
    assert ours == theirs


@pytest.mark.parametrize(
    "call",
    [
        lambda kind: kind().set_params(fctor=2.0),
        lambda kind: kind().fit([[1.0, 2.0]]).get_feature_names_out(["a"]),
        lambda kind: kind().get_feature_names_out(),
    ],
)
def test_refusals_are_those_of_scikit_learn(call):
    messages = []
    for kind in (Ours, Theirs):
        with pytest.raises(ValueError, match=r"\w") as refused:
            call(kind)
        messages.append(str(refused.value))
    assert messages[0] == messages[1]


def test_a_clone_is_unfitted_and_has_copies_of_the_parameters():
    inner = Ours(3.0)
    original = Ours(2.0, inner=inner, limits=[0.0, 1.0]).fit([[1.0]])
    copy = plain.clone(original)
    assert not hasattr(copy, "n_features_in_")
    assert copy.inner is not inner
    assert copy.inner.factor == 3.0
    assert copy.limits == original.limits
    assert copy.limits is not original.limits


def test_what_is_not_fitted_is_refused():
    for check, error in (
        (plain.check_is_fitted, plain.NotFittedError),
        (check_is_fitted, NotFittedError),
    ):
        with pytest.raises(error, match="This Scaler instance is not fitted yet"):
            check(Theirs(), "n_features_in_")
    assert issubclass(plain.NotFittedError, ValueError | AttributeError)


@pytest.mark.parametrize(
    "table",
    [
        [[1, 2], [3, 4]],
        np.ones((2, 3), dtype=np.float32),
        np.ones((2, 3), dtype=np.int8),
        np.array([[True, False]]),
        [[1.5], [np.float16(2.0)]],
        np.array([[1, 2.5]], dtype=object),
    ],
)
def test_tables_become_the_same_arrays(table):
    ours, theirs = Ours(), Theirs()
    array = plain.validate_data(ours, table, reset=True, dtype=FLOATS)
    expected = validate_data(theirs, table, reset=True, dtype=FLOATS)
    assert array.dtype == expected.dtype
    assert array.tolist() == expected.tolist()
    assert ours.n_features_in_ == theirs.n_features_in_


def test_copies_and_pickles_hold_the_state():
    encoder = Holder(3)
    assert vars(pickle.loads(pickle.dumps(encoder))) == {"held": 3}
