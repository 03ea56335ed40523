"""Marks on axes of matplotlib."""

from functools import singledispatch
from typing import Any

import numpy as np

from shoal._optional import require
from shoal._typing import Floats
from shoal.plotting._matplotlib.frame import plain
from shoal.plotting.marks import (
    Band,
    Bars,
    Cells,
    Dash,
    Level,
    Line,
    Mark,
    Points,
    Scale,
    Texts,
    middles,
    on_dark,
)

__all__ = ["color_map", "draw_mark"]

SHIFT = 5  # points between a place and the words beside it


def draw_mark(axes: Any, second: Any, mark: Mark, *, order: float) -> Any:
    """Draw a mark and return what stands for it in a legend."""
    if isinstance(mark, Line) and mark.second:
        return _draw(mark, second, order)
    return _draw(mark, axes, order)


def color_map(scale: Scale) -> Any:
    """Return the colors of a scale as matplotlib wants them."""
    colors = require("matplotlib.colors", extra="plot")
    if scale.steps:
        return colors.ListedColormap(scale.colors)
    return colors.LinearSegmentedColormap.from_list("shoal", scale.colors)


@singledispatch
def _draw(mark: Mark, axes: Any, order: float) -> Any:
    raise TypeError(f"a chart cannot hold a {type(mark).__name__}")


@_draw.register
def _(mark: Line, axes: Any, order: float) -> Any:
    (line,) = axes.plot(
        mark.x,
        mark.y,
        color=mark.color,
        linestyle=_dash(mark.dash) if mark.width else "none",
        linewidth=mark.width,
        marker=mark.marker or None,
        markersize=mark.size,
        markerfacecolor="white" if mark.hollow else mark.color,
        drawstyle="steps-post" if mark.step else "default",
        alpha=mark.alpha,
        zorder=order,
    )
    return line


@_draw.register
def _(mark: Band, axes: Any, order: float) -> Any:
    return axes.fill_between(
        mark.x, mark.low, mark.high, color=mark.color, alpha=mark.alpha, linewidth=0, zorder=order
    )


@_draw.register
def _(mark: Points, axes: Any, order: float) -> Any:
    for letter, number, ends in (("x", 0, mark.x_ends), ("y", 1, mark.y_ends)):
        if ends is not None and len(mark.at):
            reach = {f"{letter}err": _reach(mark.at[:, number], ends)}
            axes.errorbar(
                *mark.at.T, **reach, fmt="none", ecolor=mark.color, elinewidth=1, zorder=order
            )
    colors: dict[str, Any] = {"color": mark.color, "linewidths": 0.0}
    if mark.hollow:
        colors = {
            "facecolors": "none",
            "edgecolors": mark.color,
            "linewidths": mark.edge_width,
        }
    elif mark.edge:
        colors |= {"edgecolors": mark.edge, "linewidths": mark.edge_width}
    elif mark.marker == "x":  # is all outline
        colors["linewidths"] = 0.6
    if mark.at.shape[1] == 3:
        colors["depthshade"] = False  # or the legend would show other colors
    return axes.scatter(
        *mark.at.T, s=mark.area, marker=mark.marker, alpha=mark.alpha, zorder=order, **colors
    )


@_draw.register
def _(mark: Bars, axes: Any, order: float) -> Any:
    if not len(mark.places):  # in a legend alone
        patch = require("matplotlib.patches", extra="plot").Patch
        return patch(facecolor=mark.color, hatch=mark.hatch, edgecolor="white", linewidth=0.5)
    bar = axes.barh if mark.lying else axes.bar
    bars = bar(
        mark.places,
        mark.lengths,
        mark.thick,
        color=mark.color,
        hatch=mark.hatch,
        edgecolor=mark.edge or "none",
        linewidth=0.5 if mark.edge else 0,
        alpha=mark.alpha,
        zorder=order,
    )
    if mark.ends is not None:
        reach = _reach(mark.lengths, mark.ends)
        at = (mark.lengths, mark.places) if mark.lying else (mark.places, mark.lengths)
        side = "xerr" if mark.lying else "yerr"
        black = {"ecolor": "black", "elinewidth": 1, "capsize": 2.5, "zorder": order}
        axes.errorbar(*at, **{side: reach}, fmt="none", **black)
    return bars


@_draw.register
def _(mark: Cells, axes: Any, order: float) -> Any:
    low, high = mark.scale.limits
    shown = axes.imshow(
        mark.values,
        origin="lower",
        extent=(*mark.x, *mark.y),
        aspect="auto",
        interpolation="nearest",
        cmap=color_map(mark.scale),
        vmin=low,
        vmax=high,
        zorder=order,
    )
    if mark.words is not None:
        dark = on_dark(mark)
        rows, columns = mark.values.shape
        across, up = middles(mark.x, columns), middles(mark.y, rows)
        middle = {"ha": "center", "va": "center", "fontsize": 8, "zorder": order}
        for row, column in np.argwhere(np.isfinite(mark.values)):
            color = "white" if dark[row, column] else "black"
            words = plain(str(mark.words[row, column]))
            axes.text(across[column], up[row], words, color=color, **middle)
    return shown


@_draw.register
def _(mark: Level, axes: Any, order: float) -> Any:
    draw = axes.axvline if mark.upright else axes.axhline
    return draw(
        mark.at,
        color=mark.color,
        linestyle=_dash(mark.dash),
        linewidth=mark.width,
        alpha=mark.alpha,
        zorder=order,
    )


@_draw.register
def _(mark: Texts, axes: Any, order: float) -> Any:
    shift = {"right": (SHIFT, 0), "corner": (4, 3)}.get(mark.beside, (0, 0))
    align = {
        "right": {"ha": "left", "va": "center"},
        "corner": {"ha": "left", "va": "bottom"},
    }.get(mark.beside, {"ha": "center", "va": "center"})
    for at, words in zip(mark.at, mark.words, strict=True):
        axes.annotate(
            plain(words),
            at,
            xytext=shift,
            textcoords="offset points",
            fontsize=mark.size,
            color=mark.color,
            zorder=order,
            **align,
        )
    return None


def _dash(dash: Dash) -> Any:
    return (0, dash) if dash else "-"


def _reach(middle: Floats, ends: Floats) -> Floats:
    """Return how far error bars go to both sides; an end on the wrong side is the middle."""
    return np.maximum([middle - ends[0], ends[1] - middle], 0.0)
