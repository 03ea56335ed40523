"""Grids of cells: clusters in their places and colors, and what thresholds would keep."""

import numpy as np
import pytest

from helpers.charts import column, layers, legend, titles
from shoal.cluster import DPWaveCluster
from shoal.exceptions import ParameterError
from shoal.plotting import draw_cells, draw_thresholds
from shoal.plotting._cells import count_clusters, outline
from shoal.plotting._theme import cluster_look
from shoal.privacy import Release

GRID = np.full((6, 4), -1)
GRID[4:, 0] = 7  # far along the first column, low in the second
GRID[0, 3] = 2


def test_first_column_goes_right_and_clusters_keep_their_colors():
    picture = draw_cells({"one": GRID, "none": np.full((2, 2), -1)}, bounds=(0.0, 12.0))
    (cells,) = layers(picture, mark="rect")
    found = {row["name"]: (row["x"], row["x2"], row["y"], row["y2"]) for row in cells.rows}
    assert found == {"cluster 7": (8, 12, 0, 3), "cluster 2": (0, 2, 9, 12)}  # a run is one cell
    assert legend(picture) == {f"cluster {number}": cluster_look(number).color for number in (2, 7)}
    assert titles(picture) == ["one (clusters: 2, cells: 3)", "none (clusters: 0, cells: 0)"]
    assert cells.encoding["x"]["scale"]["domain"] == [0, 12]
    assert not layers(picture, 1, "rule")[0].rows
    panel = picture.spec["concat"][0]
    assert panel["width"] % 6 == panel["height"] % 4 == 0  # cells end at whole pixels


def test_without_a_box_cells_are_counted():
    (cells,) = layers(draw_cells({"one": GRID}), mark="rect")
    scales = [cells.encoding[side]["scale"]["domain"] for side in ("x", "y")]
    assert scales == [[0, 6], [0, 4]]
    assert cells.encoding["x"]["axis"]["title"] == "column 1 (cells)"


def test_many_clusters_have_no_legend():
    assert not legend(draw_cells({"one": np.arange(30).reshape(5, 6)}))


def test_outline_follows_the_borders():
    inside = np.zeros((3, 3), dtype=bool)
    inside[1, 1] = inside[1, 2] = True
    strokes = outline(inside, x=(0.0, 3.0), y=(0.0, 30.0))
    assert {tuple(stroke) for stroke in strokes} == {
        (1, 10, 3, 10),
        (1, 20, 3, 20),
        (1, 10, 1, 20),
        (3, 10, 3, 20),
    }


@pytest.mark.parametrize(
    ("cells", "given", "message"),
    [
        ([GRID], {}, "cells must be a dict of at least one grid, got list"),
        ({"a": GRID[0]}, {}, r"got shape \(4,\) of int64 for 'a'"),
        ({"a": GRID / 2}, {}, "whole numbers >= -1 .* of float64 for 'a'"),
        ({"a": GRID - 1}, {}, "whole numbers >= -1"),
        ({"a": GRID}, {"bounds": (1.0, 0.0)}, "bounds must have low < high"),
        ({"a": GRID}, {"columns": ["x"]}, "columns must be 2 names"),
    ],
)
def test_bad_cells(cells, given, message):
    with pytest.raises(ParameterError, match=message):
        draw_cells(cells, **given)


RECORDS = np.random.default_rng(0).normal([[0.5] * 3] * 400 + [[-0.5] * 3] * 400, 0.1)


def fitted(columns=2, **given):
    model = DPWaveCluster(**{"epsilon": 1.0, "bounds": (-1.0, 1.0), "grid": 16} | given)
    return model.fit(RECORDS[:, :columns])


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_thresholds_from_a_release_alone(columns):
    release = fitted(columns).release_
    again = Release.from_json(release.to_json())  # as a reader gets it
    picture = draw_thresholds(again)
    assert not picture.records
    assert len(titles(picture)) == (2 if columns == 2 else 1)
    clusters, cells = layers(picture, -1, "line")
    for line, place in ((clusters, 0), (cells, 1)):
        band = again.values["band"]
        expected = [count_clusters(band >= one)[place] for one in (1.0, max(band.max(), 2.0))]
        heights = column(line.rows, "y")
        assert [heights[0], heights[-1]] == expected


def test_what_is_kept_is_outlined():
    release = fitted().release_
    picture = draw_thresholds(release)
    (cells,) = layers(picture, 0, "rect")
    assert len(cells.rows) == release.values["band"].size
    (border,) = layers(picture, 0, "rule")
    kept = np.zeros(release.values["band"].size, dtype=bool)
    kept[release.values["cells"]] = True
    shape = release.values["band"].shape
    assert len(border.rows) == len(outline(kept.reshape(shape).T, x=(-1, 1), y=(-1, 1)))
    assert "this release" in legend(picture, 1)


def test_large_bands_are_averaged_in_blocks():
    release = fitted(grid=256).release_
    (cells,) = layers(draw_thresholds(release), 0, "rect")
    assert len(cells.rows) <= 5_000
    mean = np.mean(column(cells.rows, "value"))
    assert mean == pytest.approx(release.values["band"].mean(), abs=1e-4)


@pytest.mark.parametrize("given", [{"epsilon": float("inf")}, {"random_state": 0}])
def test_a_release_without_a_promise_is_for_the_curator(given):
    assert draw_thresholds(fitted(**given).release_).records


def test_nothing_significant():
    model = DPWaveCluster(epsilon=0.01, bounds=(-1.0, 1.0), grid=16, random_state=0)
    assert draw_thresholds(model.fit(np.zeros((1, 2))).release_)


def test_sparse_release_is_refused():
    model = DPWaveCluster(bounds=(-1.0, 1.0), grid=64, random_state=0)
    release = model.fit(np.zeros((50, 6))).release_
    with pytest.raises(ParameterError, match="release must hold the whole band"):
        draw_thresholds(release)


def test_clusters_that_are_counted():
    mask = np.zeros((6, 6), dtype=bool)
    mask[0, 0] = mask[1, 1] = True  # corners touch: one cluster of two
    mask[4, 4] = True  # alone: not counted
    assert count_clusters(mask) == (1, 3)
