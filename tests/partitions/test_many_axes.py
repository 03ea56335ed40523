"""Partitions of many axes: one axis at a time, and the nearest of a few points."""

import numpy as np
import pytest

from shoal._bounds import public_box
from shoal.partitions import (
    Partitions,
    box_axes,
    column_partitions,
    default_partitions,
    one_grid_divides,
    places,
    seed_partitions,
    space_axes,
    spread_over_axes,
)
from shoal.partitions.axes import positions
from shoal.partitions.grids import AxisGrids
from shoal.partitions.seeds import NearestSeeds
from shoal.schema import Category, Number, Schema

SIX = box_axes(public_box((-1.0, 3.0), 6))
SCHEMA = Schema([Number("age", minimum=0, maximum=120), Category("city", ["A", "B", "C"])])
MIXED = space_axes(SCHEMA.space)


def test_levels_need_more_than_one_grid():
    assert one_grid_divides(SIX[:3])
    assert not one_grid_divides(SIX[:4])
    assert not one_grid_divides(MIXED)


@pytest.mark.parametrize("axes", [SIX, MIXED], ids=["box", "mixed"])
def test_a_partition_looks_at_one_axis(axes):
    partitions = column_partitions(axes, 4, n_partitions=32)
    rng = np.random.default_rng(0)
    (block,) = partitions.blocks
    assert isinstance(block, AxisGrids)
    chosen = block.chosen[:, 0]
    assert set(chosen.tolist()) == set(range(len(axes)))
    points = spread_over_axes(axes, 50)
    for j in range(32):
        along = positions(points, axes)
        others = np.delete(np.arange(len(axes)), chosen[j])
        along[:, others] = along[rng.permutation(50)][:, others]
        moved = places(along, axes)
        index = np.full(50, j)
        assert np.array_equal(partitions.colors(points, index), partitions.colors(moved, index))


def test_spread_points_are_records_of_the_schema_and_even():
    points = spread_over_axes(MIXED, 4000, seed=3)
    assert SCHEMA.space.holds(points)
    along = positions(points, MIXED)
    shares = np.bincount(along[:, -1].astype(int)) / 4000
    # 5 standard errors, a fixed seed
    assert np.abs(shares - 0.2).max() < 5 * np.sqrt(0.16 / 4000)
    assert abs(along[:, 0].mean() - 0.5) < 5 * np.sqrt(1 / 12 / 4000)
    assert np.array_equal(points, spread_over_axes(MIXED, 4000, seed=3))


def test_places_are_the_inverse_of_positions():
    points = spread_over_axes(MIXED, 20)
    assert np.allclose(places(positions(points, MIXED), MIXED), points)


def the_seeds(partitions):
    (block,) = partitions.blocks
    assert isinstance(block, NearestSeeds)
    return block


def test_seeds_are_rounded_and_measured_as_k_means_measures():
    pool = np.random.default_rng(0).uniform(-1, 3, (200, 6))
    partitions = seed_partitions(SIX, pool, 4, n_partitions=8)
    block = the_seeds(partitions)
    assert np.abs(block.pool - pool).max() <= 4.0 / 4096
    assert block.n_seeds == 16
    assert the_seeds(seed_partitions(SIX, pool, 8)).n_seeds == 64
    assert the_seeds(seed_partitions(SIX, pool[:10], 8)).n_seeds == 10
    points = np.random.default_rng(1).uniform(-1, 3, (30, 6))
    seeds = block.pool[block._chosen[5]]
    nearest = ((points[:, None] - seeds) ** 2).sum(axis=2).argmin(axis=1)
    assert np.array_equal(partitions.color_table(points)[5], nearest % 4)
    alone = [partitions.color(point.tolist(), 5) for point in points]
    assert alone == (nearest % 4).tolist()


@pytest.mark.parametrize("axes", [SIX, MIXED], ids=["box", "mixed"])
def test_default_of_many_axes_comes_back(axes):
    partitions = default_partitions(axes, epsilon=1.0, n_clusters=5)
    assert partitions.n_partitions == 512
    assert Partitions.from_dict(partitions.to_dict()) == partitions
