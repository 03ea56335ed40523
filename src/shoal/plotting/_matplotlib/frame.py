"""Axes of a panel: limits, numbers, names and what they are of."""

from typing import Any

import numpy as np

from shoal._optional import require
from shoal.plotting.chart import Axis, Chart, Panel
from shoal.plotting.style import GRID

__all__ = ["frame_panel", "plain"]

NARROW = 1.6  # decades of a logarithmic axis that shows more than powers of ten


def plain(words: str) -> str:
    """Write words without starting a formula."""
    return words.replace("$", r"\$")


def frame_panel(axes: Any, second: Any, panel: Panel, chart: Chart, place: int) -> None:
    """Return a panel its axes.

    Parameters
    ----------
    axes, second : Axes
        Of matplotlib; ``second`` is None where the panel has no second axis.
    panel : Panel
        What to draw.
    chart : Chart
        It belongs to.
    place : int
        Of the panel in the chart.
    """
    if panel.frame == "none":
        axes.set_axis_off()
        axes.set(xlim=panel.x.limits, ylim=panel.y.limits)
        return
    _set_axis(axes, "x", panel.x)
    _set_axis(axes, "y", panel.y)
    if panel.z is not None:
        _set_axis(axes, "z", panel.z)
        axes.computed_zorder = False  # what comes later stays in front
        axes.locator_params(nbins=5)
        axes.tick_params(labelsize=8)
        axes.set_box_aspect(None, zoom=0.86)  # the third name lies outside the panel otherwise
        return
    if second is not None and panel.second is not None:
        _set_axis(second, "y", panel.second)
        second.spines["right"].set_visible(True)
    if panel.equal:
        axes.set_aspect("equal")
    if panel.grid:
        axes.grid(axis="y", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    if panel.frame == "ticks":
        axes.tick_params(length=0, labelsize=9)
        axes.spines[:].set_visible(False)
    if chart.shared:
        if chart.lowest(place):
            axes.tick_params(labelbottom=True)  # which shared axes leave to the last row
        else:
            axes.set_xlabel("")
        if place % chart.columns:
            axes.set_ylabel("")


def _set_axis(axes: Any, letter: str, axis: Axis) -> None:
    axes.set(**{f"{letter}label": plain(axis.label)})
    side = getattr(axes, f"{letter}axis")
    if axis.log:
        axes.set(**{f"{letter}scale": "log"})
    low, high = axis.limits
    if low is not None or high is not None:
        axes.set(**{f"{letter}lim": axis.limits})
    if axis.ticks is None:
        if axis.log:
            _logarithmic(side, getattr(axes, f"get_{letter}lim")())
        return
    names = [plain(name) for name in axis.names] if axis.names is not None else None
    slanted = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if axis.slant else {}
    small = {"fontsize": 8} if axis.small else {}
    more = {**slanted, **small} if names is not None else {}
    side.set_ticks(axis.ticks, names, **more)
    if axis.log:
        axes.minorticks_off()
    elif axis.named:
        axes.tick_params(axis=letter, length=0)


def _logarithmic(side: Any, limits: tuple[float, float]) -> None:
    """Write powers of ten, or steps between them where there are few powers."""
    ticker = require("matplotlib.ticker", extra="plot")
    narrow = abs(np.log10(limits[1] / limits[0])) < NARROW
    side.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0) if narrow else (1.0,)))
    side.set_major_formatter("{x:g}")
    side.set_minor_formatter(ticker.NullFormatter())
