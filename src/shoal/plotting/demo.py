"""The demonstration's picture: records, reports and centers, and what privacy costs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shoal.plotting._layout import logarithmic
from shoal.plotting.chart import Axis, Chart, Panel
from shoal.plotting.marks import Band, Level, Line, Mark, Points
from shoal.plotting.save import check_path, save
from shoal.plotting.style import COLORS, FINE, LOOKS

__all__ = ["draw_demo"]

SHOWN = 3000  # points of a scatter: more only makes it darker
REACH = 1.6  # of the scatter's axes; the farthest reports lie outside


def draw_demo(path: Path, example: Any, rows: Sequence[Any]) -> Path:
    """Draw one run of both models, and cost against epsilon.

    Parameters
    ----------
    path : Path
        File to write: PNG, SVG, PDF, HTML or JSON.
    example : object
        With ``records``, ``reports``, ``central``, ``local``, ``epsilon``, ``metric_epsilon``.
    rows : sequence
        Each with ``model``, ``method``, ``worst_case`` and ``costs``.

    Returns
    -------
    path : Path
        The file written.
    """
    check_path(path)
    central = f"Central: a curator publishes centers (ε = {example.epsilon:g})"
    local = f"Local: the server sees reports (ε = {example.metric_epsilon:g} per unit)"
    chart = Chart(
        panels=(
            _scatter(example.records, example.central, "central", central),
            _scatter(example.reports, example.local, "local", local),
            _trade_off(rows),
        ),
        columns=3,
        width=13.0,
        height=5.2,
        legend="panels",
    )
    return save(chart, path)


def _scatter(points: Any, centers: Any, model: str, title: str) -> Panel:
    what = "records" if model == "central" else "reports"
    near = points[:SHOWN][(np.abs(points[:SHOWN]) <= REACH).all(axis=1)]
    ends = (-REACH, REACH)
    return Panel(
        marks=(
            Points(at=near, color=COLORS[what], area=4.0, alpha=0.5, name=what),
            Points(
                at=np.asarray(centers),
                color=COLORS[model],
                marker="X",
                area=90.0,
                edge="#ffffff",
                name="centers",
            ),
        ),
        x=Axis(label="column 1 (units)", limits=ends),
        y=Axis(label="column 2 (units)", limits=ends),
        equal=True,
        title=title,
    )


def _trade_off(rows: Sequence[Any]) -> Panel:
    bands: list[Mark] = []
    lines: list[Mark] = []
    for model in dict.fromkeys(row.model for row in rows):
        chosen = [row for row in rows if row.model == model]
        at = np.array([row.worst_case for row in chosen], dtype=np.float64)
        low, middle, high = (
            np.array([of(row.costs) for row in chosen], dtype=np.float64)
            for of in (min, np.median, max)
        )
        name = f"{model}: {chosen[0].method}"
        bands.append(
            Band(x=at, low=low, high=high, alpha=0.2, listed=False, color=COLORS[model], name=name)
        )
        lines.append(
            Line(
                x=at,
                y=middle,
                marker=LOOKS[model].marker,
                size=6.0,
                color=COLORS[model],
                name=name,
            )
        )
    without = Level(at=1.0, color="#555555", dash=FINE, name="k-means without privacy")
    every = np.array([row.worst_case for row in rows], dtype=np.float64)
    return Panel(
        marks=(*bands, *lines, without),
        x=logarithmic("ε for exchanging a record for any other", every),
        y=Axis(label="cost over k-means (ratio)", limits=(0.0, None)),
        title="What privacy costs (median and range)",
    )
