import pickle

import numpy as np
import pytest

from helpers import exact_statistics
from shoal.engines import SECOND_UNIT, ArrayEngine, Part, ball, radius_counts, second_moments
from shoal.engines.ball import RadiusKernel, SecondMomentKernel
from shoal.engines.engine import Sums
from shoal.exceptions import DataError, ParameterError

HALF = 2**19
SHAPES = [(200, 1), (200, 3), (60, 20), (15, 100)]


def table(n, d):
    """Records with many at the corners, some close to the center, and weights."""
    rng = np.random.default_rng([n, d])
    records = rng.integers(-HALF, HALF, (n, d), endpoint=True)
    records[: n // 5] = HALF * np.sign(records[: n // 5])
    center = rng.integers(-HALF, HALF, d)
    near = center + rng.integers(-9, 10, (n // 3, d))
    records[-(n // 3) :] = np.clip(near, -HALF, HALF)
    records[-1] = center
    return records, center, rng.integers(0, 256, n, endpoint=True), rng


def test_radii_against_integers_of_python(subtests):
    for n, d in SHAPES:
        with subtests.test(n=n, d=d):
            records, center, weights, rng = table(n, d)
            edges = np.unique(np.rint(2.0 ** rng.uniform(0, 27, 40)).astype(int))
            for given in (None, weights):
                found = radius_counts(ArrayEngine(records, given), center, edges)
                assert found.tolist() == exact_statistics.radius_counts(
                    records, center, edges, given
                )


def test_edges_belong_to_the_bin_inside():
    """Squares that differ by one unit in 2^53 are told apart."""
    records = np.array([[3, 4], [3, 5], [0, 0], [-5, 0], [6, 0]])
    assert radius_counts(records, np.zeros(2, dtype=int), np.array([5])).tolist() == [3, 2]
    corners = np.full((2, 8192), HALF)
    corners[1, 0] -= 1
    # 2^26.5 is the longest offset, between these two; one step less in one column is still longer.
    edges = np.array([94_906_265, 94_906_266])
    assert radius_counts(corners, np.full(8192, -HALF), edges).tolist() == [0, 2, 0]


def test_second_moments_against_integers_of_python(subtests):
    for n, d in SHAPES:
        records, center, weights, _ = table(n, d)
        for radius in (1, 7, 2**12, 2**18, 2**21, 2**27):
            with subtests.test(n=n, d=d, radius=radius):
                for given in (None, weights):
                    found = second_moments(ArrayEngine(records, given), center, radius)
                    expected = exact_statistics.second_moments(records, center, radius, given)
                    assert found.tolist() == expected


def test_same_bits_for_any_parts_blocks_and_threads(monkeypatch):
    records, center, weights, _ = table(900, 12)
    edges = np.array([10, 2**18, 2**20])

    def both(engine):
        return radius_counts(engine, center, edges), second_moments(engine, center, 2**19)

    whole = both(ArrayEngine(records, weights))
    for rows, threads, block in [(1, 7, 9), (7, 1, 3), (300, 2, 100), (900, 2, 64)]:
        for order in "CF":
            given = records.astype(np.int32, order=order)
            engine = ArrayEngine(given, weights, threads=threads, rows=rows)
            with monkeypatch.context() as patched:
                for rule in ("row_blocks", "block_rows"):
                    patched.setattr(ball, rule, lambda *_, block=block: block)
                for one, other in zip(both(engine), whole, strict=True):
                    assert (one == other).all()


def test_the_largest_sums_there_are():
    """Parts of 2^24 rows with large weights: products pass 2^53, so blocks leave doubles in time.

    Odd numbers need every bit.
    """
    rows, times = 2**24 - 1, 255 * (2**24 - 1)
    weights = np.broadcast_to(np.int32(255), rows)
    part = Part(np.broadcast_to(np.array([[HALF]], dtype=np.int32), (rows, 1)), weights)
    (found,) = SecondMomentKernel(np.array([-HALF]), 1)(part)
    assert int(found.item()) == times * (SECOND_UNIT - 1) ** 2
    totals = Sums()
    for _ in range(2**38 // (256 * 2**24)):  # as many as there may be
        totals.add((found.copy(),))
    assert int(totals.result()[0].item()) == 64 * times * (SECOND_UNIT - 1) ** 2
    (counts,) = RadiusKernel(np.array([-HALF]), np.array([2**20 - 1, 2**20]))(part)
    assert counts.tolist() == [0, times, 0]


def test_more_records_than_int64_holds_are_refused(monkeypatch):
    engine = ArrayEngine(np.zeros((2, 1), dtype=np.int32))
    monkeypatch.setattr(ArrayEngine, "weight", 2**38)
    assert second_moments(engine, np.array([0]), 5).tolist() == [[0]]
    monkeypatch.setattr(ArrayEngine, "weight", 2**38 + 1)
    with pytest.raises(DataError, match="at most 274877906944"):
        second_moments(engine, np.array([0]), 5)


def test_one_record_adds_at_most_the_unit():
    """The Frobenius norm of y y^T is the squared length of y: at most SECOND_UNIT^2, exactly."""
    rng = np.random.default_rng(5)
    for d in (1, 2, 100):
        for _ in range(20):
            record = rng.integers(-HALF, HALF, (1, d), endpoint=True)
            radius = int(2.0 ** rng.uniform(0, 27))
            moments = second_moments(record, np.zeros(d, dtype=int), radius)
            assert sum(int(value) for value in np.diag(moments)) <= SECOND_UNIT**2
            squares = sum(int(value) ** 2 for value in moments.ravel())
            assert squares <= SECOND_UNIT**4


def test_no_records():
    empty, center = np.empty((0, 2), dtype=np.int64), np.zeros(2, dtype=int)
    assert radius_counts(empty, center, np.array([1, 2])).tolist() == [0, 0, 0]
    assert second_moments(empty, center, 1).tolist() == [[0, 0], [0, 0]]


def test_kernels_travel():
    records, center, weights, _ = table(20, 3)
    part = Part(records.astype(np.int32), weights.astype(np.int32))
    for kernel in (RadiusKernel(center, np.array([2**18, 2**19])), SecondMomentKernel(center, 7)):
        assert (pickle.loads(pickle.dumps(kernel))(part)[0] == kernel(part)[0]).all()


def test_bad_parameters(subtests):
    records, center = np.zeros((1, 2), dtype=int), np.zeros(2, dtype=int)
    for edges, message in [
        (np.array([], dtype=int), "edges must be 1 or more integers"),
        (np.array([1.0]), "edges must be 1 or more integers"),
        (np.array([0, 3]), "edges must increase, from at least 1"),
        (np.array([3, 3]), "edges must increase"),
        (np.array([2**27 + 1]), "at most 134217728"),
    ]:
        with subtests.test(edges=edges), pytest.raises(ParameterError, match=message):
            radius_counts(records, center, edges)
    for where, radius, message in [
        (np.zeros(3, dtype=int), 1, r"center must have shape \(2,\)"),
        (np.zeros(2), 1, "center must be integers"),
        (np.full(2, HALF + 1), 1, "center must lie between"),
        (center, 0, "radius must be from 1"),
        (center, 1.5, "radius must be a whole number"),
    ]:
        with (
            subtests.test(center=where, radius=radius),
            pytest.raises(ParameterError, match=message),
        ):
            second_moments(records, where, radius)
