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
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.metrics import pairwise_distances, pairwise_distances_argmin_min

from shoal._typing import Floats, Ints
from shoal.cluster._denoise import posterior_counts
from shoal.cluster._noise import BudgetedNoise, NoisyWindows, PureNoise
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
from shoal.engines import (
    HALF,
    dyadic_boxes,
    dyadic_counts,
    grid_counts,
    max_halvings,
    window_statistics,
)
from shoal.noise import SparseCounts, TreeShapeNoise, privatize

__all__ = ["TreeLeaves", "TreeMethod", "crowded", "leaf_windows", "release_tree"]

CROWD_PART = 0.03  # of the budget, for the records in the fullest cells
CROWDED = 0.6  # of all records in half as many cells as there are clusters: too many for a grid,
DENSE = 50.0  # or so many times what these cells would hold of evenly spread records,
DOUBT = 1.5  # and so many scales of the noise more, so that noise alone seldom decides
CLEAR = 0.1  # of all records: the scale of that noise must be smaller
SHAPE_PART = 0.45  # of the rest, for the shape of the tree
STEP_PART = 0.2  # of the rest, for a step where there are few leaves
FEW_LEAVES = 2.5  # for each cluster along each column
ROOTS = 2  # halvings that are always made
MAX_SPLITS = 2**16  # about so many nodes can be split at most, whatever epsilon is
OUTSKIRTS = 3.0  # deviations: what leaves of the first levels hold together, if they hold anything
NEAR = 6.0  # spreads from the mean of the others: nothing is unlikely there
WINDOWS = 24  # candidates for the radius of a window,
WIDEST, NARROWEST = 1.0, 0.001  # in spacings of the clusters in the box


class TreeMethod(SynopsisMethod):
    """Cluster the leaves of a noisy tree where records crowd, else the cells of a noisy grid."""

    name = "tree"
    max_columns = 8  # more halvings than a tree of so many columns has are of no use

    def make_noise(self, columns: int) -> BudgetedNoise:
        """Return pure noise: the shape of a tree costs epsilon, and so few columns like it best."""
        return PureNoise(float(self.model.epsilon))

    def smallest_budget(self, budget: float) -> float:
        """Return the least that a single release gets of the method's budget."""
        return CROWD_PART * budget

    def run(self, problem: Problem) -> KMeansResult:
        """Ask whether records crowd, and cluster the synopsis that suits them."""
        grid = GridMethod(self.model)
        if CROWD_PART * problem.budget * CLEAR * problem.n < 1.0:
            return grid.run(problem)  # the answer would be noise
        rest = problem.with_budget((1 - CROWD_PART) * problem.budget)
        if not crowded(problem, CROWD_PART * problem.budget):
            return grid.run(rest)
        return _cluster_tree(rest)


class TreeLeaves(NamedTuple):
    """A released tree: its leaves as cells, and their widths in each column."""

    cells: GridCounts
    widths: Floats


def crowded(problem: Problem, budget: float) -> bool:
    """Release how many records the fullest cells of the grid hold; return whether it is many.

    One record more or less changes the sum of the m largest counts by its weight at most.
    """
    cells = plan_cells(problem).cells
    exact = grid_counts(problem.engine, (cells,) * problem.columns, problem.half).ravel()
    fullest = max(1, problem.expected_clusters // 2)
    held = np.sort(exact)[-fullest:].sum(keepdims=True)
    noisy = problem.noise.counts(
        held, budget, contribution=problem.contribution, source=problem.source
    )
    part = min(CROWDED, DENSE * fullest / len(exact))
    return bool(noisy[0] > (part * problem.n + DOUBT / budget) * problem.contribution)


def release_tree(problem: Problem) -> tuple[TreeLeaves, float]:
    """Release the shape of a tree and counts of its leaves; return them and what is not spent."""
    half, columns = problem.half, problem.columns
    depth = max_halvings(columns, half)
    counted = dyadic_counts(problem.engine, depth, half)
    shaping = TreeShapeNoise.for_budget(
        SHAPE_PART * problem.budget,
        contribution=problem.contribution,
        roots=min(ROOTS, depth - 1),
        depth=depth,
        min_decay=math.ceil(problem.n * problem.contribution / MAX_SPLITS),
    )
    shape = privatize(
        SparseCounts(counted.codes, counted.counts),
        shaping,
        cost=SHAPE_PART * problem.budget,
        source=problem.source,
    )
    few = len(shape.codes) < FEW_LEAVES**columns * problem.expected_clusters
    step = STEP_PART * problem.budget if few else 0.0
    budget = (1 - SHAPE_PART) * problem.budget - step
    # The leaves lie side by side: each ends where the next begins.
    running = np.concatenate([[0], np.cumsum(counted.counts)])
    exact = np.diff(running[np.searchsorted(counted.codes, shape.codes)], append=running[-1])
    noise, contribution = problem.noise, problem.contribution
    noisy = noise.counts(exact, budget, contribution=contribution, source=problem.source)
    counts = posterior_counts(noisy, noise, budget, contribution=contribution)
    low, high = dyadic_boxes(shape.codes, shape.depths, columns=columns, halvings=depth, half=half)
    deviation = noise.count_deviation(budget, contribution=contribution)
    tails = noise.count_tails(noisy, budget, contribution=contribution)
    cells = GridCounts((low + high) / 2, noisy, counts, deviation, tails)
    counts[_outskirts(cells, shape.depths)] = 0.0
    return TreeLeaves(cells, high - low), step


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


def _outskirts(cells: GridCounts, depths: Ints) -> npt.NDArray[np.bool_]:
    """Return which leaves are empty outskirts, by their counts level by level from above.

    Leaves of the first levels are large: noise in them lies far from all records, and costs most.
    Down to the level where they certainly hold something together, only those count that are
    likely themselves: beyond ``NEAR`` spreads from the others' mean, the less the farther out. Of
    all records at most 1 / r^2 lie r times as far (Chebyshev): such are the odds against them.
    """
    levels = np.arange(depths.max() + 1)
    held = np.cumsum(np.bincount(depths, weights=cells.noisy, minlength=len(levels)))
    number = np.cumsum(np.bincount(depths, minlength=len(levels)))
    sure = held > OUTSKIRTS * cells.deviation * np.sqrt(number)
    outside = depths <= np.max(levels[~sure], initial=-1)
    scale = cells.deviation / math.sqrt(2)
    # Of m Laplace draws, about m^(2/3) / 2 are larger than this.
    likely = np.full(len(depths), scale * math.log(max(int(outside.sum()), 2)) / 3)
    inside = np.where(outside, 0.0, cells.counts)
    if inside.sum() > 0:
        middle = np.average(cells.midpoints, axis=0, weights=inside)
        squares = ((cells.midpoints - middle) ** 2).sum(axis=1)
        spread = max(float(np.average(squares, weights=inside)), 1.0)
        likely += scale * np.log(np.maximum(squares / (NEAR**2 * spread), 1.0))
    empty: npt.NDArray[np.bool_] = outside & (cells.noisy <= likely)
    return empty


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
