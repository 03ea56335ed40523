"""scikit-learn's contract, tables, copies, pipelines and bad input, for each remap."""

import inspect
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.cluster import (
    DBSCAN,
    OPTICS,
    AffinityPropagation,
    AgglomerativeClustering,
    KMeans,
)
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from helpers.cases import case
from shoal.exceptions import DataError, MissingBoundsError, ParameterError, ShoalError
from shoal.mechanisms import KdLaplace, Laplace
from shoal.remap import BayesRemap, Clip, GridRemap

WIDE = (-20.0, 20.0)
MECHANISM = Laplace(10.0, bounds=WIDE, random_state=0)
REMAPS = {
    "clip": Clip(WIDE),
    "grid": GridRemap(WIDE),
    "bayes": BayesRemap(MECHANISM),
    "linear": BayesRemap(MECHANISM, loss="linear", cells=16),
}
CHAINS = {
    "kd bayes": KdLaplace(100.0, bounds=WIDE),
    "kd grid": KdLaplace(100.0, bounds=WIDE, remap="grid"),
    "kd none": KdLaplace(100.0, bounds=WIDE, remap=None),
}
REPORTS = np.random.default_rng(0).normal(0.0, 12.0, (120, 2))
SKIPPED = {
    "check_array_api_input",
    "check_pipeline_consistency",
    "check_transformer_data_not_an_array",
    "check_transformer_general",
}


@pytest.fixture(params=REMAPS)
def remap(request):
    return clone(REMAPS[request.param])


@pytest.fixture(params={**REMAPS, **CHAINS})
def transformer(request):
    return clone({**REMAPS, **CHAINS}[request.param])


def test_scikit_learn_checks(transformer):
    results = check_estimator(transformer, on_skip=None)
    skipped = {result["check_name"] for result in results if result["status"] == "skipped"}
    allowed = SKIPPED if isinstance(transformer, KdLaplace) else {"check_array_api_input"}
    assert skipped <= allowed
    assert sum(result["status"] == "passed" for result in results) >= 35


def test_remaps_are_functions_of_reports(remap):
    for d in [2, 5]:
        with case(d=d):
            reports = np.random.default_rng(d).normal(0.0, 12.0, (120, d))
            moved = remap.fit_transform(reports)
            assert (moved == clone(remap).fit(reports).transform(reports)).all()
            assert np.allclose(moved[:7], remap.transform(reports[:7]), atol=1e-9)
            assert (np.abs(moved) <= 20.0).all()


def test_no_method_of_a_remap_takes_records():
    for kind in (Clip, GridRemap, BayesRemap):
        for name in ("fit", "transform"):
            parameters = list(inspect.signature(getattr(kind, name)).parameters)
            assert parameters in (["self", "Z", "y"], ["self", "Z"])


def test_tables_give_the_bits_of_arrays(transformer):
    for make in [pd.DataFrame, pl.DataFrame]:
        with case(make=make):
            if isinstance(transformer, KdLaplace):
                transformer.set_params(random_state=3)
            frame = make({"height": REPORTS[:, 0], "weight": REPORTS[:, 1]})
            moved = np.asarray(transformer.fit_transform(frame))
            assert (moved == np.asarray(clone(transformer).fit_transform(REPORTS))).all()
            assert transformer.get_feature_names_out().tolist() == ["height", "weight"]
            kind = "pandas" if make is pd.DataFrame else "polars"
            out = clone(transformer).set_output(transform=kind).fit_transform(frame)
            assert isinstance(out, make)
            assert list(out.columns) == ["height", "weight"]


def test_output_setting_of_the_whole_process():
    import sklearn

    for name, transformer in {**REMAPS, **CHAINS}.items():
        with sklearn.config_context(transform_output="pandas"):
            out = clone(transformer).fit_transform(pd.DataFrame(REPORTS, columns=["a", "b"]))
        assert isinstance(out, pd.DataFrame), name


def test_pickles_move_reports_alike(remap):
    remap.fit(REPORTS)
    loaded = pickle.loads(pickle.dumps(remap))
    assert (loaded.transform(REPORTS) == remap.transform(REPORTS)).all()


CLUSTERERS = [
    KMeans(2),
    AgglomerativeClustering(2),
    OPTICS(),
    DBSCAN(),
    AffinityPropagation(damping=0.9),
]


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("name", ["grid", "bayes", "kd bayes"])
def test_pipelines(name, make):
    records = np.random.default_rng(0).normal(size=(60, 2)) + 15.0 * (np.arange(60)[:, None] % 2)
    table = make(records) if make is np.asarray else make({"a": records[:, 0], "b": records[:, 1]})
    transformer = {**REMAPS, **CHAINS}[name]
    steps = [] if isinstance(transformer, KdLaplace) else [clone(MECHANISM)]
    for clusterer in CLUSTERERS:
        pipeline = make_pipeline(*steps, clone(transformer), StandardScaler(), clone(clusterer))
        assert len(pipeline.fit_predict(table)) == 60, clusterer


def test_guarantee_is_passed_on():
    fitted = BayesRemap(MECHANISM).fit(REPORTS)
    assert fitted.guarantee_ == clone(MECHANISM).fit(REPORTS).guarantee_
    assert not fitted.guarantee_.holds  # a seeded mechanism stays seeded


def test_fit_is_needed_where_something_is_learned():
    assert Clip(WIDE).transform(REPORTS).shape == REPORTS.shape
    assert GridRemap(WIDE).transform(REPORTS).shape == REPORTS.shape
    for unfitted in (BayesRemap(MECHANISM), KdLaplace(1.0, bounds=WIDE)):
        with pytest.raises(NotFittedError):
            unfitted.transform(REPORTS)


def test_missing_bounds():
    unbounded: list[Any] = [Clip(), GridRemap(), KdLaplace(), BayesRemap(Laplace())]
    message = r"pass public bounds=\(low, high\)"
    for missing in unbounded:
        with case(missing=missing), pytest.raises(MissingBoundsError, match=message):
            missing.fit(REPORTS)


def test_bad_reports(transformer):
    for bad in [[[np.nan, 1.0]], [1.0, 2.0], "text", np.empty((0, 2)), [["a"]]]:
        with case(bad=bad):
            with pytest.raises(ShoalError, match=r"^(X|the data|columns) must"):
                transformer.fit(bad)
            transformer.fit(REPORTS)
            with pytest.raises((DataError, ParameterError)):
                transformer.transform(bad)
            with pytest.raises(DataError, match="X has 3 features"):
                transformer.transform(np.zeros((2, 3)))
