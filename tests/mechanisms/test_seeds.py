"""What was drawn decides what the guarantee says; a seed ends with its random_state."""

import copy
import pickle
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

from helpers.cases import case
from helpers.ledgers import roomy_ledger
from shoal.exceptions import BudgetExceededError
from shoal.mechanisms import (
    KdLaplace,
    Laplace,
    Piecewise,
    SphericalLaplace,
)
from shoal.noise import SecureSource, SeededSource
from shoal.privacy import Ledger
from shoal.remap import BayesRemap
from shoal.reports import NoiseAwareKMeans
from shoal.tables import ArrowTable
from subjects import classes

BOX = (0.0, 1.0)
LOCAL = classes("local")
METRIC = [kind for kind in classes("metric") if kind is not KdLaplace]
RECORDS = {3: np.full((40, 3), 0.3), 2: np.full((40, 2), 0.3)}


def made(kind, **kwargs):
    columns = records(kind).shape[1]
    return kind(1.0, bounds=([0.0] * columns, [1.0] * columns), **kwargs)


def records(kind):
    return RECORDS[3 if kind is SphericalLaplace else 2]


def the_same_twice(one, two):
    return bool((one == two).all())


@pytest.mark.parametrize("kind", [*LOCAL, *METRIC, KdLaplace])
def test_a_seed_of_fit_does_not_draw_once_it_is_taken_back(kind):
    for seed in [0, np.int64(7), np.random.RandomState, np.random.default_rng]:
        with case(seed=seed):
            X, reports = records(kind), []
            for _ in range(2):
                state = seed(3) if callable(seed) else seed
                mechanism = made(kind, random_state=state).fit(X)
                mechanism.set_params(random_state=None)
                reports.append(mechanism.transform(X))
            if mechanism.guarantee_.holds:
                assert not the_same_twice(*reports)
            # The remap of KdLaplace was fitted on reports that came from the seed.
            assert mechanism.guarantee_.holds == (kind is not KdLaplace)


@pytest.mark.parametrize("kind", [*LOCAL, *METRIC, KdLaplace])
def test_a_seed_given_after_fit_draws(kind):
    X, reports = records(kind), []
    for _ in range(2):
        mechanism = made(kind, remap=None) if kind is KdLaplace else made(kind)
        mechanism.fit(X).set_params(random_state=5)
        assert not mechanism.guarantee_.holds
        reports.append(mechanism.transform(X))
    assert the_same_twice(*reports)
    assert not mechanism.set_params(random_state=None).guarantee_.holds


@pytest.mark.parametrize("kind", [*LOCAL, *METRIC])
def test_seeded_reports_are_remembered_until_the_next_fit(kind):
    X = records(kind)
    mechanism = made(kind, random_state=0)
    assert not mechanism.guarantee_.holds
    mechanism.set_params(random_state=None)
    assert mechanism.guarantee_.holds, "nothing was drawn"
    mechanism.set_params(random_state=0).transform(X)  # without fit, as on a device
    mechanism.set_params(random_state=None)
    assert not mechanism.guarantee_.holds
    for other in (
        mechanism,
        pickle.loads(pickle.dumps(mechanism)),
        copy.deepcopy(mechanism),
        copy.copy(mechanism),
        clone(mechanism),
        pickle.loads(pickle.dumps(clone(mechanism))),
    ):
        assert not other.guarantee_.holds
        other.transform(X)
        assert not other.guarantee_.holds
        assert other.fit(X).guarantee_.holds
    assert "seeded" not in str(mechanism.guarantee_)


def test_sources_given_as_such():
    for kind in [*LOCAL, *METRIC]:
        with case(kind=kind):
            X = records(kind)
            assert made(kind, random_state=SecureSource()).fit(X).guarantee_.holds
            mechanism = made(kind, random_state=SeededSource(3)).fit(X)
            mechanism.transform(X)
            mechanism.set_params(random_state=None)
            assert not mechanism.guarantee_.holds


