import json

import numpy as np
import pytest

from shoal._bounds import public_box
from shoal.exceptions import ParameterError
from shoal.partitions import (
    AxisGrids,
    NearestSeeds,
    Partitions,
    box_axes,
    default_partitions,
    space_axes,
)
from shoal.partitions.hashing import next_prime, public_words
from shoal.schema import Category, Number, Schema

AXES = box_axes(public_box(([0.0, -5.0, 10.0], [1.0, 5.0, 12.0]), 3))
SCHEMA = Schema([Number("age", minimum=0, maximum=120), Category("city", ["A", "B", "C"])])


def points(count, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform([0.0, -5.0, 10.0], [1.0, 5.0, 12.0], (count, 3))


BLOCKS = {
    "all axes": AxisGrids(AXES, 64, 8, cells=5, seed=3),
    "one axis": AxisGrids(AXES, 64, 8, cells=20, size=1, seed=4),
    "two axes": AxisGrids(AXES, 64, 8, cells=6, size=2),
    "seeds": NearestSeeds(points(100, 9), 64, 8, 16, [0, -5, 10], [1, 5, 12], seed=5),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_a_device_and_the_server_see_the_same_color(name):
    partitions, records = Partitions([BLOCKS[name]]), points(500)
    index = np.arange(500) % 64
    table = partitions.color_table(records)
    assert table.shape == (64, 500)
    assert table.max() < 8
    np.testing.assert_array_equal(partitions.colors(records, index), table[index, np.arange(500)])


@pytest.mark.parametrize("name", [*BLOCKS, "all of them"])
def test_one_point_has_the_color_that_it_has_among_many(name):
    """Bit for bit: on the ends of the box, outside of it, and on the borders of cells."""
    blocks = [BLOCKS[name]] if name in BLOCKS else list(BLOCKS.values())
    partitions, records = Partitions(blocks), points(300)
    records[:6] = [[0, -5, 10], [1, 5, 12], [-1, -9, 0], [9, 9, 99], [0.5, 0, 11], [1e308, 0, 11]]
    index = np.arange(300) * 7 % partitions.n_partitions
    one = [partitions.color(x, j) for x, j in zip(records.tolist(), index.tolist(), strict=True)]
    assert one == partitions.colors(records, index).tolist()


def test_one_mixed_record_has_its_color():
    partitions = default_partitions(space_axes(SCHEMA.space), epsilon=1.0)
    records = SCHEMA.encode({"age": [0.0, 120.0, 33.3, 7.0], "city": ["A", "C", "B", None]})
    index = np.array([0, 100, 200, 255])
    one = [partitions.color(x, j) for x, j in zip(records.tolist(), index.tolist(), strict=True)]
    assert one == partitions.colors(records, index).tolist()


@pytest.mark.parametrize("name", BLOCKS)
def test_partitions_survive_json(name):
    partitions = Partitions([BLOCKS[name]])
    again = Partitions.from_dict(json.loads(json.dumps(partitions.to_dict())))
    assert again == partitions
    np.testing.assert_array_equal(again.color_table(points(50)), partitions.color_table(points(50)))


def test_blocks_of_a_second_round_get_the_next_numbers():
    first, second = Partitions([BLOCKS["all axes"]]), Partitions([BLOCKS["seeds"]])
    both = first + second
    records = points(200)
    assert both.n_partitions == 128
    table = both.color_table(records)
    np.testing.assert_array_equal(table[:64], first.color_table(records))
    np.testing.assert_array_equal(table[64:], second.color_table(records))
    index = np.random.default_rng(0).integers(0, 128, 200)
    np.testing.assert_array_equal(both.colors(records, index), table[index, np.arange(200)])


def test_two_cells_share_a_color_in_one_of_g_partitions():
    # 4,096 partitions of 100 cells, 8 colors: 1/8 up to 5 standard errors (0.026), if independent.
    grids = AxisGrids(AXES[:2], 4096, 8, cells=9)
    table = grids.color_table(np.array([[0.05, -4.5], [0.95, 4.5], [0.45, 0.5]]))
    shared = [(table[:, i] == table[:, j]).mean() for i, j in ((0, 1), (0, 2), (1, 2))]
    assert np.abs(np.array(shared) - 1 / 8).max() < 0.026


def test_as_many_colors_as_cells_share_none():
    grids = AxisGrids(AXES[:1], 256, 16, cells=10)
    centers = np.linspace(0.0, 1.0, 11)[:, None]
    table = grids.color_table(centers)
    assert all(len(np.unique(row)) >= 10 for row in table)


def test_shifts_give_resolution_below_a_cell():
    grids = AxisGrids(AXES[:1], 1024, 1024, cells=4)
    table = grids.color_table(np.array([[0.50], [0.55]]))
    # Two points a fifth of a cell apart are in different cells of a fifth of the grids.
    assert abs((table[:, 0] != table[:, 1]).mean() - 0.2) < 0.05


def test_levels_are_taken_as_they_are():
    axes = space_axes(SCHEMA.space)
    grids = AxisGrids(axes, 3 * 64, 8, cells=8, size=1)
    cities = ["A", "B", "C", "D", None]  # another one, and none
    records = SCHEMA.encode({"age": [30.0] * 5, "city": cities})
    of_city = grids.color_table(records)[2::3]
    assert all(len(set(row)) == 5 for row in of_city)
    of_age = grids.color_table(records)[0::3]
    assert all(len(set(row)) == 1 for row in of_age)


def test_points_outside_are_clipped():
    for block in (Partitions([block]) for block in BLOCKS.values()):
        inside = np.array([[1.0, 5.0, 12.0], [0.0, -5.0, 10.0]])
        outside = np.array([[7.0, 50.0, 99.0], [-7.0, -50.0, -9.0]])
        np.testing.assert_array_equal(block.color_table(outside), block.color_table(inside))


def test_every_partition_has_its_own_seeds():
    seeds = NearestSeeds(points(100, 9), 64, 8, 16, [0, -5, 10], [1, 5, 12], seed=5)
    chosen = seeds._chosen
    assert all(len(set(row)) == 16 for row in chosen.tolist())
    assert len({tuple(sorted(row)) for row in chosen.tolist()}) > 60


def test_public_words_are_known_numbers():
    # Other languages must make the same ones.
    assert public_words(1, [[0], [1]], [2, 3]).tolist() == [
        [public_words(1, 0, 2).item(), public_words(1, 0, 3).item()],
        [public_words(1, 1, 2).item(), public_words(1, 1, 3).item()],
    ]
    assert public_words(12345, 6, 7).item() == reference_word(12345, 6, 7)
    words = public_words(0, np.arange(4096)) / 2**32
    assert abs(words.mean() - 0.5) < 0.025  # 5.5 standard errors
    assert [next_prime(n) for n in (1, 3, 4, 90, 7920)] == [2, 3, 5, 97, 7927]


def reference_word(seed, *indices):
    def mixed(h):
        h ^= h >> 16
        h = h * 0x85EBCA6B % 2**32
        h ^= h >> 13
        h = h * 0xC2B2AE35 % 2**32
        return h ^ h >> 16

    word = mixed(seed)
    for index in indices:
        word = mixed((word + index * 0x9E3779B1) % 2**32)
    return word


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AxisGrids(AXES, 64, 1, cells=5), "n_colors must be a whole number from 2"),
        (lambda: AxisGrids(AXES, 64, 8, cells=5, size=4), "size must be at most"),
        (lambda: AxisGrids(AXES, 64, 8, cells=1000), "cells must leave at most 2\\^26"),
        (lambda: Partitions([]), "at least one block"),
        (
            lambda: Partitions([BLOCKS["seeds"], AxisGrids(AXES, 64, 4, cells=5)]),
            "equal n_colors",
        ),
        (lambda: Partitions.from_dict({"blocks": [{"kind": "Circles"}]}), "kind must be one of"),
        (lambda: Partitions.from_dict({}), "must have a list of blocks"),
        (lambda: NearestSeeds([[0.0]], 4, 2, 2, [0], [1]), "n_seeds must be at most"),
        (lambda: NearestSeeds([[np.nan]], 4, 2, 1, [0], [1]), "pool must be a table of finite"),
        (lambda: NearestSeeds([[0.5]], 4, 2, 1, [0], [1], scale=[0.0]), "scale must have one"),
        (lambda: NearestSeeds([[0.5]], 4, 2, 1, [0], [1], scale=[1e-200]), "scale must be at l"),
        (lambda: NearestSeeds([[0.5]], 4, 2**17, 1, [0], [1]), "n_colors must be at most 2\\^16"),
        (lambda: NearestSeeds([[0.5]] * 16, 2**23, 2, 16, [0], [1]), "at most 2\\^26 seeds"),
        (lambda: AxisGrids(AXES, 64, 2**17, cells=5), "n_colors must be at most 2\\^16"),
        (lambda: AxisGrids(AXES, 2**25, 8, cells=5), "n_partitions must be at most 2\\^24"),
        (lambda: AxisGrids(AXES, 64, 8, cells=5, seed=2**32), "seed must be below 2\\^32"),
        (lambda: AxisGrids(AXES, 64, 8, cells=5, seed=1.5), "seed must be a whole number"),
        (lambda: AxisGrids([], 64, 8, cells=5), "axes must hold at least one"),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


@pytest.mark.parametrize(
    "axis",
    [
        ["interval", 1, 2, 0.0, 1.0],  # no column 0
        ["interval", 0, 2, 0.0, 1.0],
        ["levels", 0, 0, 0.0, 1.0],
        ["levels", -1, 1, 0.0, 1.0],
        ["circle", 0, 1, 0.0, 1.0],
        ["interval", 0, 1, 0.0, 0.0],
        ["interval", 0, 1, 0.0, 5e-324],
        ["interval", 0, 1, float("nan"), 1.0],
        ["interval", 0, 1, 0.0, float("inf")],
        ["interval", 0, 1, "0", "1"],
        ["interval", 0.0, 1.0, 0.0, 1.0],
        ["interval", 0, 1, 0.0],
        None,
    ],
)
def test_axes_of_a_file_are_refused_before_a_record_meets_them(axis):
    with pytest.raises(ParameterError, match="axes must be"):
        AxisGrids([axis], 64, 8, cells=5)


def test_defaults_follow_from_public_numbers():
    partitions = default_partitions(AXES, epsilon=2.0, n_clusters=8)
    assert partitions is default_partitions(AXES, epsilon=2.0, n_clusters=8)
    assert partitions.n_colors == 8
    many = default_partitions(box_axes(public_box((0.0, 1.0), 6)), epsilon=1.0)
    assert [type(block) for block in many.blocks] == [AxisGrids, NearestSeeds]
