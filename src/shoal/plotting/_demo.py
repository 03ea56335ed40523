"""The demonstration's picture: made-up records, reports and centers, and what privacy costs."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from shoal._typing import Floats
from shoal.plotting._canvas import Axis, Canvas, Key, add_levels, around, panel, table, tooltip
from shoal.plotting._data import evenly
from shoal.plotting._picture import Picture
from shoal.plotting._points import centers_layer, columns_of
from shoal.plotting._theme import COLORS, LOOKS

__all__ = ["draw_demo"]

MAX_POINTS = 2_000  # of a scatter: more only makes it darker
REACH = 1.6  # of the scatter's axes; the farthest reports lie outside
SIDE = 265
WITHOUT = "k-means without privacy"


def draw_demo(
    example: Any, rows: Sequence[Any], *, path: str | os.PathLike[str] | None = None
) -> Picture:
    """Draw one run of both models on made-up records, and cost against epsilon.

    Parameters
    ----------
    example : object
        With ``records``, ``reports``, ``central``, ``local``, ``epsilon``, ``metric_epsilon``; its
        records are made up.
    rows : sequence
        Each with ``model``, ``method``, ``worst_case`` and ``costs``.
    path : path, default=None
        File to write as well: PNG, SVG, PDF, HTML or JSON.

    Returns
    -------
    picture : Picture
        The chart.

    Raises
    ------
    ParameterError
        If the file cannot be written.
    MissingPackageError
        If the extra ``plot`` is not installed.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> points = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    >>> example = SimpleNamespace(
    ...     **{"records": points, "reports": points, "central": points[:2], "local": points[2:4]},
    ...     **{"epsilon": 1.0, "metric_epsilon": 4.0},
    ... )
    >>> row = SimpleNamespace(model="local", method="Laplace", worst_case=2.0, costs=[1.5, 1.2])
    >>> draw_demo(example, [row])
    Picture(panels=3, records=False)
    """
    canvas = Canvas(path)
    central = f"Central: a curator publishes centers (ε = {example.epsilon:g})"
    local = f"Local: the server sees reports (ε = {example.metric_epsilon:g} per unit)"
    panels = (
        _scatter(canvas, example.records, example.central, "central", central),
        _scatter(canvas, example.reports, example.local, "local", local),
        _costs(canvas, rows),
    )
    return canvas.finish(panels, columns=3)


def _scatter(canvas: Canvas, points: Any, centers: Any, model: str, title: str) -> Any:
    what = "records" if model == "central" else "reports"
    some: Floats = points[evenly(len(points), MAX_POINTS)]
    near = some[(np.abs(some) <= REACH).all(axis=1)]
    ends = (-REACH, REACH)
    axes = [Axis(f"column {number} (units)", ends) for number in (1, 2)]
    place = {"x": axes[0].x("c0"), "y": axes[1].y("c1")}
    key = Key()
    key.add(what, COLORS[what], "circle")
    crosses = centers_layer(canvas, np.asarray(centers), key, color=COLORS[model])
    dots = canvas.add(table(name=what, **columns_of(near))).mark_circle(size=8, opacity=0.55)
    layers = (dots.encode(color=key.color()), crosses)
    return panel(
        *(layer.encode(**place) for layer in layers),
        canvas.legend(key),
        width=SIDE,
        height=SIDE,
        title=title,
    )


def _costs(canvas: Canvas, rows: Sequence[Any]) -> Any:
    key = Key()
    points = []
    for model in dict.fromkeys(row.model for row in rows):
        chosen = [row for row in rows if row.model == model]
        name = key.add(f"{model}: {chosen[0].method}", *LOOKS[model])
        points += table(
            name=name,
            x=[float(row.worst_case) for row in chosen],
            y=[float(np.median(row.costs)) for row in chosen],
            low=[float(min(row.costs)) for row in chosen],
            high=[float(max(row.costs)) for row in chosen],
        )
    levels = {WITHOUT: 1.0}
    add_levels(key, levels)
    every = [row["x"] for row in points]
    x = Axis(
        "ε for exchanging a record for any other", around(every, log=True), log=True, ticks=every
    )
    y = Axis(
        "cost over k-means (ratio)", around([row["high"] for row in points], zero=True), grid=True
    )
    base = canvas.add(points)
    place = {"x": x.x(), "y": y.y(), "color": key.color()}
    words = {"name": " ", "x": "worst-case ε", "y": "median cost", "low": "from", "high": "to"}
    return panel(
        base.mark_area(opacity=0.18).encode(**{**place, "y": y.y("low")}, y2="high:Q"),
        base.mark_line(strokeWidth=1.8).encode(**place),
        base.mark_point(filled=True, size=50, opacity=1).encode(
            **place, shape=key.shape(), tooltip=tooltip(**words)
        ),
        *canvas.levels(levels, y, key),
        width=SIDE,
        height=SIDE,
        title="What privacy costs (median and range)",
    )
