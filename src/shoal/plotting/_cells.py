"""Grids of cells: clusters side by side, and what another threshold would keep."""

import itertools
import math
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy import ndimage

from shoal._bounds import Box, public_box
from shoal._typing import Bools, Floats, Ints
from shoal.exceptions import ParameterError
from shoal.plotting._canvas import MAX_ROWS, Axis, Canvas, Key, Rows, columns_for, panel, table
from shoal.plotting._data import column_names, text
from shoal.plotting._picture import Picture, alt
from shoal.plotting._theme import (
    COLORS,
    DARK_GRAY,
    DASHES,
    DIVERGING,
    DOTS,
    MAX_NAMED,
    NOISE,
    SQUARE,
    cluster_look,
    cluster_name,
    line_glyph,
)

__all__ = ["Ends", "cell_layers", "draw_cells", "draw_thresholds", "outline", "pieces", "runs"]

Ends = tuple[float, float]

SIDE = 256  # pixels of a grid, about: a cell has a whole number of them, so that none overlap
TRIED = 60  # thresholds of the curve
BORDER: dict[str, Any] = {"color": "#1a1a1a", "strokeWidth": 0.9, "strokeCap": "square"}
MIN_CELLS = 2  # cells of a cluster that is counted: single cells are mostly noise


def draw_cells(
    cells: Mapping[str, Any],
    *,
    bounds: Any = None,
    columns: Sequence[str] | None = None,
    records: bool = False,
    title: str | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Picture:
    """Draw grids of cells, colored by cluster, on the same axes.

    Parameters
    ----------
    cells : mapping of str to array-like of int, of shape (first column, second column)
        For each grid, by name, the cluster of each cell (-1 for none), such as ``cells_`` of
        :class:`shoal.cluster.DPWaveCluster`. Grids may differ in size.
    bounds : tuple (low, high), default=None
        Public box that the grids cover; None labels the axes with indices of cells.
    columns : sequence of str, default=None
        Names of the two columns, with units.
    records : bool, default=False
        Whether a grid was computed from real records without a privacy guarantee. Such a picture
        is for the curator only, and can be saved as PNG only.
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
        If a grid is not a table of integers of at least -1, or the file cannot be written.
    MissingPackageError
        If the extra ``plot`` is not installed.

    Examples
    --------
    >>> grid = np.array([[0, 0, -1], [-1, -1, -1], [-1, 1, 1]])
    >>> draw_cells({"corrected": grid}, bounds=(0.0, 1.0))
    Picture(panels=1, records=False)
    """
    canvas = Canvas(path, title=title, records=records)
    grids = _grids(cells)
    names = column_names(columns, 2)
    if columns is None and bounds is None:
        names = ["column 1 (cells)", "column 2 (cells)"]
    found = sorted({int(one) for grid in grids.values() for one in np.unique(grid)} - {NOISE})
    key = Key(shown=len(found) <= MAX_NAMED)
    for cluster in found:
        key.add(cluster_name(cluster), cluster_look(cluster).color, SQUARE)
    drawn = []
    for name, grid in grids.items():
        counted = Box(np.zeros(2), np.array(grid.shape, dtype=np.float64))
        box = counted if bounds is None else public_box(bounds, 2)
        x, y = ((float(low), float(high)) for low, high in zip(*box, strict=True))
        layer = partial(canvas.layer, x=Axis(names[0], x), y=Axis(names[1], y))
        layers = cell_layers(layer, grid, x, y, key=key)
        clusters, kept = len(np.unique(grid[grid != NOISE])), int((grid != NOISE).sum())
        heading = f"{name} (clusters: {clusters}, cells: {kept})"
        drawn.append(
            panel(*layers, width=_side(grid.shape[0]), height=_side(grid.shape[1]), title=heading)
        )
    return canvas.finish(drawn, columns=columns_for(len(grids)), key=key, square=True)


def cell_layers(layer: Callable[..., Any], grid: Ints, x: Ends, y: Ends, *, key: Key) -> list[Any]:
    """Return cells in the colors of their clusters, and a line around each cluster."""
    # Rows of the grid are the first column of the records, which a reader expects to go right.
    turned = grid.T
    found = np.setdiff1d(turned, [NOISE])
    places = np.where(turned == NOISE, NOISE, np.searchsorted(found, turned))
    names = [cluster_name(int(cluster)) for cluster in found]
    cells = pieces(runs(places, x, y, names=names)) if len(found) else []
    return [
        *(layer(part, "rect", key=key, told={"name": " "}) for part in cells),
        *(layer(part, "rule", **BORDER) for part in pieces(_border(turned, x, y))),
    ]


def pieces(rows: Rows) -> list[Rows]:
    """Return rows in as many layers as it takes to show all of them."""
    return [rows[start : start + MAX_ROWS] for start in range(0, len(rows) or 1, MAX_ROWS)]


def runs(cells: Ints, x: Ends, y: Ends, *, names: Sequence[str], overlap: float = 0.0) -> Rows:
    """Return rectangles of cells of the same number, runs of equal ends as one; -1 is left out.

    Where cells do not end at whole pixels, an overlap (in cells) leaves no gaps between rows.
    """
    rows, columns = cells.shape
    across, up = np.linspace(*x, columns + 1), np.linspace(*y, rows + 1)
    padded = np.pad(cells, ((0, 1), (1, 1)), constant_values=NOISE)
    changed = padded[:, 1:] != padded[:, :-1]
    found: list[tuple[str, float, float, float, float]] = []
    begun: dict[tuple[int, int, int], int] = {}  # row where each run was seen first
    for row in range(rows + 1):
        ends = itertools.pairwise(np.flatnonzero(changed[row]).tolist())
        here = [(start, end, int(padded[row, start + 1])) for start, end in ends]
        now = {run: begun.pop(run, row) for run in here if run[2] != NOISE}
        for (start, end, number), first in begun.items():
            top = up[row] + overlap * (up[1] - up[0])
            found.append((names[number], across[start], across[end], up[first], top))
        begun = now
    if not found:
        return []
    return table(**dict(zip(("name", "x", "x2", "y", "y2"), zip(*found, strict=True), strict=True)))


def outline(cells: Bools | Ints, *, x: Ends, y: Ends) -> Floats:
    """Return the borders between cells that differ, and around all that are inside.

    Parameters
    ----------
    cells : ndarray of bool or int of shape (rows, columns)
        Whether each is inside, or its cluster, -1 = none. The first row lies where y is low.
    x, y : tuple of float
        Ends of the table.

    Returns
    -------
    strokes : ndarray of shape (n, 4)
        Start and end (x, y, x, y) of each straight stroke, as long as it goes.

    Examples
    --------
    >>> outline(np.array([[True, True, False]]), x=(0, 3), y=(0, 1)).tolist()
    [[0.0, 0.0, 2.0, 0.0], [0.0, 1.0, 2.0, 1.0], [0.0, 0.0, 0.0, 1.0], [2.0, 0.0, 2.0, 1.0]]
    """
    rows, columns = cells.shape
    across, up = np.linspace(*x, columns + 1), np.linspace(*y, rows + 1)
    padded = np.pad(cells, 1, constant_values=False if cells.dtype == np.bool_ else NOISE)
    level = _strokes(padded[1:, 1:-1] != padded[:-1, 1:-1])
    steep = _strokes((padded[1:-1, 1:] != padded[1:-1, :-1]).T)
    return np.array(
        [
            *([across[start], up[line], across[end], up[line]] for line, start, end in level),
            *([across[line], up[start], across[line], up[end]] for line, start, end in steep),
        ],
        dtype=np.float64,
    ).reshape(-1, 4)


def _strokes(border: Bools) -> list[tuple[int, int, int]]:
    """Return line, start and end of each run of True in a row."""
    changed = np.diff(np.pad(border.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    starts, ends = np.argwhere(changed == 1), np.argwhere(changed == -1)
    return [
        (int(line), int(start), int(end))
        for (line, start), (_, end) in zip(starts, ends, strict=True)
    ]


def _border(cells: Bools | Ints, x: Ends, y: Ends) -> Rows:
    start_x, start_y, end_x, end_y = outline(cells, x=x, y=y).T
    return table(x=start_x, y=start_y, x2=end_x, y2=end_y)


def _side(cells: int) -> int:
    return cells * max(1, round(SIDE / cells))


def _grids(cells: Any) -> dict[str, Ints]:
    if not isinstance(cells, Mapping) or not cells:
        kind = type(cells).__name__
        raise ParameterError(f"cells must be a dict of at least one grid, got {kind}")
    grids = {text(name): np.asarray(grid) for name, grid in cells.items()}
    for name, grid in grids.items():
        whole = grid.ndim == 2 and grid.size and grid.dtype.kind in "iu"
        if not whole or grid.min() < NOISE:
            raise ParameterError(
                "cells must be tables of whole numbers >= -1 with two columns of records, got "
                f"shape {grid.shape} of {grid.dtype} for {name!r}"
            )
    return {name: grid.astype(np.int64) for name, grid in grids.items()}


def draw_thresholds(release: Any, *, path: str | os.PathLike[str] | None = None) -> Picture:
    """Draw the noisy cells of a WaveCluster, and how its clusters depend on the density threshold.

    Parameters
    ----------
    release : Release
        ``release_`` of a :class:`shoal.cluster.DPWaveCluster` that released its whole band, the
        grid after the wavelet transform (so not of a sparse grid).
    path : path, default=None
        File to write as well: PNG; for a release with a guarantee also SVG, PDF, HTML or JSON.

    Returns
    -------
    picture : Picture
        The chart. Everything in it is post-processing of the release. If the release has no
        guarantee, the picture counts as one of records, for the curator only.

    Raises
    ------
    ParameterError
        If the release contains no band, or the file cannot be written.
    MissingPackageError
        If the extra ``plot`` is not installed.

    Examples
    --------
    >>> from shoal import DPWaveCluster
    >>> points = np.random.default_rng(0).uniform(size=(500, 2))
    >>> model = DPWaveCluster(epsilon=1.0, bounds=(0.0, 1.0), grid=16).fit(points)
    >>> draw_thresholds(model.release_)
    Picture(panels=2, records=False)
    """
    canvas = Canvas(path, records=not release.guarantee.holds)
    if "band" not in release.values:
        raise ParameterError(
            "release must hold the whole band, got one of a sparse grid: take a smaller grid"
        )
    band = np.asarray(release.values["band"], dtype=np.float64)
    panels = [_curve(canvas, band, release.values["threshold"])]
    # Cells can be seen in two columns only.
    if band.ndim == 2:
        panels.insert(0, _band(canvas, band, release.values))
    return canvas.finish(panels, columns=len(panels), margin=110)


def _band(canvas: Canvas, band: Floats, values: Any) -> Any:
    low, high = (np.asarray(values[end], dtype=np.float64).tolist() for end in ("low", "high"))
    x, y = (low[0], high[0]), (low[1], high[1])
    limit = max(float(np.quantile(np.abs(band), 0.99)), 1.0)
    kept = np.zeros(band.size, dtype=bool)
    kept[np.asarray(values["cells"], dtype=np.int64)] = True
    # Rows of the band are the first column of the records, which a reader expects to go right.
    shown = _coarser(band).T
    across, up = np.linspace(*x, shown.shape[1] + 1), np.linspace(*y, shown.shape[0] + 1)
    row, column = (index.ravel() for index in np.indices(shown.shape))
    sides = {"x": across[column], "x2": across[column + 1], "y": up[row], "y2": up[row + 1]}
    color = alt.Color(
        "value:Q",
        scale=alt.Scale(
            domain=np.linspace(-limit, limit, len(DIVERGING)).tolist(),
            range=list(DIVERGING),
            clamp=True,
        ),
        legend=alt.Legend(title="noisy value (records a cell)", gradientLength=180),
    )
    layer = partial(
        canvas.layer, x=Axis("column 1 (records' unit)", x), y=Axis("column 2 (records' unit)", y)
    )
    told = {"value": "noisy value"}
    clusters = len(np.unique(values["clusters"]))
    return panel(
        layer(table(**sides, value=shown.ravel()), "rect", told=told, channels={"color": color}),
        layer(_border(kept.reshape(band.shape).T, x, y), "rule", **BORDER),
        width=_side(shown.shape[1]),
        height=_side(shown.shape[0]),
        title=f"Noisy cells; outlined: what is kept (clusters: {clusters})",
    )


def _coarser(band: Floats) -> Floats:
    """Return means over blocks of cells, as small as the number of rows of a chart allows."""
    step = math.ceil(math.sqrt(band.size / MAX_ROWS))
    if step == 1:
        return band
    padded = np.pad(band, [(0, -side % step) for side in band.shape], constant_values=np.nan)
    blocks = padded.reshape(padded.shape[0] // step, step, padded.shape[1] // step, step)
    means: Floats = np.nanmean(blocks, axis=(1, 3))
    return means


def _curve(canvas: Canvas, band: Floats, chosen: float | None) -> Any:
    top = max(float(band.max()), 2.0)
    tried = np.geomspace(1.0, top, TRIED)
    clusters, cells = np.array([count_clusters(band >= one) for one in tried], dtype=float).T
    x = Axis("density threshold (records a cell)", (1.0, top), log=True)
    left = Axis("clusters", (0.0, max(float(clusters.max()), 1.0) * 1.1), grid=True)
    right = Axis("significant cells", (0.0, max(float(cells.max()), 1.0) * 1.05), orient="right")
    key = Key()
    names = "clusters (left)", "significant cells (right)", "this release"
    key.add(names[0], COLORS["central"], line_glyph())
    key.add(names[1], COLORS["local"], line_glyph(DASHES[1]))
    known = chosen is not None and math.isfinite(chosen)
    if known:
        key.add(names[2], DARK_GRAY, line_glyph(DOTS))
    told = {"name": " ", "x": "threshold", "y": "number"}
    layer = partial(canvas.layer, x=x, key=key)
    layers = [
        layer(
            table(name=name, x=tried, y=heights),
            "line",
            y=y,
            told=told,
            interpolate="step-after",
            strokeWidth=1.8,
            strokeDash=dash,
        )
        for name, y, heights, dash in zip(
            names[:2], (left, right), (clusters, cells), DASHES[:2], strict=True
        )
    ]
    if known:
        layers.append(
            layer(table(name=names[2], x=chosen), "rule", strokeDash=DOTS, strokeWidth=1.6)
        )
    title = "What another threshold would keep"
    return panel(*layers, canvas.legend(key), width=300, height=SIDE, title=title, y="independent")


def count_clusters(mask: Bools) -> tuple[int, int]:
    """Return the clusters of touching cells that are larger than one cell, and all cells."""
    labels, _ = ndimage.label(mask, structure=np.ones((3,) * mask.ndim))
    sizes = np.bincount(labels.ravel())[1:]
    return int((sizes >= MIN_CELLS).sum()), int(mask.sum())
