"""Pictures of plans: what each epsilon would buy or need, before anything is spent."""

import math
import os
from collections.abc import Sequence
from functools import partial
from typing import Any

from shoal._numbers import rounded_up
from shoal.plotting._canvas import Axis, Canvas, Key, Rows, around, panel, table
from shoal.plotting._picture import Picture
from shoal.plotting._theme import LOOKS

__all__ = ["draw_device_plan", "draw_plan", "draw_shuffled_plan"]

WIDTH, HEIGHT = 250, 190
WITHOUT = "k-means without privacy"
EPSILON = "ε"
TARGET, UNSHUFFLED = "good enough", "without a shuffler"
SHADES = ("#8fb8de", "#4f8fc0", "#1a5490", "#0b3c5d", "#062338")  # the smallest epsilon first
MARKERS = ("circle", "square", "triangle-up", "diamond", "cross")


def draw_plan(
    plan: Any, *, title: str | None = None, path: str | os.PathLike[str] | None = None
) -> Picture:
    """Draw accuracy against epsilon: cost, smallest cluster that is found, error of a profile.

    Parameters
    ----------
    plan : object
        Has ``rows`` (each with ``epsilon``, ``cost_ratio``, ``low``, ``high``,
        ``smallest_cluster``, ``share_error`` and ``median_error``) and ``smallest_without_noise``.
    title : str, default=None
        Title of the whole chart.
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
    >>> row = {"epsilon": 1.0, "cost_ratio": 1.1, "low": 1.0, "high": 1.3}
    >>> row |= {"smallest_cluster": 80.0, "share_error": 0.02, "median_error": 0.01}
    >>> draw_plan(SimpleNamespace(rows=[SimpleNamespace(**row)], smallest_without_noise=50.0))
    Picture(panels=3, records=False)
    """
    canvas = Canvas(path, title=title)
    rows = plan.rows
    panels = (_costs(canvas, rows), _clusters(canvas, rows, plan), _profiles(canvas, rows))
    return canvas.finish(panels, columns=3)


def draw_device_plan(
    plan: Any, *, title: str | None = None, path: str | os.PathLike[str] | None = None
) -> Picture:
    """Draw how many devices local reports need, and the guarantee of shuffled reports.

    Parameters
    ----------
    plan : object
        Has ``rows`` (each with ``epsilon``, ``tried``, ``for_cost``, ``for_smallest`` and
        ``shuffled_epsilon``) and ``cost``, the cost that is good enough.
    title : str, default=None
        Title of the whole chart.
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
    >>> row = {"epsilon": 1.0, "tried": [(1000, 1.5, 1.4, 1.6), (10_000, 1.1, 1.0, 1.2)]}
    >>> row |= {"for_cost": 10_000.0, "for_smallest": 1000.0, "shuffled_epsilon": 0.03}
    >>> draw_device_plan(SimpleNamespace(rows=[SimpleNamespace(**row)], cost=1.2))
    Picture(panels=3, records=False)
    """
    canvas = Canvas(path, title=title)
    rows = plan.rows
    panels = (_campaigns(canvas, rows, plan.cost), _needed(canvas, rows), _shuffled(canvas, rows))
    return canvas.finish(panels, columns=3)


def draw_shuffled_plan(
    plan: Any, *, title: str | None = None, path: str | os.PathLike[str] | None = None
) -> Picture:
    """Draw the local epsilon that shuffling allows at each epsilon, and the cost if it is known.

    Parameters
    ----------
    plan : object
        Has ``rows``, each with ``epsilon``, ``local_epsilon``, ``cost_ratio``, ``low`` and
        ``high``.
    title : str, default=None
        Title of the whole chart.
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
    >>> row = {"epsilon": 1.0, "local_epsilon": 8.5, "cost_ratio": 1.1, "low": 1.0, "high": 1.2}
    >>> draw_shuffled_plan(SimpleNamespace(rows=[SimpleNamespace(**row)]))
    Picture(panels=2, records=False)
    """
    canvas = Canvas(path, title=title)
    rows = plan.rows
    panels = [_allowed(canvas, rows)]
    if all(math.isfinite(row.cost_ratio) for row in rows):
        panels.append(_costs(canvas, rows))
    return canvas.finish(panels, columns=2)


def _campaigns(canvas: Canvas, rows: Sequence[Any], cost: float) -> Any:
    """Show the cost against the number of devices, one line for each epsilon."""
    key = Key()
    points: Rows = []
    for index, row in enumerate(rows):
        shade = SHADES[index % len(SHADES)]
        name = key.add(
            f"{EPSILON} = {rounded_up(row.epsilon)}", shade, MARKERS[index % len(MARKERS)]
        )
        devices, means, lows, highs = zip(*row.tried, strict=True)
        points += table(name=name, x=devices, y=means, low=lows, high=highs)
    levels = {f"{TARGET}: {cost:g}": cost}
    key.add_levels(levels)
    x = Axis("devices", around([row["x"] for row in points], log=True), log=True)
    y = Axis(
        "cost over k-means (ratio)", around([1.0, *(row["high"] for row in points)]), grid=True
    )
    layer = partial(canvas.layer, x=x, y=y, key=key)
    bars = [row | {"y": row["low"], "y2": row["high"]} for row in points]
    told = {"name": " ", "x": "devices", "y": "expected cost", "low": "from", "high": "to"}
    return panel(
        layer(bars, "rule", opacity=0.5),
        layer(points, "line", strokeWidth=1.8),
        layer(points, "point", told=told, filled=True, size=45, opacity=1),
        *canvas.levels(levels, y, key),
        width=WIDTH,
        height=HEIGHT,
        title="What the clusters cost",
    )


