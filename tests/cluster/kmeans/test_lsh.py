"""The tree of hyperplanes: its pruning, its planes, and k-means on its leaves."""

import numpy as np
import pytest

from helpers.kmeans_problems import blobs, corners, problem
from shoal.cluster import DPKMeans
from shoal.cluster.kmeans import _lsh
from shoal.cluster.kmeans._lsh import OFFSET, LSHMethod, _normals, _prune, release_leaves
from shoal.engines import HALF, tree_counts
from shoal.metrics import cost_ratio
from shoal.noise import SeededSource

METHOD = LSHMethod(DPKMeans())


def test_pruning_puts_every_code_in_one_leaf_and_keeps_the_total(subtests):
    for levels in [1, 3, 6, 10]:
        for smallest in [0.0, 5.0, 200.0, 1e9]:
            with subtests.test(levels=levels, smallest=smallest):
                rng = np.random.default_rng(levels)
                for counts in (
                    rng.poisson(50, 2**levels),
                    np.rint(rng.laplace(0, 30, 2**levels)).astype(np.int64),
                    np.zeros(2**levels, np.int64),
                    -rng.poisson(50, 2**levels),
                ):
                    leaf_of_code, sizes = _prune(counts, 2.0, smallest)
                    assert leaf_of_code.shape == counts.shape
                    assert sorted(set(leaf_of_code.tolist())) == list(range(len(sizes)))
                    assert np.bincount(leaf_of_code, weights=counts) == pytest.approx(sizes)
                    assert sizes.sum() == counts.sum()
                    # A leaf is a node: its codes are all that share their lowest bits.
                    for leaf in range(len(sizes)):
                        codes = np.flatnonzero(leaf_of_code == leaf)
                        depth = levels - (len(codes) - 1).bit_length()
                        assert len(codes) == 2 ** (levels - depth)
                        assert len(set((codes & ((1 << depth) - 1)).tolist())) == 1


def test_pruning_splits_what_is_large_and_certain_only():
    counts = np.array([100, 1, 100, 1])  # bit 0 tells 200 from 2
    leaf_of_code, sizes = _prune(counts, 1.0, 60.0)
    assert sorted(sizes) == [2.0, 100.0, 100.0]
    assert leaf_of_code[1] == leaf_of_code[3]
    _, sizes = _prune(counts, 1.0, 110.0)  # 202 is less than twice that
    assert sizes.tolist() == [202.0]
    _, sizes = _prune(counts, 40.0, 0.0)  # 202 is within 3 deviations of 80
    assert sizes.tolist() == [202.0]


def spied_tree(given, monkeypatch):
    """Release a tree; give its planes, cuts and leaves."""
    seen = {}

    def spy(engine, planes, cuts):
        seen.update(planes=planes, cuts=cuts)
        return tree_counts(engine, planes, cuts)

    monkeypatch.setattr(_lsh, "tree_counts", spy)
    leaves = release_leaves(given)
    return seen["planes"], seen["cuts"], leaves


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_planes_pass_near_the_noisy_mean(delta, monkeypatch, subtests):
    for columns in [2, 20, 100, 300]:
        with subtests.test(columns=columns):
            X = 0.5 + 0.1 * np.random.default_rng(0).standard_normal((5000, columns))
            given = problem(np.clip(X, -1, 1), 4, epsilon=100.0, delta=delta)
            planes, cuts, _ = spied_tree(given, monkeypatch)
            lengths = np.linalg.norm(planes, axis=1)
            off = (cuts - planes @ np.full(columns, HALF / 2)) / lengths / HALF
            # The mean itself is noisy; its error across a plane is a small part of half the box.
            assert np.abs(off).max() < OFFSET + 0.05
            middle = planes @ np.full(columns, HALF / 2) / lengths / HALF
            assert np.abs(middle).max() > 0.1, "the middle of the box would have done as well"


def test_normals_are_whole_and_never_zero():
    for columns in (1, 2, 50):
        normals = _normals(16, columns, SeededSource(0))
        assert normals.shape == (16, columns)
        assert normals.any(axis=1).all()
        assert np.abs(normals).max() <= 2**10
    assert abs(normals.mean()) < 0.1 * normals.std()


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_finds_clusters_far_apart(delta, subtests):
    for columns, epsilon in [(20, 5.0), (100, 20.0), (300, 80.0)]:
        with subtests.test(columns=columns, epsilon=epsilon):
            centers = corners(columns, 5)
            X = blobs(8000, centers, spread=0.1)
            ratios = []
            for seed in range(5):
                found = METHOD.run(problem(X, 5, epsilon=epsilon, delta=delta, seed=seed))
                assert found.centers.shape == (5, columns)
                assert found.details["leaves"] >= 5
                ratios.append(cost_ratio(X, found.centers / HALF, reference=centers))
            assert np.median(ratios) < 1.5


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_wrong_number_of_records_breaks_nothing(delta, subtests):
    for n in [-100.0, 0.0, 1.0, 1e12]:
        with subtests.test(n=n):
            given = problem(blobs(200, corners(20, 3)), 3, epsilon=0.5, delta=delta, n=n)
            found = METHOD.run(given)
            assert found.centers.shape == (3, 20)
            assert np.abs(found.centers).max() <= HALF


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 100.0])
def test_leaves_stand_at_different_places_in_the_box(epsilon):
    leaves = release_leaves(problem(blobs(500, corners(20, 3)), 3, epsilon=epsilon))
    assert len(np.unique(leaves.points, axis=0)) == len(leaves.points) == len(leaves.weights)
    assert np.abs(leaves.points).max() <= HALF
    assert (leaves.weights > 0).all()
