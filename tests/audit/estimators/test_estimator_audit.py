"""The audit of estimators: single audits at confidence 0.999, so 0.1% false alarms each."""

import pickle
import sys

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import clone

from helpers.toy_estimators import (
    ListedInAnyOrder,
    ManyOrFew,
    NoisyCount,
    NoisyMean,
    OnlyNoise,
    PromisesTooMuch,
    SkipsEmptyClusters,
    StartsFromRecords,
    UnclippedMean,
)
from shoal.audit import EstimatorAudit, Neighbors, audit_estimator, neighboring_datasets
from shoal.cluster import DPKMeans
from shoal.exceptions import ParameterError
from shoal.privacy import Adjacency, Guarantee, Ledger

FAR = Neighbors("far", records=[[-0.5]] * 40, added=[0.5])
CORNER = Neighbors("corner", records=[[0.0]] * 40, added=[1.0])
OUTSIDE = Neighbors("outside", records=[[0.0]] * 40, added=[50.0])
ONE = Neighbors("one", records=[[0.0], [0.0]], added=[0.25])


def kmeans(k, kind=DPKMeans, **kwargs):
    kwargs = {"epsilon": 1.0, "max_iter": 1, "n_public": 40, "method": "lloyd", **kwargs}
    return kind(k, bounds=(-1.0, 1.0), **kwargs)


# Bugs planted in DPKMeans


def test_a_third_of_the_noise_is_caught():
    audit = audit_estimator(kmeans(1, PromisesTooMuch), [CORNER], runs=400, random_state=0)
    assert audit.claimed == 1.0
    assert audit.exceeds(), str(audit)


@pytest.mark.full
def test_no_noise_on_empty_clusters_is_caught():
    model = kmeans(2, SkipsEmptyClusters, max_iter=2)
    audit = audit_estimator(model, [FAR], runs=350, random_state=0)
    assert audit.exceeds(), str(audit)


def test_the_unbroken_one_is_cleared():
    pairs = list(neighboring_datasets((-1.0, 1.0)))[::8]
    audit = audit_estimator(kmeans(2), pairs, runs=200, search_runs=20, random_state=0)
    assert not audit.exceeds(), str(audit)


@pytest.mark.full
@pytest.mark.parametrize(("k", "delta"), [(1, 0.0), (3, 0.0), (2, 1e-3)])
def test_the_unbroken_one_is_cleared_with_many_runs(k, delta):
    model = kmeans(k, max_iter=2, delta=delta)
    audit = audit_estimator(model, runs=1500, random_state=k)
    assert not audit.exceeds(), str(audit)
    assert audit.delta == delta


# Bugs in toys


def test_noisy_mean_is_cleared_and_bounded_closely():
    pair = Neighbors("corner", records=np.zeros((40, 3)), added=np.ones(3))
    audit = audit_estimator(NoisyMean(2.0), [pair], runs=4000, random_state=2)
    assert not audit.exceeds(), str(audit)
    # Size and sum have half of epsilon each: a bound above that must have joined the two.
    # Seen: 1.10 to 1.24, and 0.91 to 0.97 without the learned combinations.
    assert audit.epsilon > 1.0, str(audit)


def test_noisy_mean_of_records_outside_the_box_is_cleared():
    audit = audit_estimator(NoisyMean(1.0), [OUTSIDE], runs=1000, random_state=0)
    assert not audit.exceeds(), str(audit)


def test_sums_that_are_not_clipped_are_caught():
    audit = audit_estimator(UnclippedMean(1.0), [CORNER, OUTSIDE], runs=1000, random_state=0)
    assert audit.exceeds(), str(audit)
    assert audit.worst == "outside"


def test_centers_that_start_from_records_are_caught():
    audit = audit_estimator(StartsFromRecords(1.0), [ONE], runs=3000, random_state=0)
    assert audit.exceeds(1.5), str(audit)


def test_centers_listed_in_any_order_hide_nothing():
    pair = Neighbors("one more", records=[[0.0]], added=[12.0])
    audit = audit_estimator(ListedInAnyOrder(3.0), [pair], runs=2000, random_state=0)
    assert 2.0 < audit.epsilon <= 3.0, str(audit)


@pytest.mark.parametrize("words", [False, True])
def test_numbers_of_values_and_words_may_leak(words):
    audit = audit_estimator(ManyOrFew(1.0, words=words), [ONE], runs=200, random_state=0)
    assert audit.exceeds(2.0), str(audit)


