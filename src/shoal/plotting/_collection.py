"""A collection's picture: made-up records on devices, what the server stores, what it publishes."""

import os
from functools import partial
from typing import Any

import numpy as np

from shoal._typing import Floats
from shoal.plotting._canvas import Axis, Canvas, Key, Rows, panel, table
from shoal.plotting._data import evenly
from shoal.plotting._picture import Picture
from shoal.plotting._points import CROSS
from shoal.plotting._theme import (
    CENTER,
    COLORS,
    DARK_GRAY,
    HOLLOW_DIAMOND,
    INK,
    cluster_look,
    cluster_name,
)

__all__ = ["draw_collection"]

MAX_POINTS = 2_000  # of a scatter: more only makes it darker
SIDE = 265
TRUE, ESTIMATED = "true centers (known in a demo only)", "published centers"
RECORDS, REPORT = "records (known in a demo only)", "report of a device"
DIAMOND = {**CROSS, "shape": HOLLOW_DIAMOND, "size": 160}


def draw_collection(
    collection: Any, *, unit: str = "km", path: str | os.PathLike[str] | None = None
) -> Picture:
    """Draw an example of reports by ``PartitionResponse``: made-up records, reports and centers.

    Parameters
    ----------
    collection : object
        Has ``records``, ``reports`` (partition and color), ``labels``, ``true_centers``,
        ``centers`` and ``bounds``; its records must be made up.
    unit : str, default="km"
        Unit of the columns.
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
    >>> points = np.random.default_rng(0).uniform(0, 1, (50, 2))
    >>> collection = SimpleNamespace(
    ...     records=points, reports=np.zeros((50, 2)), labels=np.zeros(50, dtype=int),
    ...     true_centers=points[:2], centers=points[2:4], bounds=([0.0, 0.0], [1.0, 1.0]),
    ... )
    >>> draw_collection(collection)
    Picture(panels=3, records=False)
    """
    canvas = Canvas(path)
    low, high = collection.bounds
    axes = (
        Axis(f"east ({unit})", (low[0], high[0])),
        Axis(f"north ({unit})", (low[1], high[1])),
    )
    panels = (
        _records(canvas, axes, collection),
        _reports(canvas, collection.reports),
        _results(canvas, axes, collection),
    )
    return canvas.finish(panels, columns=3, square=True)


def _records(canvas: Canvas, axes: tuple[Axis, Axis], collection: Any) -> Any:
    key = Key()
    key.add(RECORDS, COLORS["records"], "circle")
    key.add(TRUE, DARK_GRAY, HOLLOW_DIAMOND)
    layer = partial(canvas.layer, x=axes[0], y=axes[1], key=key)
    points = collection.records[evenly(len(collection.records), MAX_POINTS)]
    return panel(
        layer(_rows(RECORDS, points), "circle", size=8, opacity=0.55),
        layer(_rows(TRUE, collection.true_centers), **DIAMOND),
        canvas.legend(key),
        width=SIDE,
        height=SIDE,
        title="Devices: one made-up record each",
    )


def _reports(canvas: Canvas, reports: Any) -> Any:
    some: Floats = np.asarray(reports)[evenly(len(reports), MAX_POINTS)]
    partitions, colors = (float(column.max(initial=1.0)) for column in some.T)
    x = Axis("partition (number)", (-0.02 * partitions, 1.02 * partitions))
    y = Axis("color (number)", (-0.5, colors + 0.5), tickMinStep=1)
    key = Key()
    key.add(REPORT, COLORS["reports"], "circle")
    return panel(
        canvas.layer(_rows(REPORT, some), "circle", x=x, y=y, key=key, size=14, opacity=0.7),
        canvas.legend(key),
        width=SIDE,
        height=SIDE,
        title="Server: a partition and a noisy color of each",
    )


def _results(canvas: Canvas, axes: tuple[Axis, Axis], collection: Any) -> Any:
    key = Key()
    key.add(TRUE, DARK_GRAY, HOLLOW_DIAMOND)
    key.add(ESTIMATED, INK, CENTER)
    layer = partial(canvas.layer, x=axes[0], y=axes[1])
    some = evenly(len(collection.records), MAX_POINTS)
    points, labels = collection.records[some], np.asarray(collection.labels)[some]
    clusters = [
        layer(
            _rows(cluster_name(label), points[labels == label]),
            "circle",
            told={"name": " "},
            color=cluster_look(label).color,
            size=8,
            opacity=0.5,
        )
        for label in range(len(collection.centers))
    ]
    return panel(
        *clusters,
        layer(_rows(TRUE, collection.true_centers), key=key, **DIAMOND),
        layer(_rows(ESTIMATED, collection.centers), key=key, **CROSS),
        canvas.legend(key),
        width=SIDE,
        height=SIDE,
        title="Published centers; labels stay on devices",
    )


def _rows(name: str, points: Any) -> Rows:
    found = np.asarray(points)
    return table(name=name, x=found[:, 0], y=found[:, 1])
