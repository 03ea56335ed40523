"""A plane with public axes: its chart has the rows of `plane_rows`, so that they can be swapped."""

import numpy as np
import pytest

from helpers.charts import layers
from shoal.exceptions import ParameterError
from shoal.plotting import PlaneAxis, draw_plane, plane_rows

AXES = PlaneAxis("age", 0.0, 100.0), PlaneAxis("income", 1.0, 1000.0, "log")
POINTS = np.array([[20.0, 30.0], [60.0, 90.0], [np.nan, 5.0], [900.0, 5.0]])
GIVEN = {
    "labels": [0, 1, 1, 0],
    "centers": [[25.0, 40.0], [500.0, 80.0]],
    "sizes": [10, 30],
}


@pytest.mark.parametrize("shown", ["clusters", "release"])
def test_a_chart_has_the_rows_that_a_slider_swaps(shown):
    picture = draw_plane(POINTS, axes=AXES, shown=shown, records=False, **GIVEN)
    assert picture.spec["datasets"] == plane_rows(POINTS, axes=AXES, **GIVEN).datasets


def test_axes_hold_public_limits_whatever_is_drawn():
    domains = [
        [
            layers(draw_plane(points, axes=AXES))[0].encoding[side]["scale"]["domain"]
            for side in "xy"
        ]
        for points in (POINTS, POINTS[:1], POINTS * 50)
    ]
    assert domains[0] == domains[1] == domains[2] == [list(axis.ends) for axis in AXES]


def test_missing_points_are_left_out_and_far_ones_counted():
    rows = plane_rows(POINTS, axes=AXES, **GIVEN)
    assert [row["x"] for row in rows.datasets["rows-0"]] == [20.0, 60.0]
    assert rows.outside == 1
    # A center far outside is drawn at the rim, and not forgotten.
    assert rows.datasets["rows-1"][1]["x"] == AXES[0].ends[1]


def test_points_of_records_stay_with_the_curator():
    with pytest.raises(ParameterError, match="records"):
        _ = draw_plane(POINTS, axes=AXES).spec


@pytest.mark.parametrize(
    ("points", "kwargs"),
    [(np.zeros((3, 3)), {}), (POINTS, {"labels": [0]}), (POINTS, {"centers": [[np.nan, 1.0]]})],
)
def test_what_does_not_fit_is_refused(points, kwargs):
    with pytest.raises((ParameterError, ValueError)):
        plane_rows(points, axes=AXES, **kwargs)
