"""Pairs of touching boxes and boxes of points, against all pairs and all boxes."""

import numpy as np
import pytest

from helpers.partitions import halved_boxes
from shoal.density import find_boxes, touching_boxes
from shoal.exceptions import ParameterError

CASES = [
    (columns, halvings, at_once, seed)
    for columns, halvings in ((1, 7), (2, 9), (3, 9), (4, 8))
    for at_once in (False, True)
    for seed in range(4)
]


def all_pairs(low, high):
    """Compare every box with every other one: closed boxes that meet."""
    meet = (low[:, np.newaxis] <= high).all(axis=2) & (low <= high[:, np.newaxis]).all(axis=2)
    return set(zip(*(index.tolist() for index in np.nonzero(np.triu(meet, k=1))), strict=True))


def all_boxes(low, high, points):
    """Compare every point with every box; where the whole ends, its last box is closed."""
    last = high == high.max(axis=0)
    point = points[:, np.newaxis]
    held = (low <= point) & ((point < high) | (last & (point == high)))
    held = held.all(axis=2)
    assert held.sum(axis=1).max() <= 1
    return np.where(held.any(axis=1), held.argmax(axis=1), -1)


@pytest.mark.parametrize(("columns", "halvings", "at_once", "seed"), CASES)
def test_pairs_are_those_of_all_pairs(columns, halvings, at_once, seed):
    rng = np.random.default_rng(seed)
    low, high = halved_boxes(rng, columns, halvings=halvings, at_once=at_once)
    first, second = touching_boxes(low, high)
    found = list(zip(first.tolist(), second.tolist(), strict=True))
    assert found == sorted(all_pairs(low, high))


@pytest.mark.parametrize(("columns", "halvings", "at_once", "seed"), CASES)
def test_boxes_of_points_are_those_of_all_boxes(columns, halvings, at_once, seed):
    rng = np.random.default_rng(seed)
    low, high = halved_boxes(rng, columns, halvings=halvings, at_once=at_once)
    top = high.max(axis=0)
    # Whole numbers are on borders and corners, also of the whole; some points are outside.
    whole = rng.integers(-1, top + 2, size=(300, columns)).astype(np.float64)
    points = np.concatenate([rng.uniform(0, top, size=(300, columns)), whole, [[np.nan] * columns]])
    np.testing.assert_array_equal(find_boxes(low, high, points), all_boxes(low, high, points))


def test_every_border_of_user_units_is_exact():
    """Corners with rounding: the doubles next to a border are on either side of it."""
    low, high = halved_boxes(np.random.default_rng(0), 2, halvings=24, part=0.6)
    scale, shift = np.array([0.1, 0.37]), np.array([-74.3, 40.5])
    low, high = low * scale / 7 + shift, high * scale / 7 + shift
    corners = low[(low > low.min(axis=0)).all(axis=1)]
    points = np.concatenate([corners, np.nextafter(corners, -np.inf)])
    np.testing.assert_array_equal(find_boxes(low, high, points), all_boxes(low, high, points))
    assert set(zip(*touching_boxes(low, high), strict=True)) == all_pairs(low, high)


def test_deep_boxes_far_from_zero():
    """Halved 20 times: the narrowest width itself is rounded to eight digits only."""
    ends = np.append(0, 2.0 ** np.arange(-20, 1))
    edges = 0.4 * ends[:, np.newaxis] - 74.3
    low, high = edges[:-1], edges[1:]
    assert find_boxes(low, high, low).tolist() == list(range(21))
    assert touching_boxes(low, high)[1].tolist() == list(range(1, 21))


def test_a_grid_of_any_size_is_made_of_such_boxes():
    low = np.indices((3, 5)).reshape(2, -1).T
    first, second = touching_boxes(low, low + 1)
    assert set(zip(first.tolist(), second.tolist(), strict=True)) == all_pairs(low, low + 1)
    assert find_boxes(low, low + 1, [[2.5, 0.0], [3.0, 5.0]]).tolist() == [10, 14]


def test_boxes_with_gaps():
    low, high = np.array([[0, 0], [4, 4], [6, 0]]), np.array([[2, 2], [8, 8], [8, 2]])
    points = [[1, 1], [3, 1], [2, 2], [5, 7], [7, 3], [8, 8]]
    assert find_boxes(low, high, points).tolist() == [0, -1, -1, 1, -1, 1]
    assert touching_boxes(low, high)[0].size == 0


def test_one_box():
    assert find_boxes([[0.0]], [[1.0]], [[0.0], [1.0], [1.1]]).tolist() == [0, 0, -1]
    assert touching_boxes([[0.0]], [[1.0]])[0].tolist() == []


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        ([[0], [2]], [[2], [5]], "multiple of the narrowest width"),
        ([[0], [3]], [[3], [4]], "power of two"),
        ([[0], [1]], [[1], [3]], "multiple of its width"),
        ([[0.0], [1.0]], [[1.0], [2.3]], "multiple of the narrowest width"),
        ([[0, 0], [2, 0], [2, 1]], [[2, 1], [3, 2], [4, 2]], "in a fixed order"),
        ([[0], [0]], [[2], [1]], "do not overlap"),
        ([[0]], [[0]], "low < high"),
        ([[0]], [[np.nan]], "low < high"),
        ([0], [1], "one row a box"),
        ([[0]], [[1, 1]], "one row a box"),
        ([["a"]], [["b"]], "must be numbers"),
        ([[0], [2**62]], [[1], [2**62 + 1]], "halved at most 62 times, got 63"),
    ],
)
def test_other_boxes_are_refused(low, high, message):
    with pytest.raises(ParameterError, match=message):
        touching_boxes(low, high)


def test_points_of_other_columns_are_refused():
    with pytest.raises(
        ParameterError, match=r"points must have the 1 columns .* got shape \(1, 2\)"
    ):
        find_boxes([[0.0]], [[1.0]], [[0.0, 0.0]])
