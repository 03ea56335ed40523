import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import exact_statistics
from shoal.engines import (
    MOMENT_UNIT,
    ArrayEngine,
    Part,
    _rows,
    nearest_statistics,
    window_statistics,
    windows,
)
from shoal.engines.engine import Sums
from shoal.engines.windows import WindowKernel
from shoal.exceptions import DataError, ParameterError

HALF = 2**19


def lattice(rng, shape, half=HALF):
    """Points with many at the corners, where rounding would show."""
    points = rng.integers(-half, half, shape, endpoint=True)
    return np.where(rng.random(shape) < 0.2, half * np.sign(points), points)


def lists(found):
    return [found.counts.tolist(), found.sums.tolist(), found.moments.tolist()]


def some_radii(rng, k, d):
    """Radii from one step to beyond the longest offset."""
    radii = np.rint(2.0 ** rng.uniform(0, 20 + np.log2(d) / 2, k)).astype(int)
    radii[0] = 1
    return radii


def test_against_integers_of_python(subtests):
    for n, k, d in [(300, 7, 3), (200, 1, 1), (40, 60, 2), (90, 5, 40), (20, 3, 784), (1, 9, 2)]:
        with subtests.test(n=n, k=k, d=d):
            rng = np.random.default_rng([n, k, d])
            records, centers = lattice(rng, (n, d)), lattice(rng, (k, d))
            records[: n // 3] = np.clip(
                centers[rng.integers(k, size=n // 3)] + rng.integers(-9, 10, (n // 3, d)),
                -HALF,
                HALF,
            )
            weights = rng.integers(0, 256, n, endpoint=True)
            for radii in (some_radii(rng, k, d), np.full(k, 2**18)):
                for given in (None, weights):
                    found = window_statistics(ArrayEngine(records, given), centers, radii)
                    expected = exact_statistics.windows(records, centers, radii, given)
                    assert lists(found) == list(expected)


VALUES = st.sampled_from([-HALF, 1 - HALF, -2, -1, 0, 1, 2, 7, HALF - 1, HALF])
POINTS = st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=8)
RADII = st.sampled_from([1, 2, 3, 7, HALF - 1, HALF, 908_093, 908_094, 2**20, 1_816_187, 2**27])


@settings(max_examples=80, deadline=None, derandomize=True)
@given(records=POINTS, centers=POINTS, data=st.data())
def test_any_records_centers_and_radii(records, centers, data):
    """Ends of the lattice, ties, and radii around the lengths of diagonals."""
    radii = data.draw(st.lists(RADII, min_size=len(centers), max_size=len(centers)))
    weights = data.draw(
        st.lists(st.sampled_from([0, 1, 255, 256]), min_size=len(records), max_size=len(records))
    )
    arrays = [np.array(values) for values in (records, weights, centers, radii)]
    found = window_statistics(ArrayEngine(arrays[0], arrays[1]), *arrays[2:])
    expected = exact_statistics.windows(arrays[0], arrays[2], arrays[3], arrays[1])
    assert lists(found) == list(expected)


def test_ties_empty_clusters_and_records_on_centers(subtests):
    """A small lattice: centers that occur several times, and records halfway between two."""
    for k in [3, 20, 300]:
        with subtests.test(k=k):
            rng = np.random.default_rng(k)
            records, centers = rng.integers(-2, 3, (200, 2)), rng.integers(-2, 3, (k, 2))
            for radii in (np.ones(k, dtype=int), rng.integers(1, 4, k)):
                found = window_statistics(records, centers, radii)
                assert lists(found) == list(exact_statistics.windows(records, centers, radii))
    centers = np.array([[0, 0], [0, 0], [99, 99]])
    found = window_statistics(np.zeros((5, 2), dtype=int), centers, np.array([1, 1, 1]))
    assert lists(found) == [[5, 0, 0], [[0, 0]] * 3, [-5 * MOMENT_UNIT // 2, 0, 0]]


def test_sums_are_those_of_nearest_statistics(subtests):
    """Another way of adding up, with one radius for all."""
    for d, k in [(3, 8), (30, 50), (100, 100)]:
        for radius in (2**16, 2**20, 2**27):
            with subtests.test(d=d, k=k, radius=radius):
                rng = np.random.default_rng([d, k])
                engine = ArrayEngine(lattice(rng, (3000, d)), rng.integers(0, 257, 3000))
                centers = lattice(rng, (k, d))
                found = window_statistics(engine, centers, np.full(k, radius))
                other = nearest_statistics(engine, centers, clip_radius=radius, shape="ball")
                assert (found.counts == other.counts).all()
                assert (found.sums == other.sums).all()


def test_same_bits_for_any_parts_blocks_and_threads(monkeypatch, subtests):
    for d, k in [(4, 9), (30, 40)]:
        with subtests.test(d=d, k=k):
            rng = np.random.default_rng(1)
            records, centers = lattice(rng, (500, d)), lattice(rng, (k, d))
            weights, radii = rng.integers(0, 256, 500, endpoint=True), some_radii(rng, k, d)
            whole = lists(window_statistics(ArrayEngine(records, weights), centers, radii))
            for rows, threads, block in [(1, 7, 9), (7, 1, 3), (300, 2, 100), (500, 2, 64)]:
                engine = ArrayEngine(records, weights, threads=threads, rows=rows)
                with monkeypatch.context() as patched:
                    patched.setattr(windows, "row_blocks", lambda *_, block=block: block)
                    patched.setattr(_rows, "CLIP_VALUES", 11 * d)
                    assert lists(window_statistics(engine, centers, radii)) == whole


@pytest.mark.parametrize("weight", [1, 256])
def test_one_record_changes_one_window(weight):
    """By its weight, by at most the radius and by at most half a unit: in exact integers."""
    rng = np.random.default_rng(2)
    for d in (1, 3, 25, 784):
        records, centers = lattice(rng, (30, d)), lattice(rng, (6, d))
        weights, radii = np.full(30, weight), some_radii(rng, 6, d)
        for i in range(15):
            kept = np.arange(30) != i
            more, less = (
                window_statistics(ArrayEngine(r, w), centers, radii)
                for r, w in ((records, weights), (records[kept], weights[kept]))
            )
            (label,) = exact_statistics.nearest(records[i : i + 1], centers)
            assert (more.counts - less.counts)[label] == weight
            for one, other in zip(lists(more), lists(less), strict=True):
                changed = [j for j in range(6) if one[j] != other[j]]
                assert set(changed) <= {label}
            change = (more.sums - less.sums)[label].tolist()
            assert sum(value**2 for value in change) <= (weight * int(radii[label])) ** 2
            moment = int((more.moments - less.moments)[label])
            assert abs(moment) <= weight * MOMENT_UNIT // 2


def test_the_window_is_closed():
    """Length of the radius is inside and has the largest moment; one unit more is clipped."""
    center = np.zeros((1, 2), dtype=int)
    for radius in (5, 500, 5 * 2**16):
        record = np.array([[radius // 5 * 3, radius // 5 * 4]])
        found = window_statistics(record, center, np.array([radius]))
        assert found.sums.tolist() == record.tolist()
        assert found.moments.tolist() == [MOMENT_UNIT // 2]
        found = window_statistics(np.array([[radius, 1]]), center, np.array([radius]))
        assert found.sums.tolist() == [[radius - 1, 0]]
        assert found.moments.tolist() == [MOMENT_UNIT // 2]
        found = window_statistics(np.array([[radius - 1, 0]]), center, np.array([radius]))
        assert found.moments[0] < MOMENT_UNIT // 2


@pytest.mark.full
def test_the_largest_sums_there_are(subtests):
    """Parts of 2^24 rows from corner to corner with large weights, and 2^34 rows of them.

    Odd numbers need every bit: on a lattice one bit finer doubles or int64 would lose some.
    """
    rows, parts = 2**24 - 1, 2**10
    record, center = np.full((1, 1), HALF), np.full((1, 1), 1 - HALF)
    weights = np.broadcast_to(np.int32(255), rows)
    part = Part(np.broadcast_to(record.astype(np.int32), (rows, 1)), weights)
    for radius, offset, moment in [
        (2**27, 2**20 - 1, (2**20 - 1) ** 2 * 2**20 // 2**54 - 2**19),
        (2**20 - 3, 2**20 - 4, 2**19),  # clipped, a step lost to truncation
    ]:
        with subtests.test(radius=radius):
            found = WindowKernel(center, np.array([radius]))(part)
            times = 255 * rows
            exact = [times, times * offset, times * moment]
            assert [int(result.item()) for result in found] == exact
            totals = Sums()
            for _ in range(parts):
                totals.add(tuple(result.copy() for result in found))
            # 2^34 rows with weights.
            assert [int(result.item()) for result in totals.result()] == [
                parts * value for value in exact
            ]


@pytest.mark.parametrize("d", [784, 8192])
def test_all_records_at_the_far_corner(d):
    """Squared lengths of up to 2^53, whose sum over a few records is beyond any double."""
    centers = np.full((2, d), -HALF, dtype=np.int64)
    centers[1, 5] += 1  # nearer by one part in 2^53
    records = np.full((100, d), HALF)
    engine = ArrayEngine(records, np.full(100, 256))
    square = d * 2**40 - 2 * 2**20 + 1
    for radius in (2**26, 2**27):
        found = window_statistics(engine, centers, np.array([radius, radius]))
        assert found.counts.tolist() == [0, 25_600]
        expected = min(square, radius**2) * 2**20 // radius**2 - 2**19
        assert found.moments.tolist() == [0, 25_600 * expected]
        assert sum(int(value) ** 2 for value in found.sums[1]) <= (25_600 * radius) ** 2


def test_more_records_than_int64_holds_are_refused(monkeypatch):
    engine, center = ArrayEngine(np.zeros((2, 1), dtype=np.int32)), np.zeros((1, 1), dtype=int)
    monkeypatch.setattr(ArrayEngine, "weight", 2**42)
    assert window_statistics(engine, center, np.array([1])).counts.tolist() == [2]
    monkeypatch.setattr(ArrayEngine, "weight", 2**42 + 1)
    with pytest.raises(DataError, match="at most 4398046511104"):
        window_statistics(engine, center, np.array([1]))


def test_no_records():
    centers = np.zeros((3, 2), dtype=np.int64)
    found = window_statistics(np.empty((0, 2), dtype=np.int64), centers, np.ones(3, dtype=int))
    assert lists(found) == [[0] * 3, [[0, 0]] * 3, [0] * 3]


def test_a_kernel_travels():
    """Other engines send kernels to other processes, used or not."""
    rng = np.random.default_rng(3)
    kernel = WindowKernel(lattice(rng, (4, 2)), np.array([1, 10, 2**18, 2**27]))
    part = Part(lattice(rng, (20, 2)).astype(np.int32))
    for copy in (pickle.loads(pickle.dumps(kernel)) for _ in range(2)):
        for mine, theirs in zip(kernel(part), copy(part), strict=True):
            assert (mine == theirs).all()


def test_bad_parameters(subtests):
    good = np.zeros((2, 2), dtype=int)
    for centers, radii, message in [
        (np.zeros((2, 3), dtype=int), np.ones(2, dtype=int), "centers must have shape"),
        (np.full((2, 2), HALF + 1), np.ones(2, dtype=int), "centers must lie between"),
        (good, np.ones(3, dtype=int), "radii must be 2 integers"),
        (good, np.ones(2), "radii must be 2 integers"),
        (good, np.array([1, 0]), "radii must lie between 1"),
        (good, np.array([1, 2**27 + 1]), "radii must lie between 1"),
    ]:
        with (
            subtests.test(message=message, radii=radii),
            pytest.raises(ParameterError, match=message),
        ):
            window_statistics(np.zeros((1, 2), dtype=int), centers, radii)
