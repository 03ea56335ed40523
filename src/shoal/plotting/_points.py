"""Points in two or three columns: records, reports and clusters; where reports of a record lie."""

import itertools
import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import ndimage

from shoal._bounds import Box, public_box
from shoal._numbers import positive_probability, readable
from shoal._records import validate_records
from shoal._typing import Floats, Ints
from shoal.exceptions import ParameterError
from shoal.plotting._canvas import (
    MAX_ROWS,
    Axis,
    Canvas,
    Key,
    Rows,
    around,
    columns_for,
    panel,
    table,
)
from shoal.plotting._cells import runs
from shoal.plotting._data import column_names, evenly, text
from shoal.plotting._picture import Picture
from shoal.plotting._theme import (
    CENTER,
    COLORS,
    GRAY,
    MAX_NAMED,
    SQUARE,
    cluster_look,
    cluster_name,
    line_glyph,
)

__all__ = ["BOX", "CROSS", "FLAT", "box_rows", "draw_perturbation_area", "draw_scatter"]


SIDE = 260  # pixels of a panel; of projections, less
PROJECTION = 215
FLAT, SOLID = 2, 3  # columns that can be drawn
MAX_POINTS = 3_000  # of a set: more only makes it darker
FAR = 0.01  # share of a set at either end that may lie outside the axes

CELLS = 56  # of a side of the table that densities are counted in
SMOOTH = 1.4  # cells: single reports make no islands
DOTS = 250  # reports that are drawn
OUTSIDE = 0.004  # share of reports at either end of a column that lie outside the table
BOX: dict[str, Any] = {"strokeDash": (5, 3), "strokeWidth": 1.2}  # of the public box
CROSS: dict[str, Any] = {
    **{"mark": "point", "shape": CENTER, "filled": True, "size": 110},
    **{"stroke": "#ffffff", "strokeWidth": 1, "opacity": 1},
}
# From the area that holds most to the one that holds least.
SHADES = ("#dbe8f3", "#8ab6d6", "#2c6c9c", "#0b3c5d")


