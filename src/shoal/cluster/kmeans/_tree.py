"""k-means from the leaves of a noisy tree where records crowd, from a noisy grid where they do not.

A uniform grid wastes its cells where nearly all records lie in few of them: the world's check-ins,
a box that is much too wide. One noisy number tells: how many records the fullest cells of that grid
hold. If they hold most, or far more than evenly spread records would leave them, the budget goes
to a tree instead (after PrivTree, Zhang, Xiao & Xie 2016): the box is halved where the noisy count
of a node says so, for a price that does not grow with the depth (:mod:`shoal.noise.tree_shape`,
proofs/tree.md); then noisy counts of its leaves are denoised and clustered as cells of a grid are.
Where there are few leaves for each cluster, one noisy step around the centers ends it, in windows
as wide as the leaves around each center say.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.metrics import pairwise_distances, pairwise_distances_argmin_min

from shoal._typing import Floats, Ints
from shoal.cluster._leaves import (
    CROWD_PARTS,
    DOUBT,
    SHAPE_PART,
    crowd_budget,
    release_fullest,
    release_leaves,
    release_shape,
)
from shoal.cluster._noise import Body, BudgetedNoise, NoisyWindows, PureNoise
from shoal.cluster.kmeans._grid import (
    FAINT,
    GridCounts,
    GridMethod,
    cluster_cells,
    judge_cells,
    plan_cells,
)
from shoal.cluster.kmeans._problem import (
    KMeansResult,
    Problem,
    confidence_radii,
    farthest_corners,
    noise_probabilities,
)
from shoal.cluster.kmeans._synopsis import SynopsisMethod, count_clusters
from shoal.engines import HALF, window_statistics

__all__ = ["TreeLeaves", "TreeMethod", "crowded", "leaf_windows", "release_tree"]

CROWDED = 0.6  # of all records in half as many cells as there are clusters: too many for a grid,
DENSE = 50.0  # or, in a plane, so many times what these cells would hold of evenly spread records
PLANE = 2  # columns, at most
STEP_PART = 0.2  # of the rest, for a step where there are few leaves
FEW_LEAVES = 2.5  # for each cluster along each column
WINDOWS = 24  # candidates for the radius of a window,
WIDEST, NARROWEST = 1.0, 0.001  # in spacings of the clusters in the box


class TreeMethod(SynopsisMethod):
    """Cluster the leaves of a noisy tree where records crowd, else the cells of a noisy grid."""

    name = "tree"
    max_columns = 8  # more halvings than a tree of so many columns has are of no use

    def make_noise(self, body: Body) -> BudgetedNoise:
        """Return pure noise: the shape of a tree costs epsilon, and so few columns like it best."""
        return PureNoise(float(self.model.epsilon))

    def smallest_budget(self, budget: float) -> float:
        """Return the least that a single release gets of the method's budget."""
        return CROWD_PARTS[0] * budget

    def run(self, problem: Problem) -> KMeansResult:
        """Ask whether records crowd, and cluster the synopsis that suits them."""
        grid = GridMethod(self.model)
        crowd = crowd_budget(problem.n, problem.budget)
        rest = problem.with_budget(problem.budget - crowd)
        if not crowd or not crowded(problem, crowd):
            return replace(grid.run(rest), ran=grid.name)
        return _cluster_tree(rest)


class TreeLeaves(NamedTuple):
    """A released tree: its leaves as cells, and their widths in each column."""

    cells: GridCounts
    widths: Floats


