"""Steps that read records are seen on made-up tables; steps that do not are not accused."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_selector
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.kernel_approximation import RBFSampler
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    SplineTransformer,
)
from sklearn.random_projection import GaussianRandomProjection
from sklearn.utils import all_estimators

from shoal.audit.pipelines._probe import Probe, probe_step

# Of scikit-learn's transformers without settings, those whose fit learns nothing: read in their
# code. Everything else must be seen to read records, or not be called harmless.
HARMLESS = {
    "AdditiveChi2Sampler",
    "Binarizer",
    "FeatureHasher",
    "FunctionTransformer",
    "HashingVectorizer",
    "Normalizer",
    "PolynomialCountSketch",
    "PolynomialFeatures",
    "RBFSampler",
    "SkewedChi2Sampler",
}
SLOW = {"DictionaryLearning", "MiniBatchDictionaryLearning", "TSNE", "MiniBatchKMeans"}


def transformers():
    for name, kind in all_estimators("transformer"):
        if name not in SLOW and not getattr(kind, "__abstractmethods__", None):
            try:
                yield name, kind()
            except TypeError:  # it needs settings
                continue


def test_transformers_of_scikit_learn():
    probed = {name: probe_step(step) for name, step in transformers()}
    assert len(probed) > 50
    assert {name for name, probe in probed.items() if probe == Probe(True, "")} == HARMLESS


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(OneHotEncoder(categories=[["a", "b"], ["x", "y", "z"]]), id="categories"),
        pytest.param(OrdinalEncoder(categories=[["low", "high"]]), id="ordered"),
        pytest.param(
            SimpleImputer(strategy="constant", keep_empty_features=True), id="a public fill"
        ),
        pytest.param(MissingIndicator(features="all"), id="all gaps"),
        pytest.param(CountVectorizer(vocabulary=["red", "blue"]), id="vocabulary"),
        pytest.param(TfidfVectorizer(vocabulary=["red", "blue"], use_idf=False), id="no idf"),
        pytest.param(GaussianRandomProjection(3), id="directions"),
        pytest.param(
            SplineTransformer(knots=np.linspace(0, 9, 5)[:, None].repeat(6, axis=1)), id="knots"
        ),
        pytest.param(FunctionTransformer(np.log1p), id="numpy's"),
    ],
)
def test_settings_that_make_a_step_harmless(step):
    assert probe_step(step) == Probe(True, "")


@pytest.mark.parametrize(
    ("step", "attribute"),
    [
        # Columns without any value are dropped: whether there are any is read.
        pytest.param(SimpleImputer(strategy="constant"), "statistics_", id="a fill"),
        pytest.param(MissingIndicator(), "features_", id="some gaps"),
        pytest.param(
            OneHotEncoder(categories=[list("abcdef")], min_frequency=9),
            "what fit stores",
            id="rare",
        ),
        pytest.param(TfidfVectorizer(vocabulary=["red", "blue"]), "what fit stores", id="idf"),
        pytest.param(RBFSampler(gamma="scale"), "random_weights_", id="width"),
        pytest.param(KBinsDiscretizer(strategy="uniform"), "bin_edges_", id="bins"),
    ],
)
def test_settings_that_read_records(step, attribute):
    assert attribute in probe_step(step).evidence


def test_a_function_of_all_rows_is_seen():
    probe = probe_step(FunctionTransformer(lambda X: X - X.mean(axis=0)))
    assert "further rows" in probe.evidence
    assert probe_step(FunctionTransformer(lambda X: 2 * X)) == Probe(True, "")


class CountsRows(TransformerMixin, BaseEstimator):
    """The number of records is private too."""

    def fit(self, X, y=None):
        self.seen_ = len(X)
        return self

    def transform(self, X):
        return X


class HasItsOwn(CountsRows):
    def fit(self, X, y=None):
        self.made_ = lambda: 1
        return self


class Picky(CountsRows):
    def fit(self, X, y=None):
        raise KeyError("age")


def test_steps_of_others():
    assert "seen_" in probe_step(CountsRows()).evidence
    assert probe_step(HasItsOwn()) == Probe(False, "")  # what it stores cannot be compared
    assert probe_step(Picky()) == Probe(False, "")
    assert probe_step(make_column_selector()) == Probe(False, "")
    step = CountsRows()
    probe_step(step)
    assert vars(step) == {}  # a copy was fitted
