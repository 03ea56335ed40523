"""The demonstration's picture: records, reports and centres, and what privacy costs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shoal.plotting._save import save
from shoal.plotting.style import COLOURS, MARKERS, panels

__all__ = ["draw_demo"]

SHOWN = 3000  # points of a scatter: more only makes it darker
REACH = 1.6  # of the scatter's axes; the farthest reports lie outside


def draw_demo(example: Any, rows: Sequence[Any], path: Path) -> Path:
    """Draw one run of both models, and cost against epsilon.

    Parameters
    ----------
    example : object
        With ``records``, ``reports``, ``central``, ``local``, ``epsilon``, ``metric_epsilon``.
    rows : sequence
        Each with ``model``, ``method``, ``worst_case`` and ``costs``.
    path : Path
        PNG, PDF or SVG file to write.

    Returns
    -------
    path : Path
        The file written.
    """
    with panels(3, width=12.5, height=4.3) as (drawing, (left, middle, right)):
        _scatter(left, example.records, example.central, "central")
        left.set_title(f"Central: a curator publishes centres (ε = {example.epsilon:g})")
        _scatter(middle, example.reports, example.local, "local")
        local = f"Local: the server sees reports (ε = {example.metric_epsilon:g} per unit)"
        middle.set_title(local)
        _trade_off(right, rows)
        save(drawing, path)
    return path


def _scatter(axes: Any, points: Any, centres: Any, model: str) -> None:
    what = "records" if model == "central" else "reports"
    axes.scatter(*points[:SHOWN].T, s=4, color=COLOURS[what], alpha=0.5, linewidths=0, label=what)
    axes.scatter(
        *centres.T, s=90, marker="X", color=COLOURS[model], edgecolors="white", label="centres"
    )
    axes.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH), aspect="equal")
    axes.set(xlabel="column 1 (units)", ylabel="column 2 (units)")
    legend = axes.legend(loc="upper right", frameon=True, edgecolor="none", framealpha=0.9)
    for handle in legend.legend_handles:
        handle.set(alpha=1.0, sizes=[40])


def _trade_off(axes: Any, rows: Sequence[Any]) -> None:
    for model in dict.fromkeys(row.model for row in rows):
        chosen = [row for row in rows if row.model == model]
        at = [row.worst_case for row in chosen]
        middle = [np.median(row.costs) for row in chosen]
        low, high = [min(row.costs) for row in chosen], [max(row.costs) for row in chosen]
        label = f"{model}: {chosen[0].method}"
        axes.plot(at, middle, marker=MARKERS[model], color=COLOURS[model], label=label)
        axes.fill_between(at, low, high, color=COLOURS[model], alpha=0.2, linewidth=0)
    axes.axhline(1.0, color="#555", linewidth=1, linestyle=":", label="k-means without privacy")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set(xlabel="ε for exchanging a record for any other", ylabel="cost over k-means (ratio)")
    axes.set_title("What privacy costs (median and range)")
    axes.set_ylim(bottom=0.0)
    axes.legend(loc="upper right")
