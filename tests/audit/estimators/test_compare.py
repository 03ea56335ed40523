"""The columns that an audit of estimators looks at."""

import numpy as np
import pytest

from shoal.audit.estimators._compare import combinations
from shoal.audit.estimators._releases import Ragged, as_tables


def piece(**values):
    """Released values of some fits, given as one list of numbers a fit."""
    return {
        name: Ragged(np.concatenate(fits).astype(float), np.array([len(fit) for fit in fits]))
        for name, fits in values.items()
    }


def columns(table):
    return dict(zip(table.names, table.values.T, strict=True))


def test_columns_of_centers_do_not_depend_on_their_order():
    listed = piece(centers=[[0.0, 1.0, 4.0, 5.0]], sizes=[[7, 2]])
    other_way = piece(centers=[[4.0, 5.0, 0.0, 1.0]], sizes=[[2, 7]])
    one, two = (columns(table) for table in as_tables([listed], [other_way], np.array([4.0, 2.0])))
    same = {name for name in one if one[name] == two[name]}
    assert {name for name in one if name not in same} == {
        *(f"centers[{index}]" for index in range(4)),
        *(f"sizes[{index}]" for index in range(2)),
    }
    expected = {
        "distance from the added record to the centers, sorted, 0": 3.0,
        "distance from the added record to the centers, sorted, 1": np.sqrt(17),
        "center nearest to the added record, 0": 4.0,
        "center nearest to the added record, 1": 5.0,
        "first column of the centers, sorted, 0": 0.0,
        "first column of the centers, sorted, 1": 4.0,
        "lowest column of a center, 1": 1.0,
        "highest column of a center, 0": 4.0,
        "size of the center nearest to the added record": 2.0,
        "sum around the center nearest to the added record, 1": 6.0,
        "sum around all centers, 0": -28.0,
        "total size": 9.0,
        "smallest size": 2.0,
        "largest size": 7.0,
    }
    for name, value in expected.items():
        assert one[name][0] == pytest.approx(value), name


def test_values_of_different_length_are_filled_up():
    few, many = piece(cells=[[1.0], [2.0]]), piece(cells=[[3.0, 4.0], []], extra=[[5.0], [6.0]])
    without, with_added = as_tables([few], [many], np.zeros(1))
    of_cells = ["cells[0]", "cells[1]", "number of values in cells"]
    assert without.names == [*of_cells, "extra", "number of values in extra"]
    nan = np.nan
    np.testing.assert_array_equal(without.values, [[1, nan, 1, nan, 0], [2, nan, 1, nan, 0]])
    np.testing.assert_array_equal(with_added.values, [[3, 4, 2, 5, 1], [nan, nan, 0, 6, 1]])


def test_centers_of_different_number_are_summarized():
    two, one = piece(centers=[[1.0, 2.0]], sizes=[[3, 4]]), piece(centers=[[5.0]], sizes=[[6]])
    without, with_added = as_tables([two], [one], np.zeros(1))
    assert columns(without)["total size"] == 7.0
    assert columns(with_added)["total size"] == 6.0
    assert columns(with_added)["highest column of a center"] == 5.0


def weak_columns(rows=2000, seed=0):
    """Twelve columns, in each of which the record shows a little."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, 12)), rng.normal(0.25, size=(rows, 12))


def test_combinations_see_what_columns_show_together():
    without, with_added = weak_columns()
    low, high = combinations(without, with_added, search=1000)
    assert low.shape == high.shape == (2000, 2)
    for half in (slice(0, 1000), slice(1000, 2000)):
        # Twelve shifts of 1/4 are one of 0.87 deviations: 73% of pairs in order; one alone: 57%.
        in_order = (low[half] < high[half]).mean(axis=0)
        assert (in_order > 0.66).all()
        assert (in_order < 0.80).all()


def test_trees_see_what_no_sum_of_columns_shows():
    """With the record the signs of two columns agree, without it they differ."""
    without, with_added = np.random.default_rng(1).normal(size=(2, 600, 3))
    without[:, 1] = -np.abs(without[:, 1]) * np.sign(without[:, 0])
    with_added[:, 1] = np.abs(with_added[:, 1]) * np.sign(with_added[:, 0])
    low, high = combinations(without, with_added, search=300)
    in_order = (low < high).mean(axis=0)
    assert in_order[0] > 0.95
    assert in_order[1] < 0.6


def test_combinations_learn_nothing_from_the_half_that_is_counted():
    without, with_added = weak_columns(rows=300)
    before = combinations(without, with_added, search=150)
    without[151:], with_added[151:] = 100.0, -100.0
    after = combinations(without, with_added, search=150)
    for one, two in zip(before, after, strict=True):
        np.testing.assert_array_equal(one[:151], two[:151])


def test_combinations_of_numbers_that_are_not_finite():
    without, with_added = weak_columns(rows=200)
    without[::2, 0], without[::3, 1], with_added[:, 2] = np.nan, np.inf, -np.inf
    for scores in combinations(without, with_added, search=100):
        assert np.isfinite(scores).all()
