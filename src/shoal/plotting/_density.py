"""A density on the cells of a grid: how high it is, and its clusters in their places."""

import itertools
import math
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal._bounds import Box, public_box
from shoal._numbers import readable
from shoal._typing import Bounds, Floats, Ints
from shoal.exceptions import ParameterError
from shoal.plotting._canvas import Axis, Canvas, Key, columns_for, panel, table
from shoal.plotting._cells import Ends, cell_layers, pieces, runs
from shoal.plotting._data import column_names
from shoal.plotting._picture import Picture, alt
from shoal.plotting._theme import DARK_GRAY, GROWING, NOISE, SQUARE, cluster_look, cluster_name

__all__ = [
    "cluster_heading",
    "cluster_panels",
    "density_panels",
    "draw_density",
    "draw_density_clusters",
]

SIDE = 300  # pixels of a panel, about: a cell has a whole number of half pixels
SHOWN = 256  # cells along a side of a panel; of more, blocks are drawn
MAX_COLUMNS = 4
BANDS = len(GROWING)
COLORS = GROWING[::-1]  # darker is denser; what is below all bands is paper
DRAWN_PART = 0.98  # of the records: the least dense cells, which hold the others, stay paper
LEAST_RATIO = 1.1  # of a band to the one below it
FEW = 12  # clusters with large numbers
MAX_NUMBERS = 40  # clusters that all have numbers: of more, those that have room
APART, CROWDED = 15.0, 9.0  # pixels between numbers: enough, and too few
NEAR_PEAK = 0.5  # of the density of a cluster's peak: there its number may stand
UNIT, MARGINAL = "records a cell", "records a cell, summed over other columns"


class _Plane(NamedTuple):
    """Where cells of two columns are drawn: what makes a layer, and the ends of the axes."""

    layer: Callable[..., Any]
    x: Ends
    y: Ends


