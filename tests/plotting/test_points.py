"""Points and perturbation areas: the same axes, three projections, shares that are held."""

import numpy as np
import pytest

from helpers.charts import column, layers, legend, titles
from shoal.exceptions import DataError, ParameterError
from shoal.plotting import draw_perturbation_area, draw_scatter
from shoal.plotting._points import areas_of
from shoal.plotting._theme import COLORS

RNG = np.random.default_rng(0)
POINTS = RNG.uniform(-1.0, 1.0, (400, 3))
LABELS = np.arange(400) % 3 - 1


def domains(picture, panel):
    one = layers(picture, panel)[0].encoding
    return [(side, *one[side]["scale"]["domain"]) for side in ("x", "y")]


def test_sets_have_panels_colors_and_the_same_axes():
    points = POINTS[:, :2]
    sets = {"records": points, "reports": 3 * points, "clusters": points}
    picture = draw_scatter(sets, labels={"clusters": LABELS}, centers={"clusters": points[:2]})
    assert picture.records
    assert [one.split(" (")[0] for one in titles(picture)] == [*sets]
    assert domains(picture, 0) == domains(picture, 1) == domains(picture, 2)
    for panel, name in enumerate(("records", "reports")):
        (dots,) = layers(picture, panel)
        assert dots.mark["color"] == COLORS[name]
    dots, centers = layers(picture, 2)
    assert set(column(dots.rows, "name")) == {"no cluster", "cluster 0", "cluster 1"}
    assert [*legend(picture, 2)] == ["no cluster", "cluster 0", "cluster 1", "centers"]
    assert len(centers.rows) == 2


def test_three_columns_are_three_projections():
    names = ["a", "b", "c"]
    picture = draw_scatter({"reports": POINTS}, columns=names, records=False)
    seen = [
        tuple(layers(picture, panel)[0].encoding[side]["axis"]["title"] for side in ("x", "y"))
        for panel in range(3)
    ]
    assert seen == [("a", "b"), ("a", "c"), ("b", "c")]
    assert len(picture.spec["datasets"]) == 1  # the points are there once
    assert picture.spec["columns"] == 3


def test_at_most_so_many_points_evenly_taken_and_far_ones_counted():
    points = np.column_stack([np.arange(10_000.0), RNG.normal(size=10_000)])
    points[::150, 1] = 1e6  # less than a hundredth is far away
    picture = draw_scatter({"records": points})
    shown = np.array(column(layers(picture)[0].rows, "c0"))
    assert 2_700 < len(shown) < 3_000
    assert shown.max() > 9_900
    assert titles(picture) == [f"records ({3_000 - len(shown)} of 3000 outside)"]
    many = draw_scatter({str(name): points for name in range(4)})
    assert sum(map(len, many._spec["datasets"].values())) <= 5_000


def test_many_clusters_have_no_legend():
    picture = draw_scatter({"a": POINTS[:, :2]}, labels={"a": np.arange(400)})
    assert not legend(picture)


@pytest.mark.parametrize(
    ("sets", "given", "message"),
    [
        ({}, {}, "sets must be a dict of at least one table"),
        ({"a": POINTS[:, :1]}, {}, "sets must have 2 or 3 columns, got 1 in 'a'"),
        ({"a": POINTS, "b": POINTS[:, :2]}, {}, "the same number of columns"),
        ({"a": POINTS}, {"labels": {"b": LABELS}}, "labels must be of a, got 'b'"),
        ({"a": POINTS}, {"labels": LABELS}, "labels must be a dict by set, got ndarray"),
        ({"a": POINTS}, {"labels": {"a": LABELS[:3]}}, "labels must be one whole number a point"),
        ({"a": POINTS}, {"centers": {"a": POINTS[:, :2]}}, "centers must have 3 columns, got 2"),
        ({"a": POINTS}, {"columns": ["x"]}, "columns must be 3 names"),
    ],
)
def test_bad_sets(sets, given, message):
    with pytest.raises(ParameterError, match=message):
        draw_scatter(sets, **given)


def test_no_value_of_a_record_is_told():
    for draw in (
        lambda: draw_scatter({"a": [[12345.0, np.nan]]}),
        lambda: draw_perturbation_area({"a": [[12345.0, np.nan]]}, [0, 0]),
    ):
        with pytest.raises(DataError, match="finite numbers") as caught:
            draw()
        assert "12345" not in str(caught.value)


