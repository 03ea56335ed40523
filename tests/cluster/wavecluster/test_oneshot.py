"""Grids with more cells than memory: as if every cell had its noise, and the same clusters."""

import tracemalloc

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import adjusted_rand_score

from helpers.kmeans_problems import blobs, corners
from helpers.noise_distributions import FALSE_ALARM, two_sample_p
from helpers.noise_recorder import recording
from helpers.wavecluster_problems import in_cells, wave_problem
from shoal.cluster import DPWaveCluster
from shoal.cluster.wavecluster import _oneshot
from shoal.cluster.wavecluster._deconvolve import Significance
from shoal.cluster.wavecluster._oneshot import dense_values, one_shot_sparse
from shoal.exceptions import ParameterError
from shoal.noise import NoisyCells, distributions
from shoal.noise.distributions import free_codes
from shoal.privacy import Release

RUNS = 40


@pytest.fixture
def everything_kept(monkeypatch):
    """Show all that passes the limit, with a limit that many cells pass."""

    def keep(values, **kwargs):
        every = np.ones(len(values), dtype=bool)
        assert (
            kwargs["limit"] * kwargs["steps_per_record"]
        ).is_integer()  # whole steps of the noise
        return Significance(every, kwargs["limit"], every.astype(float), 1.0)

    monkeypatch.setattr(_oneshot, "significant", keep)
    monkeypatch.setattr(_oneshot, "_without_singles", lambda cells, problem: cells)
    monkeypatch.setattr(_oneshot, "FALSE_CELLS", 800.0)


def both_paths(counts, **kwargs):
    """Steps of the values that pass the limit, 0 elsewhere: (run, code) for both paths."""
    X = in_cells(counts)
    sparse, dense = [], []
    for run in range(RUNS):
        problem = wave_problem(X, seed=run, **kwargs)
        cells = one_shot_sparse(problem)
        assert (np.diff(cells.codes) > 0).all()
        steps = problem.band.sensitivity
        table = np.zeros(np.prod(problem.band.shape), dtype=np.int64)
        table[cells.codes] = np.rint(cells.values * steps)
        sparse.append(table)
        table = np.rint(dense_values(wave_problem(X, seed=RUNS + run, **kwargs)) * steps).ravel()
        dense.append(np.where(table >= round(cells.threshold * steps), table, 0).astype(np.int64))
    return np.array(sparse), np.array(dense)


@pytest.mark.usefixtures("everything_kept")
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
def test_same_law_as_noise_on_every_cell(epsilon):
    """Values of empty, nearly empty and full cells, how many pass and where; false alarm 10^-6."""
    rng = np.random.default_rng(1)
    held = rng.choice([0, 1, 4], (64, 64), p=[0.8, 0.1, 0.1])
    counts = np.zeros((128, 128), dtype=np.int64)
    counts[1::2, ::2] = held
    sparse, dense = both_paths(counts, grid=128, epsilon=epsilon)
    for count in (0, 1, 4):
        of = held.ravel() == count
        assert two_sample_p(sparse[:, of].ravel(), dense[:, of].ravel()) > FALSE_ALARM
    empty = held.ravel() == 0
    passed = (sparse[:, empty] > 0).sum(axis=1), (dense[:, empty] > 0).sum(axis=1)
    assert stats.ks_2samp(*passed).pvalue > FALSE_ALARM
    # Sums of some 60 cells that lie together.
    blocks = np.array_split((sparse[:, empty] > 0).sum(axis=0), 50)
    sizes = np.array([len(block) for block in blocks])
    found = np.array([block.sum() for block in blocks])
    assert stats.chisquare(found, found.sum() * sizes / sizes.sum()).pvalue > FALSE_ALARM


