import copy
import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

import shoal
import shoal.engines
import shoal.noise
from helpers import estimator_checks
from helpers.estimator_checks import RECORDS, output, roomy_ledger, spent
from helpers.estimator_instances import (
    CENTRAL,
    CLASSES,
    CLUSTERERS,
    INSTANCES,
    TRANSFORMERS,
    public_classes,
)
from helpers.noise_recorder import SAMPLERS, STATISTICS, recording
from shoal.cluster import DPDensity, DPKMeans, DPWaveCluster
from shoal.exceptions import BudgetExceededError, LedgerPicklingError
from shoal.mechanisms import PartitionResponse
from shoal.privacy import Ledger, Release


@pytest.fixture(params=INSTANCES)
def estimator(request):
    return clone(INSTANCES[request.param])


@pytest.fixture(params=CLASSES)
def one_of_class(request):
    return clone(INSTANCES[request.param])


@pytest.fixture(params=CENTRAL)
def central(request):
    return clone(INSTANCES[request.param])


def test_registry_is_complete():
    assert {type(instance) for instance in INSTANCES.values()} == public_classes()
    assert {type(INSTANCES[name]) for name in CLASSES} == public_classes()
    assert len(CLASSES) == len(public_classes())


def test_every_sampler_and_statistic_is_recorded():
    samplers = {
        name
        for name in shoal.noise.__all__
        if inspect.isfunction(function := getattr(shoal.noise, name))
        and "source" in inspect.signature(function).parameters
    } - {"privatize"}  # calls them
    assert samplers == set(SAMPLERS)
    statistics = {
        name
        for name in shoal.engines.__all__
        if inspect.isfunction(function := getattr(shoal.engines, name))
        and "engine" in inspect.signature(function).parameters
    } - {"nearest_centers", "project"}  # labels are for the curator, and so are records
    assert statistics == set(STATISTICS) - {"magnitude_counts"}  # of values, before any engine


# The only skips: a random transformer cannot be deterministic, and the array API is switched off.
EXPECTED_SKIPS = {
    "check_array_api_input",
    "check_pipeline_consistency",
    "check_transformer_data_not_an_array",
    "check_transformer_general",
}


# Weights are bounded by a public limit that scales the noise, so that a record of weight 2 is not
# the same as the record twice.
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": "noise is scaled to weight_limit",
    "check_sample_weight_equivalence_on_sparse_data": "sparse tables are refused",
}


# A table of all cells in ten columns is refused: only "oneshot" has a sparse form.
TOO_MANY_CELLS = dict.fromkeys(("check_dtype_object", "check_fit2d_1sample"), "16^10 cells")
# A density has at most four columns; these have five and ten.
TOO_MANY_COLUMNS = {**TOO_MANY_CELLS, "check_estimators_dtypes": "five columns"}


# One of each class, and what fits or refuses in a way of its own.
CHECKED = [
    *CLASSES,
    "DPKMeans-kccm",
    "DPKMeans-lloyd-gaussian",
    pytest.param("DPKMeans-ball", marks=pytest.mark.full),
    "DPWaveCluster-thr",
]


@pytest.mark.parametrize("name", CHECKED)
def test_scikit_learn_checks(name):
    estimator = clone(INSTANCES[name])
    expected = EXPECTED_FAILURES if isinstance(estimator, DPKMeans) else {}
    if isinstance(estimator, DPWaveCluster):
        # The checks look for three clusters among 50 standardized records.
        estimator.set_params(epsilon=1e3, bounds=(-3.0, 3.0), threshold=0.0, min_samples=2)
        if estimator.grid != "auto":
            estimator.set_params(grid=16)
        expected = {} if estimator.technique == "oneshot" else TOO_MANY_CELLS
    if isinstance(estimator, DPDensity):
        estimator.set_params(bounds=(-3.0, 3.0))
        expected = TOO_MANY_COLUMNS
    results = check_estimator(estimator, on_skip=None, expected_failed_checks=expected)
    skipped = {result["check_name"] for result in results if result["status"] == "skipped"}
    assert skipped <= EXPECTED_SKIPS
    assert sum(result["status"] == "passed" for result in results) >= 35


def test_guarantee(estimator):
    estimator_checks.has_a_guarantee(estimator)


def test_ledger_is_charged_before_release(estimator):
    estimator_checks.spends_before_it_draws(estimator)


