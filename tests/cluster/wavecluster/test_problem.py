"""WaveCluster without privacy: the source's own figures, and the method again in slow loops."""

import math
import os

import numpy as np
import pytest

from shoal.cluster import DPWaveCluster
from shoal.cluster.wavecluster import top_cells
from shoal.datasets import load

needs_data = pytest.mark.skipif(
    not os.environ.get("SHOAL_DATA"), reason="SHOAL_DATA must name the folder with ds1, ds2, ds3"
)


def reference(X, **kwargs):
    bounds = kwargs.pop("bounds", (X.min(axis=0), X.max(axis=0)))
    return DPWaveCluster(epsilon=math.inf, bounds=bounds, **kwargs).fit(X)


# The published figures


@needs_data
def test_figures_of_the_source():
    """ds2 on 40 x 40 cells: 159 positive values, 241 others, the top 144 make 3 clusters."""
    fitted = reference(load("wavecluster_ds2").X, grid=40, threshold=0.1)
    band = fitted.release_.values["band"]
    assert ((band > 0).sum(), (band <= 0).sum()) == (159, 241)
    assert fitted.n_significant_ == 144
    assert fitted.n_clusters_ == 3


@needs_data
@pytest.mark.parametrize(
    ("name", "grid", "threshold", "clusters"),
    [("ds1", 64, 0.6, 15), ("ds2", 40, 0.1, 3), ("ds3", 48, 0.1, 5)],
)
def test_clusters_of_the_published_tables(name, grid, threshold, clusters):
    fitted = reference(load(f"wavecluster_{name}").X, grid=grid, threshold=threshold)
    assert fitted.n_clusters_ == clusters
    assert (fitted.labels_ >= 0).mean() > 1 - threshold


# Against a slow implementation


def slow(X, low, high, grid, threshold):
    """Haar, level 1: cells by division, blocks by halving, a flood over touching cells."""
    d = X.shape[1]
    counts, blocks = {}, []
    for record in X.tolist():
        place = []
        for x, a, b in zip(record, low, high, strict=True):
            # Records are rounded to 2^20 steps first, as the estimator does publicly.
            step = round((min(max(x, a), b) - (a / 2 + b / 2)) / ((b / 2 - a / 2) / 2**19))
            cell = min((step + 2**19) * grid // 2**20, grid - 1)
            place.append(cell // 2)
        blocks.append(tuple(place))
        counts[blocks[-1]] = counts.get(blocks[-1], 0) + 1
    positive = sorted(counts.values(), reverse=True)
    needed = positive[math.ceil((1 - threshold) * len(positive) - 1e-9) - 1]
    kept = {place for place, count in counts.items() if count >= needed}
    clusters, label = {}, 0
    for start in sorted(kept):
        if start in clusters:
            continue
        flood = [start]
        while flood:
            place = flood.pop()
            if place in clusters or place not in kept:
                continue
            clusters[place] = label
            for code in range(3**d):
                offsets = [code // 3**j % 3 - 1 for j in range(d)]
                flood.append(tuple(p + o for p, o in zip(place, offsets, strict=True)))
        label += 1
    return needed, clusters, [clusters.get(block, -1) for block in blocks]


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_against_a_slow_implementation(columns):
    for grid in [2, 8, 14]:
        for threshold in [0.0, 0.1, 0.35, 0.8]:
            for seed in range(4):
                rng = np.random.default_rng([columns, grid, seed])
                centers = rng.uniform(-1, 1, (4, columns))
                X = centers[rng.integers(0, 4, 300)] + 0.25 * rng.standard_normal((300, columns))
                low, high = rng.uniform(-2, -0.5, columns), rng.uniform(0.5, 2, columns)
                fitted = reference(X, bounds=(low, high), grid=grid, threshold=threshold)
                needed, clusters, labels = slow(X, low.tolist(), high.tolist(), grid, threshold)
                assert fitted.threshold_ == needed
                assert fitted.n_significant_ == len(clusters)
                assert fitted.n_clusters_ == len(set(clusters.values()))
                assert fitted.labels_.tolist() == labels
                places = np.argwhere(fitted.cells_ >= 0)
                found = {
                    tuple(place): int(fitted.cells_[tuple(place)]) for place in places.tolist()
                }
                assert found == clusters


@pytest.mark.parametrize("technique", ["thr", "thr-em", "qt", "baseline", "density"])
def test_without_noise_there_is_one_technique(technique):
    X = np.random.default_rng(1).uniform(-1, 1, (500, 2))
    one = reference(X, bounds=(-1.0, 1.0), grid=16, threshold=0.3)
    other = reference(X, bounds=(-1.0, 1.0), grid=16, threshold=0.3, technique=technique)
    assert (one.cells_ == other.cells_).all()


# The rule by itself


def test_ties_are_all_kept():
    cells = top_cells(np.array([[5.0, 2.0, 2.0], [0.0, -3.0, 2.0]]), 2.0)
    assert cells.codes.tolist() == [0, 1, 2, 5]
    assert cells.values.tolist() == [5.0, 2.0, 2.0, 2.0]
    assert cells.threshold == 2.0
    assert cells.all_values.shape == (2, 3)


def test_how_many_are_kept(subtests):
    for wanted, kept in [(0.0, 1), (1.0, 1), (1.2, 2), (2.0, 2), (2.0 + 1e-12, 2), (9.0, 3)]:
        with subtests.test(wanted=wanted, kept=kept):
            assert len(top_cells(np.array([1.0, 2.0, 3.0, -1.0]), wanted).codes) == kept


def test_no_positive_values():
    cells = top_cells(np.array([0.0, -1.0]), 3.0)
    assert cells.codes.size == 0
    assert cells.threshold == math.inf
