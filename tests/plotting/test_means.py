"""Bars and maps: means, intervals, and published figures beside ours."""

import numpy as np
import pytest

from helpers.charts import column, layers, legend, titles
from shoal.exceptions import ParameterError
from shoal.plotting import draw_bars, draw_heat_map

BARS = [
    {"mechanism": mechanism, "dataset": dataset, "ami": mean + step, "printed": mean, "less": -1}
    for mechanism, dataset, mean in (
        ("nd-Laplace", "heart", 0.5),
        ("nd-Laplace", "seeds", 0.7),
        ("piecewise", "heart", 0.2),
    )
    for step in (-0.1, 0.0, 0.1)
]
REACH = 4.303 * 0.1 / np.sqrt(3)  # Student's t with two degrees of freedom


def test_bars_stand_together_by_set():
    picture = draw_bars(BARS, value="ami", sets="dataset")
    bars = layers(picture, mark="bar")[0]
    assert {(row["set"], row["name"]): row["y"] for row in bars.rows} == {
        ("heart", "nd-Laplace"): 0.5,
        ("heart", "piecewise"): 0.2,
        ("seeds", "nd-Laplace"): 0.7,
    }
    assert bars.encoding["x"]["scale"]["domain"] == ["heart", "seeds"]
    assert {row["name"]: row["bar"] for row in bars.rows} == {"nd-Laplace": 0, "piecewise": 1}
    assert [*legend(picture)] == ["nd-Laplace", "piecewise"]
    assert {row["y2"] for row in bars.rows} == {0.0}
    (markers,) = layers(picture, mark="point")  # told apart in gray too
    assert markers.encoding["shape"]["field"] == "name"


def test_error_bars_are_intervals_of_the_mean():
    (rule,) = layers(draw_bars(BARS, value="ami", sets="dataset"), mark="rule")
    assert [rule.rows[0][end] for end in ("low", "high")] == pytest.approx(
        [0.5 - REACH, 0.5 + REACH], abs=1e-4
    )
    assert not layers(draw_bars(BARS[::3], value="ami", sets="dataset"), mark="rule")


def test_names_below_published_and_reference():
    more = {"published": "printed", "reference": {"without privacy": 0.9}, "title": "$ and $"}
    picture = draw_bars(BARS, value="ami", **more)
    assert layers(picture, mark="bar")[0].encoding["x"]["scale"]["domain"] == [
        "nd-Laplace",
        "piecewise",
    ]
    assert [*legend(picture)][-2:] == ["published", "without privacy"]
    diamonds = layers(picture, mark="point")[-1]
    assert sorted(column(diamonds.rows, "y")) == [0.2, 0.5, 0.7]
    assert picture.spec["title"]["text"] == "$ and $"
    assert not legend(draw_bars(BARS, value="ami"))  # the names stand below


@pytest.mark.parametrize("sets", ["dataset", None])
def test_versions_of_a_group_differ_in_shade(sets):
    rows = [{**row, "version": version} for row in BARS for version in ("published", "mended")]
    picture = draw_bars(rows, value="ami", sets=sets, shade="version")
    bars = layers(picture, mark="bar")[0].rows
    shades = {row["version"]: row["shade"] for row in bars}
    assert shades["published"] > shades["mended"]
    assert [*legend(picture)][-2:] == ["published", "mended"]
    places = [(row["set"], row["bar"]) for row in bars]
    assert len(set(places)) == len(places)


def test_negative_values_hang_below_zero_and_a_logarithm_stands_on_the_axis():
    bars = layers(draw_bars(BARS, value="less"), mark="bar")[0]
    assert {row["y2"] for row in bars.rows} == {0.0}
    assert bars.encoding["y"]["scale"]["domain"][0] < -1
    bars = layers(draw_bars(BARS, value="ami", log_y=True), mark="bar")[0]
    assert {row["y2"] for row in bars.rows} == {bars.encoding["y"]["scale"]["domain"][0]}


