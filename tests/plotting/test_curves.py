"""Curves: what is drawn is the mean and its interval, in the color of the mechanism."""

import numpy as np
import pytest

from helpers.charts import EPSILONS, ROWS, column, layers, legend, titles
from shoal.exceptions import ParameterError
from shoal.plotting import draw_lines, draw_trade_off
from shoal.plotting._theme import COLORS, DASHES, LOOKS

CORRECTED = [row for row in ROWS if row["version"] == "corrected"]
AXES = {"x": "epsilon", "y": "ami"}
REACH = 4.303 * 0.01 / np.sqrt(3)  # Student's t with two degrees of freedom


def of(rows, name):
    return [row for row in rows if row["name"] == name]


def test_curves_are_means_with_bands_in_the_mechanisms_colors():
    picture = draw_lines(CORRECTED, panels="clusterer", log_x=True, **AXES)
    assert titles(picture) == ["KMeans", "OPTICS"]
    assert legend(picture) == {name: COLORS[name.lower()] for name in ("nd-Laplace", "piecewise")}
    for panel in (0, 1):
        (band,), (line,), (points,) = (
            layers(picture, panel, mark) for mark in ("area", "line", "point")
        )
        mine = of(line.rows, "piecewise")
        assert column(mine, "x") == list(EPSILONS)
        np.testing.assert_allclose(column(mine, "y"), [0.16, 0.21, 0.51])
        np.testing.assert_allclose(
            column(of(band.rows, "nd-Laplace"), "high")[2], 0.41 + REACH, atol=1e-4
        )
        shapes = points.encoding["shape"]["scale"]["range"]
        assert shapes == [LOOKS["nd-laplace"].marker, LOOKS["piecewise"].marker]
    assert line.encoding["x"]["scale"]["type"] == "log"
    assert line.encoding["x"]["axis"]["values"] == list(EPSILONS)
    assert line.encoding["x"]["axis"]["title"] == "ε"
    assert line.encoding["y"]["axis"]["title"] == "AMI (1 = same clusters)"


def test_whole_numbers_all_stand_below_the_axis():
    rows = [{"mechanism": "a", "k": k, "ami": 0.1 * k} for k in (2, 3, 5)]
    (line,) = layers(draw_lines(rows, x="k", y="ami"), mark="line")
    assert line.encoding["x"]["axis"]["values"] == [2, 3, 5]
    thirds = [{**row, "k": row["k"] / 3} for row in rows]
    (line,) = layers(draw_lines(thirds, x="k", y="ami", log_x=True), mark="line")
    assert "values" not in line.encoding["x"]["axis"], "round numbers stand there instead"
    halves = [{**row, "k": row["k"] / 2} for row in rows]
    (line,) = layers(draw_lines(halves, x="k", y="ami"), mark="line")
    assert "values" not in line.encoding["x"]["axis"]


def test_all_panels_share_their_axes():
    rows = [{**row, "ami": 9.0} if row["clusterer"] == "OPTICS" else row for row in CORRECTED]
    picture = draw_lines(rows, panels="clusterer", **AXES)
    scales = [layers(picture, panel, "line")[0].encoding["y"]["scale"] for panel in (0, 1)]
    assert scales[0] == scales[1]
    assert scales[0]["domain"][1] > 9


def test_given_ends_single_repeats_and_dicts_of_columns():
    table = {"mechanism": ["a", "a"], "epsilon": [1, 2], "ami": [0.2, 0.3]}
    assert not layers(draw_lines(table, **AXES), mark="area")
    table |= {"from": [0.1, 0.2], "to": [0.5, 0.9]}
    (band,) = layers(draw_lines(table, low="from", high="to", **AXES), mark="area")
    assert column(band.rows, "high") == [0.5, 0.9]


def test_published_reference_and_without_privacy():
    without = {"mechanism": "piecewise", "clusterer": "KMeans", "epsilon": np.inf, "ami": 0.8}
    rows = [*CORRECTED, without, {**without, "epsilon": 1.0, "ami": None}]
    reference = {"k-means on records": 0.9}
    picture = draw_lines(rows, published="printed", reference=reference, **AXES)
    assert [*legend(picture)] == [
        "nd-Laplace",
        "piecewise",
        "published",
        "without privacy",
        "k-means on records",
    ]
    ours, printed = layers(picture, mark="point")
    assert ours.mark["filled"]
    assert not printed.mark["filled"]
    assert printed.mark["size"] > ours.mark["size"]
    np.testing.assert_allclose(
        column(of(printed.rows, "piecewise"), "y"), np.array(EPSILONS) / 9, atol=1e-5
    )
    rules = [row for layer in layers(picture, mark="rule") for row in layer.rows]
    assert [(row["name"], row["y"]) for row in rules] == [
        ("piecewise", 0.8),
        ("k-means on records", 0.9),
    ]


