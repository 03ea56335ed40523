"""Ends of axes hold what is drawn, as matplotlib's do."""

import json

import numpy as np
import pytest

from plotting.gallery import PICTURES
from shoal.plotting import Axis, Bars, Level, Line, Panel
from shoal.plotting._reach import limits

LINE = Line(x=np.array([1.0, 100.0]), y=np.array([-2.0, 2.0]), color="#000000")


@pytest.mark.parametrize("name", ["lines", "bars", "number of clusters", "trade-off", "distances"])
def test_both_libraries_show_the_same_range(name, figures, tmp_path):
    PICTURES[name][1](tmp_path / "a.png")
    layout = json.loads(PICTURES[name][1](tmp_path / "a.json").read_text())["layout"]
    axes = figures[0].axes[0]
    for side, ends, scale in (
        ("x", axes.get_xlim(), axes.get_xscale()),
        ("y", axes.get_ylim(), axes.get_yscale()),
    ):
        theirs = np.array(layout[f"{side}axis"]["range"])
        ours = np.log10(ends) if scale == "log" else np.array(ends)
        np.testing.assert_allclose(theirs, ours, atol=0.03 * np.ptp(ours))


def test_logarithmic_ends_leave_room_in_decades():
    panel = Panel(marks=(LINE,), x=Axis(log=True), y=Axis())
    low, high = limits(panel.x, [panel], side="x")
    assert (np.log10(low), np.log10(high)) == pytest.approx((-0.1, 2.1))


def test_levels_count_and_the_second_axis_is_apart():
    twin = Line(x=LINE.x, y=np.array([1e6, 2e6]), color="#000000", second=True)
    panel = Panel(marks=(LINE, twin, Level(at=8.0)), x=Axis(), y=Axis(), second=Axis())
    assert limits(panel.y, [panel], side="y") == pytest.approx((-2.5, 8.5))
    assert limits(Axis(), [panel], side="second") == pytest.approx((0.95e6, 2.05e6))


def test_bars_stand_on_the_axis_and_nothing_is_one_unit():
    bars = Bars(places=np.array([0.0]), lengths=np.array([4.0]), thick=1.0, color="#000000")
    panel = Panel(marks=(bars,), x=Axis(), y=Axis())
    assert limits(panel.y, [panel], side="y") == pytest.approx((0.0, 4.2))
    empty = Panel(marks=(), x=Axis(), y=Axis())
    assert limits(empty.x, [empty], side="x") == pytest.approx((-0.05, 1.05))