@pytest.mark.usefixtures("everything_kept")
def test_same_law_for_a_longer_filter():
    counts = np.zeros((64, 64), dtype=np.int64)
    counts[10:20, 30:40] = 3
    sparse, dense = both_paths(counts, grid=64, epsilon=1.0, wavelet="db2")
    step = 200  # of about 2^20: noise has many thousands of values
    assert two_sample_p(sparse.ravel() // step // 1000, dense.ravel() // step // 1000) > FALSE_ALARM
    assert stats.ks_2samp(sparse[sparse > 0], dense[dense > 0]).pvalue > FALSE_ALARM


@pytest.mark.usefixtures("everything_kept")
def test_cells_without_records_left_out_are_noticed(monkeypatch):
    """The bug planted: noise on touched values only."""
    nothing = np.empty(0, dtype=np.int64)
    none = NoisyCells(positions=nothing, values=nothing)
    monkeypatch.setattr(distributions, "noisy_cells_above", lambda *a, **k: none)
    counts = np.zeros((128, 128), dtype=np.int64)
    counts[::8, ::8] = 1
    sparse, dense = both_paths(counts, grid=128)
    assert two_sample_p(sparse.ravel(), dense.ravel()) < FALSE_ALARM


@pytest.mark.parametrize("wavelet", ["haar", "db2", "sym5"])
def test_touched_and_empty_values_have_noise_of_one_scale(wavelet, subtests):
    for epsilon in [0.1, 0.7, 3.0, 1 / 3]:
        with subtests.test(epsilon=epsilon):
            with recording() as tape:
                one_shot_sparse(wave_problem(np.zeros((5, 2)), wavelet=wavelet, epsilon=epsilon))
            first, second = tape.draws
            assert (first.sampler, second.sampler) == ("discrete_laplace", "noisy_cells_above")
            assert first.scale == second.scale


def test_positions_skip_the_taken_cells():
    rng = np.random.default_rng(2)
    for taken_share in (0.0, 0.1, 0.5, 0.9, 1.0):
        for _ in range(20):
            size = int(rng.integers(1, 60))
            taken = np.flatnonzero(rng.random(size) < taken_share)
            free = [code for code in range(size) if code not in set(taken.tolist())]
            found = free_codes(np.arange(len(free)), taken)
            assert found.tolist() == free
    assert free_codes(np.array([2**61]), np.array([0, 5, 2**61, 2**61 + 9])).tolist() == [2**61 + 3]


# The estimator


def test_forced_through_both_paths(monkeypatch):
    X = blobs(20_000, spread=0.04)
    kwargs = {"bounds": (-1.0, 1.0), "epsilon": 1.0, "grid": 32, "random_state": 1}
    dense = DPWaveCluster(**kwargs).fit(X)
    monkeypatch.setattr(_oneshot, "MAX_DENSE", 1)
    sparse = DPWaveCluster(**kwargs).fit(X)
    assert "band" in dense.release_.values
    assert "band" not in sparse.release_.values
    assert adjusted_rand_score(dense.labels_, sparse.labels_) > 0.95


def test_six_columns_in_little_memory():
    """100,000 records on 64^6 cells: a table of the band alone would take eight gigabytes."""
    X = blobs(100_000, corners(6, 5, seed=1), spread=0.02)
    kwargs = {"bounds": (-1.0, 1.0), "grid": 64, "random_state": 0}
    DPWaveCluster(**kwargs).fit(X[:100])
    tracemalloc.start()
    fitted = DPWaveCluster(**kwargs).fit(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6
    assert fitted.band_shape_ == (32,) * 6
    assert not hasattr(fitted, "cells_")
    assert (fitted.predict(X) == fitted.labels_).all()
    assert Release.from_json(fitted.release_.to_json()) == fitted.release_


def test_six_columns():
    centers = corners(6, 5, seed=1)
    X = blobs(100_000, centers, spread=0.05)
    truth = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    fitted = DPWaveCluster(bounds=(-1.0, 1.0), grid=16, random_state=0).fit(X)
    found = fitted.labels_ >= 0
    assert found.mean() > 0.5
    assert adjusted_rand_score(truth[found], fitted.labels_[found]) > 0.95


def test_nothing_but_one_record():
    fitted = DPWaveCluster(bounds=(-1.0, 1.0), grid=8, random_state=0).fit(np.zeros((1, 8)))
    assert fitted.labels_.tolist() == [-1]
    assert fitted.n_clusters_ == len(set(fitted.cell_labels_.tolist()))


def test_filters_too_long_for_so_many_columns():
    with pytest.raises(
        ParameterError, match=r"^wavelet must change at most 1024 values .* with 4096: try"
    ):
        DPWaveCluster(bounds=(-1.0, 1.0), grid=32, wavelet="sym5").fit(np.zeros((2, 6)))
