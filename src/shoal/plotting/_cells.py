"""Grids of cells: clusters side by side, and what another threshold would keep."""

import itertools
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import ndimage

from shoal._bounds import Box, public_box
from shoal._typing import Bools, Floats, Ints
from shoal.exceptions import ParameterError
from shoal.plotting._canvas import MAX_ROWS, Axis, Canvas, Key, columns_for, panel, table, tooltip
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

__all__ = ["Frame", "draw_cells", "draw_thresholds", "outline", "runs"]

Ends = tuple[float, float]

SIDE = 256  # pixels of a grid, about: a cell has a whole number of them, so that none overlap
TRIED = 60  # thresholds of the curve
FEWEST = 2  # cells of a cluster that is counted: single cells are mostly noise


class Frame(NamedTuple):
    """Ends of a table of cells, and the axes that it is drawn on."""

    x: Ends
    y: Ends
    across: Axis
    up: Axis


def draw_cells(
    cells: Mapping[str, Any],
    *,
    bounds: Any = None,
    columns: Sequence[str] | None = None,
    records: bool = False,
    title: str | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Picture:
    """Draw grids of cells in the colors of their clusters, on the same axes.

    Parameters
    ----------
    cells : mapping of str to array-like of int, of shape (first column, second column)
        Cluster of each cell by name of the grid, -1 = none, as ``cells_`` of
        :class:`shoal.cluster.DPWaveCluster`. Grids may differ in size.
    bounds : tuple (low, high), default=None
        Public box that the grids cover; None = cells are counted.
    columns : sequence of str, default=None
        Names of the two columns, with units.
    records : bool, default=False
        Whether a grid comes from somebody's records without a promise: such a picture stays with
        the curator, and can be saved as PNG only.
    title : str, default=None
        Of the whole chart.
    path : path, default=None
        File to write as well: PNG; without records SVG, PDF, HTML or JSON too.

    Returns
    -------
    picture : Picture
        The chart.

    Raises
    ------
    ParameterError
        If a grid is not a table of whole numbers from -1, or the file cannot be written.
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
        frame = Frame(x, y, Axis(names[0], x), Axis(names[1], y))
        # Rows of the grid are the first column of the records, which a reader expects to go right.
        turned = grid.T
        layers = [_border(canvas, turned != NOISE, frame)]
        if found:
            places = np.searchsorted(found, turned)
            places[turned == NOISE] = NOISE
            shown = [cluster_name(cluster) for cluster in found]
            layers.insert(0, runs(canvas, places, frame, names=shown, key=key))
        clusters, kept = len(np.unique(grid[grid != NOISE])), int((grid != NOISE).sum())
        heading = f"{name} (clusters: {clusters}, cells: {kept})"
        drawn.append(
            panel(*layers, width=_side(grid.shape[0]), height=_side(grid.shape[1]), title=heading)
        )
    return canvas.finish(drawn, columns=columns_for(len(grids)), key=key, square=True)


def runs(
    canvas: Canvas,
    cells: Ints,
    frame: Frame,
    *,
    names: Sequence[str],
    key: Key,
    overlap: float = 0.0,
) -> Any:
    """Return cells as rectangles, one for each run of the same number in a row; -1 is left out.

    Where cells do not end at whole pixels, an overlap (in cells) leaves no gaps between rows.
    """
    rows, columns = cells.shape
    edges = np.linspace(*frame.x, columns + 1), np.linspace(*frame.y, rows + 1)
    padded = np.pad(cells, ((0, 0), (1, 1)), constant_values=NOISE)
    changed = padded[:, 1:] != padded[:, :-1]
    found: list[tuple[int, int, int]] = []
    for row in range(rows):
        for start, end in itertools.pairwise(np.flatnonzero(changed[row]).tolist()):
            if cells[row, start] != NOISE:
                found.append((row, start, end))
    at, left, right = np.array(found, dtype=np.int64).reshape(-1, 3).T
    rectangles = table(
        name=[names[index] for index in cells[at, left]],
        x=edges[0][left],
        x2=edges[0][right],
        y=edges[1][at],
        y2=edges[1][at + 1] + overlap * (edges[1][1] - edges[1][0]),
    )
    return (
        canvas.add(rectangles)
        .mark_rect()
        .encode(
            x=frame.across.x(),
            x2="x2:Q",
            y=frame.up.y(),
            y2="y2:Q",
            color=key.color(),
            tooltip=tooltip(name=" "),
        )
    )


def outline(inside: Bools, *, x: Ends, y: Ends) -> Floats:
    """Return the borders between cells that are inside and cells that are not.

    Parameters
    ----------
    inside : ndarray of bool of shape (rows, columns)
        The first row lies where y is low.
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
    rows, columns = inside.shape
    across, up = np.linspace(*x, columns + 1), np.linspace(*y, rows + 1)
    padded = np.pad(inside, 1)
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


def _border(canvas: Canvas, inside: Bools, frame: Frame) -> Any:
    start_x, start_y, end_x, end_y = outline(inside, x=frame.x, y=frame.y).T
    strokes = canvas.add(table(x=start_x, y=start_y, x2=end_x, y2=end_y))
    line = strokes.mark_rule(color="#1a1a1a", strokeWidth=0.9, strokeCap="square")
    return line.encode(x=frame.across.x(), x2="x2:Q", y=frame.up.y(), y2="y2:Q")


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
    """Draw the noisy cells of a WaveCluster, and clusters against the density threshold.

    Parameters
    ----------
    release : Release
        ``release_`` of a DPWaveCluster whose whole band was released (not of a sparse grid).
    path : path, default=None
        File to write as well: PNG; of a release with a promise SVG, PDF, HTML or JSON too.

    Returns
    -------
    picture : Picture
        The chart. Everything in it is post-processing of the release; one that promises nothing
        is drawn as records are, for the curator only.

    Raises
    ------
    ParameterError
        If the release holds no band, or the file cannot be written.
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
    across, up = Axis("column 1 (records' unit)", x), Axis("column 2 (records' unit)", y)
    limit = max(float(np.quantile(np.abs(band), 0.99)), 1.0)
    kept = np.zeros(band.size, dtype=bool)
    kept[np.asarray(values["cells"], dtype=np.int64)] = True
    # Rows of the band are the first column of the records, which a reader expects to go right.
    shown = _coarser(band).T
    edges = np.linspace(*x, shown.shape[1] + 1), np.linspace(*y, shown.shape[0] + 1)
    row, column = (index.ravel() for index in np.indices(shown.shape))
    cells = canvas.add(
        table(
            x=edges[0][column],
            x2=edges[0][column + 1],
            y=edges[1][row],
            y2=edges[1][row + 1],
            value=shown.ravel(),
        )
    )
    scale = alt.Scale(
        domain=np.linspace(-limit, limit, len(DIVERGING)).tolist(),
        range=list(DIVERGING),
        clamp=True,
    )
    legend = alt.Legend(title="noisy value (records a cell)", gradientLength=180)
    rectangles = cells.mark_rect().encode(
        x=across.x(),
        x2="x2:Q",
        y=up.y(),
        y2="y2:Q",
        color=alt.Color("value:Q", scale=scale, legend=legend),
        tooltip=tooltip(value="noisy value"),
    )
    clusters = len(np.unique(values["clusters"]))
    return panel(
        rectangles,
        _border(canvas, kept.reshape(band.shape).T, Frame(x, y, across, up)),
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
    key.add("clusters (left)", COLORS["central"], line_glyph())
    key.add("significant cells (right)", COLORS["local"], line_glyph(DASHES[1]))
    layers = []
    for name, axis, heights, dash in (
        ("clusters (left)", left, clusters, DASHES[0]),
        ("significant cells (right)", right, cells, DASHES[1]),
    ):
        rows = canvas.add(table(name=name, x=tried, y=heights))
        line = rows.mark_line(interpolate="step-after", strokeWidth=1.8, strokeDash=dash)
        told = tooltip(name=" ", x="threshold", y="number")
        layers.append((line, {"x": x.x(), "y": axis.y(), "tooltip": told}))
    if chosen is not None and math.isfinite(chosen):
        key.add("this release", DARK_GRAY, line_glyph(DOTS))
        rows = canvas.add(table(name="this release", x=chosen))
        layers.append((rows.mark_rule(strokeDash=DOTS, strokeWidth=1.6), {"x": x.x()}))
    return panel(
        *(layer.encode(color=key.color(), **channels) for layer, channels in layers),
        canvas.legend(key),
        width=300,
        height=SIDE,
        title="What another threshold would keep",
        y="independent",
    )


def count_clusters(mask: Bools) -> tuple[int, int]:
    """Return the clusters of touching cells that are larger than one cell, and all cells."""
    labels, _ = ndimage.label(mask, structure=np.ones((3,) * mask.ndim))
    sizes = np.bincount(labels.ravel())[1:]
    return int((sizes >= FEWEST).sum()), int(mask.sum())