def crowded(problem: Problem, budget: float) -> bool:
    """Release how many records the fullest cells of the grid hold; return whether it is many."""
    side = plan_cells(problem).cells
    fullest = max(1, problem.expected_clusters // 2)
    noisy = release_fullest(
        problem.engine,
        side,
        fullest,
        problem.noise,
        budget,
        half=problem.half,
        contribution=problem.contribution,
        source=problem.source,
    )
    cells = float(side) ** problem.columns
    part = CROWDED if problem.columns > PLANE else min(CROWDED, DENSE * fullest / cells)
    return noisy > (part * problem.n + DOUBT / budget) * problem.contribution


def release_tree(problem: Problem) -> tuple[TreeLeaves, float]:
    """Release the shape of a tree and counts of its leaves; return them and what is not spent."""
    noise, contribution = problem.noise, problem.contribution
    planned = release_shape(
        problem.engine,
        problem.n,
        SHAPE_PART * problem.budget,
        half=problem.half,
        contribution=contribution,
        source=problem.source,
    )
    few = len(planned.depths) < FEW_LEAVES**problem.columns * problem.expected_clusters
    step = STEP_PART * problem.budget if few else 0.0
    budget = (1 - SHAPE_PART) * problem.budget - step
    leaves = release_leaves(
        planned, noise, budget, contribution=contribution, source=problem.source
    )
    tails = noise.count_tails(leaves.noisy, budget, contribution=contribution)
    cells = GridCounts(leaves.midpoints, leaves.noisy, leaves.counts, leaves.deviation, tails)
    return TreeLeaves(cells, leaves.high - leaves.low), step


def leaf_windows(leaves: TreeLeaves, centers: Ints, problem: Problem, budget: float) -> Ints:
    """Choose the radius of each center's window from released leaves.

    A wider window has more noise, a narrower one clips more: the radius with the least sum of the
    squares of both, where records lie as the leaves say.
    """
    k, columns = centers.shape
    unit = problem.noise.window_deviations(
        budget, columns=columns, radii=np.array([HALF]), contribution=problem.contribution
    )
    spacing = problem.half * math.sqrt(columns) / k ** (1 / columns)
    radii = np.geomspace(NARROWEST, WIDEST, WINDOWS) * spacing
    noise = math.sqrt(columns) * float(unit.sums[0]) / HALF * radii
    cells = leaves.cells
    labels, squares = pairwise_distances_argmin_min(
        cells.midpoints, centers.astype(np.float64), metric="sqeuclidean"
    )
    # Records anywhere inside their leaf are so far from the center, on average of squares.
    far = np.sqrt(squares + (leaves.widths**2).sum(axis=1) / 12)
    clipped = np.maximum(far[:, np.newaxis] - radii, 0.0) * cells.counts[:, np.newaxis]
    lost = np.stack([clipped[labels == j].sum(axis=0) for j in range(k)])
    # Both divided by the same number of records.
    best = (noise**2 + lost**2).argmin(axis=1)
    chosen: Ints = np.maximum(np.rint(radii[best]), 1).astype(np.int64)
    return chosen


def _cluster_tree(problem: Problem) -> KMeansResult:
    """Spend the problem's budget on a tree, cluster its leaves, and move the centers if it pays."""
    leaves, step = release_tree(problem)
    cells = leaves.cells
    k = problem.n_clusters or _count_leaves(leaves, problem)
    centers = cluster_cells(cells, k, problem)
    details = {"leaves": len(cells.counts)}
    if step == 0.0:
        diagonals = np.linalg.norm(leaves.widths, axis=1)
        # Only a leaf all of whose points are nearest to one center can make that one certain.
        whole = _lead(cells.midpoints, centers) >= diagonals
        cells = cells._replace(tails=np.where(whole, cells.tails, 1.0))
        return judge_cells(cells, centers, problem, details, diagonals)
    radii = leaf_windows(leaves, centers, problem, step)
    noisy = problem.noise.windows(
        window_statistics(problem.engine, centers, radii),
        radii,
        step,
        contribution=problem.contribution,
        source=problem.source,
    )
    half = problem.half
    moved = np.clip(np.rint(centers + _moves(noisy, radii)), -half, half).astype(np.int64)
    corners = farthest_corners(moved, half)
    bounds = confidence_radii(noisy, (moved - centers).astype(np.float64), corners)
    sizes = noisy.counts.astype(np.float64)
    return KMeansResult(moved, sizes, bounds, noise_probabilities(noisy.tails), 1, details)


def _lead(points: Floats, centers: Ints) -> Floats:
    """Return how much nearer each point is to its nearest center than to the next one."""
    if len(centers) == 1:
        return np.full(len(points), np.inf)
    distances = pairwise_distances(points, centers.astype(np.float64))
    nearest = np.partition(distances, 1, axis=1)
    lead: Floats = nearest[:, 1] - nearest[:, 0]
    return lead


def _moves(noisy: NoisyWindows, radii: Ints) -> Floats:
    """Estimate how far each center is from the mean of its records, in its own window.

    As for pairs (``shrunken_moves``), with moves measured in windows: a narrow one moves little.
    """
    counts = np.maximum(noisy.counts, noisy.deviations.counts)
    scale = counts * radii
    moves: Floats = noisy.sums / scale[:, np.newaxis]
    noise = (noisy.deviations.sums / scale) ** 2
    spread = max(0.0, float(np.average((moves**2).mean(axis=1) - noise, weights=counts)))
    part = np.divide(spread, spread + noise, out=np.ones_like(noise), where=noise > 0)
    return np.clip(part[:, np.newaxis] * moves, -1.0, 1.0) * radii[:, np.newaxis]


def _count_leaves(leaves: TreeLeaves, problem: Problem) -> int:
    """Choose the number of clusters from released leaves."""
    cells = leaves.cells
    kept = cells.counts > FAINT * cells.counts.max()
    within = (leaves.widths[kept] ** 2).sum(axis=1) / 12
    return count_clusters(
        cells.midpoints[kept],
        cells.counts[kept],
        max_clusters=problem.max_clusters,
        blur=float(np.average(within, weights=cells.counts[kept])),
        source=problem.source,
    )
