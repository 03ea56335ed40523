"""The tree of clusters of a density: its peaks, and the passes at which they meet.

Think of the density as land and of the level of the sea as falling: islands appear at peaks and
meet at passes (0-dimensional persistence; ToMATo, Chazal, Guibas, Oudot & Skraba 2013). How far a
peak stands above the pass where it meets a higher one, in standard deviations of the estimate, is
its prominence. A peak whose prominence is below a threshold is taken for chance, and joins the
cells that it meets. The others are the leaves of the tree, and each of their meetings is a node.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shoal._typing import Bools, Floats, Ints
from shoal.density.cells import CellGraph, Edges

__all__ = ["ClusterTree", "DensityEstimate", "Merges", "build_tree", "find_merges"]


class DensityEstimate(NamedTuple):
    """An estimated density on cells, with its standard error.

    Parameters
    ----------
    density : ndarray of shape (m,)
        Records per volume of each cell, in any unit of volume; estimates may be negative.
    deviation : ndarray of shape (m,)
        Standard deviation of each estimate.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.density import DensityEstimate
    >>> estimate = DensityEstimate(np.array([6.0, 1.0, 5.0]), np.full(3, 0.5))
    >>> int(estimate.density.argmax())
    0
    """

    density: Floats
    deviation: Floats


@dataclass(frozen=True, eq=False)
class ClusterTree:
    """A tree of clusters within clusters, as arrays with one entry per node.

    The root comes first, and every node before its children.

    Parameters
    ----------
    parent : ndarray of int64, shape (k,)
        Parent of each node, -1 for the root.
    base : ndarray of shape (k,)
        Density at which the node separates from its sibling; 0 for the root.
    top : ndarray of shape (k,)
        Density at which the node splits in two, or that of its peak if it does not split.
    peak : ndarray of int64, shape (k,)
        Cell with the highest density of the node.
    size : ndarray of shape (k,)
        Estimated number of records in the cells of the node.
    stability : ndarray of shape (k,)
        Excess of mass, as in HDBSCAN: the sum over records of density ^ (1 / d), counted from that
        of the base up to that of the top.
    prominence : ndarray of shape (k,)
        Height of the peak above the base, in standard deviations; infinite for the root.
    leaf : ndarray of int64, shape (m,)
        For each cell, the node without children that it belongs to.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.density import DensityEstimate, GridCells, build_tree
    >>> estimate = DensityEstimate(np.array([6.0, 1.0, 5.0]), np.full(3, 0.5))
    >>> tree = build_tree(estimate, GridCells((3,)), threshold=3.0)
    >>> tree.parent.tolist(), tree.peak.tolist(), tree.leaf.tolist()
    ([-1, 0, 0], [0, 2, 0], [2, 2, 1])
    """

    parent: Ints
    base: Floats
    top: Floats
    peak: Ints
    size: Floats
    stability: Floats
    prominence: Floats
    leaf: Ints

    @property
    def is_leaf(self) -> Bools:
        """Mask of the nodes without children."""
        leaves = np.ones(len(self.parent), dtype=np.bool_)
        leaves[self.parent[1:]] = False
        return leaves

    def values(self) -> dict[str, Ints | Floats]:
        """Return the tree as the values of a release."""
        names = ("parent", "base", "top", "size", "stability")
        return {name: getattr(self, name) for name in names}

    def members(self, nodes: Ints) -> Ints:
        """Return, for each node of the tree, the index in ``nodes`` of the one it is in, or -1."""
        index = np.full(len(self.parent), -1, dtype=np.int64)
        index[nodes] = np.arange(len(nodes))
        for node in range(1, len(self.parent)):
            if index[node] < 0:
                index[node] = index[self.parent[node]]
        return index


class Merges(NamedTuple):
    """The passes where a lower peak of a density meets a higher one, the densest first.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.density import DensityEstimate, GridCells, find_merges
    >>> estimate = DensityEstimate(np.array([1.0, 5.0, 2.0, 9.0]), np.ones(4))
    >>> merges = find_merges(estimate, GridCells((4,)).edges)
    >>> merges.peaks.tolist(), merges.passes.tolist()
    ([1, 3], [2.0])
    """

    basin: Ints  # of each cell
    peaks: Ints  # cell of each basin's peak
    lower: Ints  # basin of the lower peak
    higher: Ints  # basin of the higher peak
    below: Ints  # basin on the lower one's side of the pass
    beyond: Ints  # basin on the higher one's side of the pass
    passes: Floats  # density
    prominence: Floats  # of the lower peak


def find_merges(estimate: DensityEstimate, edges: Edges) -> Merges:
    """Find the peaks of a density, and the pass at which each meets a higher one.

    Parameters
    ----------
    estimate : DensityEstimate
        The density.
    edges : Edges
        Pairs of cells that touch.

    Returns
    -------
    merges : Merges
        The passes: one fewer than there are peaks, if the cells are connected.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.density import DensityEstimate, GridCells, find_merges
    >>> density = np.array([1.0, 5.0, 2.0, 9.0])
    >>> merges = find_merges(DensityEstimate(density, np.ones(4)), GridCells((4,)).edges)
    >>> merges.passes.tolist(), merges.prominence.round(2).tolist()
    ([2.0], [2.12])
    """
    basin, peaks = _basins(estimate.density, edges)
    one, other, level = _passes(estimate.density, edges, basin, len(peaks))
    order = np.argsort(-level, kind="stable")
    height = estimate.density[peaks]
    rank = np.empty(len(peaks), dtype=np.int64)
    rank[np.lexsort((peaks, height))] = np.arange(len(peaks))
    ranks = rank.tolist()
    root = list(range(len(peaks)))
    met: list[tuple[int, int, int, int, int]] = []
    pairs = zip(one[order].tolist(), other[order].tolist(), order.tolist(), strict=True)
    for near, far, index in pairs:
        low, high = _find(root, near), _find(root, far)
        if low == high:
            continue
        sides = (near, far) if ranks[low] < ranks[high] else (far, near)
        if ranks[low] > ranks[high]:
            low, high = high, low
        root[low] = high
        met.append((low, high, *sides, index))
    lower, higher, below, beyond, passed = np.array(met, dtype=np.int64).reshape(-1, 5).T
    # The pass is as uncertain as the peak, or less: its deviation is bounded by the peak's own.
    deviation = math.sqrt(2) * estimate.deviation[peaks[lower]]
    rise = height[lower] - level[passed]
    return Merges(basin, peaks, lower, higher, below, beyond, level[passed], rise / deviation)


def build_tree(
    estimate: DensityEstimate,
    cells: CellGraph,
    *,
    threshold: float,
    min_size: float = 0.0,
    merges: Merges | None = None,
) -> ClusterTree:
    """Build the cluster tree of the significant peaks of a density.

    Parameters
    ----------
    estimate : DensityEstimate
        The density.
    cells : CellGraph
        The cells of the density; they must be connected.
    threshold : float
        Prominence, in standard deviations, below which a peak is taken for chance.
    min_size : float, default=0
        Smallest estimated number of records of a cluster.
    merges : Merges, default=None
        The merges of the density, if they have been found already.

    Returns
    -------
    tree : ClusterTree
        The tree; only a root if no peak is significant beside the highest one.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.density import DensityEstimate, GridCells, build_tree
    >>> estimate = DensityEstimate(np.array([6.0, 1.0, 5.0, 4.0, 5.0, 1.0]), np.full(6, 0.5))
    >>> tree = build_tree(estimate, GridCells((6,)), threshold=3.0)
    >>> tree.parent.tolist(), tree.base.tolist(), tree.leaf.tolist()
    ([-1, 0, 0], [0.0, 1.0, 1.0], [2, 2, 1, 1, 1, 1])
    """
    found = find_merges(estimate, cells.edges) if merges is None else merges
    masses = np.maximum(estimate.density, 0.0) * cells.volumes
    sizes = np.zeros(len(found.peaks))
    np.add.at(sizes, found.basin, masses)
    parting = _part(found, sizes, threshold, min_size)
    return _grow(found, parting, estimate, masses, cells.dimensions)


def _basins(density: Floats, edges: Edges) -> tuple[Ints, Ints]:
    """Follow the steepest way up from each cell; return its basin, and the peaks."""
    count = len(density)
    cells = np.argsort(density, kind="stable")
    rank = np.empty(count, dtype=np.int64)
    rank[cells] = np.arange(count)
    best = rank.copy()
    np.maximum.at(best, edges.one, rank[edges.other])
    np.maximum.at(best, edges.other, rank[edges.one])
    upward = cells[best]
    while True:
        further = upward[upward]
        if np.array_equal(further, upward):
            break
        upward = further
    peaks, basin = np.unique(upward, return_inverse=True)
    return basin.astype(np.int64), peaks


def _passes(density: Floats, edges: Edges, basin: Ints, count: int) -> tuple[Ints, Ints, Floats]:
    """Return the pairs of basins that touch, and the highest density on the way between them."""
    one, other = basin[edges.one], basin[edges.other]
    border = one != other
    one, other = one[border], other[border]
    level = np.minimum(density[edges.one[border]], density[edges.other[border]])
    code = np.minimum(one, other) * count + np.maximum(one, other)
    order = np.lexsort((-level, code))
    code = code[order]
    first = np.ones(len(code), dtype=np.bool_)
    first[1:] = code[1:] != code[:-1]
    pairs = code[first]
    return pairs // count, pairs % count, level[order][first]


def _find(root: list[int], one: int) -> int:
    while root[one] != one:
        root[one] = root[root[one]]
        one = root[one]
    return one


class _Parting(NamedTuple):
    """Merges that part two clusters, and the cluster that each basin belongs to."""

    merge: Ints  # index of the merge
    lower: Ints  # basins that the two clusters are named by
    higher: Ints
    cluster: Ints  # shape (basins,): basin that its cluster is named by


def _part(merges: Merges, sizes: Floats, threshold: float, min_size: float) -> _Parting:
    """Find the merges of two clusters that are each more than chance, and large enough."""
    held = sizes.tolist()
    name = list(range(len(sizes)))  # of the cluster that holds a component's highest peak
    joined = np.arange(len(sizes))
    parting: list[tuple[int, int, int]] = []
    clear = (merges.prominence >= threshold).tolist()
    columns = (merges.lower, merges.higher, merges.below, merges.beyond)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for index, (low, high, below, beyond) in enumerate(rows):
        if not clear[index] or held[low] < min_size:
            joined[name[low]] = beyond
        elif held[high] < min_size:
            joined[name[high]] = below
            name[high] = name[low]
        else:
            parting.append((index, name[low], name[high]))
        held[high] += held[low]
    while True:
        further = joined[joined]
        if np.array_equal(further, joined):
            break
        joined = further
    merge, lower, higher = np.array(parting, dtype=np.int64).reshape(-1, 3).T
    # A cluster may have joined another one after it parted from a third.
    return _Parting(merge, joined[lower], joined[higher], joined)


def _grow(
    merges: Merges,
    parting: _Parting,
    estimate: DensityEstimate,
    masses: Floats,
    dimensions: int,
) -> ClusterTree:
    """Build the nodes from the leaves on, as the clusters meet."""
    clusters, leaf = np.unique(parting.cluster[merges.basin], return_inverse=True)
    count = len(clusters)
    leaves = {int(one): index for index, one in enumerate(clusters)}
    current = list(range(2 * count - 1))  # of each node: a node above it that has no parent yet
    parent = np.full(2 * count - 1, -1, dtype=np.int64)
    base, prominence = np.zeros(2 * count - 1), np.full(2 * count - 1, np.inf)
    pairs = zip(parting.merge, parting.lower, parting.higher, strict=True)
    for node, (index, low, high) in enumerate(pairs, start=count):
        for basin in (int(low), int(high)):
            child, peak = _find(current, leaves[basin]), merges.peaks[basin]
            parent[child] = current[child] = node
            base[child] = merges.passes[index]
            rise = estimate.density[peak] - merges.passes[index]
            prominence[child] = rise / (math.sqrt(2) * estimate.deviation[peak])
    # The highest peak, the density of the split and the records of a node, from its children.
    rest = np.zeros(count - 1)
    peak = np.concatenate([merges.peaks[clusters], rest.astype(np.int64)])
    height = np.concatenate([estimate.density[merges.peaks[clusters]], rest - np.inf])
    top = np.concatenate([height[:count], rest])
    size = np.concatenate([np.bincount(leaf, weights=masses, minlength=count), rest])
    for child, node in enumerate(parent[:-1]):
        top[node] = base[child]
        size[node] += size[child]
        if height[child] > height[node]:
            peak[node], height[node] = peak[child], height[child]
    # The root is the last node so far: number them the other way round.
    last = 2 * count - 2
    above = np.where(parent >= 0, last - parent, -1)[::-1]
    cells_leaf = (last - leaf).astype(np.int64)
    levels = _Levels(above, base[::-1], top[::-1])
    stability = _stability(levels, cells_leaf, estimate.density, masses, dimensions)
    return ClusterTree(*levels, peak[::-1], size[::-1], stability, prominence[::-1], cells_leaf)


class _Levels(NamedTuple):
    """Between which densities each node is one cluster."""

    parent: Ints
    base: Floats
    top: Floats


def _stability(
    levels: _Levels, leaf: Ints, density: Floats, masses: Floats, dimensions: int
) -> Floats:
    """Add up each node's excess of mass."""
    parent, base, top = levels
    # A record's density ^ (1 / d) is one over the distance to its neighbors, as in HDBSCAN.
    depth = np.maximum(density, 0.0) ** (1 / dimensions)
    lowest = np.maximum(base, 0.0) ** (1 / dimensions)
    highest = np.maximum(top, 0.0) ** (1 / dimensions)
    stability = np.zeros(len(parent))
    node = leaf.copy()
    inside = np.ones(len(leaf), dtype=np.bool_)
    while inside.any():
        held = node[inside]
        excess = np.minimum(depth[inside], highest[held]) - lowest[held]
        stability += np.bincount(
            held, weights=masses[inside] * np.maximum(excess, 0.0), minlength=len(parent)
        )
        node[inside] = parent[held]
        inside = node >= 0
    return stability
