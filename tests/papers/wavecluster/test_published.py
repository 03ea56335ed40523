"""DP-WaveCluster as published promises nothing, and its parts are the source's own."""

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

from shoal.cluster import DPWaveCluster
from shoal.exceptions import DataError, ParameterError
from shoal.papers.wavecluster import (
    TECHNIQUES,
    PublishedWaveCluster,
    draw_threshold,
    haar_band,
    threshold_partitions,
)

RNG = np.random.default_rng(11)
X = np.vstack([RNG.normal(0.3, 0.05, (2000, 2)), RNG.normal(0.7, 0.05, (2000, 2))])
PARAMETERS = {"epsilon": 1.0, "grid": 16, "threshold": 0.2}


def test_band_is_half_the_sum_of_four_cells():
    counts = RNG.integers(0, 9, (8, 8)).astype(float)
    by_hand = [
        [counts[2 * i : 2 * i + 2, 2 * j : 2 * j + 2].sum() / 2 for j in range(4)] for i in range(4)
    ]
    assert np.array_equal(haar_band(counts), by_hand)
    assert haar_band(np.array([3.0, 1.0]))[0] == pytest.approx(4 / math.sqrt(2))
    assert haar_band(np.ones((2, 2, 2))).item() == pytest.approx(8 / 2**1.5)


def test_partitions_against_their_definition(subtests):
    """Weigh evenly spaced candidates one by one; a rank counts the values that reach one."""
    for values, epsilon, k in [
        ([0.5], 1.0, 1),
        ([2.0, 0.5, 2.0, 7.5, 1.0], 0.03, 2),
        ([2.0, 0.5, 2.0, 7.5, 1.0], 6.0, 1),
        ([3.0] * 4, 1.0, 2),
        ([1.0, 2.0, 3.0], 1.0, 2),
    ]:
        with subtests.test(values=values, epsilon=epsilon, k=k):
            table = np.array(values)
            found = threshold_partitions(table, k=k, epsilon=epsilon)
            top = max(values)
            candidates = (np.arange(150_000) + 0.5) * top / 150_000  # no edge falls on one
            ranks = (table[:, None] >= candidates).sum(axis=0)
            weights = np.exp(-epsilon / 2 * np.abs(ranks - k))
            weights /= weights.sum()
            assert found.low[0] == 0.0
            assert found.high[-1] == top
            assert np.array_equal(found.low[1:], found.high[:-1])
            for low, high, rank, chance in zip(*found, strict=True):
                inside = (candidates > low) & (candidates <= high)
                assert set(ranks[inside]) == {rank}
                assert chance == pytest.approx(weights[inside].sum(), abs=1e-9)


def test_partitions_where_weights_underflow():
    values = np.arange(1.0, 3001.0)
    found = threshold_partitions(values, k=10, epsilon=1000.0)
    assert found.ranks[found.chances.argmax()] == 10
    assert found.chances.sum() == pytest.approx(1.0)