def test_a_spend_that_was_refused_has_drawn_nothing():
    poor = Ledger(epsilon=1.0, metric_epsilon=0.5, metric_unit="m")
    mechanism = Laplace(1.0, unit="m", bounds=BOX, ledger=poor, random_state=0).fit(RECORDS[2])
    with pytest.raises(BudgetExceededError):
        mechanism.transform(RECORDS[2])
    assert mechanism.set_params(random_state=None).guarantee_.holds


@pytest.mark.parametrize("kind", [Laplace, Piecewise])
def test_reports_of_files(kind, tmp_path):
    pq.write_table(pa.table({"a": np.full(40, 0.3), "b": np.full(40, 0.3)}), tmp_path / "x.parquet")
    data = ArrowTable(tmp_path / "x.parquet", columns=["a", "b"])

    def reports(mechanism, name):
        table = mechanism.transform(data, out=tmp_path / name).to_table()
        return np.column_stack([column.to_numpy() for column in table.columns])

    result = []
    for name in "ab":
        mechanism = made(kind, random_state=0).fit(data)
        result.append(reports(mechanism.set_params(random_state=None), name))
    assert mechanism.guarantee_.holds
    assert not the_same_twice(*result)
    result = []
    for name in "cd":
        mechanism = made(kind).fit(data).set_params(random_state=0)
        result.append(reports(mechanism, name))
        assert not mechanism.set_params(random_state=None).guarantee_.holds
    assert the_same_twice(*result)


def test_the_ledger_is_told_of_the_source_that_drew():
    ledger = roomy_ledger()
    mechanism = Laplace(1.0, unit="m", bounds=BOX, ledger=ledger, random_state=0)
    mechanism.fit(RECORDS[2]).set_params(random_state=None)
    mechanism.transform(RECORDS[2])
    mechanism.set_params(random_state=0).transform(RECORDS[2])
    kd = KdLaplace(1.0, unit="m", bounds=BOX, ledger=ledger, random_state=0).fit(RECORDS[2])
    kd.set_params(random_state=None).transform(RECORDS[2])
    assert [entry.seeded for entry in ledger.entries] == [False, True, True, False]


def test_threads_that_change_the_seed():
    """Whatever comes first, reports of a seed are never called private."""
    mechanism = Laplace(1.0, bounds=BOX).fit(RECORDS[2])
    seeded = Laplace(1.0, bounds=BOX, random_state=0).fit_transform(RECORDS[2])
    drawn = []

    def draw(state):
        mechanism.random_state = state
        drawn.append(mechanism.transform(RECORDS[2]))

    threads = [threading.Thread(target=draw, args=(state,)) for state in (0, None) * 20]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    mechanism.random_state = None
    assert len(drawn) == len(threads)
    if any(the_same_twice(reports, seeded) for reports in drawn):
        assert not mechanism.guarantee_.holds


def test_what_sees_reports_says_what_the_mechanism_says():
    X = np.random.default_rng(0).uniform(0.0, 1.0, (200, 2))
    mechanism = Laplace(8.0, unit="km", bounds=BOX, random_state=0)
    reports = mechanism.fit_transform(X)
    mechanism.set_params(random_state=None)
    for model in (NoiseAwareKMeans(2, mechanism=mechanism), BayesRemap(mechanism)):
        assert not model.fit(reports).guarantee_.holds
        assert not clone(model).fit(reports).guarantee_.holds
        assert model.guarantee_.unit == "km"


def test_a_remap_says_what_its_reports_were_drawn_with():
    """Its promise followed the mechanism to the next fit: it held, though of a seed's reports."""
    X = np.random.default_rng(0).uniform(0.0, 1.0, (200, 2))
    mechanism = Laplace(8.0, unit="km", bounds=BOX, random_state=0)
    remap = BayesRemap(mechanism).fit(mechanism.fit_transform(X))
    mechanism.set_params(random_state=None, epsilon=0.01).fit(X)
    assert mechanism.guarantee_.holds
    assert (remap.guarantee_.holds, remap.guarantee_.epsilon) == (False, 8.0)
    remap.fit(mechanism.transform(X))
    assert (remap.guarantee_.holds, remap.guarantee_.epsilon) == (True, 0.01)
    mechanism.set_params(random_state=0)
    assert not remap.guarantee_.holds, "what it would move next comes from a seed"


