"""k-means from a tree of random hyperplanes, for tables with many columns.

After Chang & Kamath (2021): hyperplanes with public random normals cut the records into nested
regions; noisy counts say which regions are worth splitting; the means of the leaves, released once,
are a small weighted sample of the records on which k-means runs with restarts. Here all planes
pass through the noisy mean instead of the middle of the box, counts are released once (the
counts of inner nodes are sums of those of codes), and one step around the centers ends it.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats, Ints
from shoal.cluster._centers import uniforms
from shoal.cluster._noise import BudgetedNoise
from shoal.cluster.kmeans._grid import WINDOW, take_step
from shoal.cluster.kmeans._problem import KMeansResult, Problem, shrunken_moves
from shoal.cluster.kmeans._synopsis import SynopsisMethod, cluster_points, count_clusters
from shoal.engines import HALF, leaf_statistics, nearest_statistics, tree_counts
from shoal.noise import RandomSource

__all__ = ["LSHMethod", "Leaves", "count_leaves", "release_leaves"]

MEAN_PART, TREE_PART, LEAF_PART, STEP_PART = 0.1, 0.35, 0.25, 0.3  # of the budget
LEAVES_PER_CLUSTER = 8
MIN_LEVELS, MAX_LEVELS = 3, 16
RECORDS_PER_CODE = 6.0  # in deviations of a count's noise
CERTAIN = 3.0  # a node is split while its count is this many deviations of its noise
LEAF_RADIUS = 0.5  # of the box, around the mean
OFFSET = 0.2  # planes pass this far from the mean at most, in half widths of the box
NORMALS = 2**10  # largest coefficient of a hyperplane


class LSHMethod(SynopsisMethod):
    """Cluster the leaves of a noisy tree, and move the centers once."""

    name = "lsh"

    @staticmethod
    def noise_level(noise: BudgetedNoise, columns: int) -> float:
        """Return the noise of sums: a tree is as good as they are."""
        radius = round(HALF * (math.sqrt(columns) if noise.shape == "ball" else 1.0))
        budget = LEAF_PART * noise.total_budget
        return noise.pair_deviations(
            budget, columns=columns, clip_radius=radius, contribution=1
        ).sums

    @staticmethod
    def count_clusters(problem: Problem) -> int:
        """Spend the problem's budget on a tree and choose the number of clusters from it."""
        return count_leaves(release_leaves(problem), problem)

    def run(self, problem: Problem) -> KMeansResult:
        """Release the tree, cluster its leaves, and move the centers once."""
        half = problem.half
        leaves = release_leaves(problem.with_budget((1.0 - STEP_PART) * problem.budget))
        k = problem.n_clusters or count_leaves(leaves, problem)
        centers = cluster_points(leaves.points, leaves.weights, k, problem.source)
        lattice = np.clip(np.rint(centers), -half, half).astype(np.int64)
        radius = _clip_radius(problem, WINDOW / k ** (1 / problem.columns))
        result = take_step(problem, lattice, STEP_PART * problem.budget, radius)
        return replace(result, details={"leaves": len(leaves.weights)})


class Leaves(NamedTuple):
    """A released tree: means and sizes of its leaves."""

    points: Floats
    weights: Floats


def release_leaves(problem: Problem) -> Leaves:
    """Spend the problem's whole budget on the tree: noisy means in lattice units, noisy sizes."""
    noise, source, contribution = problem.noise, problem.source, problem.contribution
    budget = problem.budget / (MEAN_PART + TREE_PART + LEAF_PART)
    middle = _noisy_mean(problem, MEAN_PART * budget)
    deviation = noise.count_deviation(TREE_PART * budget, contribution=contribution)
    levels = _levels(problem, deviation)
    planes = _normals(levels, problem.columns, source)
    cuts = planes @ middle + _offsets(planes, problem.half, source)
    exact = tree_counts(problem.engine, planes, cuts)
    counts = noise.counts(exact, TREE_PART * budget, contribution=contribution, source=source)
    smallest = problem.n * contribution / (LEAVES_PER_CLUSTER * problem.expected_clusters)
    leaf_of_code, sizes = _prune(counts, deviation, max(smallest, CERTAIN * deviation))
    anchors = np.tile(middle, (len(sizes), 1))
    radius = _clip_radius(problem, LEAF_RADIUS)
    leaves = leaf_statistics(
        problem.engine, planes, cuts, leaf_of_code, anchors, clip_radius=radius, shape=noise.shape
    )
    pairs = noise.pairs(
        leaves,
        LEAF_PART * budget,
        clip_radius=radius,
        contribution=contribution,
        source=source,
    )
    moves = shrunken_moves(pairs, radius)
    # Two noisy counts of each leaf: weighted by how sure they are.
    sure, tree = pairs.deviations.counts**-2, deviation**-2
    weights = np.maximum((sure * pairs.counts + tree * sizes) / (sure + tree), 1.0)
    points = np.clip(np.rint(anchors + moves), -problem.half, problem.half)
    # Leaves whose moves were all noise stand at one point: they are one point.
    distinct, index = np.unique(points, axis=0, return_inverse=True)
    return Leaves(distinct, np.bincount(index.ravel(), weights=weights).astype(np.float64))


def count_leaves(leaves: Leaves, problem: Problem) -> int:
    """Choose the number of clusters from released leaves."""
    return count_clusters(
        leaves.points,
        leaves.weights,
        max_clusters=problem.max_clusters,
        blur=None,  # nothing is released of the spread inside a leaf
        source=problem.source,
    )


def _noisy_mean(problem: Problem, budget: float) -> Ints:
    """Release the mean of all records, shrunk toward the middle of the box by its noise."""
    center = np.zeros((1, problem.columns), dtype=np.int64)
    radius = _clip_radius(problem, 1.0)
    noise = problem.noise
    exact = nearest_statistics(problem.engine, center, clip_radius=radius, shape=noise.shape)
    pairs = noise.pairs(
        exact,
        budget,
        clip_radius=radius,
        contribution=problem.contribution,
        source=problem.source,
    )
    mean = shrunken_moves(pairs, problem.half)[0]
    lattice: Ints = np.rint(mean).astype(np.int64)
    return lattice


def _clip_radius(problem: Problem, width: float) -> int:
    """Return the radius of a cube of this part of the box, or of a ball about as wide."""
    stretch = math.sqrt(problem.columns) if problem.noise.shape == "ball" else 1.0
    return max(1, round(width * problem.half * stretch))


def _levels(problem: Problem, deviation: float) -> int:
    records = max(problem.n, 1.0) * problem.contribution
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
