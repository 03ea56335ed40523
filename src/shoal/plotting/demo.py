"""The demonstration's picture: records, reports and centres, and what privacy costs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shoal.plotting.style import COLOURS, MARKERS, figure

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
    drawing, (left, middle, right) = figure(3, width=12.5, height=4.2)
    _scatter(left, example.records, example.central, "central")
    left.set_title(f"Central: the curator publishes centres (ε = {example.epsilon:g})")
    _scatter(middle, example.reports, example.local, "local")
    middle.set_title(f"Local: the server sees reports only (ε = {example.metric_epsilon:g}/unit)")
    _trade_off(right, rows)
    drawing.savefig(path)
    return path


def _scatter(axes: Any, points: Any, centres: Any, model: str) -> None:
    what = "records" if model == "central" else "reports"
    shown = points[:SHOWN]
    axes.scatter(*shown.T, s=3, color=COLOURS[what], alpha=0.5, linewidths=0, label=what)
    axes.scatter(
        *centres.T, s=90, marker="X", color=COLOURS[model], edgecolors="white", label="centres"
    )
    axes.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH), aspect="equal")
    axes.set(xlabel="column 1 (units)", ylabel="column 2 (units)")
    axes.legend(loc="upper right", markerscale=1.2)


def _trade_off(axes: Any, rows: Sequence[Any]) -> None:
    for model in dict.fromkeys(row.model for row in rows):
        chosen = [row for row in rows if row.model == model]
        at = [row.worst_case for row in chosen]
        means = np.array([np.mean(row.costs) for row in chosen])
        spread = np.array([np.std(row.costs) for row in chosen])
        label = f"{model}: {chosen[0].method}"
        axes.plot(at, means, marker=MARKERS[model], color=COLOURS[model], label=label)
        low = np.maximum(means - spread, 1e-3)
        axes.fill_between(at, low, means + spread, color=COLOURS[model], alpha=0.2, linewidth=0)
    axes.axhline(1.0, color="#555", linewidth=1, linestyle=":")
    axes.annotate(
        "no privacy", (0.99, 1.0), xycoords=("axes fraction", "data"), ha="right", va="bottom"
    )
    axes.set(xscale="log", yscale="log")
    axes.set(xlabel="worst-case ε between any two records", ylabel="cost over k-means (ratio)")
    axes.set_title("What privacy costs")
    axes.legend(loc="upper right")