def draw_density(
    density: npt.ArrayLike,
    *,
    bounds: Bounds | None = None,
    columns: Sequence[str] | None = None,
    records: bool = False,
    title: str | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Picture:
    """Draw a density on a grid: as a curve, a map, or maps of all pairs of columns.

    Colors are logarithmic: each is darker than the one before it, and denser by the same factor.

    Parameters
    ----------
    density : array-like of 1 to 4 dimensions
        Number of records in each cell, such as ``density_`` of :class:`shoal.cluster.DPDensity`.
    bounds : tuple (low, high), default=None
        Public box that the grid covers; None labels the axes with indices of cells.
    columns : sequence of str, default=None
        Names of the columns, with units.
    records : bool, default=False
        Whether it was computed from real records without a privacy guarantee. Such a picture is
        for the curator only, and can be saved as PNG only.
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
        If the density is not a grid of finite numbers, or the file cannot be written.
    MissingPackageError
        If the extra ``plot`` is not installed.

    Examples
    --------
    >>> draw_density([[0.1, 9.0, 4.0], [0.0, 2.0, 0.2]], bounds=(0.0, 1.0))
    Picture(panels=1, records=False)
    """
    canvas = Canvas(path, title=title, records=records)
    values = _grid(density)
    drawn = density_panels(canvas, values, *_box(values, bounds, columns))
    return canvas.finish(drawn, columns=columns_for(len(drawn), most=3), square=True)


def draw_density_clusters(
    cells: npt.ArrayLike,
    density: npt.ArrayLike,
    *,
    bounds: Bounds | None = None,
    columns: Sequence[str] | None = None,
    records: bool = False,
    title: str | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Picture:
    """Draw the clusters of a density, each with its number where it is densest.

    With more than two columns, each pair of them has a map. A point has the color of the cluster
    with the most records there, if the density of the two columns is high enough to be drawn.

    Parameters
    ----------
    cells : array-like of int, of 1 to 4 dimensions
        Cluster of each cell (-1 for none), such as ``cells_`` of :class:`shoal.cluster.DPDensity`.
    density : array-like of the same shape
        Number of records in each cell.
    bounds, columns, records, title, path
        As for :func:`draw_density`.

    Returns
    -------
    picture : Picture
        The chart.

    Raises
    ------
    ParameterError
        If cells and density are not grids of the same shape, or the file cannot be written.
    MissingPackageError
        If the extra ``plot`` is not installed.

    Examples
    --------
    >>> density = np.array([[0.1, 9.0, 4.0], [0.0, 2.0, 0.2]])
    >>> draw_density_clusters(np.where(density > 1, 0, -1), density, bounds=(0.0, 1.0))
    Picture(panels=1, records=False)
    """
    canvas = Canvas(path, title=title, records=records)
    values = _grid(density)
    clusters = np.asarray(cells)
    if clusters.shape != values.shape or clusters.dtype.kind not in "iu" or clusters.min() < NOISE:
        raise ParameterError(
            f"cells must be whole numbers >= -1 of the density's shape {values.shape}, got shape "
            f"{clusters.shape} of {clusters.dtype}"
        )
    labels = clusters.astype(np.int64)
    heading = cluster_heading(labels, values)
    box, names = _box(values, bounds, columns)
    drawn = cluster_panels(canvas, labels, values, box, names, heading=heading)
    return canvas.finish(drawn, columns=columns_for(len(drawn), most=3), square=True)


def density_panels(canvas: Canvas, density: Floats, box: Box, names: Sequence[str]) -> list[Any]:
    """Return the panels of a density."""
    if density.ndim == 1:
        return [_line(canvas, density, box, names[0])]
    panels = []
    for pair in itertools.combinations(range(density.ndim), 2):
        shown = block_means(density.sum(axis=_others(density.ndim, pair)))
        plane = _plane(canvas, box, names, pair)
        panels.append(_map(plane, shown, UNIT if density.ndim == len(pair) else MARGINAL))
    return panels


def cluster_heading(cells: Ints, density: Floats) -> str:
    """Return how many clusters there are, and how many records are in none."""
    masses = np.maximum(density, 0.0)
    without = masses[cells == NOISE].sum() / max(masses.sum(), np.finfo(float).tiny)
    found = len(np.setdiff1d(cells, [NOISE]))
    return f"Clusters: {found}; in none: {_percent(without)} of the records"


def cluster_panels(
    canvas: Canvas,
    cells: Ints,
    density: Floats,
    box: Box,
    names: Sequence[str],
    *,
    heading: str,
) -> list[Any]:
    """Return the panels of clusters."""
    found = np.setdiff1d(cells, [NOISE])
    key = Key(shown=False)
    for cluster in (NOISE, *found.tolist()):
        key.add(cluster_name(cluster), cluster_look(cluster).color, SQUARE)
    masses = np.maximum(density, 0.0)
    if density.ndim == 1:
        return [_line(canvas, density, box, names[0], cells=cells, key=key, title=heading)]
    panels: list[Any] = []
    for pair in itertools.combinations(range(density.ndim), 2):
        seen, held = seen_along(cells, masses, found, pair)
        labels = block_labels(seen, held)
        layer, x, y = plane = _plane(canvas, box, names, pair)
        layers = [*cell_layers(layer, labels, x, y, key=key), _frame(plane)]
        sizes = _side(labels.shape[0]), _side(labels.shape[1])
        if len(found):
            spots = number_spots(seen, held, found)
            across = x[0] + spots[:, 0] * (x[1] - x[0])
            up = y[0] + spots[:, 1] * (y[1] - y[0])
            layers += _numbers(layer, across, up, found.tolist())
        title = heading if not panels else "Clusters"
        panels.append(panel(*layers, width=sizes[0], height=sizes[1], title=title))
    return panels


def number_spots(labels: Ints, masses: Floats, found: Ints) -> Floats:
    """Return where the number of each cluster stands, as parts of the sides of the map.

    That is where it is densest; or, where another number stands, where it is densest apart from it;
    or as far as can be. Of very many clusters, those without room for a number have none (NaN).
    """
    some = len(found) > MAX_NUMBERS
    placed = np.empty((0, labels.ndim))
    for cluster in found:
        inside = np.argwhere(labels == cluster)
        if not len(inside):  # hidden behind others
            placed = np.vstack([placed, np.full(labels.ndim, np.nan)])
            continue
        heights = masses[tuple(inside.T)]
        order = np.argsort(-heights, kind="stable")
        inside = inside[order][heights[order] >= NEAR_PEAK * heights.max()]
        at = (inside + 0.5) / labels.shape
        gaps = np.linalg.norm((at[:, None] - placed) * SIDE, axis=2)
        nearest = np.fmin.reduce(gaps, axis=1, initial=APART)
        best = int(nearest.argmax())
        left_out = some and nearest[best] < CROWDED
        placed = np.vstack([placed, np.full(labels.ndim, np.nan) if left_out else at[best]])
    return placed


def _numbers(layer: Any, x: npt.ArrayLike, y: npt.ArrayLike, clusters: Sequence[int]) -> list[Any]:
    """Return the numbers of clusters; a halo of paper keeps them readable on any color."""
    rows = [row for row in table(x=x, y=y, words=[*map(str, clusters)]) if row["x"] is not None]
    look: dict[str, Any] = {"fontSize": 11 if len(clusters) <= FEW else 9, "fontWeight": 600}
    halo = layer(rows, "text", stroke="#ffffff", strokeWidth=3.0, **look)
    return [halo, layer(rows, "text", **look)]


def _map(plane: _Plane, shown: Floats, unit: str) -> Any:
    """Show a density of two columns in bands."""
    levels = band_levels(shown)
    bands = np.searchsorted(levels, shown, side="right") - 1
    rows = runs(bands.T, plane.x, plane.y, names=[*map(str, range(BANDS))])
    for row in rows:
        row["band"] = int(row.pop("name"))
        row["value"] = levels[row["band"]]
    named = [readable(float(f"{level:.2g}")) for level in levels]
    color = alt.Color(
        "band:Q",
        # The legend has fields of the same width, with the density where each begins.
        scale=alt.Scale(type="threshold", domain=[*range(1, BANDS)], range=list(COLORS)),
        legend=alt.Legend(
            title=f"{unit}; white: fewer than {named[0]}",
            gradientLength=SIDE - 20,
            gradientStrokeWidth=0,
            labelFontSize=10,
            labelSeparation=5,
            labelOverlap="greedy",
            labelExpr=f"{named!r}[datum.value]",
        ),
    )
    look = {"told": {"value": "records a cell, at least"}, "channels": {"color": color}}
    return panel(
        *(plane.layer(part, "rect", **look) for part in pieces(rows)),
        _frame(plane),
        width=_side(shown.shape[0]),
        height=_side(shown.shape[1]),
        title="Noisy density",
    )


def _frame(plane: _Plane) -> Any:
    (left, right), (bottom, top) = plane.x, plane.y
    rows = table(x=left, x2=right, y=bottom, y2=top)
    return plane.layer(rows, "rect", filled=False, stroke=DARK_GRAY, strokeWidth=0.5)


def _line(
    canvas: Canvas,
    density: Floats,
    box: Box,
    name: str,
    *,
    cells: Ints | None = None,
    key: Key | None = None,
    title: str = "Noisy density",
) -> Any:
    """Show a density of one column as steps, with its clusters below them."""
    ends = float(box.low[0]), float(box.high[0])
    edges = np.linspace(*ends, len(density) + 1)
    top = max(float(density.max()), np.finfo(float).tiny)
    y = Axis("records a cell", (min(float(density.min()), 0.0), 1.1 * top), grid=True)
    layer = partial(canvas.layer, x=Axis(name, ends), y=y)
    steps = table(x=edges, y=np.append(density, density[-1]))
    layers = []
    if cells is not None and key is not None:
        changes = np.flatnonzero(np.diff(cells)) + 1
        for start, end in itertools.pairwise([0, *changes.tolist(), len(cells)]):
            if cells[start] != NOISE:
                heights = np.maximum(density[[*range(start, end), end - 1]], 0.0)
                name = cluster_name(int(cells[start]))
                rows = table(name=name, x=edges[start : end + 1], y=heights, y2=0.0)
                layers.append(layer(rows, "area", key=key, interpolate="step-after", opacity=1))
    layers.append(layer(steps, "line", interpolate="step-after", color=DARK_GRAY, strokeWidth=0.8))
    if cells is not None and (cells >= 0).any():
        found = np.setdiff1d(cells, [NOISE]).tolist()
        at = [int(np.where(cells == one, density, -np.inf).argmax()) for one in found]
        middles, heights = (edges[at] + edges[[one + 1 for one in at]]) / 2, density[at]
        layers += _numbers(layer, middles, heights + 0.04 * top, found)
    return panel(*layers, width=SIDE, height=SIDE, title=title)


def band_levels(density: Floats) -> Floats:
    """Return where bands begin, each a fixed number of times the one before."""
    held = np.sort(density[density > 0])[::-1]
    if not len(held):
        return np.geomspace(1.0, 2.0, BANDS)
    mass = np.cumsum(held)
    low = held[np.searchsorted(mass, DRAWN_PART * mass[-1])]
    low = min(low, held[0] / LEAST_RATIO**BANDS)
    return np.asarray(low * (held[0] / low) ** (np.arange(BANDS) / BANDS))


def block_means(density: Floats) -> Floats:
    """Return means over blocks of cells, as few as a panel can show."""
    step = math.ceil(max(density.shape) / SHOWN)
    if step == 1:
        return density
    padded = np.pad(density, [(0, -side % step) for side in density.shape], mode="edge")
    rows, columns = (side // step for side in padded.shape)
    means: Floats = padded.reshape(rows, step, columns, step).mean(axis=(1, 3))
    return means


def block_labels(labels: Ints, masses: Floats) -> Ints:
    """Return the cluster of the densest cell of each block, as few as a panel can show."""
    step = math.ceil(max(labels.shape) / SHOWN)
    if step == 1:
        return labels
    padding = [(0, -side % step) for side in labels.shape]
    padded = np.pad(labels, padding, mode="edge")
    rows, columns = (side // step for side in padded.shape)
    shape = rows, step, columns, step
    blocks = padded.reshape(shape).swapaxes(1, 2).reshape(rows, columns, -1)
    weights = np.pad(masses, padding, mode="edge").reshape(shape)
    densest = weights.swapaxes(1, 2).reshape(rows, columns, -1).argmax(axis=2)
    chosen: Ints = np.take_along_axis(blocks, densest[..., None], axis=2)[..., 0]
    return chosen


def seen_along(
    cells: Ints, masses: Floats, found: Ints, pair: tuple[int, int]
) -> tuple[Ints, Floats]:
    """Return which cluster has the most records above each cell of two columns, and how many."""
    others = _others(cells.ndim, pair)
    if not others:
        return cells, masses
    best = np.zeros([cells.shape[column] for column in pair])
    labels = np.full(best.shape, NOISE, dtype=np.int64)
    for cluster in found.tolist():
        mine = np.where(cells == cluster, masses, 0.0).sum(axis=others)
        labels[mine > best] = cluster
        best = np.maximum(best, mine)
    labels[best < band_levels(masses.sum(axis=others))[0]] = NOISE
    return labels, best


def _others(columns: int, pair: tuple[int, int]) -> tuple[int, ...]:
    return tuple(column for column in range(columns) if column not in pair)


def _plane(canvas: Canvas, box: Box, names: Sequence[str], pair: tuple[int, int]) -> _Plane:
    x, y = ((float(box.low[column]), float(box.high[column])) for column in pair)
    first, second = (names[column] for column in pair)
    return _Plane(partial(canvas.layer, x=Axis(first, x), y=Axis(second, y)), x, y)


def _side(cells: int) -> float:
    return cells * max(1, round(2 * SIDE / cells)) / 2


def _percent(share: float) -> str:
    return "less than 1%" if 0 < share < 0.01 else f"{share:.0%}"


def _grid(density: npt.ArrayLike) -> Floats:
    values = np.asarray(density, dtype=np.float64)
    if not 1 <= values.ndim <= MAX_COLUMNS or not values.size or not np.isfinite(values).all():
        raise ParameterError(
            f"density must be a grid of finite numbers of 1 to {MAX_COLUMNS} columns, got shape "
            f"{values.shape}"
        )
    return values


def _box(
    density: Floats, bounds: Bounds | None, columns: Sequence[str] | None
) -> tuple[Box, list[str]]:
    names = column_names(columns, density.ndim)
    if bounds is not None:
        return public_box(bounds, density.ndim), names
    if columns is None:
        names = [f"column {number} (cells)" for number in range(1, density.ndim + 1)]
    return Box(np.zeros(density.ndim), np.array(density.shape, dtype=np.float64)), names
