"""Densities: bands of equal ratio in their places, clusters with numbers, what is in none."""

import numpy as np
import pytest

from helpers.charts import column, layers, released_density, titles
from shoal.exceptions import ParameterError
from shoal.plotting import draw_density, draw_density_clusters, draw_release
from shoal.plotting._density import band_levels, block_labels, number_spots
from shoal.plotting._theme import cluster_look

DENSITY = np.zeros((6, 4))
DENSITY[5, 0], DENSITY[0, 3] = 64.0, 4.0  # far along the first column; low there
CLUSTERS = np.full((6, 4), -1)
CLUSTERS[5, 0], CLUSTERS[0, 3] = 0, 1


def test_first_column_goes_right_and_bands_begin_at_equal_ratios():
    picture = draw_density(DENSITY, bounds=(0.0, 12.0), columns=["age (years)", "km"])
    (cells, frame) = layers(picture, mark="rect")
    found = {(row["x"], row["y"]): row["band"] for row in cells.rows}
    assert found == {(10, 0): 9, (0, 9): 0}
    assert frame.rows == [{"x": 0, "x2": 12, "y": 0, "y2": 12}]
    assert cells.encoding["x"]["axis"]["title"] == "age (years)"
    levels = band_levels(DENSITY)
    np.testing.assert_allclose(levels[1:] / levels[:-1], 16 ** (1 / 10))
    assert levels[0] == pytest.approx(4.0)
    assert "white: fewer than 4" in cells.encoding["color"]["legend"]["title"]


@pytest.mark.parametrize("density", [np.zeros((3, 3)), np.full((3, 3), -1.0), np.ones((2, 2))])
def test_flat_densities(density):
    picture = draw_density(density)
    assert len(layers(picture, mark="rect")[0].rows) == (1 if density.max() > 0 else 0)


def test_all_cells_of_a_fine_grid_are_drawn():
    rng = np.random.default_rng(0)
    density = rng.exponential(size=(110, 110))
    *cells, _ = layers(draw_density(density), mark="rect")
    assert len(cells) > 1
    assert all(len(one.rows) <= 5_000 for one in cells)
    area = sum((row["x2"] - row["x"]) * (row["y2"] - row["y"]) for one in cells for row in one.rows)
    assert area == pytest.approx((density >= band_levels(density)[0]).sum())


def test_one_column_is_a_line_of_steps():
    density = np.array([0.0, 3.0, 1.0])
    picture = draw_density_clusters(np.array([-1, 0, 0]), density, bounds=(0.0, 3.0))
    (line,) = layers(picture, mark="line")
    assert line.mark["interpolate"] == "step-after"
    assert column(line.rows, "y") == [0, 3, 1, 1]
    (area,) = layers(picture, mark="area")
    assert column(area.rows, "x") == [1, 2, 3]
    assert column(layers(picture, mark="text")[-1].rows, "x") == [1.5]


def test_pairs_of_columns_show_sums_over_the_others():
    density = np.zeros((4, 4, 4))
    density[1, 1, 1], density[1, 1, 2] = 5.0, 3.0
    picture = draw_density(density)
    assert len(titles(picture)) == 3
    (row,) = layers(picture, mark="rect")[0].rows
    assert row["value"] == pytest.approx(8 / 1.1, rel=1e-4)  # the highest band begins there
    density[3, 3, 0] = 0.01  # too few records to be drawn
    picture = draw_density_clusters(np.where(density > 0, 0, -1), density)
    assert len(titles(picture)) == 3
    assert column(layers(picture, mark="rect")[0].rows, "x") == [1]


def test_clusters_have_color_number_and_border_and_the_rest_is_told():
    density = DENSITY.copy()
    density[3, 2] = 32.0  # in no cluster
    picture = draw_density_clusters(CLUSTERS, density, bounds=(0.0, 12.0))
    cells = layers(picture, mark="rect")[0]
    assert {row["name"]: row["x"] for row in cells.rows} == {"cluster 0": 10, "cluster 1": 0}
    colors = cells.encoding["color"]["scale"]
    assert colors["range"][colors["domain"].index("cluster 1")] == cluster_look(1).color
    numbers = layers(picture, mark="text")[-1].rows
    assert [(row["words"], row["x"], row["y"]) for row in numbers] == [
        ("0", 11, 1.5),
        ("1", 1, 10.5),
    ]
    assert titles(picture) == ["Clusters: 2; in none: 32% of the records"]


def test_clusters_that_touch_have_a_border_between_them():
    picture = draw_density_clusters(np.array([[0, 1]]), np.ones((1, 2)))
    strokes = {
        (row["x"], row["y"], row["x2"], row["y2"]) for row in layers(picture, 0, "rule")[0].rows
    }
    assert (0, 1, 1, 1) in strokes


def test_numbers_stand_apart_inside_their_clusters():
    labels = np.repeat(np.arange(3), 20)[:, None] * np.ones((1, 60), dtype=np.int64)
    masses = np.full(labels.shape, 0.6)
    masses[[19, 20, 40], [5, 5, 6]] = 1.0  # peaks side by side
    spots = number_spots(labels, masses, np.arange(3)) * labels.shape
    assert labels[tuple(spots.astype(int).T)].tolist() == [0, 1, 2]
    assert tuple(spots[0]) == (19.5, 5.5)
    gaps = np.linalg.norm((spots[:, None] - spots) / labels.shape * 300, axis=2)
    assert gaps[np.triu_indices(3, 1)].min() >= 15


def test_the_densest_cell_speaks_for_its_block():
    labels = np.full((600, 600), -1)
    masses = np.zeros((600, 600))
    labels[4, 5], masses[4, 5] = 7, 2.0
    shown = block_labels(labels, masses)
    assert shown.shape == (200, 200)
    assert np.argwhere(shown == 7).tolist() == [[1, 1]]


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_a_release_has_density_clusters_and_tree_side_by_side(columns):
    names = ["age", "height", "a very long name of a column"][:columns]
    picture = draw_release(released_density(columns), names)
    found = titles(picture)
    assert len(found) == {1: 3, 2: 3, 3: 7}[columns]
    assert found[0] == "Noisy density"
    assert found[1].startswith("Clusters: 2; in none: 0%")
    assert found[-1] == "Tree of clusters: number (noisy size); all: 90"
    assert not picture.records


@pytest.mark.parametrize(
    ("cells", "density", "message"),
    [
        (CLUSTERS, np.zeros((2, 2, 2, 2, 2)), r"density must be .* 1 to 4 columns, got shape"),
        (CLUSTERS, np.full((6, 4), np.nan), "density must be a grid of finite numbers"),
        (CLUSTERS[:2], DENSITY, r"density's shape \(6, 4\), got shape \(2, 4\) of int64"),
        (DENSITY, DENSITY, "cells must be whole numbers >= -1 .* of float64"),
        (CLUSTERS - 1, DENSITY, "cells must be whole numbers >= -1"),
    ],
)
def test_bad_density(cells, density, message):
    with pytest.raises(ParameterError, match=message):
        draw_density_clusters(cells, density)