# The rate of false alarms


def test_false_alarms_are_no_more_than_allowed():
    """100 audits of two pairs each, of a claim that is exact; red by chance once in 1000.

    Seen: no alarm where 20 are allowed. Exact limits on both probabilities are wider than need be.
    """
    epsilon, confidence, audits = 2.0, 0.9, 100
    pairs = [Neighbors(f"n = {n}", records=np.zeros((n, 1)), added=[0.0]) for n in (1, 5)]
    streams = np.random.SeedSequence(1).spawn(audits)
    bounds = []
    for stream in streams:
        model = NoisyCount(epsilon, rng=np.random.default_rng(stream))
        audit = audit_estimator(model, pairs, runs=100, confidence=confidence, search=False)
        bounds.append(audit.epsilon)
    alarms = np.sum(np.array(bounds) > epsilon)
    assert alarms <= binom.ppf(0.999, audits, 1 - confidence)
    # The other side: the bounds are not low beyond need.
    assert np.median(bounds) > 0.4 * epsilon


@pytest.mark.full
def test_columns_learned_by_heart_raise_no_alarm():
    """5 audits of a release of noise alone; a search that saw the counted half would fail all."""
    alarms = 0
    for seed in range(5):
        audit = audit_estimator(OnlyNoise(0.0), [ONE], runs=100, confidence=0.9, random_state=seed)
        alarms += audit.exceeds()
    assert alarms <= binom.ppf(0.999, 5, 0.1)


def test_the_pairs_share_the_confidence():
    pairs = [CORNER, FAR, ONE]
    audit = audit_estimator(
        NoisyCount(1.0), pairs, runs=100, confidence=0.97, random_state=0, search=False
    )
    assert list(audit.results) == [pair.name for pair in pairs]
    assert not audit.searched
    assert audit.confidence == 0.97
    for result in audit.results.values():
        assert result.confidence == pytest.approx(0.99)
        assert result.samples == 100


def test_delta_of_the_guarantee_is_taken_off():
    """A release that gives the record away with probability delta keeps (0, delta)."""

    class Rarely(NoisyCount):
        def fit(self, X):
            super().fit(X)
            self.guarantee_ = Guarantee("central", epsilon=self.epsilon, delta=0.2)
            return self

        def draw(self, X, rng):
            return {"leak": float(len(X) > 2 and rng.random() < 0.15)}

    audit = audit_estimator(Rarely(0.1), [ONE], runs=2000, random_state=0)
    assert (audit.delta, audit.epsilon) == (0.2, 0.0)


# Seeds, processes, ledgers


@pytest.mark.full
def test_the_result_does_not_depend_on_the_number_of_processes(monkeypatch):
    monkeypatch.setattr(sys.modules["shoal.audit.estimators._fits"], "PIECE", 30)
    model = kmeans(1)
    one, two = (
        audit_estimator(
            model, [CORNER, FAR], runs=100, search_runs=20, random_state=5, n_jobs=n_jobs
        )
        for n_jobs in (1, 2)
    )
    assert dict(one.results) == dict(two.results)
    assert dict(one.searched) == dict(two.searched)


def test_every_fit_has_a_seed_of_its_own():
    seen = []

    class Remembers(NoisyCount):
        def draw(self, X, rng):
            seen.append((self.random_state, len(X)))
            return super().draw(X, rng)

    for random_state in (3, 3, 4):
        audit_estimator(
            Remembers(1.0), [FAR, CORNER], runs=150, random_state=random_state, search=False
        )
    first, again, other = (seen[i : i + 601] for i in (0, 601, 1202))
    assert first == again
    # The first fit reads the guarantee, and its release is not used.
    seeds = {seed for seed, _ in first[1:]}
    assert len(seeds) == 600
    assert seeds.isdisjoint({seed for seed, _ in other})
    assert [size for _, size in first[1:]] == ([40] * 150 + [41] * 150) * 2


def test_without_a_seed_the_randomness_is_the_estimators_own():
    states = []

    class Remembers(NoisyCount):
        def draw(self, X, rng):
            states.append(self.random_state)
            return super().draw(X, rng)

    audit_estimator(Remembers(1.0, random_state=7), [FAR], runs=100)
    assert set(states) == {None}


