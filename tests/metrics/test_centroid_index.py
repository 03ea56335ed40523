import math

import numpy as np
import pytest

from shoal.exceptions import ParameterError
from shoal.metrics import centroid_index


def brute_force(first, second):
    def orphans(ours, theirs):
        chosen = {
            min(range(len(theirs)), key=lambda j: math.dist(center, theirs[j])) for center in ours
        }
        return len(theirs) - len(chosen)

    return max(orphans(first, second), orphans(second, first))


@pytest.mark.parametrize("seed", range(30))
def test_against_sets(seed):
    rng = np.random.default_rng(seed)
    first = rng.random((rng.integers(1, 12), 2))
    second = rng.random((rng.integers(1, 12), 2))
    index = centroid_index(first, second)
    assert index == brute_force(first.tolist(), second.tolist())
    assert type(index) is int
    assert abs(len(first) - len(second)) <= index <= max(len(first), len(second)) - 1
    assert centroid_index(second, first) == index


def test_both_directions_are_needed():
    """Every true center has a neighbor in the other set, but not the other way round."""
    first, second = [[0.0], [10.0]], [[0.0], [10.0], [10.5]]
    assert centroid_index(first, second) == 1
    assert centroid_index(second, first) == 1


def test_small_moves_do_not_count():
    rng = np.random.default_rng(0)
    lattice = np.array([[i, j] for i in range(5) for j in range(5)], dtype=float)
    moved = rng.permutation(lattice + rng.uniform(-0.3, 0.3, size=lattice.shape))
    assert centroid_index(lattice, moved) == 0


def test_k_misplaced_centers():
    truth = np.arange(10)[:, np.newaxis] * 10.0
    wrong = truth.copy()
    wrong[:3] = 90 + np.arange(3)[:, np.newaxis] * 0.1
    assert centroid_index(wrong, truth) == 3


def test_equal_centers_are_one_place():
    assert centroid_index([[0.0], [0.0]], [[0.0], [0.0]]) == 1
    assert centroid_index([[1.0]], [[0.0]]) == 0


def test_shift_and_unit_do_not_matter():
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 1000, size=(2, 9, 3)) / 8
    index = centroid_index(first, second)
    assert centroid_index(first * 4 + 4096, second * 4 + 4096) == index > 0


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ([[0.0]], "second must have 2 columns, as first has, got 1"),
        ([[0.0, np.nan]], "second must be a table of finite numbers, 2 columns, as first has"),
        ([], "second must be a table of finite numbers"),
        (None, "second must be a table of finite numbers"),
        ([["a", "b"]], "second must be a table of finite numbers"),
        ([[1e200, 0.0]], "first and second must be small enough .* rescale both"),
    ],
)
def test_bad_centers(second, words):
    with pytest.raises(ParameterError, match=words):
        centroid_index([[0.0, 1.0]], second)


def test_names_the_side_that_is_wrong():
    with pytest.raises(ParameterError, match="first must be a table of finite numbers, one center"):
        centroid_index([0.0], [[0.0]])