def draw_scatter(
    sets: Mapping[str, Any],
    *,
    labels: Mapping[str, Any] | None = None,
    centers: Mapping[str, Any] | None = None,
    columns: Sequence[str] | None = None,
    records: bool = True,
    title: str | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Picture:
    """Draw sets of points side by side on the same axes; three columns become three projections.

    Parameters
    ----------
    sets : mapping of str to array-like of shape (n, 2) or (n, 3)
        Sets of points by name; "records", "reports" and "remapped" have their own colors. Of more
        than 5,000 points in all, an evenly spaced selection is drawn. Axes cover the middle 98% of
        each set; the title gives the number of points outside.
    labels : mapping of str to array-like of shape (n,), default=None
        Cluster of each point, for some or all sets; -1 for noise.
    centers : mapping of str to array-like of shape (k, 2) or (k, 3), default=None
        Centers, for some or all sets.
    columns : sequence of str, default=None
        Names of the columns, with units.
    records : bool, default=True
        Whether the points or their labels include real records. Such a picture is for the curator
        only, and can be saved as PNG only. Pass False where all points are reports,
        released or made up.
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
        If names, lengths or columns do not match, or the file cannot be written.
    DataError
        If points are not tables of finite numbers.
    MissingPackageError
        If the extra ``plot`` is not installed.

    Examples
    --------
    >>> points = np.random.default_rng(0).normal(size=(200, 2))
    >>> sets = {"records": points, "reports": points + 0.5}
    >>> near = {"reports": (points[:, 0] > 0).astype(int)}
    >>> draw_scatter(sets, labels=near)
    Picture(panels=2, records=True)
    """
    canvas = Canvas(path, title=title, records=records)
    tables = _tables("sets", sets)
    width = next(iter(tables.values())).shape[1]
    clusters = _labels(labels, tables)
    middles = _centers(centers, tables, width)
    low, high = _limits(list(tables.values()), list(middles.values()))
    axes = [
        Axis(name, (low[index], high[index]), field=f"c{index}")
        for index, name in enumerate(column_names(columns, width))
    ]
    key = _key(clusters, middles)
    most = min(MAX_POINTS, MAX_ROWS // len(tables))
    side = SIDE if width == FLAT else PROJECTION
    drawn = []
    for name, points in tables.items():
        rows = evenly(len(points), most)
        inside = rows[((points[rows] >= low) & (points[rows] <= high)).all(axis=1)]
        beyond = len(rows) - len(inside)
        more = f" ({beyond} of {len(rows)} outside)" if beyond else ""
        dots, look = _dots(
            name, points[inside], clusters[name][inside] if name in clusters else None, key
        )
        crosses = table(name="centers", **_columns_of(middles[name])) if name in middles else []
        for first, second in itertools.combinations(axes, 2):
            layers = [canvas.layer(dots, x=first, y=second, **look)]
            if crosses:
                layers.append(canvas.layer(crosses, x=first, y=second, key=key, **CROSS))
            drawn.append(panel(*layers, width=side, height=side, title=text(name) + more))
    across = columns_for(len(tables)) if width == FLAT else 3
    return canvas.finish(drawn, columns=across, key=key, square=True)


def _columns_of(points: Floats) -> dict[str, Floats]:
    """Return the columns of points by the names that rows of a chart have for them."""
    return {f"c{index}": points[:, index] for index in range(points.shape[1])}


def box_rows(low: Floats, high: Floats) -> Rows:
    """Return the corners of the public box, in the order of a line around it."""
    (left, bottom), (right, top) = low, high
    return table(
        name="public box",
        x=[left, right, right, left, left],
        y=[bottom, bottom, top, top, bottom],
        order=list(range(5)),
    )


def _key(clusters: Mapping[str, Ints], middles: Mapping[str, Floats]) -> Key:
    """Explain clusters and centers; too many clusters have no names."""
    found = sorted(set().union(*(np.unique(marks).tolist() for marks in clusters.values())))
    key = Key(shown=len(found) <= MAX_NAMED)
    for cluster in found:
        key.add(cluster_name(cluster), *cluster_look(cluster))
    if middles:
        key.add("centers", "#000000", CENTER)
    return key


def _dots(name: str, points: Floats, marks: Ints | None, key: Key) -> tuple[Rows, dict[str, Any]]:
    """Return rows of points and how they look: in the color of their set, or of their clusters."""
    look: dict[str, Any] = {"opacity": 0.65, "size": 22 if len(points) < MAX_POINTS // 6 else 9}
    if marks is None:
        color = COLORS.get(name.lower(), COLORS["records"])
        return table(**_columns_of(points)), look | {"mark": "circle", "color": color}
    names = [cluster_name(cluster) for cluster in marks.tolist()]
    look |= {"mark": "point", "filled": True, "key": key, "told": {"name": " "}}
    return table(name=names, **_columns_of(points)), look


def _tables(parameter: str, given: Any) -> dict[str, Floats]:
    if not isinstance(given, Mapping) or not given:
        kind = type(given).__name__
        raise ParameterError(f"{parameter} must be a dict of at least one table, got {kind}")
    tables = {str(name): validate_records(points) for name, points in given.items()}
    for name, points in tables.items():
        if points.shape[1] not in (FLAT, SOLID):
            raise ParameterError(
                f"{parameter} must have 2 or 3 columns, got {points.shape[1]} in {name!r}: choose "
                "some, or bring them down with PCA"
            )
    if len({points.shape[1] for points in tables.values()}) > 1:
        raise ParameterError(f"{parameter} must all have the same number of columns, got 2 and 3")
    return tables


def _labels(labels: Any, tables: Mapping[str, Floats]) -> dict[str, Ints]:
    found: dict[str, Ints] = {}
    for name, values in _known("labels", labels, tables).items():
        marks = np.asarray(values)
        if marks.shape != (len(tables[name]),) or marks.dtype.kind not in "iub":
            raise ParameterError(
                f"labels must be one whole number a point, got shape {marks.shape} of "
                f"{marks.dtype} for {len(tables[name])} points in {name!r}"
            )
        found[name] = marks.astype(np.int64)
    return found


def _centers(centers: Any, tables: Mapping[str, Floats], width: int) -> dict[str, Floats]:
    found = {
        name: validate_records(points)
        for name, points in _known("centers", centers, tables).items()
    }
    for name, points in found.items():
        if points.shape[1] != width:
            raise ParameterError(
                f"centers must have {width} columns, got {points.shape[1]} in {name!r}"
            )
    return found


def _known(parameter: str, given: Any, tables: Mapping[str, Floats]) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ParameterError(f"{parameter} must be a dict by set, got {type(given).__name__}")
    for name in given:
        if name not in tables:
            raise ParameterError(f"{parameter} must be of {', '.join(tables)}, got {name!r}")
    return given


def _limits(tables: list[Floats], middles: list[Floats]) -> tuple[Floats, Floats]:
    """Hold the middle of each set and all centers; a few far reports must not shrink the rest."""
    pairs = [(points, FAR) for points in tables] + [(points, 0.0) for points in middles]
    low = np.min([np.quantile(points, share, axis=0) for points, share in pairs], axis=0)
    high = np.max([np.quantile(points, 1 - share, axis=0) for points, share in pairs], axis=0)
    padding = np.where(high > low, 0.08 * (high - low), 0.5)
    return low - padding, high + padding


class Areas(NamedTuple):
    """For each cell the index of the smallest area it belongs to, -1 = none; and their sizes."""

    cells: Ints
    x: tuple[float, float]
    y: tuple[float, float]
    sizes: list[float]


def draw_perturbation_area(
    reports: Mapping[str, Any],
    record: Any,
    *,
    bounds: Any = None,
    shares: Sequence[float] = (0.5, 0.9, 0.99),
    columns: Sequence[str] | None = None,
    title: str | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Picture:
    """Draw the areas that contain given shares of the reports of one record, for each mechanism.

    Parameters
    ----------
    reports : mapping of str to array-like of shape (n, 2) or (n, 3)
        Many reports of the same record by name of the mechanism, some thousands for a smooth
        picture. Three columns become three projections.
    record : array-like of shape (2,) or (3,)
        The record, drawn as a cross. Use an invented one, since it is shown.
    bounds : tuple (low, high), default=None
        Public box, drawn as a dashed line.
    shares : sequence of float, default=(0.5, 0.9, 0.99)
        Up to four shares of the reports. An area is where reports are densest; it is an estimate
        from smoothed counts of reports in cells.
    columns : sequence of str, default=None
        Names of the columns, with units.
    title : str, default=None
        Title of the whole chart.
    path : path, default=None
        File to write as well: PNG, SVG, PDF, HTML or JSON.

    Returns
    -------
    picture : Picture
        The chart; the title of each panel gives the size of the area of the middle share.

    Raises
    ------
    ParameterError
        If reports, record or shares are invalid, or the file cannot be written.
    DataError
        If reports are not tables of finite numbers.
    MissingPackageError
        If the extra ``plot`` is not installed.

    Examples
    --------
    >>> reports = np.random.default_rng(0).laplace(size=(2_000, 2))
    >>> draw_perturbation_area({"Laplace": reports}, [0, 0])
    Picture(panels=1, records=False)
    """
    canvas = Canvas(path, title=title)
    tables = _tables("reports", reports)
    width = next(iter(tables.values())).shape[1]
    point = validate_records([record])
    if point.shape[1] != width:
        raise ParameterError(f"record must have {width} columns, got {point.shape[1]}")
    wanted = sorted((positive_probability("shares", share) for share in shares), reverse=True)
    if not 1 <= len(set(wanted)) == len(wanted) <= len(SHADES):
        raise ParameterError(f"shares must be 1 to {len(SHADES)} different ones, got {shares!r}")
    names = column_names(columns, width)
    box = public_box(bounds, width) if bounds is not None else None
    pairs = list(itertools.combinations(range(width), 2))
    areas = {
        (name, pair): areas_of(points[:, pair], wanted)
        for name, points in tables.items()
        for pair in pairs
    }
    axes = _axes(areas, point, box, names)
    key = Key()
    shades = SHADES[: len(wanted)] if len(wanted) > 1 else SHADES[1:2]
    held = [
        key.add(f"{100 * share:.3g} % of reports", shade, SQUARE)
        for share, shade in zip(wanted, shades, strict=True)
    ]
    key.add("reports", COLORS["local"], "circle")
    key.add("record", "#000000", CENTER)
    if box is not None:
        key.add("public box", GRAY, line_glyph(BOX["strokeDash"]))
    side = SIDE if width == FLAT else PROJECTION
    middle = len(wanted) // 2
    drawn = []
    for (name, (first, second)), area in areas.items():
        pair = [first, second]
        layer = partial(canvas.layer, x=axes[first], y=axes[second], key=key)
        layers = [
            layer(
                runs(area.cells, area.x, area.y, names=held, overlap=0.1),
                "rect",
                told={"name": " "},
            ),
            layer(_reports(tables[name][:, pair], area), "circle", size=6, opacity=0.7),
            layer(table(name="record", x=point[:, first], y=point[:, second]), **CROSS),
        ]
        if box is not None:
            layers.insert(2, layer(box_rows(box.low[pair], box.high[pair]), "line", **BOX))
        share, size = wanted[middle], area.sizes[middle]
        title_of = f"{name} ({100 * share:.3g} % in {readable(size)} unit²)"
        drawn.append(panel(*layers, canvas.legend(key), width=side, height=side, title=title_of))
    across = columns_for(len(tables), most=3) if width == FLAT else 3
    return canvas.finish(drawn, columns=across, key=key, square=True)


def areas_of(points: Floats, shares: Sequence[float]) -> Areas:
    """Return the smallest areas that hold the shares, in cells, from the largest share on."""
    low, high = np.quantile(points, [OUTSIDE, 1 - OUTSIDE], axis=0)
    # The smoothing needs room, and a report that never moves has no spread.
    padding = np.where(high > low, 0.15 * (high - low), 0.5)
    edges = [
        np.linspace(*ends, CELLS + 1) for ends in zip(low - padding, high + padding, strict=True)
    ]
    counts = np.histogram2d(points[:, 0], points[:, 1], bins=edges)[0].T
    density = ndimage.gaussian_filter(counts, SMOOTH, mode="constant")
    # Smoothed counts say which cells come first; plain ones how many reports these hold.
    order = np.argsort(-density, axis=None, kind="stable")
    held = np.cumsum(counts.ravel()[order]) / len(points)
    cells = np.full(density.shape, -1, dtype=np.int64)
    sizes: list[float] = []
    cell = float(np.prod([side[1] - side[0] for side in edges]))
    for index, share in enumerate(shares):
        number = min(int(np.searchsorted(held, share)) + 1, int((density > 0).sum()))
        cells.ravel()[order[:number]] = index
        sizes.append(cell * number)
    x, y = ((float(side[0]), float(side[-1])) for side in edges)
    return Areas(cells, x, y, sizes)


def _axes(
    areas: Mapping[Any, Areas], point: Floats, box: Box | None, names: list[str]
) -> list[Axis]:
    """Return axes that hold all areas and the box; one unit is as long on all of them."""
    reached: list[list[float]] = [[float(one)] for one in point[0]]
    for (_, pair), area in areas.items():
        for index, side in zip(pair, (area.x, area.y), strict=True):
            reached[index] += side
    if box is not None:
        for index, corners in enumerate(zip(*box, strict=True)):
            reached[index] += map(float, corners)
    ends = [around(values, 0.03) for values in reached]
    longest = max(high - low for low, high in ends) / 2
    middles = [(low + high) / 2 for low, high in ends]
    return [
        Axis(name, (middle - longest, middle + longest))
        for name, middle in zip(names, middles, strict=True)
    ]


def _reports(points: Floats, area: Areas) -> Rows:
    some = points[evenly(len(points), DOTS)]
    low, high = np.transpose([area.x, area.y])
    near = some[((some >= low) & (some <= high)).all(axis=1)]
    return table(name=["reports"] * len(near), x=near[:, 0], y=near[:, 1])
