"""Whatever shows or carries a fitted estimator shows and carries nothing private."""

import copy
import gc
import inspect
import io
import pickle
import pprint
import re
import types

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_html_repr

from helpers.engine_equivalence import ESTIMATORS
from shoal.cluster import DPKMeans, _curator
from shoal.cluster._curator import CuratorsClusterer
from shoal.privacy import Ledger
from shoal.reports import load_release
from subjects import having

N = 2357  # a prime: no grid, tree or table has so many of anything
MARK = 7.654321012345
X = np.random.default_rng(0).normal(size=(N, 2))
X[1000] = MARK, -MARK

LOCAL = {one.name: one for one in having("transformer", "any columns")}


def fitted(estimator):
    ledger = Ledger(epsilon=100.0, delta=1e-3) if np.isfinite(estimator.epsilon) else None
    return clone(estimator).set_params(ledger=ledger, random_state=5).fit(X)


def reachable(start):
    """Yield whatever an object leads to, without leaving for modules, classes and functions."""
    seen, waiting = set(), [start]
    kinds = (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType, types.CodeType)
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, kinds):
            continue
        seen.add(id(one))
        yield one
        waiting.extend(gc.get_referents(one))
        if isinstance(one, np.ndarray):
            waiting.extend([one.base] if one.base is not None else [])
            waiting.extend(one.tolist() if one.dtype == object else [])


def private(one, *, size=True):
    """Say what is private about one object, or nothing."""
    if isinstance(one, np.ndarray):
        if size and N in one.shape:
            return f"an array of shape {one.shape}"
        if one.dtype.kind == "f" and (np.abs(one) == MARK).any():
            return "a value of a record in an array"
        held = size and one.dtype.kind in "iuf" and (one == N).any()
        # Numbers of cells run through those around it, too.
        return "n in an array" if held and not {N - 1, N + 1} <= set(one.ravel().tolist()) else ""
    if isinstance(one, int | float | np.number):
        return "n or a value of a record" if abs(one) == MARK or (size and one == N) else ""
    if isinstance(one, str | bytes):
        return told(one if isinstance(one, str) else one.decode("latin-1"), size=size)
    return f"{len(one)} things" if size and hasattr(one, "__len__") and len(one) == N else ""


def told(text, *, size=True):
    if "7.65432" in text or np.float64(MARK).tobytes().decode("latin-1") in text:
        return "a value of a record in text"
    shown = re.sub(r"\b2356,\s+2357,\s+2358\b|0\.2357\b", "", text)  # of cells
    return "n in text" if size and re.search(r"\b2[,_]?357\b", shown) else ""


def findings(start, **words):
    return {what for one in reachable(start) if (what := private(one, **words))}


@pytest.fixture(params=ESTIMATORS, scope="module")
def central(request):
    return fitted(ESTIMATORS[request.param])


def test_nothing_private_is_reachable(central):
    """From all of its attributes, its release and its ledger."""
    assert findings(central) == set()
    assert findings(vars(central)) == set()


SHOWS = {
    "repr": repr,
    "str": str,
    "html": lambda model: model._repr_html_(),
    "html of scikit-learn": estimator_html_repr,
    "html of a pipeline": lambda model: make_pipeline(FunctionTransformer(), model)._repr_html_(),
    "mime bundle": lambda model: str(model._repr_mimebundle_()),
    "vars": lambda model: repr(vars(model)),
    "pretty vars": lambda model: pprint.pformat(vars(model)),
    "members": lambda model: repr(inspect.getmembers(model)),
    "dir": lambda model: repr({name: getattr(model, name) for name in dir(model)}),
    "promise": lambda model: str(model.guarantee_) + model.guarantee_._repr_html_(),
    "clusters": lambda model: (
        load_release(model.release_)._repr_html_()
        if "clusters" in model.release_.values or "centers" in model.release_.values
        else ""
    ),
    "release": lambda model: str(model.release_) + model.release_._repr_html_(),
    "release in full": lambda model: repr(model.release_) + model.release_.to_json(),
    "ledger": lambda model: repr(model.ledger) + str(model.ledger),
}


def test_nothing_private_is_shown(central):
    private = {way: what for way, show in SHOWS.items() if (what := told(show(central)))}
    assert private == {}


def dumped(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    return file.getvalue()


# skops walks over what these two give.
CARRIES = {
    "state": lambda model: model.__getstate__(),
    "reduce": lambda model: model.__reduce_ex__(4)[2],
    "pickle": pickle.dumps,
    "joblib": dumped,
    "unpickled": lambda model: pickle.loads(pickle.dumps(model)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "clone": clone,
}


def test_nothing_private_is_carried(central, monkeypatch):
    monkeypatch.setattr(central, "ledger", None)  # one in memory cannot travel
    carried = {way: carry(central) for way, carry in CARRIES.items()}
    assert {way: what for way, one in carried.items() if (what := findings(one))} == {}
    assert not any(hasattr(one, "labels_") for one in carried.values())


def test_labels_are_there_for_whoever_asks(central):
    if not isinstance(central, CuratorsClusterer):
        return
    assert central.labels_.shape == (N,)
    assert (central.labels_ == central.predict(X)).all()
    assert central.labels_ is central.labels_
    assert "labels_" not in vars(central)


def test_labels_of_a_fit_go_with_it():
    model = fitted(ESTIMATORS["DPKMeans"])
    twin = copy.deepcopy(model)
    with pytest.raises(AttributeError, match="by none of its copies: use predict"):
        _ = twin.labels_
    assert (twin.predict(X) == model.labels_).all()
    twin.fit(X[:100])
    assert len(twin.labels_) == 100
    assert len(model.labels_) == N
    assert not hasattr(DPKMeans(), "labels_")


@pytest.mark.parametrize("name", LOCAL)
def test_no_record_is_reachable_from_a_mechanism(name):
    """The number of reports is not private."""
    model = LOCAL[name].seeded(5)
    LOCAL[name].output(model, X)
    assert findings(model, size=False) == set()


def test_the_walk_finds_what_is_planted():
    for planted in (X, X[1000].copy(), N, np.array([N]), np.zeros(N), [0] * N, f"{N} rows", MARK):
        model = clone(ESTIMATORS["DPKMeans"])
        model.remembered_ = {"deep": [(planted,)]}
        assert findings(model)
    hidden = np.zeros((5, N))[:, 0]  # its base is the whole
    model.remembered_ = hidden
    assert findings(model)


class Equal(DPKMeans):
    """Two of these are one if they have the same parameters."""

    def __eq__(self, other):
        return repr(self) == repr(other)

    def __hash__(self):
        return hash(repr(self))


class Unhashable(DPKMeans):
    def __eq__(self, other):
        return repr(self) == repr(other)

    __hash__ = None


@pytest.mark.parametrize("kind", [Equal, Unhashable])
def test_labels_belong_to_one_object(kind):
    """Whatever a subclass calls equal."""
    model = kind(2, bounds=(-3.0, 3.0)).fit(X)
    assert model.labels_.shape == (N,)
    assert not hasattr(clone(model), "labels_")
    assert not hasattr(kind(2, bounds=(-3.0, 3.0)), "labels_")


def test_labels_go_with_their_object():
    gc.collect()
    kept = len(_curator._LABELS)
    model = DPKMeans(2, bounds=(-3.0, 3.0)).fit(X)
    assert len(_curator._LABELS) == kept + 1
    model.fit(X)
    assert len(_curator._LABELS) == kept + 1
    del model
    gc.collect()
    assert len(_curator._LABELS) == kept
