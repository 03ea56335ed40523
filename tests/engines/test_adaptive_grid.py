import itertools
import pickle

import numpy as np
import pytest

from shoal.engines import ArrayEngine, Part, adaptive_counts, grid_counts
from shoal.engines.grid import AdaptiveKernel
from shoal.exceptions import ParameterError

HALF = 2**19


def slow(records, weights, side, sides, half):
    """Python's integers, one record at a time: the coarse cell first, then the part of it."""
    counts = [[0] * int(cut) ** records.shape[1] for cut in sides]
    for record, weight in zip(records.tolist(), weights.tolist(), strict=True):
        places = []
        for x in [min(max(value, -half), half) for value in record]:
            coarse = min((x + half) * side // (2 * half), side - 1)
            places.append((x, coarse))
        cell = 0
        for _, coarse in places:
            cell = cell * side + coarse
        cut, within = int(sides[cell]), 0
        for x, coarse in places:
            # The part's own interval within the coarse cell, as fractions over 2 * half.
            inside = (x + half) * side - coarse * 2 * half
            within = within * cut + min(inside * cut // (2 * half), cut - 1)
        counts[cell][within] += weight
    return [count for part in counts for count in part]


def test_against_integers_of_python(subtests):
    for columns, side in [(1, 1), (1, 2), (1, 9), (2, 1), (2, 3), (3, 2)]:
        with subtests.test(columns=columns, side=side):
            for half in [1, 7, 8, 100, HALF]:
                rng = np.random.default_rng([columns, side, half])
                cut = min(side, 2 * half)
                records = rng.integers(-half, half, (400, columns), endpoint=True)
                records[:2] = [[-half], [half]]
                for most in (1, min(5, 2 * half)):
                    sides = rng.integers(1, most, cut**columns, endpoint=True)
                    weights = rng.integers(0, 256, 400, endpoint=True)
                    found = adaptive_counts(ArrayEngine(records, weights), cut, sides, half)
                    assert found.dtype == np.int64
                    assert found.tolist() == slow(records, weights, cut, sides, half)
                    plain = adaptive_counts(records, cut, sides, half)
                    assert plain.tolist() == slow(records, np.ones_like(weights), cut, sides, half)
                    assert plain.sum() == 400


def test_all_values_of_a_column(subtests):
    """Borders on both sides of every edge: all 201 values of one column, and a few beyond it."""
    for side, cut in [(1, 1), (2, 3), (3, 2), (5, 7), (10, 1), (1, 10)]:
        with subtests.test(side=side, cut=cut):
            records = np.arange(-105, 106)[:, None]
            sides = np.full(side, cut)
            expected = slow(records, np.ones(211, dtype=int), side, sides, 100)
            assert adaptive_counts(records, side, sides, half=100).tolist() == expected


@pytest.mark.parametrize("cut", [1, 2, 3, 8])
def test_cells_cut_alike_are_a_finer_grid(cut):
    records = np.random.default_rng(3).integers(-HALF, HALF, (5000, 2), endpoint=True)
    found = adaptive_counts(records, 4, np.full(16, cut)).reshape(4, 4, cut, cut)
    finer = grid_counts(records, (4 * cut, 4 * cut))
    assert (found.transpose(0, 2, 1, 3).reshape(4 * cut, 4 * cut) == finer).all()


def test_parts_add_up_to_their_coarse_cell():
    rng = np.random.default_rng(4)
    records = rng.integers(-HALF, HALF, (3000, 3), endpoint=True)
    sides = rng.integers(1, 5, 27)
    found = adaptive_counts(records, 3, sides)
    starts = np.cumsum(sides**3) - sides**3
    assert (np.add.reduceat(found, starts) == grid_counts(records, (3, 3, 3)).ravel()).all()


def test_same_bits_for_any_parts_and_threads():
    rng = np.random.default_rng(5)
    records, weights = rng.integers(-HALF, HALF, (40_000, 2)), rng.integers(0, 256, 40_000)
    sides = rng.integers(1, 9, 25)
    whole = adaptive_counts(ArrayEngine(records, weights), 5, sides)
    for rows, threads in itertools.product((7000, 20_000, 2**20), (1, 2, 7)):
        engine = ArrayEngine(records, weights, rows=rows, threads=threads)
        assert (adaptive_counts(engine, 5, sides) == whole).all()


def test_a_kernel_pickles_and_empty_parts_give_zeros():
    kernel = pickle.loads(pickle.dumps(AdaptiveKernel(2, np.array([1, 3, 2, 1]), 40)))
    (counts,) = kernel(Part(np.empty((0, 2), dtype=np.int32)))
    assert counts.tolist() == [0] * 15
    assert kernel.rows == 1 << 16


def test_one_record_changes_one_count():
    rng = np.random.default_rng(8)
    records, sides = rng.integers(-HALF, HALF, (30, 2)), rng.integers(1, 6, 9)
    whole = adaptive_counts(records, 3, sides)
    for i in range(30):
        gap = whole - adaptive_counts(np.delete(records, i, axis=0), 3, sides)
        assert sorted(gap.tolist())[-2:] == [0, 1]
        assert gap.sum() == 1


def test_bad_parameters(subtests):
    for side, sides, half, message in [
        (0, [1], HALF, "side must be from 1"),
        (2.0, [1, 1, 1, 1], HALF, "side must be a whole number"),
        (3, [1] * 9, 1, "side must be from 1 to 2"),
        (2, [1, 1], HALF, r"sides must be 2\^2 whole numbers, one for each coarse cell, got"),
        (2, [1.0] * 4, HALF, r"sides must be 2\^2 whole numbers"),
        (2, [1, 0, 1, 1], HALF, "sides must be from 1 to 1048576, got 0 to 1"),
        (2, [1, 2**20 + 1, 1, 1], HALF, "sides must be from 1 to 1048576, got 1 to 1048577"),
        (2, [1, 2**13, 1, 1], HALF, "sides must make at most 16777216 parts in all: take fewer"),
        (2, [2**20] * 4, HALF, "sides must make at most 16777216 parts in all: take fewer"),
        (1, [1], HALF + 1, "half must be from 1"),
    ]:
        with (
            subtests.test(side=side, sides=sides, half=half, message=message),
            pytest.raises(ParameterError, match=f"^{message}"),
        ):
            adaptive_counts(np.zeros((1, 2), dtype=int), side, np.array(sides), half)
