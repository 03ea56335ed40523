"""Density, clusters and tree on one frame: rows are exchanged, and nothing else changes."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.charts import SHAPES, layers
from shoal.exceptions import ParameterError
from shoal.plotting import ShapesAxis, draw_shapes, shapes_rows

AXES = [ShapesAxis("age (years)", 20.0, 60.0), ShapesAxis("income", 0.0, 1.0, list("abcde"))]


def changed(**values):
    return SimpleNamespace(values={**SHAPES.values, **values})


def frame(picture):
    return json.dumps({**picture.spec, "datasets": list(picture.spec["datasets"])})


def test_rows_are_those_of_the_chart():
    for level in (None, 4.0):
        spec = draw_shapes(SHAPES, AXES, level=level).spec
        assert shapes_rows(SHAPES, AXES, level=level) == spec["datasets"]
    some = shapes_rows(SHAPES, AXES, density=False)
    assert some == {name: rows for name, rows in spec_rows().items() if name in some}
    assert len(some) == len(spec_rows()) - 5


def spec_rows():
    return draw_shapes(SHAPES, AXES).spec["datasets"]


def test_the_frame_knows_the_columns_alone():
    nothing = changed(cells=[], clusters=[], sizes=[], nodes=[])
    alone = {"parent": [-1], "base": [0.0], "top": [9.0], "size": [20.0]}
    other = changed(tree=alone, nodes=[0], sizes=[20.0], clusters=[0, 0, 0, 0])
    larger = changed(density=np.asarray(SHAPES.values["density"]) * 7)
    frames = {frame(draw_shapes(one, AXES)) for one in (SHAPES, nothing, other, larger)}
    frames.add(frame(draw_shapes(SHAPES, AXES, level=3.0)))
    assert len(frames) == 1
    assert frame(draw_shapes(SHAPES)) not in frames


def test_cells_are_drawn_in_the_unit_of_their_axes():
    picture = draw_shapes(SHAPES, AXES)
    filled = [row for one in layers(picture, 1, "rect")[:3] for row in one.rows]
    assert {row["name"] for row in filled} == {"cluster 0", "cluster 1"}
    # The first two cells of the first of three rows: a third of the years, half of the incomes.
    first = min(filled, key=lambda row: row["x"])
    assert (first["x"], first["x2"]) == pytest.approx((20.0, 20.0 + 40 / 3), abs=0.01)
    words = picture.spec["concat"][1]["layer"][0]["encoding"]["y"]["axis"]["labelExpr"]
    assert words.startswith('["a", "b", "c", "d", "e"]')


def test_the_level_is_a_line_through_the_tree():
    rules = layers(draw_shapes(SHAPES, AXES, level=4.0), 2, "rule")
    assert rules[1].rows == [{"x": 0.0, "x2": 300.0, "y": 4.0, "y2": 4.0}]
    assert "cut at 4" in str(shapes_rows(SHAPES, AXES, level=4.0))
    assert "cut at" not in str(shapes_rows(SHAPES, AXES))


@pytest.mark.full
@pytest.mark.parametrize("columns", [1, 3])
def test_other_numbers_of_columns(columns):
    density = np.ones((4,) * columns)
    density.flat[0] = 9.0
    given = {"density": density, "low": [0.0] * columns, "high": [1.0] * columns}
    release = changed(**given, cells=[0], clusters=[0], sizes=[9.0], nodes=[1], columns=None)
    picture = draw_shapes(release)
    assert len(picture.spec["concat"]) == (3 if columns == 1 else 7)
    assert shapes_rows(release) == picture.spec["datasets"]


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ParameterError, match="without strata"):
        shapes_rows(SimpleNamespace(values={"strata": []}))
    with pytest.raises(ParameterError, match="one for each of 2"):
        draw_shapes(SHAPES, AXES[:1])
