"""Areas hold the shares they name, and are as small as the mechanism allows."""

import numpy as np
import pytest

from shoal.exceptions import DataError, ParameterError
from shoal.plotting import draw_perturbation_area
from shoal.plotting.perturbation_area import _areas

RNG = np.random.default_rng(0)
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
    area = _areas(reports[:20_000], SHARES)
    np.testing.assert_allclose(held(area, reports[20_000:]), SHARES, atol=0.02)
    assert area.sizes[0] > area.sizes[1] > area.sizes[2]


def test_area_of_a_disc_is_its_share_of_pi():
    assert _areas(DISC, SHARES).sizes[1] == pytest.approx(0.9 * np.pi, rel=0.06)


def test_diamond_of_laplace_is_no_disc(charts, tmp_path):
    reports = RNG.laplace(size=(40_000, 2))
    draw_perturbation_area(tmp_path / "a.json", {"Laplace": reports}, [0.0, 0.0], bounds=(-1, 2))
    (panel,) = charts[0].panels
    assert panel.equal
    cells = panel.marks[0]
    at = [np.linspace(*ends, 57)[:-1] for ends in (cells.x, cells.y)]
    on_axis = np.isfinite(cells.values[28]).sum() * (at[0][1] - at[0][0])
    diagonal = np.isfinite(np.diagonal(cells.values)).sum() * (at[0][1] - at[0][0]) * np.sqrt(2)
    assert on_axis > 1.1 * diagonal
    names = list(charts[0].entries())
    assert names[:3] == ["reports", "public box", "record"]
    assert names[3:] == ["99 % of reports", "90 % of reports", "50 % of reports"]


def test_reports_that_never_move(charts, tmp_path):
    draw_perturbation_area(tmp_path / "a.svg", {"none": np.ones((3, 2))}, [1, 1], shares=[0.9])
    assert "90 % in" in charts[0].panels[0].title


@pytest.mark.parametrize(
    ("reports", "record", "words", "message"),
    [
        ({}, [0, 0], {}, "reports must be a dict of at least one table, got dict"),
        ({"a": DISC[:, :1]}, [0, 0], {}, "reports must have 2 columns, got 1 in 'a'"),
        ({"a": DISC}, [0, 0, 0], {}, "record must have 2 columns, got 3"),
        ({"a": DISC}, [0, 0], {"shares": [0.5, 1.0]}, r"shares must be a number in \(0, 1\)"),
        ({"a": DISC}, [0, 0], {"shares": [0.5, 0.5]}, "shares must be 1 to 4 different ones"),
        ({"a": DISC}, [0, 0], {"shares": []}, "shares must be 1 to 4 different ones"),
        ({"a": DISC}, [0, 0], {"bounds": (0, 0)}, "bounds must have low < high"),
    ],
)
def test_bad_input(reports, record, words, message, tmp_path):
    with pytest.raises(ParameterError, match=message):
        draw_perturbation_area(tmp_path / "a.json", reports, record, **words)
    assert not list(tmp_path.iterdir())


def test_no_value_of_a_report_is_told(tmp_path):
    with pytest.raises(DataError) as caught:
        draw_perturbation_area(tmp_path / "a.json", {"a": [[12345.0, np.nan]]}, [0, 0])
    assert "12345" not in str(caught.value)