ANGLES = RNG.uniform(0, 2 * np.pi, 40_000)
DISC = np.sqrt(RNG.uniform(size=40_000))[:, None] * np.column_stack(
    [np.cos(ANGLES), np.sin(ANGLES)]
)
SHARES = (0.99, 0.9, 0.5)


def held(area, points):
    """Return the share of points in each of the areas."""
    sides = [np.linspace(*ends, 57) for ends in (area.x, area.y)]
    places = [np.digitize(points[:, column], side) - 1 for column, side in enumerate(sides)]
    inside = np.all([(place >= 0) & (place < 56) for place in places], axis=0)
    found = area.cells[places[1][inside], places[0][inside]]
    return [(found >= place).sum() / len(points) for place in range(len(SHARES))]


def test_fresh_reports_lie_in_the_areas_as_often_as_said():
    # The share of 20,000 is off by 0.01 less than once in 10^6 tables; smoothing adds the rest.
    reports = RNG.laplace(size=(40_000, 2))
    area = areas_of(reports[:20_000], SHARES)
    np.testing.assert_allclose(held(area, reports[20_000:]), SHARES, atol=0.02)
    assert area.sizes[0] > area.sizes[1] > area.sizes[2]


def test_area_of_a_disc_is_its_share_of_pi():
    assert areas_of(DISC, SHARES).sizes[1] == pytest.approx(0.9 * np.pi, rel=0.06)


def test_diamond_of_laplace_is_no_disc():
    reports = RNG.laplace(size=(40_000, 2))
    cells = areas_of(reports, SHARES).cells
    on_axis, diagonal = (cells[28] >= 0).sum(), (np.diagonal(cells) >= 0).sum() * np.sqrt(2)
    assert on_axis > 1.1 * diagonal


def test_areas_cells_points_box_and_record_are_drawn():
    reports = RNG.laplace(size=(2_000, 2))
    picture = draw_perturbation_area({"Laplace": reports}, [0.0, 0.0], bounds=(-1, 2))
    assert not picture.records
    (areas,), (box,) = (layers(picture, mark=mark) for mark in ("rect", "line"))
    assert set(column(areas.rows, "name")) == {f"{share} % of reports" for share in (50, 90, 99)}
    covered = sum((row["x2"] - row["x"]) * (row["y2"] - row["y"]) for row in areas.rows)
    assert covered == pytest.approx(areas_of(reports, SHARES).sizes[0], rel=0.15)
    assert (min(column(box.rows, "x")), max(column(box.rows, "y"))) == (-1, 2)
    assert [*legend(picture)][3:] == ["reports", "record", "public box"]
    ends = [domain[2] - domain[1] for domain in domains(picture, 0)]
    assert ends[0] == pytest.approx(ends[1])  # one unit is as long both ways
    assert "90 % in" in titles(picture)[0]


def test_reports_in_space_and_reports_that_never_move():
    picture = draw_perturbation_area({"a": RNG.laplace(size=(500, 3))}, [0, 0, 0])
    assert len(titles(picture)) == 3
    (title,) = titles(draw_perturbation_area({"a": np.ones((3, 2))}, [1, 1], shares=[0.9]))
    assert "90 % in" in title


@pytest.mark.parametrize(
    ("reports", "record", "given", "message"),
    [
        ({}, [0, 0], {}, "reports must be a dict of at least one table, got dict"),
        ({"a": DISC[:, :1]}, [0, 0], {}, "reports must have 2 or 3 columns, got 1 in 'a'"),
        ({"a": DISC}, [0, 0, 0], {}, "record must have 2 columns, got 3"),
        ({"a": DISC}, [0, 0], {"shares": [0.5, 1.0]}, r"shares must be a number in \(0, 1\)"),
        ({"a": DISC}, [0, 0], {"shares": [0.5, 0.5]}, "shares must be 1 to 4 different ones"),
        ({"a": DISC}, [0, 0], {"shares": []}, "shares must be 1 to 4 different ones"),
        ({"a": DISC}, [0, 0], {"bounds": (0, 0)}, "bounds must have low < high"),
    ],
)
def test_bad_areas(reports, record, given, message):
    with pytest.raises(ParameterError, match=message):
        draw_perturbation_area(reports, record, **given)
