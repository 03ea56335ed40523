import numpy as np
import pytest

from shoal.exceptions import ParameterError
from shoal.plotting import draw_cells
from shoal.plotting._clusters import cluster_look
from shoal.plotting._outline import outline

GRID = np.full((6, 4), -1)
GRID[4:, 0] = 7  # far along the first column, low in the second
GRID[0, 3] = 2


def test_first_column_goes_right_and_clusters_keep_their_colors(charts, figures, tmp_path):
    draw_cells(tmp_path / "a.svg", {"one": GRID, "none": np.full((2, 2), -1)}, bounds=(0.0, 12.0))
    first, empty = charts[0].panels
    cells = first.marks[0]
    assert cells.values.shape == (4, 6)
    assert np.argwhere(np.isfinite(cells.values)).tolist() == [[0, 4], [0, 5], [3, 0]]
    assert cells.scale.colors == tuple(cluster_look(number).color for number in (2, 7))
    assert cells.values[0, 4] == 1
    assert first.title == "one (clusters: 2, cells: 3)"
    assert empty.title == "none (clusters: 0, cells: 0)"
    assert [mark.name for mark in charts[0].key] == ["cluster 2", "cluster 7"]
    assert figures[0].axes[0].get_xlim() == (0.0, 12.0)


def test_without_a_box_cells_are_counted(charts, tmp_path):
    draw_cells(tmp_path / "a.json", {"one": GRID})
    (panel,) = charts[0].panels
    assert (panel.x.limits, panel.y.limits) == ((0.0, 6.0), (0.0, 4.0))
    assert panel.x.label == "column 1 (cells)"


def test_many_clusters_have_no_legend(charts, tmp_path):
    draw_cells(tmp_path / "a.json", {"one": np.arange(30).reshape(5, 6)})
    assert not charts[0].entries()


def test_outline_follows_the_borders():
    inside = np.zeros((3, 3), dtype=bool)
    inside[1, 1] = inside[1, 2] = True
    found = outline(inside, x=(0.0, 3.0), y=(0.0, 30.0))
    strokes = np.column_stack([found.x, found.y]).reshape(-1, 3, 2)
    assert np.isnan(strokes[:, 2]).all()
    sides = {tuple(stroke[:2].ravel()) for stroke in strokes}
    assert sides == {
        (1, 10, 2, 10),
        (2, 10, 3, 10),
        (1, 20, 2, 20),
        (2, 20, 3, 20),
        (1, 10, 1, 20),
        (3, 10, 3, 20),
    }


@pytest.mark.parametrize(
    ("cells", "words", "message"),
    [
        ([GRID], {}, "cells must be a dict of at least one grid, got list"),
        ({"a": GRID[0]}, {}, r"got shape \(4,\) of int64 for 'a'"),
        ({"a": GRID / 2}, {}, "whole numbers >= -1 .* of float64 for 'a'"),
        ({"a": GRID - 1}, {}, "whole numbers >= -1"),
        ({"a": GRID}, {"bounds": (1.0, 0.0)}, "bounds must have low < high"),
        ({"a": GRID}, {"columns": ["x"]}, "columns must be 2 names"),
    ],
)
def test_bad_input(cells, words, message, tmp_path):
    with pytest.raises(ParameterError, match=message):
        draw_cells(tmp_path / "a.json", cells, **words)
    assert not list(tmp_path.iterdir())
