"""Marks as traces and shapes of Plotly."""

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats
from shoal.plotting._plotly.plain import clear, dashes, markup, number, numbers, places, told
from shoal.plotting._plotly.sizes import POINT
from shoal.plotting.chart import Panel
from shoal.plotting.marks import (
    Band,
    Bars,
    Cells,
    Level,
    Line,
    Mark,
    Points,
    Texts,
    middles,
    on_dark,
)

__all__ = ["Ids", "drawn"]

SYMBOLS = {
    "o": "circle",
    "s": "square",
    "^": "triangle-up",
    "v": "triangle-down",
    "<": "triangle-left",
    ">": "triangle-right",
    "D": "diamond",
    "P": "cross",
    "X": "x",
    "p": "pentagon",
    "h": "hexagon",
    "x": "x-thin",
}
# In space Plotly knows few, and draws all but these with letters that many systems lack.
SOLID_SYMBOLS = {
    **dict.fromkeys("oph", "circle"),
    **dict.fromkeys("s<", "square"),
    **dict.fromkeys("D^X", "diamond"),
    **dict.fromkeys("x>", "circle-open"),
    "P": "square-open",
    "v": "diamond-open",
}
PATTERNS = {"o": ".", "O": "."}


class Ids(NamedTuple):
    """What the axes of a panel are called.

    Parameters
    ----------
    x, y, second : str
        Such as "x2"; "y5" is the second vertical axis.
    scene : str
        Of points in space.
    colors : dict
        Name of the axis of colors for each scale.
    """

    x: str
    y: str
    second: str
    scene: str
    colors: dict[Any, str]


def drawn(mark: Mark, panel: Panel, ids: Ids) -> list[dict[str, Any]]:
    """Return a mark as a trace, or as a shape, which has ``x0``; words in cells are more traces.

    Parameters
    ----------
    mark : Mark
        What to draw.
    panel : Panel
        It lies in.
    ids : Ids
        Of that panel's axes.

    Returns
    -------
    drawn : list of dict
        Plain lists and numbers; without their entry in the legend.
    """
    return [_drawn(mark, panel, ids), *(_words(mark, ids) if isinstance(mark, Cells) else ())]


@singledispatch
def _drawn(mark: Mark, panel: Panel, ids: Ids) -> dict[str, Any]:
    raise TypeError(f"a chart cannot hold a {type(mark).__name__}")


@_drawn.register
def _(mark: Line, panel: Panel, ids: Ids) -> dict[str, Any]:
    line = {
        "color": mark.color,
        "width": mark.width * POINT,
        "dash": dashes(mark.dash, mark.width),
    }
    trace = {
        "type": "scatter",
        "mode": "lines+markers" if mark.marker else "lines",
        "x": numbers(mark.x),
        "y": numbers(mark.y),
        "line": {**line, "shape": "hv" if mark.step else "linear"},
        "opacity": mark.alpha,
        "xaxis": ids.x,
        "yaxis": ids.second if mark.second else ids.y,
        **told(mark, mark.notes, panel.x, panel.second if mark.second else panel.y),
    }
    if mark.marker:
        edge = {"color": mark.color, "width": 1.5 if mark.hollow else 0}
        trace["marker"] = {
            "symbol": SYMBOLS[mark.marker],
            "size": 1.15 * mark.size * POINT,
            "color": "white" if mark.hollow else mark.color,
            "line": edge,
        }
    return trace


@_drawn.register
def _(mark: Band, panel: Panel, ids: Ids) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": numbers(np.concatenate([mark.x, mark.x[::-1]])),
        "y": numbers(np.concatenate([mark.low, mark.high[::-1]])),
        "fill": "toself",
        "fillcolor": clear(mark.color, mark.alpha),
        "line": {"width": 0, "color": mark.color},
        "hoverinfo": "skip",
        "xaxis": ids.x,
        "yaxis": ids.y,
    }


@_drawn.register
def _(mark: Points, panel: Panel, ids: Ids) -> dict[str, Any]:
    solid = panel.z is not None
    area = np.asarray(mark.area, dtype=np.float64)
    # Symbols of Plotly are a little smaller than those of matplotlib, and much larger in space.
    sizes = np.sqrt(area) * POINT * ((0.7 if mark.edge else 0.5) if solid else 1.05)
    symbol = SOLID_SYMBOLS[mark.marker] if solid else SYMBOLS[mark.marker]
    stroke = mark.marker == "x" and not solid  # is all outline
    edge, width = (mark.color, 1.0) if stroke else (mark.edge, mark.edge_width * POINT)
    if mark.hollow:
        edge, width = mark.color, mark.edge_width * POINT
    trace: dict[str, Any] = {
        "type": "scatter3d" if solid else "scatter",
        "mode": "markers",
        **dict(zip("xyz", map(numbers, mark.at.T), strict=False)),
        "marker": {
            "symbol": symbol if not mark.hollow else f"{symbol.removesuffix('-open')}-open",
            "size": numbers(sizes) if sizes.ndim else float(sizes),
            "color": mark.color,
            "opacity": mark.alpha,
            "line": {"color": edge or mark.color, "width": width if edge else 0},
        },
        **told(mark, mark.notes, panel.x, panel.y, panel.z),
    }
    if solid:
        return {**trace, "scene": ids.scene}
    for letter, middle, ends in (("x", 0, mark.x_ends), ("y", 1, mark.y_ends)):
        if ends is not None and len(mark.at):
            trace[f"error_{letter}"] = _reach(mark.at[:, middle], ends, mark.color)
    return {**trace, "xaxis": ids.x, "yaxis": ids.y}


