"""A chart as a figure of Plotly: traces and layout in plain lists, without Plotly itself."""

import json
from typing import Any

import numpy as np

from shoal.plotting._layout import words
from shoal.plotting._plotly.plain import log_marks, markup, numbers
from shoal.plotting._plotly.sizes import PIXELS, Frame, arrange, entry_width
from shoal.plotting._plotly.traces import Ids, drawn
from shoal.plotting._reach import limits
from shoal.plotting.chart import Axis, Chart, Panel
from shoal.plotting.marks import Cells, Mark, Points, Scale
from shoal.plotting.style import GRID

__all__ = ["as_json"]

FONT, SMALL = 13, 11  # pixels
INK, SPINE = "#262626", "#555555"


def as_json(chart: Chart) -> str:
    """Write a chart as the JSON of a figure of Plotly.

    Parameters
    ----------
    chart : Chart
        What to draw.

    Returns
    -------
    text : str
        An object with ``data`` and ``layout``; ``layout.meta.width`` is the width in pixels that
        the chart has on paper. The picture fills the width it is given, at a fixed height.
    """
    return json.dumps(_figure(chart), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _figure(chart: Chart) -> dict[str, Any]:
    frame = arrange(chart)
    scales = list(dict.fromkeys(_scales(chart)))
    colors = {scale: f"coloraxis{_suffix(place)}" for place, scale in enumerate(scales)}
    every: list[dict[str, Any]] = []
    layout = _layout(chart, frame)
    waiting = _ranked(chart.entries())
    for place, panel in enumerate(chart.panels):
        ids = Ids(
            f"x{_suffix(place)}",
            f"y{_suffix(place)}",
            f"y{_suffix(place + len(chart.panels))}",
            f"scene{_suffix(place)}",
            colors,
        )
        _add_axes(layout, chart, frame, place, ids)
        legend = "legend"
        if chart.legend == "panels":
            waiting = _ranked(chart.entries(panel))
            legend += _suffix(place)
            layout[legend] = _own_legend(chart.entries(panel), frame.across[place].low, frame)
        for mark in panel.marks:
            every += _listed(drawn(mark, panel, ids), mark, waiting, legend)
    first = Ids("x", "y", "y", "scene", colors)
    for mark in chart.key:
        every += _listed(_key(drawn(mark, chart.panels[0], first)), mark, waiting, "legend")
    for scale, name in colors.items():
        layout[name] = _color_axis(scale, chart, frame)
    layout["shapes"] = [one for one in every if "x0" in one]
    return {"data": [one for one in every if "x0" not in one], "layout": layout}


def _suffix(place: int) -> str:
    return str(place + 1) if place else ""


def _scales(chart: Chart) -> list[Scale]:
    marks = [mark for panel in chart.panels for mark in panel.marks]
    return [mark.scale for mark in marks if isinstance(mark, Cells)]


def _ranked(entries: dict[str, Mark]) -> dict[str, tuple[int, Mark]]:
    return {name: (place, mark) for place, (name, mark) in enumerate(entries.items(), start=1)}


def _listed(
    found: list[dict[str, Any]], mark: Mark, waiting: dict[str, tuple[int, Mark]], legend: str
) -> list[dict[str, Any]]:
    """Add the entry in the legend, which waits for its mark, or what it is switched with."""
    rank, entry = waiting.get(mark.name, (0, None))
    for one in found:
        one["showlegend"] = entry is mark
        if mark.name:
            one |= {"name": markup(mark.name), "legendgroup": mark.name, "legend": legend}
        if entry is mark:
            one["legendrank"] = rank
    if entry is mark:  # which may lie in other panels too
        del waiting[mark.name]
    return found


def _key(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Let traces without data be in the legend."""
    for one in found:
        one |= {letter: [None] for letter in "xyz" if letter in one}
    return found


def _layout(chart: Chart, frame: Frame) -> dict[str, Any]:
    left, right, top, bottom = frame.margins
    entries = chart.entries()
    layout: dict[str, Any] = {
        "height": round(chart.height * PIXELS),
        "autosize": True,
        "meta": {"width": round(chart.width * PIXELS)},
        "font": {"size": FONT, "color": INK, "family": "DejaVu Sans, Verdana, Arial, sans-serif"},
        "paper_bgcolor": "white",
        "plot_bgcolor": "white",
        "margin": {"l": left, "r": right, "t": top, "b": bottom, "pad": 0},
        "barmode": "overlay",
        "hovermode": "closest",
        "hoverlabel": {"align": "left"},
        "annotations": _titles(chart, frame),
    }
    if chart.title:
        words = {"text": f"<b>{markup(chart.title)}</b>", "font": {"size": FONT + 2}}
        layout["title"] = {**words, "x": 0.01, "xanchor": "left", "y": 1, "yanchor": "top"}
        layout["title"]["pad"] = {"t": 10}
    if chart.legend == "chart" and entries:
        dots = all(isinstance(mark, Points) for mark in entries.values())
        layout["legend"] = {
            "orientation": "h",
            "x": 0,
            "y": -frame.under / frame.height,
            "yanchor": "top",
            "tracegroupgap": 0,
            "itemsizing": _sizing(entries),
            "entrywidth": entry_width(list(entries), dots=dots),
            "entrywidthmode": "pixels",
        }
    return layout


def _own_legend(entries: dict[str, Mark], left: float, frame: Frame) -> dict[str, Any]:
    at = {"x": left, "xanchor": "left", "y": -frame.under / frame.height, "yanchor": "top"}
    font = {"size": SMALL + 1}
    return {**at, "font": font, "tracegroupgap": 0, "itemsizing": _sizing(entries)}


def _sizing(entries: dict[str, Mark]) -> str:
    """Let small dots be seen in a legend; lines would become thick."""
    dots = all(isinstance(mark, Points) for mark in entries.values())
    return "constant" if dots else "trace"


def _titles(chart: Chart, frame: Frame) -> list[dict[str, Any]]:
    return [
        {
            "text": markup(title),
            "xref": "paper",
            "yref": "paper",
            "x": frame.across[place].low,
            "y": frame.up[place].high,
            "xanchor": "left",
            "yanchor": "bottom",
            "yshift": 3,
            "align": "left",
            "showarrow": False,
            "font": {"size": FONT},
        }
        for place, title in enumerate(frame.titles)
        if title
    ]


def _add_axes(layout: dict[str, Any], chart: Chart, frame: Frame, place: int, ids: Ids) -> None:
    panel = chart.panels[place]
    across, up = list(frame.across[place]), list(frame.up[place])
    if panel.z is not None:
        layout[ids.scene] = _scene(panel, across, up)
        return
    suffix = ids.x[1:]
    bottom = not chart.shared or chart.lowest(place)
    left = not chart.shared or place % chart.columns == 0
    alike = chart.panels if chart.shared else (panel,)
    ends = {side: limits(getattr(panel, side), alike, side=side) for side in ("x", "y")}
    x = _axis(panel.x, panel, ends["x"], labeled=bottom) | {"domain": across, "anchor": ids.y}
    y = _axis(panel.y, panel, ends["y"], labeled=left) | {"domain": up, "anchor": ids.x}
    if panel.grid:
        y |= {"showgrid": True, "gridcolor": GRID}
    if panel.equal:
        y |= {"scaleanchor": ids.x, "scaleratio": 1}
        x["constrain"] = y["constrain"] = "domain"
    if chart.shared and place:
        x["matches"], y["matches"] = "x", "y"
    layout[f"xaxis{suffix}"], layout[f"yaxis{suffix}"] = x, y
    if panel.second is not None:
        ends["y"] = limits(panel.second, alike, side="second")
        second = _axis(panel.second, panel, ends["y"], labeled=True)
        second |= {"overlaying": ids.y, "side": "right", "anchor": ids.x}
        layout[f"yaxis{ids.second[1:]}"] = second


def _axis(axis: Axis, panel: Panel, ends: tuple[float, float], *, labeled: bool) -> dict[str, Any]:
    # Plotly wants the powers of ten of a logarithmic axis.
    between = (np.log10(ends) if axis.log else np.array(ends)).tolist()
    if panel.frame == "none":
        return {"visible": False, "range": between}
    given: dict[str, Any] = {
        "type": "log" if axis.log else "linear",
        "range": between,
        "showgrid": False,
        "zeroline": False,
        "showline": panel.frame == "axes",
        "linecolor": SPINE,
        "ticks": "" if panel.frame == "ticks" or axis.named else "outside",
        "ticklen": 4,
        "tickcolor": SPINE,
        "tickfont": {"size": SMALL - axis.small},
        "exponentformat": "none",
        "showticklabels": labeled,
        "tickmode": "auto",
    }
    if axis.log:
        marks = log_marks(between)
        names = [words(mark) for mark in marks]
        given |= {"tickmode": "array", "tickvals": numbers(marks), "ticktext": names}
    if labeled and axis.label:
        given["title"] = {"text": markup(axis.label), "standoff": 6, "font": {"size": FONT - 1}}
    if axis.ticks is not None:
        given |= {"tickmode": "array", "tickvals": numbers(axis.ticks)}
        if axis.names is not None:
            given["ticktext"] = [markup(name) for name in axis.names]
    if axis.slant:
        given["tickangle"] = -30
    return given


def _scene(panel: Panel, across: list[float], up: list[float]) -> dict[str, Any]:
    scene: dict[str, Any] = {
        "domain": {"x": across, "y": up},
        "aspectmode": "cube",
        "camera": {
            "eye": {"x": 1.7, "y": -1.95, "z": 0.95},
            "center": {"x": 0, "y": 0, "z": -0.12},
        },
    }
    for letter, axis in zip("xyz", (panel.x, panel.y, panel.z), strict=True):
        if axis is not None:
            scene[f"{letter}axis"] = {
                "title": {"text": markup(axis.label), "font": {"size": SMALL}},
                "range": list(axis.limits),
                "tickfont": {"size": 10},
                "nticks": 6,
                "backgroundcolor": "#f4f4f4",
                "gridcolor": "#d9d9d9",
                "showbackground": True,
                "showspikes": False,
                "zeroline": False,
            }
    return scene


def _color_axis(scale: Scale, chart: Chart, frame: Frame) -> dict[str, Any]:
    number = len(scale.colors)
    if scale.steps:
        stops = [
            [at / number, color]
            for place, color in enumerate(scale.colors)
            for at in (place, place + 1)
        ]
    else:
        stops = [[place / (number - 1), color] for place, color in enumerate(scale.colors)]
    low, high = scale.limits
    axis: dict[str, Any] = {"colorscale": stops, "cmin": low, "cmax": high, "showscale": False}
    places = chart.scales().get(scale)
    if places is not None:
        whole = len(places) == len(chart.panels)
        right = 1.0 if whole else max(frame.across[place].high for place in places)
        down, top = (0.0, 1.0) if whole else frame.up[places[0]]
        axis["showscale"] = True
        axis["colorbar"] = {
            "title": {"text": markup(scale.label), "side": "right", "font": {"size": SMALL}},
            "thickness": 14,
            "outlinewidth": 0,
            "x": right,
            "xpad": 8,
            "y": (down + top) / 2,
            "len": top - down,
            "tickfont": {"size": SMALL},
        }
    return axis
