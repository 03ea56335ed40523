"""Outlines of clusters of cells: polygons in two columns, intervals in one.

Every outline is made of borders of cells and nothing is simplified: a point is in the polygons of a
cluster exactly if it is in one of the cluster's cells, and no coordinate is computed.

Polygons are valid (OGC 06-103r4, 6.1.11): cells of a cluster that share a border are one polygon;
those that meet at a corner only are two polygons that touch. Where a polygon meets itself at a
corner, its rings are split there, so that no ring touches itself: it gets two rings that touch. As
RFC 7946 has it, rings are closed, outer ones counterclockwise, holes clockwise.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._boxes import check_boxes
from shoal._typing import Floats, Ints
from shoal.density._rings import trace_polygons
from shoal.exceptions import ParameterError

__all__ = ["outline_boxes", "outline_grid", "outline_intervals", "to_geojson"]


def outline_boxes(
    low: npt.ArrayLike,
    high: npt.ArrayLike,
    labels: npt.ArrayLike,
) -> dict[int, list[list[Floats]]]:
    """Return the outline of each cluster as polygons, from the boxes that it consists of.

    Parameters
    ----------
    low, high : array-like of shape (m, 2)
        Corners of boxes of any sizes that do not overlap. Boxes that touch must have exactly equal
        coordinates there; otherwise there is a gap between them.
    labels : array-like of int, shape (m,)
        Cluster of each box, -1 for none.

    Returns
    -------
    polygons : dict of int to list of list of ndarray of shape (k, 2)
        Polygons of each cluster, from left to right. A polygon is a list of rings: the outer one,
        counterclockwise, then its holes, clockwise. The last point of a ring equals its first, and
        no point lies on the straight line between its neighbors.

    Raises
    ------
    ParameterError
        If the boxes do not have two columns, or are empty.

    Examples
    --------
    >>> from shoal.density import outline_boxes
    >>> low, high = [[0, 0], [2, 0], [2, 1]], [[2, 2], [3, 1], [3, 2]]
    >>> polygons = outline_boxes(low, high, [0, 0, -1])
    >>> [[ring.tolist() for ring in polygon] for polygon in polygons[0]]
    [[[[0.0, 0.0], [3.0, 0.0], [3.0, 1.0], [2.0, 1.0], [2.0, 2.0], [0.0, 2.0], [0.0, 0.0]]]]
    """
    corners, clusters = _labeled(low, high, labels, columns=2)
    edges, indices = [], []
    for column in range(2):
        values, index = np.unique(
            np.stack([corner[:, column] for corner in corners]), return_inverse=True
        )
        edges.append(values)
        indices.append(index.reshape(2, -1))
    starts, ends = np.stack(indices, axis=-1).astype(np.int64)
    return trace_polygons(starts, ends, clusters, edges)


def outline_grid(
    labels: npt.ArrayLike,
    edges: Sequence[npt.ArrayLike],
) -> dict[int, list[list[Floats]]]:
    """Return the outline of each cluster as polygons, from the cells of a grid.

    Parameters
    ----------
    labels : array-like of int, shape (n, m)
        Cluster of each cell, -1 for none; the first axis is the first column of the records.
    edges : pair of array-like, of shapes (n + 1,) and (m + 1,)
        Borders of the cells along each column, increasing.

    Returns
    -------
    polygons : dict of int to list of list of ndarray of shape (k, 2)
        As of :func:`outline_boxes`.

    Raises
    ------
    ParameterError
        If the grid does not have two columns, or the edges do not fit it.

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
    cells = _whole_labels(labels)
    if cells.ndim != 2:
        raise _no_polygons("labels", cells.ndim)
    borders = [np.asarray(one, dtype=np.float64) for one in edges]
    sizes = tuple(size + 1 for size in cells.shape)
    if [border.shape for border in borders] != [(size,) for size in sizes]:
        shapes = [border.shape for border in borders]
        raise ParameterError(
            f"edges must have {sizes} borders for these labels, got {shapes}",
            parameter="edges",
            code="shape",
        )
    if not all(np.isfinite(one).all() and (np.diff(one) > 0).all() for one in borders):
        raise ParameterError(
            "edges must be finite and increase in each column", parameter="edges", code="order"
        )
    # Cells of one cluster side by side in a row are one box.
    changed = np.ones(sizes, dtype=np.bool_)[:-1]
    changed[:, 1:-1] = cells[:, 1:] != cells[:, :-1]
    row, place = np.nonzero(changed)
    inner = np.flatnonzero(place < cells.shape[1])
    inner = inner[cells[row[inner], place[inner]] >= 0]
    starts = np.column_stack([row[inner], place[inner]])
    ends = np.column_stack([row[inner] + 1, place[inner + 1]])
    return trace_polygons(starts, ends, cells[row[inner], place[inner]], borders)


