"""Outlines of clusters of cells: polygons in two columns, intervals in one.

Every outline is made of borders of cells and nothing is simplified: a point is in the polygons of a
cluster exactly if it is in one of the cluster's cells, and no coordinate is computed.

Polygons are valid (OGC 06-103r4, 6.1.11): cells of a cluster that share a border are one polygon;
those that meet at a corner only are two polygons that touch. Where a polygon meets itself at a
corner, its rings are split there, so that no ring touches itself: it gets two rings that touch. As
RFC 7946 has it, rings are closed, outer ones counterclockwise, holes clockwise.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from shoal._typing import Bools, Floats, Ints
from shoal.density._touching import check_boxes
from shoal.exceptions import ParameterError

__all__ = ["outline_boxes", "outline_grid", "outline_intervals", "to_geojson"]

OVERLAP = "low and high must be boxes that do not overlap, got two of one cluster that do"


def outline_boxes(
    low: npt.ArrayLike,
    high: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    smooth: Literal[False] = False,
) -> dict[int, list[list[Floats]]]:
    """Return the outline of each cluster of boxes as polygons.

    Parameters
    ----------
    low, high : array-like of shape (m, 2)
        Corners of boxes that do not overlap, of any sizes. Neighbors share coordinates bit for
        bit, or there is a gap between them.
    labels : array-like of int, shape (m,)
        Cluster of each box, -1 = none.
    smooth : False
        Outlines are the borders of the cells; nothing else is offered.

    Returns
    -------
    polygons : dict of int to list of list of ndarray of shape (k, 2)
        Polygons of each cluster, from the left to the right. A polygon is a list of rings: the
        outer one, counterclockwise, then its holes, clockwise. The last point of a ring is its
        first, and no point lies between its neighbors on a straight line.

    Raises
    ------
    ParameterError
        If the boxes have not two columns, or overlap.

    Examples
    --------
    >>> from shoal.density import outline_boxes
    >>> low, high = [[0, 0], [2, 0], [2, 1]], [[2, 2], [3, 1], [3, 2]]
    >>> polygons = outline_boxes(low, high, [0, 0, -1])
    >>> [[ring.tolist() for ring in polygon] for polygon in polygons[0]]
    [[[[0.0, 0.0], [3.0, 0.0], [3.0, 1.0], [2.0, 1.0], [2.0, 2.0], [0.0, 2.0], [0.0, 0.0]]]]
    """
    _refuse_smooth(smooth)
    corners, clusters = _labeled(low, high, labels, columns=2)
    edges, indices = [], []
    for column in range(2):
        values, index = np.unique(
            np.stack([corner[:, column] for corner in corners]), return_inverse=True
        )
        edges.append(values)
        indices.append(index.reshape(2, -1))
    starts, ends = np.stack(indices, axis=-1).astype(np.int64)
    return _polygons(starts, ends, clusters, edges)


def outline_grid(
    labels: npt.ArrayLike,
    edges: Sequence[npt.ArrayLike],
    *,
    smooth: Literal[False] = False,
) -> dict[int, list[list[Floats]]]:
    """Return the outline of each cluster of cells of a grid as polygons.

    Parameters
    ----------
    labels : array-like of int, shape (n, m)
        Cluster of each cell, -1 = none; rows are cells of the first column.
    edges : pair of array-like, of shapes (n + 1,) and (m + 1,)
        Borders of the cells in each column, increasing.
    smooth : False
        Outlines are the borders of the cells; nothing else is offered.

    Returns
    -------
    polygons : dict of int to list of list of ndarray of shape (k, 2)
        As of :func:`outline_boxes`.

    Raises
    ------
    ParameterError
        If the grid has not two columns, or the edges do not fit.

    Examples
    --------
    >>> from shoal.density import outline_grid
    >>> ring = [[0, 0, 0], [0, -1, 0], [0, 0, 0]]
    >>> ((outer, hole),) = outline_grid(ring, [range(4), range(4)])[0]
    >>> outer.tolist()
    [[0.0, 0.0], [3.0, 0.0], [3.0, 3.0], [0.0, 3.0], [0.0, 0.0]]
    >>> hole.tolist()
    [[1.0, 1.0], [1.0, 2.0], [2.0, 2.0], [2.0, 1.0], [1.0, 1.0]]
    """
    _refuse_smooth(smooth)
    cells = _whole_labels(labels)
    if cells.ndim != 2:
        raise _no_polygons("labels", cells.ndim)
    borders = [np.asarray(one, dtype=np.float64) for one in edges]
    sizes = tuple(size + 1 for size in cells.shape)
    if [border.shape for border in borders] != [(size,) for size in sizes]:
        shapes = [border.shape for border in borders]
        raise ParameterError(f"edges must have {sizes} borders for these labels, got {shapes}")
    if not all(np.isfinite(one).all() and (np.diff(one) > 0).all() for one in borders):
        raise ParameterError("edges must be finite and increase in each column")
    # Cells of one cluster side by side in a row are one box.
    changed = np.ones(sizes, dtype=np.bool_)[:-1]
    changed[:, 1:-1] = cells[:, 1:] != cells[:, :-1]
    row, place = np.nonzero(changed)
    inner = np.flatnonzero(place < cells.shape[1])
    inner = inner[cells[row[inner], place[inner]] >= 0]
    starts = np.column_stack([row[inner], place[inner]])
    ends = np.column_stack([row[inner] + 1, place[inner + 1]])
    return _polygons(starts, ends, cells[row[inner], place[inner]], borders)


def outline_intervals(
    low: npt.ArrayLike, high: npt.ArrayLike, labels: npt.ArrayLike
) -> dict[int, list[tuple[float, float]]]:
    """Return the intervals of each cluster of cells in one column.

    Parameters
    ----------
    low, high : array-like of shape (m,) or (m, 1)
        Ends of cells that do not overlap. Neighbors share them bit for bit.
    labels : array-like of int, shape (m,)
        Cluster of each cell, -1 = none.

    Returns
    -------
    intervals : dict of int to list of (low, high)
        Of each cluster, increasing; cells that touch are one interval.

    Raises
    ------
    ParameterError
        If the cells have not one column, or overlap.

    Examples
    --------
    >>> from shoal.density import outline_intervals
    >>> outline_intervals([0, 1, 2, 3], [1, 2, 3, 4], [0, 0, -1, 0])
    {0: [(0.0, 2.0), (3.0, 4.0)]}
    """
    columns = [np.reshape(one, (-1, 1)) if np.ndim(one) == 1 else one for one in (low, high)]
    (starts, ends), clusters = _labeled(*columns, labels, columns=1)
    order = np.lexsort([starts[:, 0], clusters])
    starts, ends, clusters = starts[order, 0], ends[order, 0], clusters[order]
    same = clusters[1:] == clusters[:-1]
    if (same & (starts[1:] < ends[:-1])).any():
        raise ParameterError(OVERLAP)
    apart = ~(same & (starts[1:] == ends[:-1]))
    first, last = np.append(True, apart)[: len(starts)], np.append(apart, True)[: len(starts)]
    intervals: dict[int, list[tuple[float, float]]] = {}
    for cluster, start, end in zip(
        clusters[first].tolist(), starts[first].tolist(), ends[last].tolist(), strict=True
    ):
        intervals.setdefault(cluster, []).append((start, end))
    return intervals


def to_geojson(
    polygons: Mapping[int, Sequence[Sequence[Floats]]],
    *,
    x: int | str = 0,
    y: int | str = 1,
    columns: Sequence[str] | None = None,
    properties: Mapping[int, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return the outlines of clusters as GeoJSON (RFC 7946).

    Parameters
    ----------
    polygons : mapping of int to sequence of sequence of ndarray of shape (k, 2)
        As of :func:`outline_boxes`.
    x, y : int or str, default=0 and 1
        Index or name of the column of longitudes and of that of latitudes, both in degrees: a
        position in GeoJSON is longitude, latitude.
    columns : sequence of str, default=None
        Names of the two columns.
    properties : mapping of int to mapping, default=None
        What else to write about a cluster, such as its noisy size.

    Returns
    -------
    collection : dict
        A FeatureCollection of one MultiPolygon for each cluster, of plain Python values:
        ``json.dumps`` takes it. Each feature has its cluster's number as ``cluster``.

    Raises
    ------
    ParameterError
        If x and y are not the two columns.

    Examples
    --------
    >>> from shoal.density import outline_grid, to_geojson
    >>> polygons = outline_grid([[0]], [[40.5, 41.0], [-74.5, -74.0]])  # latitude, longitude
    >>> sizes = {0: {"size": 1200}}
    >>> names = ["lat", "lon"]
    >>> collection = to_geojson(polygons, x="lon", y="lat", columns=names, properties=sizes)
    >>> collection["features"][0]["properties"]
    {'cluster': 0, 'size': 1200}
    >>> collection["features"][0]["geometry"]["coordinates"]
    [[[[-74.5, 40.5], [-74.0, 40.5], [-74.0, 41.0], [-74.5, 41.0], [-74.5, 40.5]]]]
    """
    order = [_column(name, value, columns) for name, value in (("x", x), ("y", y))]
    if sorted(order) != [0, 1]:
        raise ParameterError(f"x and y must be the two columns, got x={x!r} and y={y!r}")
    # Exchanged columns mirror a ring: walked backward, it turns as before.
    step = 1 if order == [0, 1] else -1
    features = []
    for cluster, parts in polygons.items():
        known = {} if properties is None else properties.get(cluster, {})
        coordinates = [[ring[::step, order].tolist() for ring in polygon] for polygon in parts]
        features.append(
            {
                "type": "Feature",
                "properties": {
                    "cluster": int(cluster),
                    **{name: _plain(value) for name, value in known.items()},
                },
                "geometry": {"type": "MultiPolygon", "coordinates": coordinates},
            }
        )
    return {"type": "FeatureCollection", "features": features}


