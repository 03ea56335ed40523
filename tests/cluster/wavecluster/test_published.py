"""The published techniques and density: they find clusters, and do what the proofs say of them."""

import itertools

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import adjusted_rand_score

from helpers.kmeans_problems import FIVE, blobs
from helpers.wavecluster_problems import in_cells, wave_problem
from shoal.cluster import DPWaveCluster
from shoal.cluster.wavecluster import _published
from shoal.cluster.wavecluster._oneshot import density
from shoal.cluster.wavecluster._published import (
    _consistent,
    _positive_chance,
    _synthetic_counts,
    baseline,
    priv_thr,
    priv_thr_em,
)
from shoal.datasets import make_spirals
from shoal.engines import grid_counts
from shoal.noise import SeededSource, discrete_laplace, distributions

SPIRALS = make_spirals(30_000, random_state=0)
BLOBS = blobs(20_000, spread=0.04)
BLOB = ((BLOBS[:, None] - FIVE) ** 2).sum(axis=2).argmin(axis=1)


def agreement(X, truth, **kwargs):
    """Adjusted Rand index with the shapes that the records were drawn from, for five seeds."""
    model = DPWaveCluster(bounds=(-1.0, 1.0), **kwargs)
    labels = [model.set_params(random_state=seed).fit_predict(X) for seed in range(5)]
    return np.array([adjusted_rand_score(truth, found) for found in labels])


@pytest.mark.parametrize(
    ("technique", "epsilon"),
    [("oneshot", 1.0), ("oneshot", 3.0), ("thr", 1.0), ("thr-em", 1.0), ("qt", 5.0)],
)
def test_arms_of_spirals(technique, epsilon):
    kwargs = {"technique": technique, "epsilon": epsilon, "grid": 64, "threshold": 0.3}
    found = agreement(SPIRALS.X, SPIRALS.y, **kwargs)
    assert np.median(found) > 0.9
    assert (found > 0.9).sum() >= 4


@pytest.mark.parametrize(
    ("technique", "epsilon"),
    [
        *(("oneshot", 1.0), ("thr", 1.0), ("thr-em", 5.0), ("density", 1.0)),
        *(("qt", 5.0), ("baseline", 5.0), ("oneshot", 5.0), ("density", 5.0)),
    ],
)
def test_round_clusters(technique, epsilon):
    found = agreement(BLOBS, BLOB, technique=technique, epsilon=epsilon, grid=32)
    assert (found > 0.9).sum() >= 4


@pytest.mark.full
@pytest.mark.parametrize("technique", ["oneshot", "density"])
def test_other_wavelets(technique, subtests):
    """Filters with negative weights lose some of a cluster's border; noise takes no more."""
    for wavelet in ["db2", "bior2.2", "sym5"]:
        with subtests.test(wavelet=wavelet):
            kwargs = {"bounds": (-1.0, 1.0), "grid": 32, "wavelet": wavelet}
            true = DPWaveCluster(epsilon=np.inf, **kwargs).fit_predict(BLOBS)
            kwargs = {"grid": 32, "wavelet": wavelet, "technique": technique, "epsilon": 2.0}
            found = agreement(BLOBS, BLOB, **kwargs)
            assert np.median(found) > adjusted_rand_score(BLOB, true) - 0.05
            assert found.min() > 0.7


# thr


def test_chance_that_noise_lifts_an_empty_block(subtests):
    """Against 200,000 blocks of noise; false alarm 10^-6."""
    for budget in [0.1, 0.5, 1.0, 3.0]:
        for columns, level in [(1, 1), (2, 1), (3, 1), (1, 3)]:
            with subtests.test(budget=budget, columns=columns, level=level):
                problem = wave_problem(np.zeros((1, columns)), grid=8, level=level)
                cells, trials = problem.band.block**columns, 200_000
                noise = discrete_laplace(
                    (trials, cells), scale=1 / budget, source=SeededSource(cells)
                )
                lifted = int((noise.sum(axis=1) > 0).sum())
                chance = _positive_chance(problem, budget)
                assert stats.binomtest(lifted, trials, chance).pvalue > 1e-6
                assert chance < 0.5


def test_thr_takes_off_what_noise_makes():
    """Forty cells of 30 in 1024 blocks: about 0.9 x 40 are kept, of 500 that look positive."""
    counts = np.zeros((64, 64), dtype=np.int64)
    counts[:8:2, :20:2] = 30
    kept = [len(priv_thr(wave_problem(in_cells(counts), grid=64, seed=s)).codes) for s in range(20)]
    # The number of empty cells has noise of scale 10 at epsilon 1.
    assert np.mean(kept) == pytest.approx(36, abs=15)
    assert max(kept) < 120


# thr-em


@pytest.fixture
def penalties(monkeypatch):
    """Penalties that the exponential mechanism is given; the last candidate is chosen."""
    seen = []

    def last(values, *, rate, source):
        seen.append(np.asarray(values))
        return len(values) - 1

    monkeypatch.setattr(distributions, "exponential_choice", last)
    return seen


def shown(counts, monkeypatch):
    """Show these noisy counts, whatever the true ones are."""
    monkeypatch.setattr(_published, "noisy_counts", lambda problem, budget: counts)


def test_candidates_do_not_depend_on_the_true_maximum(penalties, monkeypatch):
    shown(np.arange(64).reshape(8, 8), monkeypatch)
    thresholds = []
    for full in (1, 50, 5000):
        counts = np.zeros((8, 8), dtype=np.int64)
        counts[0, 0] = full
        thresholds.append(priv_thr_em(wave_problem(in_cells(counts), grid=8)).threshold)
    noisy_top = 54 + 55 + 62 + 63
    assert thresholds == [noisy_top] * 3
    assert {len(seen) for seen in penalties} == {noisy_top}