def _needed(canvas: Canvas, rows: Sequence[Any]) -> Any:
    key = Key()
    names = {
        "for_cost": key.add("for the cost", *LOOKS["local"]),
        "for_smallest": key.add("for the smallest cluster", *LOOKS["central"]),
    }
    points: Rows = []
    for field, name in names.items():
        values = [getattr(row, field) for row in rows]
        points += table(name=name, x=[row.epsilon for row in rows], y=values)
    finite = [row["y"] for row in points if row["y"] is not None]
    y = Axis("devices", around(finite, log=True), log=True, grid=True)
    return panel(
        *_line(canvas, points, x=_epsilons(rows), y=y, key=key, unit="devices"),
        width=WIDTH,
        height=HEIGHT,
        title="Devices that are needed",
    )


def _shuffled(canvas: Canvas, rows: Sequence[Any]) -> Any:
    key = Key()
    local, shuffled = key.add(UNSHUFFLED, *LOOKS["local"]), key.add("shuffled", *LOOKS["central"])
    x = [row.epsilon for row in rows]
    values = [row.shuffled_epsilon for row in rows]
    points = [*table(name=local, x=x, y=x), *table(name=shuffled, x=x, y=values)]
    y = Axis(f"{EPSILON} of the batch", around([*x, *values], log=True), log=True, grid=True)
    return panel(
        *_line(canvas, points, x=_epsilons(rows), y=y, key=key, unit=EPSILON),
        width=WIDTH,
        height=HEIGHT,
        title="What a shuffler makes of it",
    )


def _allowed(canvas: Canvas, rows: Sequence[Any]) -> Any:
    key = Key()
    name = key.add("each report", *LOOKS["local"])
    values = [row.local_epsilon for row in rows]
    points = table(name=name, x=[row.epsilon for row in rows], y=values)
    y = Axis(f"local {EPSILON}", around(values, zero=True), grid=True)
    return panel(
        *_line(canvas, points, x=_epsilons(rows), y=y, key=key, unit=f"local {EPSILON}"),
        width=WIDTH,
        height=HEIGHT,
        title="What each device may report with",
    )


def _costs(canvas: Canvas, rows: Sequence[Any]) -> Any:
    key = Key()
    name = key.add("expected, and range", *LOOKS["central"])
    key.add_levels([WITHOUT])
    points = table(
        name=name,
        x=[row.epsilon for row in rows],
        y=[row.cost_ratio for row in rows],
        low=[row.low for row in rows],
        high=[row.high for row in rows],
    )
    y = Axis("cost over k-means (ratio)", around([1.0, *(row.high for row in rows)]), grid=True)
    layer = partial(canvas.layer, x=_epsilons(rows), y=y, key=key)
    bands = [row | {"y": row["low"], "y2": row["high"]} for row in points]
    told = {"x": EPSILON, "y": "expected cost", "low": "from", "high": "to"}
    return panel(
        layer(bands, "area", opacity=0.18),
        layer(points, "line", strokeWidth=1.8),
        layer(points, "point", told=told, filled=True, size=50, opacity=1),
        *canvas.levels({WITHOUT: 1.0}, y, key),
        width=WIDTH,
        height=HEIGHT,
        title="What the clusters cost",
    )


def _clusters(canvas: Canvas, rows: Sequence[Any], plan: Any) -> Any:
    key = Key()
    name = key.add("with noise", *LOOKS["central"])
    levels = {WITHOUT: float(plan.smallest_without_noise)}
    key.add_levels(levels)
    sizes = [row.smallest_cluster for row in rows]
    ends = around([*sizes, *levels.values()], log=True)
    y = Axis("records", ends, log=True, grid=True)
    points = table(name=name, x=[row.epsilon for row in rows], y=sizes)
    return panel(
        *_line(canvas, points, x=_epsilons(rows), y=y, key=key, unit="records"),
        *canvas.levels(levels, y, key),
        width=WIDTH,
        height=HEIGHT,
        title="Smallest cluster that is seen",
    )


def _profiles(canvas: Canvas, rows: Sequence[Any]) -> Any:
    key = Key()
    names = [
        key.add("share of a category", *LOOKS["central"]),
        key.add("median, in widths of its bounds", *LOOKS["local"]),
    ]
    points = []
    for name, field in zip(names, ("share_error", "median_error"), strict=True):
        values = [100 * getattr(row, field) for row in rows]
        points += table(name=name, x=[row.epsilon for row in rows], y=values)
    y = Axis("half of its 95% interval (%)", around([p["y"] for p in points], log=True), log=True)
    return panel(
        *_line(canvas, points, x=_epsilons(rows), y=y, key=key, unit="%"),
        width=WIDTH,
        height=HEIGHT,
        title="Error of a profile",
    )


def _line(canvas: Canvas, points: Rows, *, x: Axis, y: Axis, key: Key, unit: str) -> list[Any]:
    """Return a line with its points; what is not finite is left out."""
    layer = partial(canvas.layer, x=x, y=y, key=key)
    kept = [row for row in points if row["y"] is not None]
    told = {"name": " ", "x": EPSILON, "y": unit}
    return [
        layer(kept, "line", strokeWidth=1.8),
        layer(kept, "point", told=told, filled=True, size=50, opacity=1),
    ]


def _epsilons(rows: Sequence[Any]) -> Axis:
    values = [row.epsilon for row in rows]
    return Axis(EPSILON, around(values, log=True), log=True, ticks=values)