def test_thresholds_follow_the_partitions():
    """Chi-square over partitions and uniformity within them, each false alarm 1e-4."""
    found = threshold_partitions(np.array([1.0, 2.0, 2.0, 6.0]), k=2, epsilon=1.0)
    generator = np.random.default_rng(0)
    drawn = np.array([draw_threshold(found, generator) for _ in range(20_000)])
    assert drawn.min() > 0
    assert drawn.max() <= 6.0
    which = np.searchsorted(found.high, drawn)
    assert stats.chisquare(np.bincount(which), found.chances * len(drawn)).pvalue > 1e-4
    inside = (drawn - found.low[which]) / (found.high - found.low)[which]
    assert stats.kstest(inside, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_nothing_is_promised_and_seeds_repeat(technique):
    method = PublishedWaveCluster(technique, random_state=3, **PARAMETERS)
    fitted = clone(method).fit(X)
    assert fitted.cells_.shape == (8, 8)
    assert fitted.n_significant_ == (fitted.cells_ >= 0).sum() > 0
    assert fitted.n_clusters_ == fitted.cells_.max() + 1
    assert np.array_equal(fitted.cells_ >= 0, haar_band(fitted.counts_) >= fitted.threshold_)
    assert np.array_equal(fitted.bounds_.low, X.min(axis=0))
    again = clone(method).fit(X)
    assert np.array_equal(fitted.counts_, again.counts_)
    assert fitted.threshold_ == again.threshold_
    other = clone(method).set_params(random_state=4).fit(X)
    assert not np.array_equal(fitted.counts_, other.counts_)
    for promise in (method.guarantee_, fitted.guarantee_):
        assert promise.notion == "none"
        assert not promise.holds
        assert promise.reason.startswith("as published, no guarantee: ")
        assert "low bits" in promise.reason
        assert "changes two counts" in promise.reason
        assert "box is taken from the records" in promise.reason
        assert ("true maximum" in promise.reason) == (technique == "thr-em")
        assert ("number of records" in promise.reason) == (technique == "baseline")
    public = clone(method).set_params(bounds=(0.0, 1.0)).fit(X)
    assert "box" not in public.guarantee_.reason
    assert public.bounds_.high.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_next_to_no_noise_gives_wavecluster_itself(technique):
    """At so large an epsilon counts are true; thresholds are drawn just below the k-th value."""
    # The baseline rounds, so that less will do; its grids grow with epsilon.
    epsilon = 300.0 if technique == "baseline" else 3e4
    parameters = {**PARAMETERS, "epsilon": epsilon, "bounds": (0.0, 1.0)}
    fitted = PublishedWaveCluster(technique, random_state=0, coarse=16, **parameters).fit(X)
    plain = DPWaveCluster(**{**parameters, "epsilon": math.inf}).fit(X)
    true = np.asarray(plain.release_.values["band"]) / 2
    assert np.allclose(haar_band(fitted.counts_), true, atol=0.01)
    lifted = (haar_band(fitted.counts_) > 0).sum() - (true > 0).sum()
    if technique in ("thr-em", "baseline"):
        assert np.array_equal(fitted.cells_, plain.cells_)
        assert np.array_equal(fitted.labels_, plain.labels_)
    else:
        # However small, noise lifts half of the zeros: PrivTHR takes off half of them, PrivQT none.
        zeros = (true <= 0).sum()
        assert 0.2 * zeros < lifted < 0.8 * zeros
        excess = lifted - (round(zeros / 2) if technique == "thr" else 0)
        wanted = (1 - PARAMETERS["threshold"]) * ((true > 0).sum() + excess)
        assert fitted.n_significant_ == math.ceil(wanted - 1e-9)


def test_scales_of_the_noise(monkeypatch):
    scales = {}
    real = np.random.default_rng

    def listening(seed):
        generator = real(seed)

        class Listening:
            def laplace(self, location, scale, size=None):
                scales.setdefault(name, []).append((scale, size))
                return generator.laplace(location, scale, size)

            def __getattr__(self, name):
                return getattr(generator, name)

        return Listening()

    monkeypatch.setattr(np.random, "default_rng", listening)
    for name in ("qt", "thr", "thr-em", "baseline"):
        PublishedWaveCluster(name, random_state=0, **{**PARAMETERS, "epsilon": 0.5}).fit(X)
    cells = (16, 16)
    assert scales["qt"] == [(2.0, cells)]
    assert scales["thr"] == [(pytest.approx(1 / 0.45), cells), (pytest.approx(20.0), None)]
    assert scales["thr-em"] == [(pytest.approx(1 / 0.35), cells)]
    assert [scale for scale, _ in scales["baseline"]] == [4.0, 4.0]
    assert scales["baseline"][0][1] == 100


def test_half_of_a_noisy_number_of_zeros_is_taken_off():
    """32 of 64 blocks hold 100 records each, so 16 values of L' are expected to go."""
    full = np.array(
        [[(i + 0.5) / 16, (j + 0.5) / 16] for i in range(0, 16, 2) for j in range(0, 8, 2)]
    )
    table = np.repeat(full, 100, axis=0)
    method = PublishedWaveCluster("thr", epsilon=5.0, grid=16, threshold=0.0, bounds=(0.0, 1.0))
    found = [clone(method).set_params(random_state=seed).fit(table) for seed in range(200)]
    gone = [(haar_band(one.counts_) > 0).sum() - one.n_significant_ for one in found]
    # Half of Laplace noise of scale 2, rounded: a standard error of 0.1; false alarm below 1e-5.
    assert np.mean(gone) == pytest.approx(16.0, abs=0.5)
    assert len(set(gone)) > 3


def test_ties_at_the_threshold_are_all_kept():
    """Blocks of 8, 4, 4, 4 and 2: the top 40% of 5 are 2 values, and 4 is reached by 4."""
    blocks = [(0, 8), (1, 4), (2, 4), (3, 4), (4, 2)]
    table = np.repeat(
        [[(2 * block + 0.5) / 16, 0.01] for block, _ in blocks], [n for _, n in blocks], axis=0
    )
    parameters = {"grid": 16, "threshold": 0.6, "bounds": (0.0, 1.0)}
    assert DPWaveCluster(epsilon=math.inf, **parameters).fit(table).n_significant_ == 4
    # Thresholds that reach down to 4 have rank 4, so the mechanism must keep the block of 8 only
    # (rank 1) or all four (rank 4): ranks 2 and 3 have no candidate.
    true = np.array([4.0, 2.0, 2.0, 2.0, 1.0])
    assert threshold_partitions(true, k=2, epsilon=1.0).ranks.tolist() == [5, 4, 1]


def test_errors(subtests):
    for changed, table, error, message in [
        ({"technique": "oneshot"}, X, ParameterError, "technique must be one of"),
        ({"epsilon": math.inf}, X, ParameterError, "epsilon must be a finite number > 0"),
        ({"grid": 15}, X, ParameterError, "grid must be even, got 15: try 16"),
        ({"grid": 2**13}, X, ParameterError, "grid must have at most 16777216 cells"),
        ({"threshold": 1.0}, X, ParameterError, "threshold must be"),
        ({"coarse": 0}, X, ParameterError, "coarse must be"),
        ({"bounds": (1.0, 0.0)}, X, ParameterError, "bounds must have low < high"),
        ({"technique": "baseline"}, X[:, :1], DataError, "X must have 2 columns for the baseline"),
        (
            {"technique": "baseline", "epsilon": 1e6, "coarse": 10},
            X,
            ParameterError,
            "epsilon must be smaller",
        ),
        ({"technique": "baseline", "epsilon": 1e-6}, X, ParameterError, "epsilon must be larger"),
        ({}, np.ones((5, 2)), DataError, "X must vary in every column"),
    ]:
        with (
            subtests.test(changed=changed, table=table, error=error, message=message),
            pytest.raises(error, match=message.replace("(", r"\(")),
        ):
            PublishedWaveCluster(**{**PARAMETERS, "random_state": 0, **changed}).fit(table)