def test_versions_of_a_group_differ_in_dash_and_filling():
    picture = draw_lines(ROWS, dash="version", **AXES)
    lines = layers(picture, mark="line")
    assert [line.mark["strokeDash"] for line in lines] == [list(dash) for dash in DASHES[:2]]
    assert [{row["version"] for row in line.rows} for line in lines] == [
        {"as published"},
        {"corrected"},
    ]
    first, later = layers(picture, mark="point")
    assert {row["version"] for row in first.rows} == {"as published"}
    assert {row["version"] for row in later.rows} == {"corrected"}
    assert (first.mark["filled"], later.mark["filled"]) == (True, False)
    assert [*legend(picture)] == ["nd-Laplace", "piecewise", "as published", "corrected"]
    assert len({row["series"] for line in lines for row in line.rows}) == 4


def test_bands_of_a_logarithmic_axis_end_at_the_axis():
    rows = [{"mechanism": "a", "epsilon": 1, "ami": value} for value in (0.001, 1.0)]
    (band,) = layers(draw_lines(rows, log_y=True, **AXES), mark="area")
    low, high = band.encoding["y"]["scale"]["domain"]
    assert low <= band.rows[0]["y"] < band.rows[0]["y2"] <= high


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y": "amy"}, "y must be one of the columns mechanism, clusterer, version"),
        ({"panels": "set"}, "panels must be one of the columns"),
        ({"dash": "set"}, "dash must be one of the columns"),
        ({"y": "clusterer"}, "column 'clusterer' must hold numbers, got text"),
        ({"low": "ami"}, "low and high must be given together, got 'ami' and None"),
        ({"reference": 3}, "reference must be a dict of names and finite numbers, got 3"),
        ({"data": []}, "data must hold at least one row, got none"),
        ({"data": {"mechanism": []}}, "x must be one of the columns mechanism"),
        ({"data": 7}, "data must be a list of dicts, .* got a int"),
        ({"data": [{**ROWS[0], "ami": None}]}, "column 'ami' must hold a finite number"),
        ({"data": [{**ROWS[0], "epsilon": 0}], "log_x": True}, "log_x must be False where"),
        ({"data": [{**ROWS[0], "ami": 0}], "log_y": True}, "log_y must be False where"),
        ({"data": [{**ROWS[0], "mechanism": []}]}, "'mechanism' must hold names or numbers"),
    ],
)
def test_bad_input_is_one_line(given, message):
    given = {"data": ROWS} | AXES | given
    with pytest.raises(ParameterError, match=message) as caught:
        draw_lines(given.pop("data"), **given)
    assert "\n" not in str(caught.value)


def test_data_frames_and_missing_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([*ROWS, {**ROWS[0], "clusterer": np.nan}])
    assert titles(draw_lines(frame, panels="clusterer", **AXES)) == ["KMeans", "OPTICS", "None"]
    numbers = [{**row, "clusterer": len(row["clusterer"])} for row in ROWS]
    named = titles(draw_lines(numbers, panels="clusterer", **AXES))
    assert named == ["clusterer = 6"]


TRADE = [
    {"mechanism": "piecewise", "epsilon": epsilon, "advantage": gain + run, "ami": use + 2 * run}
    for epsilon, gain, use in ((4.0, 0.6, 0.9), (0.5, 0.3, 0.1), (1.0, 0.2, 0.5))
    for run in (-0.01, 0.0, 0.01)
]
COST = {"privacy": "advantage", "utility": "ami"}


def test_trade_off_is_joined_in_order_of_epsilon_with_errors_both_ways():
    picture = draw_trade_off(TRADE, **COST)
    (line,), (texts,) = (layers(picture, mark=mark) for mark in ("line", "text"))
    assert line.encoding["order"]["field"] == "order"
    assert column(line.rows, "x") == [0.3, 0.2, 0.6]
    assert column(line.rows, "y") == [0.1, 0.5, 0.9]
    for low, high, middle, width in (
        ("x_low", "x_high", "x", REACH),
        ("low", "high", "y", 2 * REACH),
    ):
        for row in line.rows:
            ends = (row[middle] - width, row[middle] + width)
            assert (row[low], row[high]) == pytest.approx(ends, abs=1e-5)
    assert column(texts.rows, "words") == ["0.5", "1", "4"]
    assert "numbers at points: ε" in " ".join(line.encoding["x"]["axis"]["title"])


def test_trade_off_against_epsilon_itself():
    picture = draw_trade_off(TRADE, privacy="epsilon", utility="ami", log_x=True)
    assert not layers(picture, mark="text")
    (line,) = layers(picture, mark="line")
    assert line.encoding["x"]["axis"]["values"] == [0.5, 1, 4]


def test_numbers_that_would_lie_on_each_other_are_left_out():
    rows = [{**row, "mechanism": name} for row in TRADE for name in ("piecewise", "mine")]
    picture = draw_trade_off(rows, **COST)
    (texts,) = layers(picture, mark="text")
    assert {row["name"] for row in texts.rows} == {"piecewise"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"privacy": "gain"}, "privacy must be one of the columns"),
        ({"utility": "mechanism"}, "column 'mechanism' must hold numbers, got text"),
        ({"epsilon": "eps"}, "epsilon must be one of the columns"),
        ({"reference": 1}, "reference must be a dict"),
    ],
)
def test_bad_trade_off(given, message):
    with pytest.raises(ParameterError, match=message):
        draw_trade_off(TRADE, **(COST | given))