@pytest.mark.parametrize("wavelet", ["haar", "db2", "bior2.2"])
def test_one_record_moves_a_penalty_by_no_more_than_it_touches(
    wavelet, penalties, monkeypatch, subtests
):
    """One record more in each of the cells, and the noisy counts as they were; in integers."""
    for threshold in [0.0, 0.37]:
        with subtests.test(threshold=threshold):
            rng = np.random.default_rng(5)
            shown(rng.integers(-3, 12, (8, 8)), monkeypatch)
            kwargs = {"grid": 8, "wavelet": wavelet, "threshold": threshold}
            monkeypatch.setattr(_published, "MAX_CANDIDATES", 1 << 10)
            moved = set()
            counts = rng.integers(0, 4, (8, 8)) * (rng.random((8, 8)) < 0.4)
            touched = wave_problem(in_cells(counts), **kwargs).band.touched
            priv_thr_em(wave_problem(in_cells(counts), **kwargs))
            before = penalties[-1]
            assert before.dtype.kind == "i"
            for cell in itertools.product(range(8), repeat=2):
                more = counts.copy()
                more[cell] += 1
                priv_thr_em(wave_problem(in_cells(more), **kwargs))
                moved.add(int(np.abs(penalties[-1] - before).max()))
            assert 1 <= max(moved) <= touched


# baseline


def test_parts_are_consistent_with_their_coarse_counts():
    """Their sum is the weighted mean, and has less noise than either; in 20,000 draws."""
    trials, parts, wide, narrow = 20_000, 4, 3.0, 1.0
    rng = np.random.default_rng(6)
    owner = np.repeat(np.arange(trials), parts)
    coarse = np.rint(400 + wide * rng.standard_normal(trials)).astype(np.int64)
    fine = np.rint(100 + narrow * rng.standard_normal(trials * parts)).astype(np.int64)
    estimate = _consistent(coarse, fine, owner, wide, narrow)
    sums = estimate.reshape(trials, parts).sum(axis=1)
    trust = 1 / wide**2, 1 / (parts * narrow**2)
    own = fine.reshape(trials, parts).sum(axis=1)
    expected = (trust[0] * coarse + trust[1] * own) / sum(trust)
    assert sums == pytest.approx(expected)
    assert sums.var() < min(coarse.var(), own.var())
    assert sums.var() == pytest.approx(1 / sum(trust), rel=0.1)  # rounding adds 1/12
    assert estimate.var() < fine.var()


def test_one_part_of_its_own():
    estimate = _consistent(np.array([10, 0]), np.array([20, 1, 3]), np.array([0, 1, 1]), 1.0, 1.0)
    assert estimate.tolist() == pytest.approx([15.0, 1 - 4 / 3, 3 - 4 / 3])


@pytest.mark.parametrize("chunk", [7, 1 << 20])
def test_synthetic_records_stay_in_their_parts(chunk, monkeypatch):
    monkeypatch.setattr(_published, "CHUNK", chunk)
    problem = wave_problem(np.zeros((1, 2)), grid=8)
    sides = np.array([1, 2, 4, 2])
    drawn = np.arange(1 + 4 + 16 + 4)
    counts = _synthetic_counts(problem, 2, sides, drawn)
    assert counts.sum() == drawn.sum()
    corners = {0: (0, 0, 0), 1: (0, 4, 1), 2: (4, 0, 5), 3: (4, 4, 21)}
    for cell, (row, column, first) in corners.items():
        cut = sides[cell]
        block = counts[row : row + 4, column : column + 4]
        found = block.reshape(cut, 4 // cut, cut, 4 // cut).sum(axis=(1, 3))
        assert found.ravel().tolist() == drawn[first : first + cut**2].tolist()


def test_synthetic_records_are_spread_evenly():
    """Chi-square over the cells of one part; false alarm 10^-6."""
    problem = wave_problem(np.zeros((1, 2)), grid=16)
    counts = _synthetic_counts(problem, 1, np.array([1]), np.array([50_000]))
    assert stats.chisquare(counts.ravel()).pvalue > 1e-6


@pytest.mark.parametrize("n", [1, 10**12])
def test_a_public_number_is_taken_at_its_word(n):
    cells = baseline(wave_problem(BLOBS[:500], n=n, grid=32, epsilon=5.0))
    assert cells.all_values.sum() < 10**6


# density


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_neighborhoods_are_summed(columns):
    rng = np.random.default_rng(columns)
    problem = wave_problem(
        rng.uniform(-1, 1, (400, columns)), grid=8, epsilon=200.0, min_samples=20
    )
    counts = grid_counts(problem.engine, (4,) * columns, problem.half)
    cells = density(problem)
    padded = np.pad(counts, 1)
    for place in itertools.product(range(4), repeat=columns):
        around = padded[tuple(slice(p, p + 3) for p in place)].sum()
        assert cells.all_values[place] == around
    dense = (cells.all_values >= cells.threshold) & (counts > 0)
    assert cells.codes.tolist() == np.flatnonzero(dense).tolist()
    assert cells.threshold == pytest.approx(20, abs=0.1)


def test_an_empty_cell_beside_a_crowd_is_not_part_of_it():
    counts = np.zeros((8, 8), dtype=np.int64)
    counts[2, 2] = counts[4, 4] = 500
    problems = [wave_problem(in_cells(counts), grid=8, epsilon=5.0, seed=s) for s in range(20)]
    found = [density(problem).codes.tolist() for problem in problems]
    # Noise lifts one of 14 empty cells in every tenth fit.
    assert sum(codes == [5, 10] for codes in found) >= 14