def test_many_long_names_are_turned():
    rows = [
        {**row, "dataset": "a long name " * 4 + str(place)} for row in BARS for place in range(9)
    ]
    picture = draw_bars(rows, value="ami", sets="dataset")
    assert picture.spec["concat"][0]["width"] == 1100
    assert layers(picture, mark="bar")[0].encoding["x"]["axis"]["labelAngle"] == -35


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"value": "dataset"}, "column 'dataset' must hold numbers, got text"),
        ({"group": "method"}, "group must be one of the columns"),
        ({"value": "less", "log_y": True}, "log_y must be False where column 'less' holds"),
        ({"high": "ami"}, "low and high must be given together"),
    ],
)
def test_bad_bars(given, message):
    with pytest.raises(ParameterError, match=message):
        draw_bars(BARS, **({"value": "ami"} | given))


CELLS = [
    {"mechanism": mechanism, "epsilon": epsilon, "columns": columns, "ami": value, "printed": 0.9}
    for mechanism, base in (("nd-Laplace", 0.0), ("piecewise", 0.5))
    for epsilon in (2.0, 0.5)
    for columns in (2, 3, 4)
    for value in (base + epsilon / 10, base + epsilon / 10 + 0.02 * columns)
]
MAP = {"x": "columns", "y": "epsilon", "value": "ami"}


def test_cells_are_means_on_one_scale_with_their_numbers():
    picture = draw_heat_map(CELLS, panels="mechanism", **MAP)
    assert titles(picture) == ["nd-Laplace", "piecewise"]
    first, second = (layers(picture, panel, "rect")[0] for panel in (0, 1))
    np.testing.assert_allclose(column(first.rows, "value"), [0.07, 0.08, 0.09, 0.22, 0.23, 0.24])
    assert column(first.rows, "short") == ["0.07", "0.08", "0.09", "0.22", "0.23", "0.24"]
    scales = [one.encoding["color"]["scale"]["domain"] for one in (first, second)]
    assert scales[0] == scales[1]
    assert (scales[0][0], scales[0][-1]) == pytest.approx((0.07, 0.74))
    assert first.encoding["y"]["sort"] == ["0.5", "2"]
    assert first.encoding["color"]["legend"]["title"] == "AMI (1 = same clusters)"
    (words,) = layers(picture, mark="text")
    light = words.encoding["color"]["condition"]
    assert (light["value"], words.encoding["color"]["value"]) == ("#ffffff", "#000000")


def test_published_figures_stand_below_ours():
    rows = [{**row, "printed": None} if row["columns"] == 2 else row for row in CELLS]
    picture = draw_heat_map(rows, published="printed", **MAP)
    ours, printed = layers(picture, mark="text")
    assert printed.encoding["text"]["field"] == "words"
    assert column(printed.rows, "words") == ["", "0.90", "0.90"] * 2
    assert printed.mark["fontSize"] < ours.mark["fontSize"]
    assert "published" in layers(picture, mark="rect")[0].encoding["color"]["legend"]["title"]


def test_missing_cells_stay_empty_and_zero_has_no_sign():
    rows = [{**CELLS[0], "ami": -0.001}, {**CELLS[2], "ami": None}, {**CELLS[6], "ami": 1234.5}]
    (cells,) = layers(draw_heat_map(rows, limits=(0, 1), **MAP), mark="rect")
    assert sorted(column(cells.rows, "short")) == ["0.00", "1,234"]
    assert cells.encoding["color"]["scale"]["clamp"]
    draw_heat_map(rows[:1], **MAP)  # a single cell has no scale


def test_many_maps_wrap():
    rows = [{**row, "mechanism": f"m{place}"} for row in CELLS for place in range(5)]
    assert draw_heat_map(rows, panels="mechanism", **MAP).spec["columns"] == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y": "eps"}, "y must be one of the columns mechanism, .*, got 'eps'"),
        ({"value": "mechanism"}, "column 'mechanism' must hold numbers, got text"),
        ({"limits": (1, 0)}, r"limits must be finite with low < high, got \(1, 0\)"),
        ({"limits": 3}, "limits must be two numbers"),
    ],
)
def test_bad_maps(given, message):
    with pytest.raises(ParameterError, match=message):
        draw_heat_map(CELLS, **(MAP | given))
