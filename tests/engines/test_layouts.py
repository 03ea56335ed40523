"""How records lie in memory changes no bit of any statistic."""

import math

import numpy as np
import pytest

from helpers import exact_statistics
from shoal.engines import DIRECTION_UNIT, Part, grid, nearest, nearest_statistics
from shoal.engines.ball import RadiusKernel, SecondMomentKernel
from shoal.engines.grid import AdaptiveKernel, GridKernel
from shoal.engines.nearest import NearestKernel
from shoal.engines.projection import Projection
from shoal.engines.sparse_grid import SparseGridKernel
from shoal.engines.windows import WindowKernel

HALF = 2**19
N = 150


def by_column(records):
    """As the transpose of a table that a file's columns were decoded into."""
    return np.ascontiguousarray(records.T).T


def with_gaps(records):
    wide = np.full((2 * len(records), records.shape[1] + 3), 7, dtype=np.int32)
    wide[::2, 2:-1] = records
    return wide[::2, 2:-1]


def columns_with_gaps(records):
    return with_gaps(records.T.copy()).T


def backwards(records):
    return np.ascontiguousarray(records[::-1, ::-1])[::-1, ::-1]


def columns_backwards(records):
    return np.asfortranarray(records[::-1, ::-1])[::-1, ::-1]


LAYOUTS = [
    np.ascontiguousarray,
    by_column,
    with_gaps,
    columns_with_gaps,
    backwards,
    columns_backwards,
]


def parts(records, weights):
    for layout in LAYOUTS:
        laid = layout(records)
        assert laid.dtype == np.int32
        assert (laid == records).all()
        for given in (None, weights):
            yield Part(laid, given)


