import pickle

import numpy as np
import pytest
from sklearn.base import clone

from helpers.cases import case
from helpers.ledgers import roomy_ledger
from helpers.noise_recorder import recording
from shoal.exceptions import BudgetExceededError
from shoal.mechanisms import KdLaplace, Laplace
from shoal.privacy import Ledger
from shoal.remap import BayesRemap, GridRemap

RECORDS = np.random.default_rng(0).uniform(-1.0, 1.0, (400, 2))
BOX = (-1.0, 1.0)


@pytest.mark.parametrize("remap", ["bayes", "grid", None])
def test_everything_after_the_mechanism_is_a_remap_of_reports(remap):
    """The same seed gives the same reports as Laplace alone; the rest follows from them."""
    for d in [1, 2, 3, 5, 9]:
        with case(d=d):
            records = np.random.default_rng(d).uniform(-1.0, 1.0, (300, d))
            points = KdLaplace(2.0, bounds=BOX, remap=remap, random_state=5).fit_transform(records)
            mechanism = Laplace(2.0, bounds=BOX, random_state=5)
            reports = mechanism.fit_transform(records)
            if remap == "bayes":
                assert (points == BayesRemap(mechanism).fit_transform(reports)).all()
            elif remap == "grid":
                outside = (np.abs(reports) > 1.0).any(axis=1)
                assert (points[~outside] == reports[~outside]).all()
                assert (points[outside] == GridRemap(BOX).transform(reports[outside])).all()
                assert outside.any()
            else:
                assert (points == reports).all()


@pytest.mark.parametrize("remap", ["bayes", "grid"])
def test_points_lie_in_the_box(remap):
    points = KdLaplace(1.0, bounds=BOX, remap=remap, random_state=0).fit_transform(RECORDS)
    assert (np.abs(points) <= 1.0).all()


def test_each_perturbation_is_charged_before_it_is_drawn():
    ledger = roomy_ledger()
    kd = KdLaplace(2.0, unit="m", bounds=BOX, ledger=ledger)
    for call in (kd.fit_transform, kd.fit, kd.transform):
        with recording() as tape:
            call(RECORDS)
        assert tape.entries[0] in tape.spends
        assert len(tape.spends) == 1
    assert len(ledger) == 3
    assert ledger.spent[0].epsilon == pytest.approx(6.0)


def test_a_refused_spend_draws_nothing():
    kd = KdLaplace(
        2.0, unit="m", bounds=BOX, ledger=Ledger(epsilon=1.0, metric_epsilon=1.0, metric_unit="m")
    )
    with recording() as tape, pytest.raises(BudgetExceededError):
        kd.fit_transform(RECORDS)
    assert tape.entries == []


def test_promise_is_that_of_the_mechanism():
    kd = KdLaplace(3.0, bounds=BOX)
    kd.fit(RECORDS)
    assert kd.guarantee_ == Laplace(3.0, bounds=BOX).fit(RECORDS).guarantee_
    assert kd.guarantee_.holds
    assert kd.remap_.guarantee_ == kd.guarantee_
    assert not KdLaplace(3.0, bounds=BOX, random_state=0).fit(RECORDS).guarantee_.holds


def test_transform_draws_anew_and_randomize_takes_one_record():
    kd = KdLaplace(3.0, bounds=BOX, random_state=0)
    first = kd.fit_transform(RECORDS)
    second = kd.transform(RECORDS)
    assert (first != second).any(axis=1).all()
    assert kd.randomize(RECORDS[0]).shape == (2,)
    assert (clone(kd).fit_transform(RECORDS) == first).all()


def test_pickle_holds_no_records_and_no_reports():
    kd = KdLaplace(3.0, bounds=BOX)
    kd.fit(RECORDS)
    small, large = (
        len(pickle.dumps(kd)),
        len(pickle.dumps(clone(kd).fit(np.tile(RECORDS, (20, 1))))),
    )
    assert large < small + 1000
    loaded = pickle.loads(pickle.dumps(kd))
    assert loaded.transform(RECORDS).shape == RECORDS.shape


def test_one_record_and_repeated_records_are_valid():
    for records in (RECORDS[:1], np.zeros((50, 2)), np.zeros((50, 6)), np.zeros((1, 6))):
        points = KdLaplace(3.0, bounds=BOX, random_state=0).fit_transform(records)
        assert np.isfinite(points).all()
        assert points.shape == records.shape


def test_memory_is_bounded():
    """Peak grows by less than 6 x the input, between 2 x 10^4 and 7 x 10^4 records of 9 columns."""
    import tracemalloc

    def peak(n):
        records = np.random.default_rng(0).uniform(-1.0, 1.0, (n, 9))
        tracemalloc.start()
        KdLaplace(4.0, bounds=BOX, random_state=0).fit_transform(records)
        result = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return result

    assert peak(70_000) - peak(20_000) < 6 * 50_000 * 9 * 8
