import itertools
import pickle

import numpy as np
import pytest

from shoal.engines import ArrayEngine, Part, column_counts, grid_counts, grouped_counts
from shoal.engines.columns import ColumnKernel, GroupedKernel
from shoal.exceptions import ParameterError

HALF = 2**19
ONCE = [1] * 300


def some_records(n, columns, *, half=HALF):
    """Records in and around the bins, some on the border, with weights."""
    rng = np.random.default_rng(columns)
    edge = min(2 * half, HALF)
    records = rng.integers(-edge, edge, (n, columns), endpoint=True)
    records[:2] = [[-HALF], [HALF]]
    return records, rng.integers(0, 256, n, endpoint=True)


def some_cells(columns, bins, *, most):
    """Bins in cells, in no order; columns of one cell among them."""
    rng = np.random.default_rng(bins)
    sides = rng.integers(1, most, columns, endpoint=True)
    return rng.integers(0, sides[:, None], (columns, bins)), sides


def bin_of(value, bins, half=HALF):
    return min(max((value + half) * bins // (2 * half), 0), bins - 1)


def exact_columns(records, weights, bins, half=HALF):
    """One record and one column at a time, with Python's integers."""
    counts = [[0] * bins for _ in range(records.shape[1])]
    for record, weight in zip(records.tolist(), weights, strict=True):
        for column, value in zip(counts, record, strict=True):
            column[bin_of(value, bins, half)] += int(weight)
    return counts


def exact_cells(records, weights, cell_of_bin, sides, half=HALF):
    """Likewise: all cells by name, then in C order."""
    counts = dict.fromkeys(itertools.product(*map(range, sides.tolist())), 0)
    for record, weight in zip(records.tolist(), weights, strict=True):
        pairs = zip(cell_of_bin.tolist(), record, strict=True)
        counts[tuple(row[bin_of(value, len(row), half)] for row, value in pairs)] += int(weight)
    return list(counts.values())


def test_columns_against_integers_of_python(subtests):
    for columns, bins, half in [
        (1, 5, HALF),
        (3, 1, HALF),
        (2, 128, HALF),
        (4, 7, 100),
        (2, 16, 8),
        (130, 3, HALF),
    ]:
        with subtests.test(columns=columns, bins=bins, half=half):
            records, weights = some_records(300, columns, half=half)
            found = column_counts(ArrayEngine(records, weights), bins, half)
            assert found.dtype == np.int64
            assert found.tolist() == exact_columns(records, weights, bins, half)
            assert column_counts(records, bins, half).tolist() == exact_columns(
                records, ONCE, bins, half
            )


@pytest.mark.parametrize(
    ("columns", "bins", "half"), [(1, 5, HALF), (2, 128, HALF), (4, 7, 100), (5, 16, 8)]
)
def test_cells_against_integers_of_python(columns, bins, half):
    records, weights = some_records(300, columns, half=half)
    cell_of_bin, sides = some_cells(columns, bins, most=4)
    found = grouped_counts(ArrayEngine(records, weights), cell_of_bin, sides, half)
    assert found.dtype == np.int64
    assert found.tolist() == exact_cells(records, weights, cell_of_bin, sides, half)
    found = grouped_counts(records, cell_of_bin, sides, half)
    assert found.tolist() == exact_cells(records, ONCE, cell_of_bin, sides, half)


def test_cells_of_a_few_among_many_columns():
    records, weights = some_records(200, 150)
    cell_of_bin = np.zeros((150, 9), dtype=np.uint8)
    cell_of_bin[[3, 70, 149]] = [[0, 0, 1, 1, 1, 1, 1, 2, 2], [1, 0] * 4 + [0], [0] * 8 + [4]]
    sides = np.ones(150, dtype=np.int64)
    sides[[3, 70, 149]] = 3, 2, 5
    found = grouped_counts(ArrayEngine(records, weights), cell_of_bin, sides)
    few = [3, 70, 149]
    assert found.tolist() == exact_cells(records[:, few], weights, cell_of_bin[few], sides[few])


def test_bins_that_are_cells_make_the_equal_grid():
    records, weights = some_records(20_000, 3)
    engine = ArrayEngine(records, weights)
    bins = np.tile(np.arange(12), (3, 1))
    found = grouped_counts(engine, bins, np.full(3, 12))
    assert (found == grid_counts(engine, (12, 12, 12)).ravel()).all()
    for j, counts in enumerate(column_counts(engine, 12)):
        others = tuple(i for i in range(3) if i != j)
        assert (counts == found.reshape(12, 12, 12).sum(axis=others)).all()


def test_no_column_is_cut():
    records, weights = some_records(50, 3)
    one = np.zeros((3, 4), dtype=int), np.ones(3, dtype=int)
    assert grouped_counts(ArrayEngine(records, weights), *one).tolist() == [weights.sum()]


def test_no_records():
    none = np.empty((0, 2), dtype=int)
    assert column_counts(none, 3).tolist() == [[0] * 3] * 2
    cell_of_bin, sides = np.array([[0, 1], [0, 0]]), np.array([2, 3])
    assert grouped_counts(none, cell_of_bin, sides).tolist() == [0] * 6


@pytest.mark.parametrize("weighted", [False, True])
def test_same_bits_for_any_parts_and_threads(weighted):
    # More rows than a block has, and a column of more bins than that.
    records, weights = some_records(150_000, 3)
    given = weights if weighted else None
    cell_of_bin, sides = some_cells(3, 40, most=30)
    whole = ArrayEngine(records, given)
    columns, cells = column_counts(whole, 40), grouped_counts(whole, cell_of_bin, sides)
    fine = column_counts(whole, 100_000)
    assert (fine.reshape(3, 40, -1).sum(axis=2) == columns).all()
    total = weights.sum() if weighted else 150_000
    assert (columns.sum(axis=1) == total).all()
    assert cells.sum() == total
    for rows, threads in itertools.product((7000, 70_000, 2**20), (1, 2, 7)):
        engine = ArrayEngine(records, given, rows=rows, threads=threads)
        assert (column_counts(engine, 40) == columns).all()
        assert (grouped_counts(engine, cell_of_bin, sides) == cells).all()


def test_one_column_after_the_other_in_memory():
    """As files hold them; and kernels travel."""
    records, weights = some_records(70_000, 4)
    cell_of_bin, sides = some_cells(4, 20, most=6)
    engine = ArrayEngine(records, weights)
    turned = np.asfortranarray(records.astype(np.int32))
    part = Part(turned, weights.astype(np.int32))
    kernels = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ArrayEngine, "add_up", lambda _, kernel: kernels.append(kernel) or (None,))
        column_counts(engine, 20)
        grouped_counts(engine, cell_of_bin, sides)
    expected = column_counts(engine, 20), grouped_counts(engine, cell_of_bin, sides)
    assert [type(kernel) for kernel in kernels] == [ColumnKernel, GroupedKernel]
    for kernel, counts in zip(kernels, expected, strict=True):
        (found,) = pickle.loads(pickle.dumps(kernel))(part)
        assert (found == counts).all()
    assert (turned == records).all()


def test_one_record_changes_one_count_of_each_column_and_one_cell():
    records, _ = some_records(30, 3)
    cell_of_bin, sides = some_cells(3, 8, most=5)
    for i in range(30):
        rest = np.delete(records, i, axis=0)
        change = column_counts(records, 8) - column_counts(rest, 8)
        assert change.min() == 0
        assert (change.sum(axis=1) == 1).all()
        change = grouped_counts(records, cell_of_bin, sides)
        change -= grouped_counts(rest, cell_of_bin, sides)
        assert change.min() == 0
        assert change.max() == change.sum() == 1


def test_bad_bins(subtests):
    for bins, half, message in [
        (0, HALF, "bins must be from 1"),
        (2.5, HALF, "bins must be a whole number"),
        (3, 1, "bins must be from 1 to 2"),
        (4, HALF + 1, "half must be from 1"),
        (2**20, HALF, "bins must be at most 838860 for 20 columns, got 1048576: take fewer"),
    ]:
        with (
            subtests.test(bins=bins, half=half, message=message),
            pytest.raises(ParameterError, match=message),
        ):
            column_counts(np.zeros((1, 20), dtype=int), bins, half)


def test_bad_cells(subtests):
    for cell_of_bin, sides, message in [
        ([[0, 1]], [2, 1], r"cell_of_bin must be whole numbers of shape \(2, bins\)"),
        ([0, 1], [2, 1], r"cell_of_bin must be whole numbers of shape \(2, bins\)"),
        ([[0.0], [0.0]], [1, 1], "cell_of_bin must be whole numbers"),
        (np.empty((2, 0), dtype=int), [1, 1], "bins of cell_of_bin must be from 1"),
        ([[0], [0]], [1], "sides must be 2 whole numbers"),
        ([[0], [0]], [1.0, 1.0], "sides must be 2 whole numbers"),
        ([[0], [0]], [1, 0], "sides must be at least 1"),
        ([[0], [0]], [2**40, 2**40], "at most 16777216 cells in all"),
        ([[0, 1], [0, 1]], [2, 1], "cell_of_bin must lie between 0 and"),
        ([[0, -1], [0, 0]], [2, 1], "cell_of_bin must lie between 0 and"),
    ]:
        with (
            subtests.test(cell_of_bin=cell_of_bin, sides=sides, message=message),
            pytest.raises(ParameterError, match=message),
        ):
            grouped_counts(np.zeros((1, 2), dtype=int), np.array(cell_of_bin), np.array(sides))
