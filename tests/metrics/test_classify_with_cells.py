import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from shoal.exceptions import DataError, MissingBoundsError, ParameterError
from shoal.metrics import classify_with_cells


def random_cells(rng, shape, clusters):
    """Cells of any cluster next to each other: a hard task for a tree."""
    return rng.integers(-1, clusters, size=shape)


def midpoints(shape, low, high):
    """Midpoint of each cell, in C order, one cell at a time."""
    return np.array(
        [
            [low[j] + (high[j] - low[j]) * (place[j] + 0.5) / shape[j] for j in range(len(shape))]
            for place in np.ndindex(*shape)
        ]
    )


@pytest.mark.parametrize("shape", [(13,), (8, 5), (4, 3, 5)])
def test_midpoints_of_significant_cells_get_their_own_label(shape):
    rng = np.random.default_rng(0)
    cells = random_cells(rng, shape, 4)
    low, high = np.arange(len(shape)) - 5.0, np.arange(len(shape)) * 3.0 + 1.0
    known = cells.ravel() != -1
    X = midpoints(shape, low, high)[known]
    predicted = classify_with_cells(cells, X, bounds=(low, high))
    np.testing.assert_array_equal(predicted, cells.ravel()[known])


def test_against_a_tree_on_midpoints_in_the_unit_of_the_records():
    """Clusters in strips along the first column: every tree must split at the same places."""
    rng = np.random.default_rng(1)
    cells = np.full((12, 9), -1)
    cells[:3], cells[5:7], cells[10:] = 4, 8, 2
    low, high = np.array([-2.0, 10.0]), np.array([4.0, 10.9])
    known = cells.ravel() != -1
    tree = DecisionTreeClassifier(criterion="entropy", random_state=3)
    tree.fit(midpoints((12, 9), low, high)[known], cells.ravel()[known])
    X = rng.uniform(low, high, size=(2000, 2))
    np.testing.assert_array_equal(
        classify_with_cells(cells, X, bounds=(low, high)), tree.predict(X)
    )


def test_gaps_are_split_in_the_middle():
    cells = [5, -1, -1, -1, 6, -1]
    X = [[0.0], [2.49], [2.51], [6.0]]
    assert classify_with_cells(cells, X, bounds=(0, 6)).tolist() == [5, 5, 6, 6]


def test_a_box_far_away_or_tiny_loses_no_digit():
    """In float32 all these records would be one."""
    rng = np.random.default_rng(2)
    cells = random_cells(rng, (16, 16), 3)
    X = rng.integers(0, 64, size=(500, 2)) / 64 + 1 / 128
    plain = classify_with_cells(cells, X, bounds=(0, 1))
    far = classify_with_cells(cells, X + 2.0**30, bounds=(2.0**30, 2.0**30 + 1))
    tiny = classify_with_cells(cells, X * 2.0**-200, bounds=(0, 2.0**-200))
    huge = classify_with_cells(cells, (X - 0.5) * 2.0**1000, bounds=(-(2.0**999), 2.0**999))
    for other in (far, tiny, huge):
        np.testing.assert_array_equal(other, plain)


def test_records_outside_the_box_count_as_on_its_border():
    cells = [[0, 1], [2, 3]]
    X = np.array([[-9.0, 0.2], [0.2, 1e300], [-1e308, 1e308], [2.0, 2.0]])
    inside = np.clip(X, 0, 1)
    np.testing.assert_array_equal(
        classify_with_cells(cells, X, bounds=(0, 1)),
        classify_with_cells(cells, inside, bounds=(0, 1)),
    )


def test_names_change_nothing_else():
    """Also where two splits are equally good: then the last digit of an entropy would decide."""
    rng = np.random.default_rng(3)
    X = rng.random((400, 2))
    for _ in range(60):
        cells = random_cells(rng, (20, 20), 5)
        names = rng.permutation(np.setdiff1d(np.arange(-20, 20), [-1]))[:5]
        renamed = np.where(cells == -1, -1, names[cells])
        np.testing.assert_array_equal(
            names[classify_with_cells(cells, X, bounds=(0, 1))],
            classify_with_cells(renamed, X, bounds=(0, 1)),
        )


def test_one_cluster_and_none():
    X = [[0.1, 0.1], [0.9, 0.4]]
    one = np.full((3, 3), -1)
    assert classify_with_cells(one, X, bounds=(0, 1)).tolist() == [-1, -1]
    one[2, 2] = 6
    assert classify_with_cells(one, X, bounds=(0, 1)).tolist() == [6, 6]


def test_every_cell_its_own_cluster_gives_no_warning():
    cells = np.arange(36).reshape(6, 6)
    X = midpoints((6, 6), [0, 0], [1, 1])
    assert classify_with_cells(cells, X, bounds=(0, 1)).tolist() == list(range(36))


def test_tables_of_other_kinds():
    X = pd.DataFrame({"a": [0.2, 0.8]})
    assert classify_with_cells([3, 4], X, bounds=([0], [1])).tolist() == [3, 4]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([0, 1], "cells must have one dimension for each of the 2 columns of X, got 1"),
        (np.zeros((2, 2, 2), dtype=int), "of the 2 columns of X, got 3"),
        ([[0.5]], "cells must be integers"),
        ([[]], "cells must have one label or more"),
    ],
)
def test_bad_cells(cells, words):
    with pytest.raises(ParameterError, match=words):
        classify_with_cells(cells, [[0.0, 0.0]], bounds=(0, 1))


def test_more_cells_than_float32_can_number():
    cells = np.zeros(2**24 + 1, dtype=np.int8)
    with pytest.raises(ParameterError, match="at most 16777216 cells in a column"):
        classify_with_cells(cells, [[0.0]], bounds=(0, 1))


@pytest.mark.parametrize(
    "bounds",
    [
        (1, 0),
        (0, 0),
        (0, np.inf),
        (np.nan, 1),
        3,
        (0, 1, 2),
        ([0] * 3, 1),
        ("a", 1),
    ],
)
def test_bad_bounds(bounds):
    with pytest.raises(ParameterError, match="bounds must"):
        classify_with_cells([[0]], [[0.0, 0.0]], bounds=bounds)


def test_missing_bounds():
    with pytest.raises(MissingBoundsError, match="bounds must be given"):
        classify_with_cells([[0]], [[0.0, 0.0]], bounds=None)


def test_bad_records():
    with pytest.raises(DataError, match="X must hold finite numbers") as caught:
        classify_with_cells([0], [[12.5], [np.nan]], bounds=(0, 1))
    assert "12.5" not in str(caught.value)
    with pytest.raises(DataError, match="X must be a table"):
        classify_with_cells([0], [12.5], bounds=(0, 1))
