import pickle

import numpy as np
import pytest

from helpers import exact_statistics
from shoal.engines import (
    DIRECTION_UNIT,
    ArrayEngine,
    Part,
    nearest_centers,
    nearest_statistics,
    project,
    projection,
    total_weight,
)
from shoal.engines.projection import ProjectedEngine, Projection
from shoal.exceptions import ParameterError

HALF = 2**19


def orthonormal(rng, p, d):
    """Directions as a caller rounds them."""
    basis = np.linalg.qr(rng.normal(size=(d, p)))[0].T
    return np.rint(basis * DIRECTION_UNIT).astype(np.int64)


def table(n, d):
    rng = np.random.default_rng([n, d])
    records = rng.integers(-HALF, HALF, (n, d), endpoint=True)
    records[: n // 4] = HALF * np.sign(records[: n // 4])
    return records, rng.integers(-HALF, HALF, d), rng


def test_against_integers_of_python(subtests):
    for n, d, p in [(100, 3, 2), (50, 3, 3), (30, 40, 5), (20, 100, 40), (5, 784, 20), (9, 1, 1)]:
        records, center, rng = table(n, d)
        directions = orthonormal(rng, p, d)
        for radius in (1, 1000, HALF // 3, HALF, 2**27):
            with subtests.test(n=n, d=d, p=p, radius=radius):
                expected = exact_statistics.projected(records, center, directions, radius)
                kernel = Projection(center, directions, radius)
                for order in "CF":
                    part = Part(records.astype(np.int32, order=order))
                    assert kernel(part).tolist() == expected


def test_lengths_are_kept():
    """Of records inside the radius, to a few lattice steps: all directions at once only turn."""
    records, center, rng = table(500, 6)
    records = np.clip(center + rng.integers(-(2**14), 2**14, records.shape), -HALF, HALF)
    radius = 2**17
    turned = Projection(center, orthonormal(rng, 6, 6), radius)(Part(records.astype(np.int32)))
    before = np.linalg.norm(records - center, axis=1) * (HALF / radius)
    assert np.abs(np.linalg.norm(turned, axis=1) - before).max() < 4
    # Directions of the ball's border are those of the records, lengths are HALF.
    beyond = Projection(center, orthonormal(rng, 6, 6), 5)(Part(records.astype(np.int32)))
    assert np.abs(np.linalg.norm(beyond, axis=1)[before > 0] - HALF).max() < 4


def test_projected_records_lie_in_the_ball(subtests):
    for p in [1, 2, 50]:
        for radius in (1, 2**10, 2**19):
            with subtests.test(p=p, radius=radius):
                records, center, rng = table(200, 60)
                kernel = Projection(center, orthonormal(rng, p, 60), radius)
                for record in kernel(Part(records.astype(np.int32))).tolist():
                    assert sum(value**2 for value in record) <= HALF**2


def test_exact_at_the_corners_of_the_largest_box():
    """8192 columns, the longest offset and direction: products that differ by one unit in 2^53."""
    d = 8192
    directions = np.full((1, d), DIRECTION_UNIT * 2 // 181)  # 2^26 / sqrt(8192), rounded up
    records = np.full((2, d), HALF)
    records[1, 7] -= 1
    center = np.full(d, -HALF)
    kernel = Projection(center, directions, 2**27)
    products = [int(directions[0, 0]) * int((record - center).sum()) for record in records]
    assert products[0].bit_length() == 53
    exact = np.append(records, np.ones((2, 1)), axis=1) @ kernel._form
    assert exact.ravel().astype(int).tolist() == products
    expected = exact_statistics.projected(records, center, directions, 2**27)
    assert kernel(Part(records.astype(np.int32))).tolist() == expected


def test_weights_threads_and_parts(monkeypatch):
    for p in (3, 20):
        records, center, rng = table(700, 30)
        weights = rng.integers(0, 257, 700)
        directions, anchors = orthonormal(rng, p, 30), rng.integers(-HALF, HALF, (4, p))
        whole = project(ArrayEngine(records, weights), center, directions, HALF)
        assert whole.columns == p
        assert total_weight(whole) == weights.sum()
        expected = nearest_statistics(whole, anchors)
        for rows, threads, block in [(1, 7, 9), (7, 1, 3), (300, 2, 100)]:
            engine = ArrayEngine(records, weights, threads=threads, rows=rows)
            with monkeypatch.context() as patched:
                patched.setattr(projection, "row_blocks", lambda *_, block=block: block)
                found = nearest_statistics(project(engine, center, directions, HALF), anchors)
            assert (found.counts == expected.counts).all()
            assert (found.sums == expected.sums).all()


def test_an_engine_that_projects_in_each_pass():
    """As for files and Spark: the same bits as records that are projected once."""
    records, center, rng = table(300, 20)
    directions, anchors = orthonormal(rng, 4, 20), rng.integers(-HALF, HALF, (4, 4))
    engine = ArrayEngine(records, rng.integers(0, 257, 300), threads=3, rows=17)
    once = project(engine, center, directions, HALF)
    anew = ProjectedEngine(engine, Projection(center, directions, HALF))
    assert (anew.columns, anew.weight) == (once.columns, once.weight)
    found, expected = nearest_statistics(anew, anchors), nearest_statistics(once, anchors)
    assert (found.sums == expected.sums).all()
    assert (nearest_centers(anew, anchors) == nearest_centers(once, anchors)).all()


def test_no_records():
    empty = project(np.empty((0, 2), dtype=int), np.zeros(2, dtype=int), np.array([[1, 0]]), 1)
    assert nearest_statistics(empty, np.array([[0]])).counts.tolist() == [0]


def test_a_projection_travels():
    records, center, rng = table(20, 3)
    kernel = Projection(center, orthonormal(rng, 2, 3), HALF)
    part = Part(records.astype(np.int32))
    expected = kernel(part)
    assert (pickle.loads(pickle.dumps(kernel))(part) == expected).all()


def test_bad_parameters(subtests):
    records, center = np.zeros((1, 2), dtype=int), np.zeros(2, dtype=int)
    good = np.array([[DIRECTION_UNIT, 0]])
    for where, directions, radius, message in [
        (np.zeros(3, dtype=int), good, 1, "center must have shape"),
        (center, np.zeros((1, 3), dtype=int), 1, "directions must have shape"),
        (center, np.zeros((0, 2), dtype=int), 1, "directions must have shape"),
        (center, np.zeros((8193, 2), dtype=int), 1, "directions must be at most 8192"),
        (center, np.ones((1, 2)), 1, "directions must be integers"),
        (center, np.full((1, 2), DIRECTION_UNIT), 1, "directions must have length 67108864"),
        (center, np.full((1, 2), 2**62), 1, "directions must have length 67108864"),
        (center, good, 0, "radius must be from 1"),
        (center, good, 2.0, "radius must be a whole number"),
    ]:
        with (
            subtests.test(message=message, radius=radius),
            pytest.raises(ParameterError, match=message),
        ):
            project(records, where, directions, radius)