def _refuse_smooth(smooth: bool) -> None:
    if smooth is not False:
        raise ParameterError(
            f"smooth must be False, got {smooth!r}: outlines are the borders of the cells"
        )


def _no_polygons(name: str, columns: int) -> ParameterError:
    way = "take outline_intervals" if columns == 1 else "use predict, or clusters of a projection"
    return ParameterError(
        f"{name} must have 2 columns, got {columns}: only clusters in a plane are polygons",
        in_python=way,
    )


def _column(name: str, value: int | str, columns: Sequence[str] | None) -> int:
    """Return the index of a column that is given by index or by name."""
    if not isinstance(value, str):
        return value
    names = [] if columns is None else list(columns)
    if value not in names:
        raise ParameterError(f"{name} must be an index or one of columns {names}, got {value!r}")
    return names.index(value)


def _plain(value: Any) -> Any:
    """Return a value of numpy as one of Python."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def _whole_labels(labels: npt.ArrayLike) -> Ints:
    values = np.asarray(labels)
    if values.dtype.kind not in "iu":
        raise ParameterError(f"labels must be whole numbers, -1 = no cluster, got {values.dtype}")
    return values.astype(np.int64)


def _labeled(
    low: npt.ArrayLike, high: npt.ArrayLike, labels: npt.ArrayLike, *, columns: int
) -> tuple[tuple[Floats, Floats], Ints]:
    """Return the corners of the boxes that are in a cluster, and their clusters."""
    starts, ends = (corner.astype(np.float64) for corner in check_boxes(low, high))
    if starts.shape[1] != columns == 2:
        raise _no_polygons("low and high", starts.shape[1])
    if starts.shape[1] != columns:
        raise ParameterError(f"low and high must have 1 column, got {starts.shape[1]}")
    clusters = _whole_labels(labels)
    if clusters.shape != starts.shape[:1]:
        raise ParameterError(
            f"labels must be one for each of {len(starts)} boxes, got shape {clusters.shape}"
        )
    kept = clusters >= 0
    return (starts[kept], ends[kept]), clusters[kept]


class _Strokes(NamedTuple):
    """Straight strokes of outlines, each as long as it goes, with its polygon on the left."""

    part: Ints  # polygon that it bounds
    start: Ints  # shape (n, 2)
    end: Ints
    steep: Bools  # along the second column
    forward: Bools  # toward higher coordinates


def _polygons(
    starts: Ints, ends: Ints, clusters: Ints, edges: Sequence[Floats]
) -> dict[int, list[list[Floats]]]:
    """Return polygons by cluster; corners are indices of the edges."""
    if not len(clusters):
        return {}
    order = np.lexsort([starts[:, 1], starts[:, 0], clusters])
    starts, ends, clusters = starts[order], ends[order], clusters[order]
    part = _parts(starts, ends, clusters)
    pieces = [_strokes(starts, ends, part, line_axis) for line_axis in (0, 1)]
    strokes = _Strokes(*(np.concatenate(one) for one in zip(*pieces, strict=True)))
    # At a corner where a polygon meets itself, two strokes end and two start. Up goes on right,
    # right goes on down, and so on: so no ring passes there twice.
    leaving = _pack(strokes.part, *strokes.start.T, strokes.forward == strokes.steep)
    strokes = _Strokes(*(one[np.argsort(leaving)] for one in strokes))
    before = np.argsort(_pack(strokes.part, *strokes.end.T, ~strokes.forward))
    first, sizes, walk = _walk(before)
    # A ring starts at its lowest of the leftmost points: from there, an outer one goes right.
    outer = ~strokes.steep[first]
    closed = np.insert(walk, np.cumsum(sizes), walk[np.cumsum(sizes) - sizes])
    points = np.column_stack([edges[axis][strokes.start[closed, axis]] for axis in (0, 1)])
    bounds = np.concatenate([[0], np.cumsum(sizes + 1)]).tolist()
    of_part = np.empty(int(part.max()) + 1, dtype=np.int64)
    of_part[part] = clusters
    polygons: dict[int, list[list[Floats]]] = {}
    for cluster, starts_polygon, (begin, stop) in zip(
        of_part[strokes.part[first]].tolist(),
        outer.tolist(),
        itertools.pairwise(bounds),
        strict=True,
    ):
        of_cluster = polygons.setdefault(cluster, [])
        if starts_polygon:
            of_cluster.append([])
        of_cluster[-1].append(points[begin:stop])
    return polygons


def _parts(starts: Ints, ends: Ints, clusters: Ints) -> Ints:
    """Return the polygon of each box: those of a cluster that share borders; numbered in order."""
    m = len(clusters)
    pairs = np.concatenate([_across(starts, ends, clusters, axis) for axis in (0, 1)])
    graph = csr_array((np.ones(len(pairs), dtype=np.int8), tuple(pairs.T)), shape=(m, m))
    _, part = connected_components(graph, directed=False)
    _, first = np.unique(part, return_index=True)
    rank: Ints = np.argsort(np.argsort(first))
    numbered: Ints = rank[part]
    return numbered


def _across(starts: Ints, ends: Ints, clusters: Ints, axis: int) -> Ints:
    """Return pairs of boxes of one cluster that share a border across an axis."""
    along = 1 - axis
    size = int(ends[:, along].max()) + 1
    pairs = []
    # The higher one of the two lower ends of the border that they share is in both boxes.
    for mine, theirs in ((ends, starts), (starts, ends)):
        keys = theirs[:, axis] * size + starts[:, along]
        order = np.argsort(keys)
        asked = mine[:, axis] * size + starts[:, along]
        index = np.searchsorted(keys[order], asked, side="right") - 1
        other = order[np.maximum(index, 0)]
        touching = (theirs[other, axis] == mine[:, axis]) & (index >= 0)
        touching &= (ends[other, along] > starts[:, along]) & (clusters[other] == clusters)
        pairs.append(np.column_stack([np.flatnonzero(touching), other[touching]]))
    return np.concatenate(pairs)


def _strokes(starts: Ints, ends: Ints, part: Ints, axis: int) -> _Strokes:
    """Return the strokes on lines across an axis: borders with a polygon on one side only.

    On each line, the boxes that end there are added and those that begin there subtracted.
    """
    along = 1 - axis
    m = len(part)
    line = np.concatenate([ends[:, axis], starts[:, axis]] * 2)
    place = np.repeat([starts[:, along], ends[:, along]], 2, axis=0).ravel()
    change = np.repeat(np.array([1, -1, -1, 1], dtype=np.int64), m)
    owner = np.tile(part, 4)
    keys = _pack(line, owner, place)
    order = np.argsort(keys)
    new = np.flatnonzero(np.diff(keys[order], prepend=-1))
    change = np.add.reduceat(change[order], new)
    order, change = order[new[change != 0]], change[change != 0]
    side = np.cumsum(change)
    if (np.abs(side) > 1).any():
        raise ParameterError(OVERLAP)
    begin = np.flatnonzero(side)
    line, owner = line[order[begin]], owner[order[begin]]
    # Left of a steep line walked upward is what ends there; of a level one rightward, what begins.
    forward = (side[begin] > 0) == (axis == 0)
    lower, upper = place[order[begin]], place[order[begin + 1]]
    start, end = np.empty((2, len(begin), 2), dtype=np.int64)
    start[:, axis] = end[:, axis] = line
    start[:, along], end[:, along] = np.where(forward, [lower, upper], [upper, lower])
    return _Strokes(owner, start, end, np.full(len(begin), axis == 0), forward)


def _walk(before: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the first stroke and the length of each ring, and all strokes ring by ring.

    ``before``: the stroke before each one.
    """
    n = len(before)
    after = np.empty(n, dtype=np.int32)
    after[before] = np.arange(n, dtype=np.int32)
    _, ring = connected_components(_pointers(after), directed=True, connection="weak")
    _, first, sizes = np.unique(ring, return_index=True, return_counts=True)
    order = np.argsort(first)
    first, sizes = first[order], sizes[order]
    # One path through all rings: the end of each is joined to the first stroke of the next.
    after[before[first]] = np.append(first[1:], first[-1])
    walk = breadth_first_order(_pointers(after), 0, return_predecessors=False)
    return first, sizes, walk


def _pointers(after: npt.NDArray[np.int32]) -> csr_array:
    """Return the graph of one edge from each node to the next."""
    n = len(after)
    return csr_array((np.ones(n), after, np.arange(n + 1, dtype=np.int32)), shape=(n, n))


def _pack(*columns: npt.NDArray[np.integer[Any] | np.bool_]) -> Ints:
    """Return one number for each row, in the order of the rows."""
    packed = columns[0].astype(np.int64)
    for column in columns[1:]:
        size = int(column.max()) + 1
        if int(packed.max()) >= 2**62 // size:
            packed = np.unique(packed, return_inverse=True)[1].astype(np.int64)
        packed = packed * size + column
    return packed
