"""From boxes to rings: the borders of clusters, joined and walked.

Corners of boxes are indices of sorted coordinates, so that everything here is exact. On each line,
borders with a cluster on both sides cancel; what is left are straight strokes from corner to
corner. At each corner a stroke is followed by the one that keeps the cluster on its left.
"""

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from shoal._typing import Bools, Floats, Ints

__all__ = ["pack", "trace_polygons"]


def trace_polygons(
    starts: Ints, ends: Ints, clusters: Ints, edges: Sequence[Floats]
) -> dict[int, list[list[Floats]]]:
    """Return polygons by cluster; corners are indices of the edges."""
    if not len(clusters):
        return {}
    order = np.lexsort([starts[:, 1], starts[:, 0], clusters])
    starts, ends, clusters = starts[order], ends[order], clusters[order]
    part = _parts(starts, ends, clusters)
    steep, level = (_strokes(starts, ends, part, axis) for axis in (0, 1))
    strokes = _Strokes(
        np.concatenate([steep.part, level.part]),
        np.concatenate([steep.start, level.start]),
        np.concatenate([steep.end, level.end]),
        np.concatenate([steep.steep, level.steep]),
        np.concatenate([steep.forward, level.forward]),
    )
    # At a corner where a polygon meets itself, two strokes end and two start. Up goes on right,
    # right goes on down, and so on: so no ring passes there twice.
    turned = strokes.forward == strokes.steep
    strokes = strokes.sorted_by(pack(strokes.part, *strokes.start.T, turned))
    before = np.argsort(pack(strokes.part, *strokes.end.T, ~strokes.forward))
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


class _Strokes(NamedTuple):
    """Straight strokes of outlines, each as long as it goes, with its polygon on the left."""

    part: Ints  # polygon that it bounds
    start: Ints  # shape (n, 2)
    end: Ints
    steep: Bools  # along the second column
    forward: Bools  # toward higher coordinates

    def sorted_by(self, keys: Ints) -> "_Strokes":
        """Return the strokes in the order of the keys."""
        part, start, end, steep, forward = self
        order = np.argsort(keys)
        return _Strokes(part[order], start[order], end[order], steep[order], forward[order])


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
    keys = pack(line, owner, place)
    order = np.argsort(keys)
    new = np.flatnonzero(np.diff(keys[order], prepend=-1))
    change = np.add.reduceat(change[order], new)
    order, change = order[new[change != 0]], change[change != 0]
    side = np.cumsum(change)
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


def pack(*columns: npt.NDArray[np.integer[Any] | np.bool_]) -> Ints:
    """Return one number for each row, in the order of the rows."""
    packed = columns[0].astype(np.int64)
    for column in columns[1:]:
        size = int(column.max()) + 1
        if int(packed.max()) >= 2**62 // size:
            packed = np.unique(packed, return_inverse=True)[1].astype(np.int64)
        packed = packed * size + column
    return packed