def test_the_entry_says_columns_and_seed(one_of_class):
    estimator_checks.notes_columns_and_seed(one_of_class)


def test_seed_repeats(estimator):
    estimator_checks.repeats_with_a_seed(estimator)


def test_no_seed_differs(estimator):
    estimator_checks.differs_without_a_seed(estimator)


def test_noise_pays_for_the_promise(estimator):
    estimator_checks.noise_pays_for(estimator)


def test_one_record_moves_statistics_as_declared(central):
    estimator_checks.replays_on_neighbors(central)


def test_refused_spend_draws_nothing(estimator):
    delta = getattr(estimator, "delta", 0.0)
    tight = Ledger(epsilon=1.0, delta=delta, metric_epsilon=1.0, metric_unit="m")
    refused = clone(estimator).set_params(ledger=tight)
    with recording() as tape, pytest.raises(BudgetExceededError):
        output(refused)
    assert tape.entries == []
    assert spent(tight) == 0.0
    assert not hasattr(refused, "release_")


def test_copies_share_the_ledger(one_of_class):
    one_of_class.set_params(ledger=roomy_ledger())
    for entries, copier in enumerate([clone, copy.copy, copy.deepcopy], start=1):
        twin = copier(one_of_class)
        assert twin.ledger is one_of_class.ledger
        output(twin)
        assert len(one_of_class.ledger) == entries
    assert spent(one_of_class.ledger) > 0


def test_tables_give_the_bits_of_arrays(one_of_class):
    one_of_class.set_params(random_state=1)
    expected = output(clone(one_of_class), RECORDS)
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        fitted = clone(one_of_class)
        frame = make({"height": RECORDS[:, 0], "weight": RECORDS[:, 1]})
        assert (output(fitted, frame) == expected).all()
        assert fitted.feature_names_in_.tolist() == ["height", "weight"]


@pytest.mark.parametrize("name", CLUSTERERS)
def test_labels_follow_from_the_release(name):
    estimator_checks.labels_follow_from_the_release(INSTANCES[name])


def test_clusterers_have_no_output_to_set():
    assert not any(hasattr(INSTANCES[name], "set_output") for name in CENTRAL)


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_set_output(name):
    for container, frames in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        estimator = clone(INSTANCES[name]).set_output(transform=container)
        frame = estimator.fit_transform(pd.DataFrame(RECORDS, columns=["height", "weight"]))
        assert isinstance(frame, frames)
        cells = isinstance(estimator, PartitionResponse)
        assert list(frame.columns) == (["partition", "color"] if cells else ["height", "weight"])


def test_pipeline(one_of_class):
    pipeline = make_pipeline(FunctionTransformer(), one_of_class).fit(RECORDS)
    assert pipeline[-1].n_features_in_ == 2


def test_pickle_holds_no_key_and_no_labels(one_of_class):
    one_of_class.set_params(random_state=None)
    output(one_of_class)
    twin = pickle.loads(pickle.dumps(one_of_class))
    assert not hasattr(twin, "labels_")
    assert not hasattr(twin, "_source")
    assert str(twin.guarantee_) == str(one_of_class.guarantee_)
    assert set(vars(twin)) <= set(vars(one_of_class))
    output(twin)


def test_pickle_with_a_ledger(one_of_class, tmp_path):
    one_of_class.set_params(ledger=roomy_ledger())
    with pytest.raises(LedgerPicklingError, match=r"Ledger\(path="):
        pickle.dumps(one_of_class)
    one_of_class.set_params(ledger=roomy_ledger(path=tmp_path / "ledger"))
    output(pickle.loads(pickle.dumps(one_of_class)))
    assert len(one_of_class.ledger) == 1


def test_release_is_all_that_leaves(central):
    output(central)
    release = Release.from_json(central.release_.to_json())
    assert release == central.release_
    assert "labels" not in release.values
    assert release.guarantee == central.guarantee_


def test_one_record_and_more_clusters_than_records_are_valid(estimator):
    assert np.isfinite(output(estimator, np.zeros((1, 3)))).all()


def test_records_beyond_the_bounds_are_clipped_silently(one_of_class):
    one_of_class.set_params(random_state=1)
    far = np.array([[1e308, -1e308], [0.0, 3.0]])
    edge = np.array([[20.0, -20.0], [0.0, 3.0]])
    assert (output(one_of_class, far) == output(clone(one_of_class), edge)).all()
