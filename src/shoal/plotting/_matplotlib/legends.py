"""Legends below panels, in as many columns as fit."""

import math
from collections.abc import Mapping
from typing import Any

from shoal._optional import require
from shoal.plotting._matplotlib.frame import plain
from shoal.plotting.chart import Panel
from shoal.plotting.marks import Mark, Points

__all__ = ["legend_below_all", "legend_below_one"]

LETTER = 0.085  # inches of a letter
LINE, DOT = 0.75, 0.4  # inches of a line or box before it, and of a marker
BELOW = 0.47  # inches that numbers and label of an axis take
SPOT = 40  # area of a marker that would be too small or too large to see its shape


def legend_below_all(drawing: Any, entries: Mapping[str, Mark], artists: Mapping[str, Any]) -> None:
    """Put one legend for all panels below them."""
    if entries:
        size = _size(entries, drawing.get_figwidth())
        handles = [artists[name] for name in entries]
        names = [plain(name) for name in entries]
        _same_size(drawing.legend(handles, names, loc="outside lower center", **size), entries)


def legend_below_one(
    axes: Any, entries: Mapping[str, Mark], artists: Mapping[str, Any], panel: Panel, width: float
) -> None:
    """Put the legend of a panel below it."""
    if not entries:
        return
    transforms = require("matplotlib.transforms", extra="plot")
    down = BELOW + 0.16 * panel.x.label.count("\n")
    shift = transforms.ScaledTranslation(0.0, -down, axes.figure.dpi_scale_trans)
    legend = axes.legend(
        [artists[name] for name in entries],
        [plain(name) for name in entries],
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=axes.transAxes + shift,
        fontsize=9,
        **_size(entries, width),
    )
    _same_size(legend, entries)


def _size(entries: Mapping[str, Mark], width: float) -> dict[str, Any]:
    dots = all(isinstance(mark, Points) for mark in entries.values())
    handle = DOT if dots else LINE
    widest = max(len(name) for name in entries) * LETTER + handle
    rows = math.ceil(len(entries) / max(1, int(width // widest)))
    return {"ncols": math.ceil(len(entries) / rows), "handlelength": 3.2 * handle / LINE}


def _same_size(legend: Any, entries: Mapping[str, Mark]) -> None:
    for handle, mark in zip(legend.legend_handles, entries.values(), strict=True):
        if isinstance(mark, Points) and hasattr(handle, "set_sizes"):
            handle.set(alpha=1.0, sizes=[min(max(float(handle.get_sizes()[0]), SPOT), 3 * SPOT)])