def table(seed, d):
    rng = np.random.default_rng([seed, d])
    records = rng.integers(-HALF, HALF, (N, d), endpoint=True, dtype=np.int32)
    records[: N // 4] = HALF * np.sign(records[: N // 4])
    return records, rng.integers(0, 256, N, endpoint=True, dtype=np.int32), rng


def small_blocks(monkeypatch):
    monkeypatch.setattr(nearest, "block_rows", lambda *_: 64)
    monkeypatch.setattr(nearest, "product_rows", lambda *_: 24)
    for module in ("sparse_grid", "grid"):
        monkeypatch.setattr(f"shoal.engines.{module}.BLOCK_ROWS", 64)
    monkeypatch.setattr(grid, "BLOCK_VALUES", 64)


def test_nearest(monkeypatch, subtests):
    """Few and many centers, by products and by indices, for tables of few and of many columns."""
    for d, k in [(1, 3), (4, 8), (4, 13), (15, 5), (16, 8), (16, 40), (20, 28)]:
        with subtests.test(d=d, k=k):
            for clip_radius, shape in [(None, "cube"), (HALF // 3, "cube"), (HALF, "ball")]:
                small_blocks(monkeypatch)
                records, weights, rng = table(k, d)
                centers = rng.integers(-HALF, HALF, (k, d), endpoint=True)
                centers[k // 2] = centers[0]
                labels = exact_statistics.nearest(records, centers)
                kernel = NearestKernel(centers, clip_radius, shape)
                for part in parts(records, weights):
                    expected = exact_statistics.statistics(
                        records,
                        labels,
                        centers,
                        weights=part.weights,
                        clip_radius=clip_radius,
                        shape=shape,
                    )
                    assert [result.tolist() for result in kernel(part)] == list(expected)
                    assert kernel.labels(part).tolist() == labels


@pytest.mark.parametrize("d", [2, 20])
def test_the_ball_is_closed(d):
    """Offsets of exactly the radius are left as they are, and the count takes no part in them."""
    records = np.zeros((N, d), dtype=np.int32)
    records[:, 0] = 3 * np.arange(N)
    records[:, 1] = 4 * np.arange(N)
    weights = np.full(N, 2, dtype=np.int32)
    kernel = NearestKernel(np.zeros((1, d), dtype=np.int64), 5 * (N - 1), "ball")
    for part in parts(records, weights):
        counts, sums = kernel(part)
        times = 1 if part.weights is None else 2
        assert counts.tolist() == [times * N]
        assert (sums[0] == times * records.sum(axis=0)).all()


@pytest.mark.parametrize(("cells", "half"), [((5, 8, 3), HALF), ((4096, 2, 7), HALF), ((3,), 700)])
def test_grids(monkeypatch, cells, half):
    small_blocks(monkeypatch)
    records, weights, _ = table(2, len(cells))
    places = []
    for record in records.tolist():
        place = 0
        for value, m in zip(record, cells, strict=True):
            inside = min(max(value, -half), half)
            place = place * m + min((inside + half) * m // (2 * half), m - 1)
        places.append(place)
    for part in parts(records, weights):
        expected = np.bincount(places, weights=part.weights, minlength=math.prod(cells))
        assert (GridKernel(cells, half)(part)[0] == expected).all()
        codes, counts = SparseGridKernel(cells, half)(part)
        assert (codes == np.flatnonzero(expected)).all()
        assert (counts == expected[codes]).all()


@pytest.mark.parametrize("half", [HALF, 700])
def test_grids_that_are_cut_again(monkeypatch, half):
    """A grid all of whose cells are cut alike is one finer grid, its parts in another order."""
    small_blocks(monkeypatch)
    records, weights, _ = table(3, 2)
    for part in parts(records, weights):
        (counts,) = AdaptiveKernel(4, np.full(16, 3), half)(part)
        (finer,) = GridKernel((12, 12), half)(part)
        together = counts.reshape(4, 4, 3, 3).transpose(0, 2, 1, 3).reshape(12, 12)
        assert (together == finer.reshape(12, 12)).all()


def test_windows_balls_and_projections(monkeypatch, subtests):
    """Blocks of rows, filled from records that lie in any way; more columns than one tile."""
    for module in ("windows", "ball", "projection"):
        monkeypatch.setattr(f"shoal.engines.{module}.row_blocks", lambda *_: 64)
    monkeypatch.setattr("shoal.engines.ball.block_rows", lambda *_: 64)
    for d, k in [(1, 3), (7, 5), (40, 9)]:
        with subtests.test(d=d, k=k):
            records, weights, rng = table(k, d)
            centers = rng.integers(-HALF, HALF, (k, d), endpoint=True)
            radii = rng.integers(1, 4 * HALF, k)
            edges = np.array([HALF // 2, HALF, 4 * HALF])
            directions = rng.integers(-1, 2, (2, d)) * (DIRECTION_UNIT // 7)
            project = Projection(centers[0], directions, HALF)
            projected = exact_statistics.projected(records, centers[0], directions, HALF)
            for part in parts(records, weights):
                given = part.weights
                found = WindowKernel(centers, radii)(part)
                expected = exact_statistics.windows(records, centers, radii, given)
                assert [result.tolist() for result in found] == list(expected)
                (counts,) = RadiusKernel(centers[0], edges)(part)
                assert counts.tolist() == exact_statistics.radius_counts(
                    records, centers[0], edges, given
                )
                (moments,) = SecondMomentKernel(centers[0], HALF)(part)
                assert moments.tolist() == exact_statistics.second_moments(
                    records, centers[0], HALF, given
                )
                assert project(part).tolist() == projected


@pytest.mark.parametrize("shape", ["cube", "ball"])
def test_a_single_wide_record_lies_both_ways(shape, subtests):
    """The last block of a part may have one record, of which no order in memory can be told."""
    for rows in [1, 2]:
        for d in [3, 16, 50]:
            with subtests.test(rows=rows, d=d):
                rng = np.random.default_rng(d)
                records = rng.integers(-HALF, HALF, (rows, d)).astype(np.int32)
                centers = rng.integers(-HALF, HALF, (3, d))
                found = nearest_statistics(records, centers, clip_radius=2**18, shape=shape)
                repeated = nearest_statistics(
                    np.repeat(records, 5, axis=0), centers, clip_radius=2**18, shape=shape
                )
                assert (5 * found.counts == repeated.counts).all()
                assert (5 * found.sums == repeated.sums).all()
