"""A plane of two columns whose axes stay: the same chart with other rows, as a slider moves.

Making a chart takes a tenth of a second or more; other rows of the same chart take milliseconds. So
the rows come from a function of their own, :func:`plane_rows`, by the names that they have in the
chart of :func:`draw_plane`, and its axes hold public limits instead of what is drawn.
"""

import os
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal._records import validate_records
from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.plotting._canvas import Axis, Canvas, Key, Rows, panel, table
from shoal.plotting._data import evenly
from shoal.plotting._picture import Picture, alt
from shoal.plotting._theme import (
    COLORS,
    INK,
    MAX_NAMED,
    NOISE,
    cluster_look,
    cluster_name,
)

__all__ = ["PlaneAxis", "PlaneRows", "draw_plane", "plane_rows"]

SIDE = 300  # pixels
MARGIN = 0.08  # of an axis beyond its limits, at both ends
MAX_POINTS = 1_500  # that are drawn: more only makes it darker, and slower
LARGEST = 1_600  # square pixels of the circle of all records
DOTS, CENTERS = "rows-0", "rows-1"
DATES = "utcFormat(datum.value * 86400000, '%b %Y')"
Shown = Literal["records", "reports", "clusters", "release"]
Kind = Literal["number", "log", "date"]


class PlaneAxis(NamedTuple):
    """An axis of a plane, made from public values alone.

    Parameters
    ----------
    title : str
        Title of the axis, with the unit.
    low, high : float
        Public limits; for dates, days since 1970.
    kind : {"number", "log", "date"}, default="number"
        Scale of the axis: linear, logarithmic, or dates.

    Examples
    --------
    >>> PlaneAxis("age (years)", 0.0, 120.0).ends
    (-9.6, 129.6)
    """

    title: str
    low: float
    high: float
    kind: Kind = "number"

    @property
    def ends(self) -> tuple[float, float]:
        """Ends of the axis, a little beyond its limits."""
        if self.kind == "log":
            beyond = (self.high / self.low) ** MARGIN
            return self.low / beyond, self.high * beyond
        padding = MARGIN * (self.high - self.low)
        return self.low - padding, self.high + padding


class PlaneRows(NamedTuple):
    """Data of a chart of :func:`draw_plane`.

    Parameters
    ----------
    datasets : dict
        Rows of each data set of the chart, by its name in the chart.
    outside : int
        Number of points beyond the axes, which are not drawn.

    Examples
    --------
    >>> from shoal.plotting import PlaneAxis, plane_rows
    >>> axes = PlaneAxis("age", 0.0, 100.0), PlaneAxis("income", 0.0, 9.0)
    >>> plane_rows([[20.0, 3.0], [500.0, 3.0]], axes=axes).outside
    1
    """

    datasets: dict[str, Rows]
    outside: int


def plane_rows(
    points: npt.ArrayLike,
    *,
    axes: tuple[PlaneAxis, PlaneAxis],
    labels: npt.ArrayLike | None = None,
    centers: npt.ArrayLike | None = None,
    sizes: npt.ArrayLike | None = None,
) -> PlaneRows:
    """Return the data of the chart of :func:`draw_plane`.

    Parameters
    ----------
    points : array-like of shape (n, 2)
        Points; those with a missing coordinate (NaN) are not drawn. Of more than 1,500 points, an
        evenly spaced selection is drawn.
    axes : tuple of PlaneAxis
        Public limits of both columns.
    labels : array-like of shape (n,), default=None
        Cluster of each point; -1 for none.
    centers : array-like of shape (k, 2), default=None
        Centers; one beyond the axes is drawn at their edge.
    sizes : array-like of shape (k,), default=None
        Number of records of each cluster.

    Returns
    -------
    rows : PlaneRows
        Rows by name, and the number of points beyond the axes.

    Examples
    --------
    >>> axes = PlaneAxis("age", 0.0, 100.0), PlaneAxis("income", 0.0, 9.0)
    >>> rows = plane_rows([[20.0, 3.0], [500.0, 3.0]], axes=axes)
    >>> rows.outside, rows.datasets["rows-0"]
    (1, [{'x': 20.0, 'y': 3.0}])
    """
    low, high = np.array([axis.ends for axis in axes]).T
    shown = _pairs("points", points)
    marks = None if labels is None else np.asarray(labels)
    if marks is not None and marks.shape != (len(shown),):
        raise ParameterError(
            f"labels must be one for each of {len(shown)} points, got {marks.shape}"
        )
    present = ~np.isnan(shown).any(axis=1)
    inside = present & ((shown >= low) & (shown <= high)).all(axis=1)
    rows = np.flatnonzero(inside)
    rows = rows[evenly(len(rows), MAX_POINTS)] if len(rows) else rows
    named: dict[str, Any] = {}
    if marks is not None:
        named = {"name": [cluster_name(int(one)) for one in marks[rows]]}
    dots = table(**named, x=shown[rows, 0], y=shown[rows, 1])
    datasets = {DOTS: dots}
    if centers is not None:
        middles = np.clip(_pairs("centers", centers), low, high)
        numbers = range(len(middles))
        told = np.zeros(len(middles)) if sizes is None else np.asarray(sizes, dtype=np.float64)
        datasets[CENTERS] = table(
            name=[cluster_name(number) for number in numbers],
            x=middles[:, 0],
            y=middles[:, 1],
            size=told,
            number=list(numbers),
        )
    return PlaneRows(datasets, int(present.sum() - inside.sum()))


