"""Pipelines that read records before the noise are reported, however they are nested."""

import json
import math

import numpy as np
import pytest
from sklearn.base import BaseEstimator, MetaEstimatorMixin, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    StandardScaler,
)

from shoal import (
    DPKMeans,
    DPWaveCluster,
    Laplace,
    Ledger,
    NoiseAwareKMeans,
    Number,
    Schema,
    SchemaEncoder,
    check_pipeline,
)
from shoal.exceptions import ParameterError

MODEL = DPKMeans(3, bounds=(0.0, 1.0))
REPORTS = Laplace(1.0, bounds=(0.0, 1.0))


def verdicts(pipeline, **kwargs):
    return {step.step: step.verdict for step in check_pipeline(pipeline, **kwargs).steps}


def test_what_everyone_writes():
    report = check_pipeline(
        make_pipeline(SimpleImputer(), StandardScaler(), OneHotEncoder(), MODEL)
    )
    assert not report.ok
    assert (
        report.summary == "the promise does not cover simpleimputer, standardscaler, onehotencoder"
    )
    for step, way in zip(report.steps, ("missing=", "bounds", "Category", ""), strict=True):
        assert way in step.remedy
    assert report.steps[-1].verdict == "private"


def test_what_keeps_the_promise():
    encoder = OneHotEncoder(categories=[["a", "b"]])
    report = check_pipeline(make_pipeline(encoder, Normalizer(), "passthrough", MODEL))
    assert report.ok
    assert str(report).startswith("ok: no step reads records before the noise\n")
    assert check_pipeline(MODEL).ok
    schema = Schema([Number("age", minimum=0, maximum=120)])
    assert check_pipeline(make_pipeline(SchemaEncoder(schema), MODEL)).ok
    drawn = Schema(schema.fields, seeded=True)  # whoever knows the seed knows what it was fitted to
    assert not check_pipeline(make_pipeline(SchemaEncoder(drawn), MODEL)).ok


def test_a_scaler_fitted_elsewhere_is_fitted_again():
    fitted = MinMaxScaler().fit([[0.0], [1.0]])
    assert verdicts(make_pipeline(fitted, MODEL))["minmaxscaler"] == "reads records"
    frozen = make_pipeline(FrozenEstimator(fitted), MODEL)
    assert verdicts(frozen)["frozenestimator"] == "may read records"
    assert check_pipeline(frozen, vouch=["frozenestimator"]).ok


@pytest.mark.parametrize(
    ("pipeline", "step"),
    [
        pytest.param(
            make_pipeline(
                ColumnTransformer([("some", make_pipeline(Normalizer(), PCA(2)), ["a", "b"])]),
                MODEL,
            ),
            "columntransformer__some__pca",
            id="columns",
        ),
        pytest.param(
            make_pipeline(
                make_column_transformer((Normalizer(), [0]), remainder=StandardScaler()), MODEL
            ),
            "columntransformer__remainder",
            id="the remainder",
        ),
        pytest.param(
            Pipeline([("both", make_union(Normalizer(), StandardScaler())), ("model", MODEL)]),
            "both__standardscaler",
            id="union",
        ),
        pytest.param(
            make_pipeline(make_pipeline(StandardScaler()), MODEL),
            "pipeline__standardscaler",
            id="a pipeline inside",
        ),
    ],
)
def test_nested_steps_have_the_names_of_set_params(pipeline, step):
    assert verdicts(pipeline)[step] == "reads records"
    pipeline.get_params()[step]


def test_columns_that_a_function_chooses():
    columns = make_column_selector(dtype_include=float)
    chosen = make_pipeline(ColumnTransformer([("numbers", Normalizer(), columns)]), MODEL)
    report = check_pipeline(chosen)
    assert not report.ok
    assert report.steps[0].remedy == "name the columns"


def test_a_search_reads_records():
    search = GridSearchCV(make_pipeline(Normalizer(), MODEL), {"dpkmeans__n_clusters": [2, 3]})
    report = check_pipeline(search)
    assert [step.verdict for step in report.steps] == [
        "reads records",
        "one record at a time",
        "private",
    ]
    assert "private" in report.steps[0].remedy


class Wrapper(MetaEstimatorMixin, BaseEstimator):
    def __init__(self, estimator=None):
        self.estimator = estimator

    def fit(self, X, y=None):
        return self


def test_wrappers_of_others_are_not_known():
    inside = verdicts(make_pipeline(Wrapper(MODEL)))
    assert inside == {"wrapper": "may read records", "wrapper__estimator": "private"}


def test_reports_may_be_worked_on():
    pipeline = make_pipeline(REPORTS, StandardScaler(), NoiseAwareKMeans(2, mechanism=REPORTS))
    report = check_pipeline(pipeline)
    assert report.ok
    assert [step.verdict for step in report.steps] == ["private", *["after the noise"] * 2]


def test_after_a_curators_estimator_records_are_still_raw():
    assert verdicts(Pipeline([("model", MODEL), ("then", KMeans())]))["then"] == "reads records"


