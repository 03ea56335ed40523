"""n_clusters="private": the right number where clusters are far apart."""

import os

import numpy as np
import pytest

from cluster.tables import FIVE, blobs, corners
from shoal.cluster import DPKMeans
from shoal.cluster.kmeans._n_clusters import MAX_POINTS, count_clusters
from shoal.datasets import load
from shoal.noise import SeededSource

FOLDER = os.environ.get("SHOAL_DATA")
needs_files = pytest.mark.skipif(
    not FOLDER, reason="set SHOAL_DATA to the folder of data files to run this"
)


def chosen(X, seeds=5, bounds=(-1.0, 1.0), **words):
    models = [DPKMeans("private", bounds=bounds, random_state=s, **words) for s in range(seeds)]
    return [len(model.fit(X).cluster_centers_) for model in models]


@pytest.mark.parametrize("method", ["auto", "grid", "lloyd", "kccm"])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_finds_the_number_in_two_columns(method, k):
    assert chosen(blobs(10_000, FIVE[:k]), method=method, epsilon=2.0) == [k] * 5


@pytest.mark.parametrize("words", [{"delta": 1e-6}, {"method": "lloyd", "delta": 1e-6}])
def test_finds_the_number_with_gaussian_noise(words):
    assert chosen(blobs(10_000), epsilon=2.0, **words) == [5] * 5


@pytest.mark.parametrize("method", ["auto", "lsh", "lloyd", "kccm"])
@pytest.mark.parametrize("k", [3, 5])
def test_finds_the_number_in_twenty_columns(method, k):
    X = blobs(20_000, corners(20, k), spread=0.1)
    found = chosen(X, method=method, epsilon=20.0)
    assert np.median(found) == k
    assert found.count(k) >= 4


@pytest.mark.parametrize("method", ["grid", "lsh", "lloyd", "kccm"])
@pytest.mark.parametrize("most", [1, 2, 4])
def test_never_more_than_allowed(method, most):
    found = chosen(blobs(2000), seeds=3, method=method, epsilon=5.0, max_clusters=most)
    assert max(found) <= most
    assert min(found) >= min(most, 2)


def test_noise_alone_still_gives_a_fit():
    for method in ("grid", "lsh", "lloyd", "kccm"):
        assert all(1 <= k <= 20 for k in chosen(np.zeros((3, 2)), method=method, epsilon=0.1))


def on_points(points, weights=None, *, most=20, blur=1.0):
    weights = np.ones(len(points)) if weights is None else weights
    return count_clusters(points, weights, most=most, blur=blur, source=SeededSource(0))


@pytest.mark.parametrize("blur", [None, 0.0, 1.0])
def test_few_points(blur):
    assert on_points(np.empty((0, 2)), blur=blur) == 1
    assert on_points(np.zeros((1, 2)), blur=blur) == 1
    assert on_points(np.array([[0.0], [9.0]]), blur=blur) == 2
    assert on_points(np.array([[0.0], [9.0], [90.0]]), blur=blur) in (2, 3)
    assert on_points(np.array([[0.0], [9.0]]), most=1, blur=blur) == 1


@pytest.mark.parametrize("blur", [None, 1.0])
def test_more_points_than_can_be_merged_at_once(blur):
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(c, 1.0, (400, 2)) for c in (-50.0, 0.0, 50.0)])
    assert len(points) > MAX_POINTS
    assert on_points(points, blur=blur) == 3
    assert on_points(points, np.full(1200, 1e-3), blur=blur) == 3


@needs_files
@pytest.mark.parametrize("method", ["grid", "lloyd", "kccm"])
def test_s1_has_fifteen(method):
    X = load("s1").X
    found = chosen(X, bounds=(X.min(axis=0), X.max(axis=0)), method=method, epsilon=1.0)
    assert found == [15] * 5


@needs_files
def test_unbalance_has_eight_of_which_five_are_small():
    X = load("unbalance").X
    found = chosen(X, bounds=(X.min(axis=0), X.max(axis=0)), epsilon=5.0)
    assert all(5 <= k <= 14 for k in found)  # 8 in 3 of 5 when this was written
    assert 8 in found
