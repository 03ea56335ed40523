"""k-means from a tree of random hyperplanes, for tables with many columns.

After Chang & Kamath (2021): hyperplanes with public random normals cut the records into nested
regions; noisy counts say which regions are worth splitting; the means of the leaves, released once,
are a small weighted sample of the records on which k-means runs with restarts. Here all planes
pass through the noisy mean instead of the middle of the box, counts are paid for once (the
counts of inner nodes are sums of those of codes), and one step around the centers ends it.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats, Ints
from shoal.cluster._centers import uniforms
from shoal.cluster.kmeans._grid import WINDOW, polish
from shoal.cluster.kmeans._n_clusters import count_clusters
from shoal.cluster.kmeans._pairs import shrunken_moves
from shoal.cluster.kmeans._problem import Found, Problem
from shoal.cluster.kmeans._synopsis import cluster_points
from shoal.engines import leaf_statistics, nearest_statistics, tree_counts
from shoal.noise import RandomSource

__all__ = ["Leaves", "count_leaves", "lsh_kmeans", "release_leaves"]


MEAN_SHARE, TREE_SHARE, LEAF_SHARE, STEP_SHARE = 0.1, 0.35, 0.25, 0.3
LEAVES_PER_CLUSTER = 8
MIN_LEVELS, MAX_LEVELS = 3, 16
RECORDS_PER_CODE = 6.0  # in deviations of a count's noise
CERTAIN = 3.0  # a node is split while its count is this many deviations of its noise
LEAF_REACH = 0.5  # of the box, around the mean
OFFSET = 0.2  # planes pass this far from the mean at most, in half widths of the box
NORMALS = 2**10  # largest coefficient of a hyperplane


class Leaves(NamedTuple):
    """A released tree: means and sizes of its leaves."""

    points: Floats
    weights: Floats


def lsh_kmeans(problem: Problem) -> Found:
    """Cluster the leaves of a noisy tree, and move the centers once.

    Parameters
    ----------
    problem : Problem
        Records and budget.

    Returns
    -------
    found : Found
        Post-processing of noisy counts and sums.
    """
    half = problem.half
    leaves = release_leaves(problem.spending((1.0 - STEP_SHARE) * problem.share))
    k = problem.n_clusters or count_leaves(leaves, problem)
    centers = cluster_points(leaves.points, leaves.weights, k, problem.source)
    lattice = np.clip(np.rint(centers), -half, half).astype(np.int64)
    found = polish(
        problem,
        lattice,
        STEP_SHARE * problem.share,
        _reach(problem, WINDOW / k ** (1 / problem.columns)),
    )
    return replace(found, details={"leaves": len(leaves.weights)})


def release_leaves(problem: Problem) -> Leaves:
    """Release the tree.

    Parameters
    ----------
    problem : Problem
        Records; its whole share is spent.

    Returns
    -------
    leaves : Leaves
        Noisy means in lattice units, and noisy sizes.
    """
    noise, unit, source = problem.noise, problem.unit, problem.source
    share = problem.share / (MEAN_SHARE + TREE_SHARE + LEAF_SHARE)
    middle = _noisy_mean(problem, MEAN_SHARE * share)
    deviation = noise.count_deviation(TREE_SHARE * share, unit=unit)
    levels = _levels(problem, deviation)
    planes = _normals(levels, problem.columns, source)
    cuts = planes @ middle + _offsets(planes, problem.half, source)
    exact = tree_counts(problem.engine, planes, cuts)
    counts = noise.counts(exact, TREE_SHARE * share, unit=unit, source=source)
    smallest = problem.n * unit / (LEAVES_PER_CLUSTER * problem.expected_clusters)
    leaf_of_code, sizes = _prune(counts, deviation, max(smallest, CERTAIN * deviation))
    anchors = np.tile(middle, (len(sizes), 1))
    reach = _reach(problem, LEAF_REACH)
    pairs = noise.pairs(
        leaf_statistics(
            problem.engine, planes, cuts, leaf_of_code, anchors, reach=reach, shape=noise.shape
        ),
        LEAF_SHARE * share,
        reach=reach,
        unit=unit,
        source=source,
    )
    moves = shrunken_moves(pairs, reach)
    # Two noisy counts of each leaf: weighted by how sure they are.
    sure, tree = pairs.deviations.counts**-2, deviation**-2
    weights = np.maximum((sure * pairs.counts + tree * sizes) / (sure + tree), 1.0)
    points = np.clip(np.rint(anchors + moves), -problem.half, problem.half)
    # Leaves whose moves were all noise stand at one place: they are one point.
    distinct, place = np.unique(points, axis=0, return_inverse=True)
    return Leaves(distinct, np.bincount(place.ravel(), weights=weights).astype(np.float64))


def count_leaves(leaves: Leaves, problem: Problem) -> int:
    """Choose the number of clusters from released leaves.

    Parameters
    ----------
    leaves : Leaves
        The tree.
    problem : Problem
        For the most clusters that may be chosen.

    Returns
    -------
    n_clusters : int
        Post-processing of noisy counts and sums.
    """
    return count_clusters(
        leaves.points,
        leaves.weights,
        most=problem.most_clusters,
        blur=None,  # nothing is released of the spread inside a leaf
        source=problem.source,
    )


def _noisy_mean(problem: Problem, share: float) -> Ints:
    """Release the mean of all records, shrunk toward the middle of the box by its noise."""
    center = np.zeros((1, problem.columns), dtype=np.int64)
    reach = _reach(problem, 1.0)
    exact = nearest_statistics(problem.engine, center, reach=reach, shape=problem.noise.shape)
    pairs = problem.noise.pairs(exact, share, reach=reach, unit=problem.unit, source=problem.source)
    mean = shrunken_moves(pairs, problem.half)[0]
    lattice: Ints = np.rint(mean).astype(np.int64)
    return lattice


def _reach(problem: Problem, width: float) -> int:
    """Return a reach of this part of the box to each side, or of a ball about as wide."""
    stretch = math.sqrt(problem.columns) if problem.noise.shape == "ball" else 1.0
    return max(1, round(width * problem.half * stretch))


def _levels(problem: Problem, deviation: float) -> int:
    records = max(problem.n, 1.0) * problem.unit
    codes = max(
        LEAVES_PER_CLUSTER * problem.expected_clusters, records / (RECORDS_PER_CODE * deviation)
    )
    return min(max(math.floor(math.log2(codes)), MIN_LEVELS), MAX_LEVELS)


def _normals(levels: int, columns: int, source: RandomSource) -> Ints:
    """Draw public normals; sums of uniforms are round enough, and hide nothing."""
    sums = uniforms((6, levels, columns), source).sum(axis=0) / 6
    normals: Ints = np.rint(NORMALS * sums).astype(np.int64)
    normals[~normals.any(axis=1), 0] = 1
    return normals


def _offsets(planes: Ints, half: int, source: RandomSource) -> Ints:
    """Move planes off the mean at random: in few columns all through one point are only a fan."""
    lengths = np.linalg.norm(planes.astype(np.float64), axis=1)
    moved = OFFSET * half * lengths * uniforms((len(planes),), source)
    offsets: Ints = np.rint(moved).astype(np.int64)
    return offsets


def _prune(counts: Ints, deviation: float, smallest: float) -> tuple[npt.NDArray[np.int32], Floats]:
    """Cut a complete tree back to the nodes that are large and certain enough to have children.

    Bit ``l`` of a code says on which side of plane ``l`` a record lies, so the nodes of depth ``t``
    are told apart by the lowest ``t`` bits.
    """
    levels = int(math.log2(len(counts)))
    table = counts.astype(np.float64)
    sums = [table.reshape(-1, 1 << depth).sum(axis=0) for depth in range(levels + 1)]
    codes = np.arange(len(counts))
    leaf_of_code = np.empty(len(counts), dtype=np.int32)
    sizes: list[float] = []
    nodes = [(0, 0)]
    while nodes:
        depth, node = nodes.pop()
        size = float(sums[depth][node])
        noise = deviation * math.sqrt(len(counts) >> depth)
        if depth < levels and size > max(2 * smallest, CERTAIN * noise):
            nodes += [(depth + 1, node), (depth + 1, node | 1 << depth)]
        else:
            leaf_of_code[codes & ((1 << depth) - 1) == node] = len(sizes)
            sizes.append(size)
    return leaf_of_code, np.array(sizes)
