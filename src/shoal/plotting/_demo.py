"""The demonstration's picture: made-up records, reports and centers, and what privacy costs."""

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from shoal._numbers import rounded_up
from shoal._typing import Floats
from shoal.plotting._canvas import Axis, Canvas, Key, around, panel, table
from shoal.plotting._data import evenly
from shoal.plotting._picture import Picture
from shoal.plotting._points import CROSS
from shoal.plotting._theme import CENTER, COLORS, LOOKS

__all__ = ["draw_demo"]

MAX_POINTS = 2_000  # of a scatter: more only makes it darker
REACH = 1.6  # of the scatter's axes; the farthest reports lie outside
SIDE = 265
WITHOUT = "k-means without privacy"


def draw_demo(
    example: Any, rows: Sequence[Any], *, path: str | os.PathLike[str] | None = None
) -> Picture:
    """Draw a run of the central and the local model on made-up records, and cost against epsilon.

    Parameters
    ----------
    example : object
        Has ``records``, ``reports``, ``central``, ``local``, ``epsilon`` and ``metric_epsilon``;
        its records must be made up.
    rows : sequence
        Each has ``model``, ``method``, ``worst_case`` and ``costs``.
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
    central = f"Central: a curator publishes centers (ε = {rounded_up(example.epsilon)})"
    local = f"Local: the server sees reports (ε = {rounded_up(example.metric_epsilon)} per unit)"
    panels = (
        _scatter(canvas, example.records, example.central, "central", central),
        _scatter(canvas, example.reports, example.local, "local", local),
        _costs(canvas, rows),
    )
    return canvas.finish(panels, columns=3, square=True)


def _scatter(canvas: Canvas, points: Any, centers: Any, model: str, title: str) -> Any:
    what = "records" if model == "central" else "reports"
    some: Floats = points[evenly(len(points), MAX_POINTS)]
    near = some[(np.abs(some) <= REACH).all(axis=1)]
    axes = [Axis(f"column {number} (units)", (-REACH, REACH)) for number in (1, 2)]
    key = Key()
    key.add(what, COLORS[what], "circle")
    key.add("centers", COLORS[model], CENTER)
    layer = partial(canvas.layer, x=axes[0], y=axes[1], key=key)
    middles = np.asarray(centers)
    return panel(
        layer(table(name=what, x=near[:, 0], y=near[:, 1]), "circle", size=8, opacity=0.55),
        layer(table(name="centers", x=middles[:, 0], y=middles[:, 1]), **CROSS),
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
    key.add_levels(levels)
    every = [row["x"] for row in points]
    top = [row["high"] for row in points]
    label = "ε for exchanging a record for any other"
    x = Axis(label, around(every, log=True), log=True, ticks=every)
    y = Axis("cost over k-means (ratio)", around(top, zero=True), grid=True)
    layer = partial(canvas.layer, x=x, y=y, key=key)
    told = {"name": " ", "x": "worst-case ε", "y": "median cost", "low": "from", "high": "to"}
    bands = [row | {"y": row["low"], "y2": row["high"]} for row in points]
    return panel(
        layer(bands, "area", opacity=0.18),
        layer(points, "line", strokeWidth=1.8),
        layer(points, "point", told=told, filled=True, size=50, opacity=1),
        *canvas.levels(levels, y, key),
        width=SIDE,
        height=SIDE,
        title="What privacy costs (median and range)",
    )