def test_records_beside_reports():
    mixed = ColumnTransformer([("noisy", REPORTS, [0]), ("rest", "passthrough", [1])])
    assert verdicts(mixed) == {"noisy": "private", "rest": "lets records through"}
    dropped = ColumnTransformer([("noisy", REPORTS, [0]), ("rest", "drop", [1])])
    assert check_pipeline(dropped).ok
    both = FeatureUnion([("first", REPORTS), ("second", REPORTS)])
    assert "2 steps add up" in check_pipeline(both).summary


@pytest.mark.parametrize("pipeline", [KMeans(), make_pipeline(Normalizer(), KMeans())])
def test_nothing_private(pipeline):
    report = check_pipeline(pipeline)
    assert not report.ok
    assert "no step is private" in str(report)


class Unknown(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


@pytest.mark.parametrize("step", [Unknown(), FunctionTransformer(lambda X: X)])
def test_what_is_not_known_is_never_passed(step):
    pipeline = Pipeline([("own", step), ("model", MODEL)])
    assert not check_pipeline(pipeline).ok
    vouched = check_pipeline(pipeline, vouch="own")
    assert vouched.ok
    assert vouched.steps[0].verdict == "vouched for"


class Derived(DPKMeans):
    def fit(self, X, y=None):
        self.bounds = (X.min(axis=0), X.max(axis=0))
        return super().fit(X)


class Fills(SchemaEncoder):
    def transform(self, X):
        return super().transform(np.where(np.isnan(X), np.nanmean(X, axis=0), X))


def test_what_a_derived_class_adds_is_not_known():
    derived = Pipeline([("model", Derived(3))])
    assert not check_pipeline(derived).ok
    assert check_pipeline(derived, vouch=["model"]).ok
    schema = Schema([Number("age", minimum=0, maximum=120)])
    assert not check_pipeline(make_pipeline(Fills(schema), MODEL)).ok


def test_what_was_seen_cannot_be_vouched_for():
    pipeline = Pipeline([("scale", StandardScaler()), ("model", MODEL)])
    assert not check_pipeline(pipeline, vouch=["scale"]).ok


def test_nothing_is_spent_or_fitted():
    ledger = Ledger(epsilon=1.0)
    scaler, model = StandardScaler(), DPKMeans(3, bounds=(0.0, 1.0), ledger=ledger)
    check_pipeline(make_pipeline(scaler, model))
    assert ledger.entries == ()
    assert not hasattr(scaler, "mean_")


def test_the_report_as_text_page_and_values():
    report = check_pipeline(Pipeline([("<b>", StandardScaler()), ("model", MODEL)]))
    assert "<b>" not in report._repr_html_()
    assert "<strong>reads records</strong>" in report._repr_html_()
    plain = json.loads(json.dumps(report.to_dict()))
    assert plain["steps"][0]["verdict"] == "reads records"
    assert not plain["ok"]
    assert "instead: schema= with Number" in str(report)


@pytest.mark.parametrize(
    ("pipeline", "vouch", "message"),
    [
        pytest.param("pipeline", (), "pipeline must be an estimator with fit, got str", id="text"),
        pytest.param(
            DPKMeans, (), "pipeline must be an estimator with fit, got DPKMeans", id="a class"
        ),
        pytest.param(np.zeros(3), (), "got ndarray", id="an array"),
        pytest.param(MODEL, ("scale",), "vouch must name steps, got 'scale'", id="no such step"),
    ],
)
def test_bad_input(pipeline, vouch, message):
    with pytest.raises(ParameterError, match=message):
        check_pipeline(pipeline, vouch=vouch)


class Centered(Pipeline):
    """A pipeline that looks at the records itself."""

    def fit(self, X, y=None, **params):
        return super().fit(X - X.mean(axis=0), y, **params)


class Wide(ColumnTransformer):
    """What it adds is not known either."""


def test_pipelines_of_others_may_read_records():
    report = check_pipeline(Centered([("model", MODEL)]))
    assert report.summary == "the promise does not cover Centered"
    assert "derived from Pipeline" in report.steps[0].reason
    assert check_pipeline(Centered([("model", MODEL)]), vouch=["Centered"]).ok
    wide = make_pipeline(Wide([("all", "passthrough", [0, 1])]), MODEL)
    assert verdicts(wide)["wide"] == "may read records"


def test_without_noise_nothing_is_private():
    report = check_pipeline(make_pipeline(DPWaveCluster(epsilon=math.inf, bounds=(0.0, 1.0))))
    assert not report.ok
    assert report.summary.startswith("no step is private")


def test_functions_in_the_settings_of_a_step_are_not_known():
    counted = HashingVectorizer(n_features=8, analyzer=str.split)
    assert verdicts(make_pipeline(counted, MODEL))["hashingvectorizer"] == "may read records"
    plain = HashingVectorizer(n_features=8)
    assert verdicts(make_pipeline(plain, MODEL))["hashingvectorizer"] == "one record at a time"