@_drawn.register
def _(mark: Bars, panel: Panel, ids: Ids) -> dict[str, Any]:
    across, up = (mark.lengths, mark.places) if mark.lying else (mark.places, mark.lengths)
    trace: dict[str, Any] = {
        "type": "bar",
        "orientation": "h" if mark.lying else "v",
        "x": numbers(across),
        "y": numbers(up),
        "width": mark.thick,
        "marker": {
            "color": mark.color,
            "opacity": mark.alpha,
            "line": {"color": mark.edge or mark.color, "width": 0.7 if mark.edge else 0},
        },
        "xaxis": ids.x,
        "yaxis": ids.y,
        "textposition": "none",
        **told(mark, mark.notes, panel.x, panel.y),
    }
    if mark.hatch:
        # Large and small circles differ in size only.
        size = 12 if "O" in mark.hatch else 9
        shape = PATTERNS.get(mark.hatch[0], mark.hatch[0])
        white = {"fgcolor": "white", "size": size, "solidity": 0.15}
        trace["marker"]["pattern"] = {"shape": shape, "bgcolor": mark.color, **white}
    if mark.ends is not None and len(mark.places):
        trace["error_x" if mark.lying else "error_y"] = _reach(mark.lengths, mark.ends, "#000000")
    return trace


@_drawn.register
def _(mark: Cells, panel: Panel, ids: Ids) -> dict[str, Any]:
    rows, columns = mark.values.shape
    trace = {
        "type": "heatmap",
        "z": [numbers(row) for row in mark.values],
        "x": numbers(np.linspace(*mark.x, columns + 1)),
        "y": numbers(np.linspace(*mark.y, rows + 1)),
        "coloraxis": ids.colors[mark.scale],
        "hoverongaps": False,
        "xaxis": ids.x,
        "yaxis": ids.y,
    }
    if mark.notes is not None:
        trace["hovertext"] = [[markup(str(note)) for note in row] for row in mark.notes]
        trace["hovertemplate"] = "%{hovertext}<extra></extra>"
    else:
        value = f"{markup(mark.scale.label)}: %{{z:.4~g}}"
        trace["hovertemplate"] = "<br>".join([*places(panel.x, panel.y), value, "<extra></extra>"])
    return trace


@_drawn.register
def _(mark: Level, panel: Panel, ids: Ids) -> dict[str, Any]:
    at = number(mark.at)
    across = {"xref": f"{ids.x} domain", "x0": 0, "x1": 1, "yref": ids.y, "y0": at, "y1": at}
    up = {"xref": ids.x, "x0": at, "x1": at, "yref": f"{ids.y} domain", "y0": 0, "y1": 1}
    line = {
        "color": mark.color,
        "width": mark.width * POINT,
        "dash": dashes(mark.dash, mark.width),
    }
    sides = up if mark.upright else across
    return {"type": "line", **sides, "line": line, "opacity": mark.alpha, "layer": "above"}


@_drawn.register
def _(mark: Texts, panel: Panel, ids: Ids) -> dict[str, Any]:
    beside = {"right": "middle right", "corner": "top right"}.get(mark.beside, "middle center")
    gap = "\u00a0\u00a0" if mark.beside == "right" else "\u00a0" if mark.beside else ""
    return {
        "type": "scatter",
        "mode": "text",
        **dict(zip("xy", map(numbers, mark.at.T), strict=True)),
        "text": [gap + markup(words) for words in mark.words],
        "textposition": beside,
        "textfont": {"size": mark.size * POINT, "color": mark.color},
        "hoverinfo": "skip",
        "cliponaxis": False,
        "xaxis": ids.x,
        "yaxis": ids.y,
    }


def _words(mark: Cells, ids: Ids) -> list[dict[str, Any]]:
    """Write in cells: white on dark and black on light, since Plotly's own choice is pale."""
    if mark.words is None:
        return []
    dark = on_dark(mark)
    across, up = (middles(ends, n) for ends, n in zip((mark.x, mark.y), dark.T.shape, strict=True))
    found = []
    for color, some in (("white", dark), ("black", ~dark)):
        rows, columns = np.nonzero(some & np.isfinite(mark.values))
        if len(rows):
            trace = {
                "type": "scatter",
                "mode": "text",
                "x": numbers(across[columns]),
                "y": numbers(up[rows]),
                "text": [markup(str(words)) for words in mark.words[rows, columns]],
                "textfont": {"size": 11, "color": color},
                "hoverinfo": "skip",
                "xaxis": ids.x,
                "yaxis": ids.y,
            }
            found.append(trace)
    return found


def _reach(middle: npt.NDArray[Any], ends: Floats, color: str) -> dict[str, Any]:
    return {
        "type": "data",
        "symmetric": False,
        "array": numbers(np.maximum(ends[1] - middle, 0.0)),
        "arrayminus": numbers(np.maximum(middle - ends[0], 0.0)),
        "color": color,
        "thickness": 1.3,
        "width": 3,
    }
