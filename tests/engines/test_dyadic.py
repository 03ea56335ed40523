import pickle
from collections import Counter

import numpy as np
import pytest

from shoal.engines import (
    ArrayEngine,
    Part,
    dyadic_boxes,
    dyadic_counts,
    grid_counts,
    max_halvings,
)
from shoal.engines.dyadic import DyadicKernel
from shoal.exceptions import ParameterError

HALF = 2**19


def exact(records, halvings, half=HALF, weights=None):
    """The counts again, with Python's integers, one record and one halving at a time."""
    expected = Counter()
    for i, record in enumerate(records.tolist()):
        low, code = [-half] * len(record), 0
        width = [2 * half] * len(record)
        for time in range(halvings):
            column = time % len(record)
            # In units of 2^-20 of a step, so that halves are whole.
            middle = (low[column] << 20) + (width[column] << 19)
            upper = (min(record[column], half) << 20) >= middle
            code = 2 * code + upper
            width[column] /= 2
            low[column] += width[column] if upper else 0
            if width[column] != int(width[column]):
                break
            width[column] = int(width[column])
            low[column] = int(low[column])
        else:
            expected[code] += 1 if weights is None else int(weights[i])
    return {key: value for key, value in expected.items() if value}


def table(found):
    return dict(zip(found.codes.tolist(), found.counts.tolist(), strict=True))


@pytest.mark.parametrize("columns", [1, 2, 3, 5])
def test_against_integers_of_python(columns):
    rng = np.random.default_rng(columns)
    records = rng.integers(-HALF, HALF, (300, columns), endpoint=True)
    records[:2] = [[-HALF], [HALF]]
    weights = rng.integers(0, 3, 300) * rng.integers(0, 129, 300)
    for halvings in (1, columns, 2 * columns + 1, min(4 * columns + 3, max_halvings(columns))):
        for given in (None, weights):
            found = dyadic_counts(ArrayEngine(records, given), halvings)
            assert found.codes.dtype == found.counts.dtype == np.int64
            assert (np.diff(found.codes) > 0).all()
            assert table(found) == exact(records, halvings, weights=given)


@pytest.mark.parametrize("half", [HALF, 1000, 7])
def test_nodes_are_cells_of_grids(half):
    """The first bits of the finest codes are the cells of coarser ones, at any width."""
    rng = np.random.default_rng(half)
    records = rng.integers(-half, half, (2000, 2), endpoint=True)
    finest = dyadic_counts(records, max_halvings(2, half), half)
    for times in range(1, half.bit_length() + 1):
        if times > 6:
            break
        whole = grid_counts(records, (2**times, 2**times), half)
        coarse = np.zeros(4**times, dtype=np.int64)
        shift = max_halvings(2, half) - 2 * times
        np.add.at(coarse, finest.codes >> shift, finest.counts)
        for code, count in enumerate(coarse.tolist()):
            bits = f"{code:0{2 * times}b}"
            assert whole[int(bits[::2], 2), int(bits[1::2], 2)] == count


def test_boxes_hold_the_records_of_their_codes():
    rng = np.random.default_rng(0)
    records = rng.integers(-HALF, HALF, (500, 3))
    halvings = 14
    found = dyadic_counts(records, halvings)
    low, high = dyadic_boxes(
        found.codes, np.full(len(found.codes), halvings), columns=3, halvings=halvings
    )
    inside = (records[:, None] >= low) & (records[:, None] < high)
    assert inside.all(axis=2).sum(axis=0).tolist() == found.counts.tolist()
    # A node of two halvings: a quarter of the box, whole in the third column.
    low, high = dyadic_boxes(np.array([3 << 12]), np.array([2]), columns=3, halvings=halvings)
    assert low.tolist() == [[0.0, 0.0, -HALF]]
    assert high.tolist() == [[HALF, HALF, HALF]]


def test_parts_merge_in_any_order_and_kernels_pickle():
    rng = np.random.default_rng(3)
    records = rng.integers(-HALF, HALF, (400, 2)).astype(np.int32)
    weights = rng.integers(0, 4, 400).astype(np.int32)
    kernel = pickle.loads(pickle.dumps(DyadicKernel(11, HALF)))
    whole = kernel(Part(records, weights))
    parts = [kernel(Part(records[i::3], weights[i::3])) for i in range(3)]
    for order in ([0, 1, 2], [2, 0, 1]):
        merged = kernel.merge(*(parts[i] for i in order))
        for one, other in zip(merged, whole, strict=True):
            assert one.tolist() == other.tolist()


def test_refusals():
    records = np.zeros((3, 2), dtype=np.int64)
    with pytest.raises(ParameterError, match=r"halvings must be from 1 to 40, got 41"):
        dyadic_counts(records, 41)
    with pytest.raises(ParameterError, match="at most 62 columns"):
        dyadic_counts(np.zeros((3, 63), dtype=np.int64), 1)
