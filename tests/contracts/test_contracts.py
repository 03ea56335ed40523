import copy
import importlib
import inspect
import pickle
import pkgutil

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import shoal
import shoal.engines
import shoal.noise
from contracts import checks
from contracts.checks import RECORDS, output, roomy_ledger, spent
from contracts.registry import INSTANCES, public_classes
from contracts.tape import CALLERS, STATISTICS
from shoal.cluster import DPKMeans, DPWaveCluster
from shoal.cluster.private_copy import PrivateCopy
from shoal.exceptions import BudgetExceededError, LedgerPicklingError
from shoal.privacy import Ledger, Release


@pytest.fixture(params=INSTANCES)
def estimator(request):
    return clone(INSTANCES[request.param])


def test_registry_is_complete():
    assert {type(instance) for instance in INSTANCES.values()} == public_classes()


def test_tape_hears_every_sampler_and_statistic():
    """Each module of shoal that imports one of them is listened to."""
    samplers = {
        name
        for name in shoal.noise.__all__
        if inspect.isfunction(function := getattr(shoal.noise, name))
        and "source" in inspect.signature(function).parameters
    } - {"privatize"}  # calls them
    assert samplers == set(CALLERS)
    statistics = {
        name
        for name in shoal.engines.__all__
        if inspect.isfunction(function := getattr(shoal.engines, name))
        and "engine" in inspect.signature(function).parameters
    } - {"nearest_centers"}  # labels are for the curator
    assert statistics <= set(STATISTICS)
    for module in pkgutil.walk_packages(shoal.__path__, "shoal."):
        if not module.name.startswith(("shoal.noise", "shoal.engines", "shoal.cli")):
            loaded = importlib.import_module(module.name)
            for room, table in ((shoal.noise, CALLERS), (shoal.engines, STATISTICS)):
                for name, callers in table.items():
                    if getattr(loaded, name, None) is getattr(room, name):
                        assert module.name in callers


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


def test_scikit_learn_checks(estimator):
    expected = EXPECTED_FAILURES if isinstance(estimator, DPKMeans) else {}
    if isinstance(estimator, DPWaveCluster):
        # The checks look for three clusters among 50 standardized records.
        estimator.set_params(epsilon=1e3, bounds=(-3.0, 3.0), threshold=0.0, min_samples=2)
        if estimator.grid != "auto":
            estimator.set_params(grid=16)
        expected = {} if estimator.technique == "oneshot" else TOO_MANY_CELLS
    results = check_estimator(estimator, on_skip=None, expected_failed_checks=expected)
    skipped = {result["check_name"] for result in results if result["status"] == "skipped"}
    assert skipped <= EXPECTED_SKIPS
    assert sum(result["status"] == "passed" for result in results) >= 35


def test_guarantee(estimator):
    checks.has_a_guarantee(estimator)


def test_ledger_is_charged_before_release(estimator):
    checks.spends_before_it_draws(estimator)


def test_seed_repeats(estimator):
    checks.repeats_with_a_seed(estimator)


def test_no_seed_differs(estimator):
    checks.differs_without_a_seed(estimator)


def test_noise_pays_for_the_promise(estimator):
    checks.noise_pays_for(estimator)


def test_one_record_moves_statistics_as_declared(estimator):
    if isinstance(estimator, DPKMeans | DPWaveCluster | PrivateCopy):
        checks.replays_on_neighbors(estimator)


def test_refused_spend_draws_nothing(estimator):
    delta = getattr(estimator, "delta", 0.0)
    tight = Ledger(epsilon=1.0, delta=delta, metric_epsilon=1.0, metric_unit="m")
    refused = clone(estimator).set_params(ledger=tight)
    with checks.recording() as tape, pytest.raises(BudgetExceededError):
        output(refused)
    assert tape.entries == []
    assert spent(tight) == 0.0
    assert not hasattr(refused, "release_")


@pytest.mark.parametrize("copier", [clone, copy.copy, copy.deepcopy])
def test_copies_share_the_ledger(estimator, copier):
    delta = getattr(estimator, "delta", 0.0)
    estimator.set_params(ledger=roomy_ledger(delta=delta))
    twin = copier(estimator)
    assert twin.ledger is estimator.ledger
    output(twin)
    assert spent(estimator.ledger) > 0


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_tables_give_the_bits_of_arrays(estimator, make):
    estimator.set_params(random_state=1)
    frame = make({"height": RECORDS[:, 0], "weight": RECORDS[:, 1]})
    assert (output(estimator, frame) == output(clone(estimator), RECORDS)).all()
    assert estimator.feature_names_in_.tolist() == ["height", "weight"]


def test_labels_follow_from_the_release(estimator):
    if isinstance(estimator, DPKMeans | DPWaveCluster):
        checks.labels_follow_from_the_release(estimator)


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_set_output(estimator, container):
    if not hasattr(estimator, "transform"):
        assert not hasattr(estimator, "set_output")
        return
    estimator.set_output(transform=container)
    frame = estimator.fit_transform(pd.DataFrame(RECORDS, columns=["height", "weight"]))
    assert list(frame.columns) == ["height", "weight"]


def test_pipeline(estimator):
    from sklearn.preprocessing import FunctionTransformer

    pipeline = make_pipeline(FunctionTransformer(), clone(estimator)).fit(RECORDS)
    assert pipeline[-1].n_features_in_ == 2


def test_pickle_holds_no_key_and_no_labels(estimator):
    estimator.set_params(random_state=None)
    output(estimator)
    twin = pickle.loads(pickle.dumps(estimator))
    assert not hasattr(twin, "labels_")
    assert not hasattr(twin, "_source")
    assert str(twin.guarantee_) == str(estimator.guarantee_)
    assert set(vars(twin)) <= set(vars(estimator))
    output(twin)


def test_pickle_with_a_ledger(estimator, tmp_path):
    delta = getattr(estimator, "delta", 0.0)
    estimator.set_params(ledger=roomy_ledger(delta=delta))
    with pytest.raises(LedgerPicklingError, match=r"Ledger\(path="):
        pickle.dumps(estimator)
    estimator.set_params(ledger=roomy_ledger(path=tmp_path / "ledger", delta=delta))
    output(pickle.loads(pickle.dumps(estimator)))
    assert len(estimator.ledger) == 1


def test_release_is_all_that_leaves(estimator):
    output(estimator)
    if hasattr(estimator, "release_"):
        release = Release.from_json(estimator.release_.to_json())
        assert release == estimator.release_
        assert "labels" not in release.values
        assert release.guarantee == estimator.guarantee_


def test_one_record_and_more_clusters_than_records_are_valid(estimator):
    assert np.isfinite(output(estimator, np.zeros((1, 3)))).all()


def test_records_beyond_the_bounds_are_clipped_silently(estimator):
    estimator.set_params(random_state=1)
    far = np.array([[1e308, -1e308], [0.0, 3.0]])
    edge = np.array([[20.0, -20.0], [0.0, 3.0]])
    assert (output(estimator, far) == output(clone(estimator), edge)).all()
