import math
from itertools import permutations

import numpy as np
import pytest

from shoal.exceptions import ParameterError
from shoal.metrics import centroid_relative_error


def brute_force(centers, reference):
    """Try every matching; who is left over goes to the nearest of the other side."""
    few, many = sorted((centers, reference), key=len)
    totals = []
    for chosen in permutations(range(len(many)), len(few)):
        matched = sum(math.dist(few[i], many[j]) for i, j in enumerate(chosen))
        left = set(range(len(many))) - set(chosen)
        totals.append(matched + sum(min(math.dist(many[j], a) for a in few) for j in left))
    mean = [sum(column) / len(reference) for column in zip(*reference, strict=True)]
    return min(totals) / sum(math.dist(r, mean) for r in reference)


@pytest.mark.parametrize("seed", range(40))
def test_against_all_matchings(seed):
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(rng.integers(1, 6), 2))
    reference = rng.normal(size=(rng.integers(2, 6), 2))
    expected = brute_force(centers.tolist(), reference.tolist())
    assert centroid_relative_error(centers, reference) == pytest.approx(expected, rel=1e-12)


def test_order_does_not_matter_and_perfect_is_zero():
    rng = np.random.default_rng(0)
    reference = rng.normal(size=(20, 4))
    assert centroid_relative_error(rng.permutation(reference), reference) == 0.0


def test_the_nearest_is_not_always_the_partner():
    """Both centers are nearest to 0, but only one of them can have it."""
    assert centroid_relative_error([[0.0], [1.0]], [[0.0], [10.0]]) == 9 / 10


def test_shift_and_unit_do_not_matter():
    rng = np.random.default_rng(1)
    centers, reference = rng.integers(0, 100, size=(2, 5, 3)) / 8
    error = centroid_relative_error(centers, reference)
    for shift, unit in [(2.0**30, 1.0), (0.0, 1e-9), (-(2.0**20), 2.0**10)]:
        moved = centroid_relative_error(centers * unit + shift, reference * unit + shift)
        assert moved == pytest.approx(error, rel=1e-9)


def test_knowing_the_mean_only_is_one():
    reference = np.random.default_rng(2).normal(size=(6, 3))
    mean = reference.mean(axis=0)
    for copies in (1, 4, 6):
        error = centroid_relative_error(np.tile(mean, (copies, 1)), reference)
        assert error == pytest.approx(1.0, rel=1e-12)


def test_centers_too_many_or_too_few():
    reference = [[0.0], [10.0], [20.0]]
    assert centroid_relative_error([[0.0], [10.0]], reference) == 10 / 20
    assert centroid_relative_error([[0.0], [10.0], [20.0], [20.0]], reference) == 0.0
    assert centroid_relative_error([[0.0], [10.0], [20.0], [26.0]], reference) == 6 / 20


@pytest.mark.parametrize("reference", [[[3.0]], [[0.1, 0.7]] * 3])
def test_no_spread(reference):
    words = f"reference must have two different .* got {len(reference)} in one place"
    with pytest.raises(ParameterError, match=words):
        centroid_relative_error(np.zeros((2, len(reference[0]))), reference)


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ([[0.0], [1.0]], "reference must have 2 columns, as centers has, got 1"),
        ([[0.0, np.inf]], "reference must be a table of finite numbers, 2 columns, as centers"),
        ([[1e200, 0.0], [0, 0]], "centers and reference must be small enough .* rescale both"),
    ],
)
def test_bad_reference(reference, words):
    with pytest.raises(ParameterError, match=words):
        centroid_relative_error([[0.0, 1.0]], reference)


def test_bad_centers():
    with pytest.raises(ParameterError, match="centers must be a table of finite numbers"):
        centroid_relative_error("a", [[0.0]])
