import itertools
import pickle
import tracemalloc
from collections import Counter

import numpy as np
import pytest

from shoal.engines import (
    ArrayEngine,
    Part,
    grid_counts,
    sparse_grid_counts,
)
from shoal.engines.sparse_grid import SparseGridKernel
from shoal.exceptions import ParameterError

HALF = 2**19


def table(found):
    return dict(zip(found.codes.tolist(), found.counts.tolist(), strict=True))


def code(place, cells):
    """The code in the file's head, with Python's integers."""
    total = 0
    for digit, m in zip(place, cells, strict=True):
        assert 0 <= digit < m
        total = total * m + digit
    return total


def exact(records, cells, half=HALF, weights=None):
    """The counts again, with Python's integers and one record at a time."""
    expected = Counter()
    for i, record in enumerate(records.tolist()):
        inside = [min(max(x, -half), half) for x in record]
        place = [
            min((x + half) * m // (2 * half), m - 1) for x, m in zip(inside, cells, strict=True)
        ]
        expected[code(place, cells)] += 1 if weights is None else int(weights[i])
    return {key: value for key, value in expected.items() if value}


def test_against_integers_of_python(subtests):
    for cells in [(5,), (4, 3), (1, 14, 2), (3, 1, 1, 2, 7), (2,) * 61, (9,) * 19, (14,) * 8]:
        with subtests.test(cells=cells):
            for half in [7, 1000, HALF]:
                rng = np.random.default_rng([len(cells), half])
                records = rng.integers(-half - 3, half + 3, (300, len(cells)), endpoint=True)
                records = np.clip(records, -HALF, HALF)
                records[:2] = [[-HALF], [HALF]]
                weights = rng.integers(0, 3, 300) * rng.integers(0, 129, 300)
                assert (weights == 0).any()
                for given in (None, weights):
                    found = sparse_grid_counts(ArrayEngine(records, given), cells, half)
                    assert found.codes.dtype == found.counts.dtype == np.int64
                    assert (np.diff(found.codes) > 0).all()
                    assert table(found) == exact(records, cells, half, given)


@pytest.mark.parametrize("cells", [(1000,), (40, 33), (8, 16, 8), (5, 6, 7, 8)])
def test_the_same_cells_as_the_whole_grid(cells):
    rng = np.random.default_rng(len(cells))
    records = rng.integers(-HALF, HALF, (2000, len(cells)), endpoint=True)
    weights = rng.integers(0, 4, 2000)
    engine = ArrayEngine(records, weights)
    whole = grid_counts(engine, cells, HALF // 2).ravel()
    found = sparse_grid_counts(engine, cells, HALF // 2)
    assert found.codes.tolist() == np.flatnonzero(whole).tolist()
    assert found.counts.tolist() == whole[whole > 0].tolist()


def test_the_largest_grid():
    """3 * 2^60 cells: twice the last code would still be an int64."""
    cells = (2**20, 2**20, 2**20, 3)
    records = np.array([[HALF] * 4, [-HALF] * 4, [HALF] * 4])
    found = sparse_grid_counts(records, cells)
    assert table(found) == {0: 1, 2**60 * 3 - 1: 2}


def test_same_bits_for_any_parts_and_threads():
    rng = np.random.default_rng(5)
    records = rng.normal(0, HALF / 8, (5000, 4)).astype(int)
    weights = rng.integers(0, 4, 5000)
    for given in (None, weights):
        whole = sparse_grid_counts(ArrayEngine(records, given), (16, 9, 30, 30))
        for rows, threads in itertools.product((40, 999, 5000), (1, 2, 7)):
            engine = ArrayEngine(records, given, rows=rows, threads=threads)
            found = sparse_grid_counts(engine, (16, 9, 30, 30))
            assert (found.codes == whole.codes).all()
            assert (found.counts == whole.counts).all()


def test_parts_merge_in_any_order_and_grouping():
    rng = np.random.default_rng(6)
    records = rng.integers(-40, 40, (600, 3)).astype(np.int32)
    kernel = pickle.loads(pickle.dumps(SparseGridKernel((5, 6, 7), 40)))
    whole = kernel(Part(records))
    for _ in range(20):
        # Some of the parts are empty.
        ends = np.sort(rng.integers(0, 600, 9, endpoint=True))
        parts = [kernel(Part(part)) for part in np.split(rng.permutation(records), ends)]
        while len(parts) > 1:
            rng.shuffle(parts)
            taken = rng.integers(1, len(parts), endpoint=True)
            parts = [*parts[taken:], kernel.merge(*parts[:taken])]
        for mine, theirs in zip(parts[0], whole, strict=True):
            assert mine.dtype == np.int64
            assert mine.tolist() == theirs.tolist()


class Ranges:
    """A kernel that gives the codes of its records, and counts what it has to copy."""

    rows = 10

    def __init__(self):
        self.copied = self.most = 0

    def __call__(self, part):
        return (part.records[:, 0].astype(np.int64),)

    def merge(self, *results):
        together = np.sort(np.concatenate([result[0] for result in results]))
        self.copied += together.size
        self.most = max(self.most, len(results))
        return (together,)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_an_engine_merges_what_it_has_without_copying_it_for_each_part(threads):
    """1000 parts of 10, in at most log(1000) / log(1.5) = 17 rounds; one by one it would be 500."""
    kernel = Ranges()
    (together,) = ArrayEngine(np.arange(10_000)[:, None], threads=threads).add_up(kernel)
    assert together.tolist() == list(range(10_000))
    assert kernel.copied < 10_000 * 18
    # Those that wait for the end are twice as large each: 10, 20, ..., 5120.
    assert kernel.most <= 10


def test_memory_is_that_of_a_few_parts_and_the_result():
    """Parts of 1000 of 400,000 records in 64 cells; the codes of all would take 3.2 MB."""
    records = np.random.default_rng(7).integers(-HALF, HALF, (400_000, 2), dtype=np.int32)
    engine = ArrayEngine(records, rows=1000, threads=2)
    sparse_grid_counts(engine, (8, 8))
    tracemalloc.start()
    sparse_grid_counts(engine, (8, 8))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_600_000


def test_one_record_changes_one_count():
    rng = np.random.default_rng(8)
    records, cells = rng.integers(-HALF, HALF, (30, 3)), (4, 5, 2)
    all_of_them = Counter(table(sparse_grid_counts(records, cells)))
    for i in range(30):
        rest = Counter(table(sparse_grid_counts(np.delete(records, i, axis=0), cells)))
        assert list((all_of_them - rest).values()) == [1]
        assert not rest - all_of_them


@pytest.mark.parametrize("weights", [None, np.zeros(0, dtype=int)])
def test_no_records(weights):
    found = sparse_grid_counts(ArrayEngine(np.empty((0, 2), dtype=int), weights), (3, 4))
    assert found.codes.shape == found.counts.shape == (0,)


def test_records_without_weight():
    engine = ArrayEngine(np.zeros((50, 2), dtype=int), np.zeros(50, dtype=int), rows=7)
    assert table(sparse_grid_counts(engine, (3, 4))) == {}


def test_bad_parameters(subtests):
    for cells, half, message in [
        ((4,), HALF, "cells must have 2 entries"),
        ((4, 0), HALF, r"cells\[1\] must be from 1"),
        ((4, 2.5), HALF, r"cells\[1\] must be a whole number"),
        ((3, 2), 1, r"cells\[0\] must be from 1 to 2"),
        ((4, 4), HALF + 1, "half must be from 1"),
    ]:
        with (
            subtests.test(cells=cells, half=half, message=message),
            pytest.raises(ParameterError, match=message),
        ):
            sparse_grid_counts(np.zeros((1, 2), dtype=int), cells, half)


def test_too_many_cells_for_a_code():
    with pytest.raises(ParameterError, match=f"fewer than {2**62} in all, got {2**62}: take fewer"):
        sparse_grid_counts(np.zeros((1, 62), dtype=int), (2,) * 62)
    sparse_grid_counts(np.zeros((1, 61), dtype=int), (2,) * 61)