def draw_plane(
    points: npt.ArrayLike,
    *,
    axes: tuple[PlaneAxis, PlaneAxis],
    shown: Shown = "records",
    labels: npt.ArrayLike | None = None,
    centers: npt.ArrayLike | None = None,
    sizes: npt.ArrayLike | None = None,
    n_records: int = 1,
    n_clusters: int | None = None,
    records: bool = True,
    title: str | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Picture:
    """Draw points and centers in a plane whose axes end at public limits.

    Parameters
    ----------
    points, axes, labels, centers, sizes
        As for :func:`plane_rows`, which makes the data.
    shown : {"records", "reports", "clusters", "release"}, default="records"
        What to draw: points without clusters (records or reports), points in the colors of their
        clusters, or the centers of a release in the sizes of their clusters.
    n_records : int, default=1
        Public or noisy number of all records, for the sizes of the circles of a release.
    n_clusters : int, default=None
        Number of clusters in the legend; None takes one for each center.
    records : bool, default=True
        Whether the points or their labels include real records. Such a picture is for the curator
        only, and can be saved as PNG only.
    title : str, default=None
        Title of the whole chart.
    path : path, default=None
        File to write as well: PNG; if ``records`` is False also SVG, PDF, HTML or JSON.

    Returns
    -------
    picture : Picture
        The chart.

    Raises
    ------
    ParameterError
        If lengths or columns do not match, or the file cannot be written.
    MissingPackageError
        If the extra ``plot`` is not installed.

    Examples
    --------
    >>> axes = PlaneAxis("age", 0.0, 100.0), PlaneAxis("income", 0.0, 9.0)
    >>> draw_plane([[20.0, 3.0]], axes=axes, labels=[0], centers=[[21.0, 3.0]], shown="clusters")
    Picture(panels=1, records=True)
    """
    canvas = Canvas(path, title=title, records=records)
    rows = plane_rows(points, axes=axes, labels=labels, centers=centers, sizes=sizes).datasets
    count = n_clusters if n_clusters is not None else len(rows.get(CENTERS, ()))
    colored = labels is not None or centers is not None
    key = Key(shown=colored and count <= MAX_NAMED)
    if colored:
        none = [NOISE] if labels is not None and (np.asarray(labels) == NOISE).any() else []
        for cluster in [*range(count), *none]:
            key.add(cluster_name(cluster), *cluster_look(cluster))
    x, y = (_axis(axis, side) for axis, side in zip(axes, "xy", strict=True))
    layer = partial(canvas.layer, x=x, y=y)
    layers = [_dots(layer, rows[DOTS], key if labels is not None else None, shown)]
    if CENTERS in rows:
        layers += _centers(layer, rows[CENTERS], key, shown, n_records)
    drawn = panel(*layers, width=SIDE, height=SIDE)
    return canvas.finish([drawn], key=key, square=True)


def _pairs(parameter: str, points: npt.ArrayLike) -> Floats:
    given = np.asarray(points, dtype=np.float64).reshape(-1, 2) if np.size(points) == 0 else points
    pairs = np.asarray(given, dtype=np.float64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ParameterError(f"{parameter} must have 2 columns, got shape {pairs.shape}")
    if len(pairs) and parameter == "centers":
        validate_records(pairs)
    return pairs


def _axis(axis: PlaneAxis, field: str) -> Axis:
    if axis.kind == "date":
        return Axis(axis.title, axis.ends, field=field, labelExpr=DATES, tickCount=5)
    return Axis(axis.title, axis.ends, field=field, log=axis.kind == "log")


def _dots(layer: Any, rows: Rows, key: Key | None, shown: Shown) -> Any:
    # Words for each of so many dots help nobody, and take most of the time of a swap.
    look = {"size": 12, "opacity": 0.6, "aria": False}
    if key is not None:
        return layer(rows, "point", filled=True, key=key, **look)
    color = COLORS["reports" if shown == "reports" else "records"]
    return layer(rows, "circle", color=color, **look)


def _centers(layer: Any, rows: Rows, key: Key, shown: Shown, n_records: int) -> list[Any]:
    told = {"name": " ", "size": "records, about"} if shown == "release" else {"name": " "}
    if shown == "release":
        scale = alt.Scale(domain=[0, max(n_records, 1)], range=[60, LARGEST], clamp=True)
        size = alt.Size("size:Q", scale=scale, legend=None)
        circles = layer(rows, "circle", key=key, told=told, channels={"size": size}, opacity=0.85)
        words = {"color": "#ffffff"}
    else:
        circles = layer(
            rows, "circle", color="#ffffff", size=230, opacity=0.9, stroke=INK, strokeWidth=1.2
        )
        words = {"color": INK}
    number = {"text": alt.Text("number:Q")}
    return [circles, layer(rows, "text", channels=number, fontSize=11, fontWeight="bold", **words)]