def outline_intervals(
    low: npt.ArrayLike, high: npt.ArrayLike, labels: npt.ArrayLike
) -> dict[int, list[tuple[float, float]]]:
    """Return the intervals that each cluster covers, for cells of a single column.

    Parameters
    ----------
    low, high : array-like of shape (m,) or (m, 1)
        Ends of cells that do not overlap. Cells that touch must have exactly equal ends.
    labels : array-like of int, shape (m,)
        Cluster of each cell, -1 for none.

    Returns
    -------
    intervals : dict of int to list of (low, high)
        Intervals of each cluster, increasing; cells that touch are joined.

    Raises
    ------
    ParameterError
        If the cells do not have one column, or overlap.

    Examples
    --------
    >>> from shoal.density import outline_intervals
    >>> outline_intervals([0, 1, 2, 3], [1, 2, 3, 4], [0, 0, -1, 0])
    {0: [(0.0, 2.0), (3.0, 4.0)]}
    """
    if np.ndim(low) == np.ndim(high) == 1:
        low, high = np.reshape(low, (-1, 1)), np.reshape(high, (-1, 1))
    (starts, ends), clusters = _labeled(low, high, labels, columns=1)
    order = np.argsort(starts[:, 0])
    starts, ends, clusters = starts[order, 0], ends[order, 0], clusters[order]
    if (starts[1:] < ends[:-1]).any():
        raise ParameterError("low and high must be cells that do not overlap, got two that do")
    apart = (starts[1:] > ends[:-1]) | (clusters[1:] != clusters[:-1])
    first, last = np.append(True, apart)[: len(starts)], np.append(apart, True)[: len(starts)]
    intervals: dict[int, list[tuple[float, float]]] = {
        cluster: [] for cluster in np.unique(clusters).tolist()
    }
    for cluster, start, end in zip(
        clusters[first].tolist(), starts[first].tolist(), ends[last].tolist(), strict=True
    ):
        intervals[cluster].append((start, end))
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
        Index or name of the column with longitudes and of the one with latitudes, in degrees. A
        position in GeoJSON is longitude, then latitude.
    columns : sequence of str, default=None
        Names of the two columns.
    properties : mapping of int to mapping, default=None
        Further properties of each cluster to write, such as its noisy size.

    Returns
    -------
    collection : dict
        A FeatureCollection with one MultiPolygon for each cluster, in plain Python values that
        ``json.dumps`` accepts. Each feature has the property ``cluster``, its number.

    Raises
    ------
    ParameterError
        If `x` and `y` are not the two columns.

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


def _no_polygons(name: str, columns: int) -> ParameterError:
    way = "take outline_intervals" if columns == 1 else "use predict, or clusters of a projection"
    return ParameterError(
        f"{name} must have 2 columns, got {columns}: only clusters in a plane are polygons",
        parameter=name,
        code="columns",
        in_python=way,
    )


def _column(name: str, value: int | str, columns: Sequence[str] | None) -> int:
    """Return the index of a column that is given by index or by name."""
    if not isinstance(value, str):
        return value
    names = [] if columns is None else list(columns)
    if value not in names:
        raise ParameterError(
            f"{name} must be an index or one of columns {names}, got {value!r}",
            parameter=name,
            code="choice",
        )
    return names.index(value)


def _plain(value: Any) -> Any:
    """Return a value of numpy as one of Python."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def _whole_labels(labels: npt.ArrayLike) -> Ints:
    values = np.asarray(labels)
    if values.dtype.kind not in "iu":
        raise ParameterError(
            f"labels must be whole numbers, -1 = no cluster, got {values.dtype}",
            parameter="labels",
            code="whole",
        )
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
            f"labels must be one for each of {len(starts)} boxes, got shape {clusters.shape}",
            parameter="labels",
            code="shape",
        )
    kept = clusters >= 0
    return (starts[kept], ends[kept]), clusters[kept]
