import itertools

import numpy as np
import pytest

from shoal.engines import ArrayEngine, grid_cell, grid_counts, grid_edges
from shoal.exceptions import ParameterError

HALF = 2**19


def test_cells_of_one_column(subtests):
    """The formula in the file's head, with Python's integers, on both sides of every edge."""
    for half in [1, 7, 8, 100, HALF - 1, HALF]:
        with subtests.test(half=half):
            for cells in {
                min(cells, 2 * half) for cells in (1, 2, 3, 10, 1024, 2047, 2048, 2049, HALF * 2)
            }:
                edges = [
                    -half + 2 * half * i // cells for i in range(0, cells + 1, max(1, cells // 500))
                ]
                values = sorted({min(max(e + s, -half), half) for e in edges for s in (-1, 0, 1)})
                expected = [min((x + half) * cells // (2 * half), cells - 1) for x in values]
                assert grid_cell(np.array(values, dtype=np.int32), cells, half).tolist() == expected
                assert grid_cell(np.array(values, dtype=np.int64), cells, half).tolist() == expected


@pytest.mark.parametrize(("cells", "half"), [(5, 100), (7, 8), (1000, HALF)])
def test_values_lie_between_the_edges_of_their_cell(cells, half):
    edges = grid_edges(cells, half)
    assert len(edges) == cells + 1
    assert edges[0] == -half
    assert edges[-1] == half
    values = np.unique(np.linspace(-half, half, 5000).astype(np.int64))
    cell = grid_cell(values, cells, half)
    assert (edges[cell] <= values).all()
    assert (values < edges[cell + 1])[:-1].all()


def test_cells_are_equal():
    """As many lattice values in each cell, but for one in the last."""
    counts = np.bincount(grid_cell(np.arange(-HALF, HALF + 1), 1024))
    assert set(counts[:-1].tolist()) == {1024}
    assert counts[-1] == 1025
    assert np.ptp(np.bincount(grid_cell(np.arange(-HALF, HALF + 1), 1000))[:-1]) == 1


def test_against_integers_of_python(subtests):
    for cells in [(5,), (4, 3), (1, 16, 2), (3, 1, 1, 2, 7), (4096, 4096)]:
        with subtests.test(cells=cells):
            rng = np.random.default_rng(len(cells))
            records = rng.integers(-HALF, HALF, (500, len(cells)), endpoint=True)
            records[:2] = [[-HALF], [HALF]]
            weights = rng.integers(0, 256, 500, endpoint=True)
            for given in (None, weights):
                expected = {}
                for i, record in enumerate(records.tolist()):
                    cell = tuple(
                        min((x + HALF) * m // (2 * HALF), m - 1)
                        for x, m in zip(record, cells, strict=True)
                    )
                    expected[cell] = expected.get(cell, 0) + (1 if given is None else int(given[i]))
                found = grid_counts(ArrayEngine(records, given), cells)
                assert found.shape == cells
                assert found.dtype == np.int64
                assert found.sum() == sum(expected.values())
                assert all(found[cell] == count for cell, count in expected.items())


def test_same_bits_for_any_parts_and_threads():
    rng = np.random.default_rng(5)
    records, weights = rng.integers(-HALF, HALF, (40_000, 2)), rng.integers(0, 256, 40_000)
    whole = grid_counts(ArrayEngine(records, weights), (16, 9))
    for rows, threads in itertools.product((7000, 20_000, 2**20), (1, 2, 7)):
        engine = ArrayEngine(records, weights, rows=rows, threads=threads)
        assert (grid_counts(engine, (16, 9)) == whole).all()


def test_records_beyond_the_grid_count_in_its_outermost_cells():
    records = np.array([[-HALF, 0], [HALF, HALF], [9, -11]])
    assert grid_counts(records, (2, 3), half=10).tolist() == [[0, 1, 0], [1, 0, 1]]
    records = np.array([[-HALF], [HALF]])
    assert grid_counts(records, (1024,), half=512)[[0, -1]].tolist() == [1, 1]


def test_one_record_changes_one_count():
    rng = np.random.default_rng(6)
    records = rng.integers(-HALF, HALF, (30, 3))
    all_of_them = grid_counts(records, (4, 5, 6))
    for i in range(30):
        change = all_of_them - grid_counts(np.delete(records, i, axis=0), (4, 5, 6))
        assert change.min() == 0
        assert change.max() == change.sum() == 1


def test_no_records():
    assert grid_counts(np.empty((0, 2), dtype=int), (3, 4)).tolist() == [[0] * 4] * 3


def test_bad_parameters(subtests):
    for cells, half, message in [
        ((4,), HALF, "cells must have 2 entries"),
        ((4, 0), HALF, r"cells\[1\] must be from 1"),
        ((4, 2.5), HALF, r"cells\[1\] must be a whole number"),
        ((4096, 4097), HALF, "in all"),
        ((3, 2), 1, r"cells\[0\] must be from 1 to 2"),
        ((4, 4), HALF + 1, "half must be from 1"),
    ]:
        with (
            subtests.test(cells=cells, half=half, message=message),
            pytest.raises(ParameterError, match=message),
        ):
            grid_counts(np.zeros((1, 2), dtype=int), cells, half)