@pytest.mark.parametrize("kind", [*LOCAL, *METRIC])
def test_a_promise_of_reports_does_not_improve_afterwards(kind):
    """Reports drawn at 8 were said to have been drawn at .1 once the parameter was changed."""
    X = records(kind)
    mechanism = made(kind).set_params(epsilon=8.0)
    mechanism.transform(X)
    mechanism.set_params(epsilon=0.1)
    for copied in (mechanism, copy.deepcopy(mechanism), pickle.loads(pickle.dumps(mechanism))):
        assert (copied.guarantee_.epsilon, copied.guarantee_.holds) == (8.0, True)
    mechanism.transform(X)
    assert mechanism.guarantee_.epsilon == 8.0
    assert mechanism.set_params(epsilon=9.0).guarantee_.epsilon == 9.0
    assert clone(mechanism.set_params(epsilon=0.1)).guarantee_.epsilon == 0.1
    assert mechanism.fit(X).guarantee_.epsilon == 0.1


def test_reports_of_two_units_have_no_promise_in_common():
    mechanism = made(Laplace, unit="km").fit(RECORDS[2])
    mechanism.transform(RECORDS[2])
    assert not mechanism.set_params(unit="m").guarantee_.holds
    ledger = roomy_ledger()
    mechanism.set_params(ledger=ledger).transform(RECORDS[2])
    assert ledger.entries[0].notion == "metric"
    assert mechanism.fit(RECORDS[2]).guarantee_.unit == "m"


def test_a_pickle_goes_on_with_the_stream():
    """A seed that Python keeps as another object drew the noise of fit once more."""
    kd = KdLaplace(1.0, bounds=BOX, remap=None, random_state=123_456)
    reports = kd.fit_transform(RECORDS[2])
    later = pickle.loads(pickle.dumps(kd)).transform(RECORDS[2])
    assert not the_same_twice(reports, later)
    assert the_same_twice(later, kd.transform(RECORDS[2]))


def test_kd_laplace_says_what_it_drew_with():
    X = np.random.default_rng(0).uniform(0.0, 1.0, (50, 2))
    kd = KdLaplace(50.0, bounds=BOX).fit(X)
    kd.set_params(epsilon=0.1)
    assert kd.guarantee_.epsilon == kd.mechanism_.epsilon == 50.0
    assert kd.fit(X).guarantee_.epsilon == 0.1


def test_kd_laplace_charges_the_ledger_that_it_has_now():
    first, second = roomy_ledger(), roomy_ledger()
    kd = KdLaplace(1.0, unit="m", bounds=BOX, ledger=first).fit(RECORDS[2])
    kd.set_params(ledger=second).transform(RECORDS[2])
    assert (len(first), len(second)) == (1, 1)


def test_kd_laplace_stays_as_it_was_where_a_fit_is_refused():
    kd = KdLaplace(1.0, unit="m", bounds=BOX, random_state=0).fit(RECORDS[2])
    poor = Ledger(epsilon=1.0, metric_epsilon=0.5, metric_unit="m")
    with pytest.raises(BudgetExceededError):
        kd.set_params(random_state=None, ledger=poor).fit(RECORDS[2])
    assert not kd.guarantee_.holds, "its remap was fitted on reports of a seed"


def test_reports_that_nobody_counted_stay_uncounted():
    mechanism = Laplace(1.0, unit="m", bounds=BOX).fit(RECORDS[2])
    mechanism.transform(RECORDS[2])
    mechanism.set_params(ledger=roomy_ledger()).transform(RECORDS[2])
    assert mechanism.guarantee_.uncounted, "the first reports were charged to no ledger"
    assert not mechanism.fit(RECORDS[2]).guarantee_.uncounted
