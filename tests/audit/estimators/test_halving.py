"""The search for the worst pair, progress, and what a picture needs.

Bounds are at confidence 0.999, so 0.1% false alarms each; seeds are fixed.
"""

import pickle

import numpy as np
import pytest

from helpers.toy_estimators import NoisyCount, NoisyMean, PromisesTooMuch, Toy, UnclippedMean
from shoal.audit import Neighbors, audit_estimator, neighboring_datasets
from shoal.audit.estimators._halving import plan

BOX = (-1.0, 1.0)


class LeaksFarRecords(Toy):
    """A count with noise, but a record far from all others is told as it is."""

    def draw(self, X, rng):
        rows = np.unique(X, axis=0)
        alone = [np.linalg.norm(X - row, axis=1) for row in rows]
        far = sum(np.sort(gaps)[1:2].min(initial=9.0) > 2.0 for gaps in alone if len(X) > 10)
        return {"count": len(X) + rng.geometric(0.6) - rng.geometric(0.6), "far": float(far)}


class LeaksDuplicates(Toy):
    """Exact number of copies of the commonest record, where there are more than a hundred."""

    def draw(self, X, rng):
        most = np.unique(X, axis=0, return_counts=True)[1].max()
        return {"most": float(most) if most > 100 else 0.0, "noise": rng.random()}


@pytest.mark.parametrize(
    ("model", "found"),
    [
        (LeaksFarRecords(1.0), "corner, many others in the opposite one"),
        (LeaksDuplicates(1.0), "beside very many duplicates"),
    ],
)
def test_the_one_pair_that_shows_it_is_found(model, found):
    audit = audit_estimator(model, runs=200, search_runs=20, random_state=0)
    assert audit.worst == audit.pair.name == found
    assert audit.exceeds(2.0), str(audit)
    assert max(audit.searched, key=audit.searched.get) == found
    assert list(audit.searched) == [pair.name for pair in neighboring_datasets(BOX)]
    assert set(audit.results) == {found}
    assert audit.results[found].confidence == 0.999


@pytest.mark.full
@pytest.mark.parametrize("seed", [0, 1])
def test_the_default_search_catches_a_third_of_the_noise(seed):
    """Where today's even share of 120 fits a table (as many in all) finds nothing."""
    model = PromisesTooMuch(1, epsilon=1.0, bounds=BOX, n_public=40, max_iter=1, method="lloyd")
    audit = audit_estimator(model, runs=600, search_runs=20, random_state=seed)
    assert audit.exceeds(), str(audit)


@pytest.mark.full
def test_the_default_search_clears_what_is_right():
    audit = audit_estimator(NoisyMean(1.0), runs=1000, search_runs=20, random_state=0)
    assert not audit.exceeds(), str(audit)


def test_a_single_pair_needs_no_search():
    pair = Neighbors("one", records=[[0.0]], added=[0.5])
    audit = audit_estimator(NoisyCount(1.0), [pair], runs=100, random_state=0)
    assert not audit.searched
    assert audit.pair is pair


def test_fresh_fits_are_counted():
    """Seeds of the search and of the bound differ, all of them; the search halves and doubles."""
    seen = []

    class Remembers(NoisyCount):
        def draw(self, X, rng):
            seen.append((len(X), self.random_state))
            return super().draw(X, rng)

    pairs = [Neighbors(f"n = {n}", np.zeros((n, 1)), [0.0]) for n in (1, 10, 20, 30, 40)]
    audit = audit_estimator(Remembers(1.0), pairs, runs=300, search_runs=20, random_state=3)
    fits = seen[1:]
    assert len({seed for _, seed in fits}) == len(fits)
    search, counted = fits[:-600], fits[-600:]
    assert [size for size, _ in counted] == [len(audit.pair.records)] * 300 + [
        len(audit.pair.with_added)
    ] * 300
    by_pair = [sum(size // 10 == n // 10 for size, _ in search) for n in (1, 10, 20, 30, 40)]
    assert sorted(by_pair) == [40, 40, 80, 160, 160]


def test_rounds_are_laid_out_beforehand():
    assert plan(1, 80) == []
    assert plan(2, 80) == [(2, 80)]
    assert plan(5, 80) == [(5, 80), (3, 80), (2, 160)]
    assert plan(100, 20) == [(100, 20), (50, 20), (25, 40)]


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.full)])
def test_progress_is_told_the_truth(n_jobs):
    told = []
    pairs = list(neighboring_datasets(BOX))[:6]
    audit_estimator(
        NoisyCount(1.0),
        pairs,
        runs=250,
        search_runs=20,
        random_state=0,
        n_jobs=n_jobs,
        progress=lambda *numbers: told.append(numbers),
    )
    total = 2 * (6 * 20 + 3 * 20 + 2 * 40 + 250)
    assert {of for _, of in told} == {total}
    done = [number for number, _ in told]
    assert done == sorted(set(done))
    assert done[-1] == total
    assert len(done) > 20


def test_an_error_in_progress_stops_the_audit():
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        audit_estimator(NoisyCount(1.0), runs=100, random_state=0, progress=stop)


def test_what_a_picture_needs():
    outside = Neighbors("outside", records=[[0.0]] * 40, added=[50.0])
    inside = Neighbors("inside", records=[[0.0]] * 40, added=[0.0])
    audit = audit_estimator(UnclippedMean(1.0), [inside, outside], runs=5000, random_state=0)
    assert audit.pair is outside
    evidence, result = audit.evidence, audit.results["outside"]
    assert evidence.event in result.event
    assert evidence.first.shape == evidence.second.shape == (2000,)
    compare = {">=": np.greater_equal, "<": np.less, ">": np.greater, "<=": np.less_equal}
    for values, frequency in ((evidence.first, result.p_first), (evidence.second, result.p_second)):
        share = compare[evidence.relation](values, evidence.threshold).mean()
        # 2,000 of the 2,500 that were counted.
        assert share == pytest.approx(frequency.value, abs=0.05)
    copy = pickle.loads(pickle.dumps(audit))
    assert dict(copy.searched) == dict(audit.searched)
    assert copy.pair.name == "outside"
    assert copy.evidence.event == evidence.event
    last = str(audit).splitlines()[-1]
    assert last.startswith("found among 2 pairs with few fits on each; these showed most: outside")