def test_the_estimator_and_its_ledger_are_left_alone():
    ledger = Ledger(epsilon=1.0)
    model = kmeans(1, ledger=ledger, random_state=9)
    before = dict(vars(model))
    audit_estimator(model, [CORNER], runs=100, random_state=0)
    assert len(ledger) == 0
    assert vars(model) == before
    assert clone(model).ledger is ledger


def test_statistic_replaces_the_columns():
    def first_center(release, pair):
        return release.values["centers"][0] - pair.added

    audit = audit_estimator(
        UnclippedMean(1.0), [OUTSIDE], runs=500, statistic=first_center, random_state=0
    )
    assert "statistic" in audit.results["outside"].event


def test_too_many_columns_are_reduced_to_those_that_differ():
    class Wide(NoisyCount):
        def draw(self, X, rng):
            noise = rng.random(300)
            noise[217] += 10 * len(X)
            return {"cells": noise}

    audit = audit_estimator(Wide(1.0), [ONE], runs=100, random_state=0)
    assert audit.exceeds()


# The result


def test_result_in_sentences():
    audit = audit_estimator(NoisyCount(3.0), [CORNER, ONE], runs=1000, random_state=0, search=False)
    head, *lines = str(audit).splitlines()
    assert head == "at 99.9% confidence for all pairs together (claimed: epsilon 3, delta 0)"
    assert [line.partition(":")[0] for line in lines] == ["corner", "one"]
    assert "record)" in lines[0]
    assert "count" in lines[0]
    assert "more than claimed" not in str(audit)
    assert audit.exceeds(0.5) is True
    copy = pickle.loads(pickle.dumps(audit))
    assert str(copy) == str(audit)


def test_no_claim_no_verdict():
    class Silent(NoisyCount):
        def fit(self, X):
            super().fit(X)
            self.guarantee_ = Guarantee.none("for a test")
            return self

    audit = audit_estimator(Silent(1.0), [ONE], runs=100, random_state=0)
    assert audit.claimed is None
    assert "nothing claimed" in str(audit)
    assert audit.exceeds(0.0) == (audit.epsilon > 0)
    with pytest.raises(ParameterError, match="claims no epsilon"):
        audit.exceeds()
    with pytest.raises(ParameterError, match="at least one pair"):
        EstimatorAudit({}, confidence=0.9)


# Mistakes


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"runs": 99}, "runs must be an integer >= 100, got 99"),
        ({"runs": 1e4}, "runs must be an integer"),
        ({"search_runs": 19}, "search_runs must be an integer >= 20, got 19"),
        ({"search": 1}, "search must be True or False, got 1"),
        ({"progress": "bar"}, "progress must be a callable or None, got 'bar'"),
        ({"confidence": 1.0}, "confidence must be between 0 and 1"),
        ({"statistic": "mean"}, "statistic must be a callable or None"),
        ({"random_state": -1}, "random_state must be None"),
        ({"random_state": np.random.default_rng(0)}, "random_state must be None"),
        ({"pairs": []}, "pairs must be Neighbors, at least one"),
        ({"pairs": [(np.zeros((1, 1)), np.zeros((2, 1)))]}, "pairs must be Neighbors"),
        ({"pairs": [ONE, ONE]}, "pairs must have different names"),
    ],
)
def test_parameters(words, message):
    with pytest.raises(ParameterError, match=message):
        audit_estimator(NoisyCount(1.0), **words)


def test_estimators_that_cannot_be_audited():
    with pytest.raises(ParameterError, match="estimator must have fit and get_params, got float"):
        audit_estimator(1.0, [ONE])

    class Unseeded(NoisyCount):
        def __init__(self, epsilon=1.0):
            self.epsilon = epsilon

        def fit(self, X):
            return self

    with pytest.raises(ParameterError, match="random_state must be None for an estimator without"):
        audit_estimator(Unseeded(), [ONE], random_state=0)
    with pytest.raises(
        ParameterError, match="must have public bounds to be audited, got none: pass pairs"
    ):
        audit_estimator(Unseeded())
    with pytest.raises(ParameterError, match=r"estimator must have release_\.values after fit"):
        audit_estimator(Unseeded(), [ONE])


def test_promises_about_other_neighbors():
    class Substitute(NoisyCount):
        def fit(self, X):
            super().fit(X)
            self.guarantee_ = Guarantee(
                "central", epsilon=self.epsilon, adjacency=Adjacency.SUBSTITUTE
            )
            return self

    with pytest.raises(ParameterError, match="central privacy under add/remove"):
        audit_estimator(Substitute(1.0), [ONE])
