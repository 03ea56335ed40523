"""k-means from a noisy grid, then one noisy step around its centers.

Half of the budget buys counts of a public grid (EUGkM, Su et al. 2016); they are denoised and
clustered with restarts, which costs nothing. The other half buys one step: counts and offsets of
the records nearest to each center, clipped to a window around it (after FastLloyd, Diaa et al.
2024), shrunk by their known noise. Where that step would be mostly noise, the grid gets all.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.metrics import pairwise_distances_argmin_min

from shoal._typing import Floats, Ints
from shoal.cluster._denoise import posterior_counts
from shoal.cluster._noise import BudgetedNoise
from shoal.cluster.kmeans._problem import (
    KMeansResult,
    Problem,
    confidence_radii,
    farthest_corners,
    noise_probabilities,
    shrunken_moves,
)
from shoal.cluster.kmeans._synopsis import SynopsisMethod, cluster_points, count_clusters
from shoal.engines import grid_counts, grid_edges, nearest_statistics

__all__ = [
    "FAINT",
    "WIDEST_GRID",
    "WINDOW",
    "GridCounts",
    "GridMethod",
    "GridPlan",
    "cells_per_column",
    "cluster_cells",
    "count_cells",
    "judge_cells",
    "plan_cells",
    "plan_grid",
    "release_cells",
    "take_step",
]

GRID_PART = 0.5  # of the budget, for the counts
FINENESS = 10.0  # records times epsilon for one cell in two columns (Su et al.)
CELLS_PER_CLUSTER = 8  # fewer cells cannot tell the clusters apart
MAX_CELLS = 2**17
WIDEST_GRID = 16  # columns that are cut; where there are more, the step alone sees the others
WINDOW = 0.5  # of the spacing of k centers in the box, to each side
BLUR = 5.0  # a step is worth taking while its noise is below a cell's width over this
SHARP = 80.0  # and two steps while it is below the width over this
COARSE_CELLS, COARSE_COLUMNS = 3, 6  # without a step, two cells a column are too coarse up to 6
HALVES = 2
FAINT = 1e-3  # cells below this part of the largest are left out of the clustering
SURE_COLUMNS = 12  # in more, cells are so many that estimates of a region's size are mostly noise
NOISE_QUANTILE = 2.0  # standard deviations of a sum over many cells, for 95%


class GridMethod(SynopsisMethod):
    """Cluster the cells of a noisy grid, and move the centers once or twice."""

    name = "grid"
    max_columns = 32  # a table of cells with more axes cannot be

    @staticmethod
    def count_clusters(problem: Problem) -> int:
        """Spend the problem's budget on a grid and choose the number of clusters from it."""
        plan = plan_cells(problem)
        return count_cells(release_cells(problem, plan.cells, problem.budget), problem)

    def run(self, problem: Problem) -> KMeansResult:
        """Release the grid, cluster its cells, and move the centers where that is worth it."""
        plan = plan_cells(problem)
        cells = release_cells(problem, plan.cells, plan.grid_part * problem.budget)
        k = problem.n_clusters or count_cells(cells, problem)
        centers = cluster_cells(cells, k, problem)
        details = {"cells": plan.cells}
        if plan.grid_part == 1.0:
            return judge_cells(cells, centers, problem, details)
        budget = (1 - plan.grid_part) * problem.budget / plan.steps
        for _ in range(plan.steps):
            result = take_step(problem, centers, budget, plan.clip_radius)
            centers = result.centers
        return replace(result, rounds=plan.steps, details=details)


class GridPlan(NamedTuple):
    """How to divide the budget: cells to a column, part of the grid, steps and their window."""

    cells: int
    grid_part: float
    steps: int
    clip_radius: int


class GridCounts(NamedTuple):
    """A released grid: midpoints of its cells, noisy counts, and estimates of the true ones.

    ``tails``: probability of each noisy count, or a larger one, in an empty cell.
    """

    midpoints: Floats
    noisy: Ints
    counts: Floats
    deviation: float
    tails: Floats


def plan_grid(
    n: float, columns: int, n_clusters: int, *, noise: BudgetedNoise, budget: float, half: int
) -> GridPlan:
    """Choose the grid, and whether a step around its centers is worth its price.

    All numbers are public or noisy; ``n`` is in contributions of one person.
    """
    spacing = WINDOW * half / n_clusters ** (1 / columns)
    radius = max(1, round(spacing * (math.sqrt(columns) if noise.shape == "ball" else 1.0)))
    split = cells_per_column(n, columns, n_clusters, noise, GRID_PART * budget)
    step = noise.pair_deviations(
        (1 - GRID_PART) * budget, columns=columns, clip_radius=radius, contribution=1
    )
    blur = step.sums * n_clusters / max(n, 1.0)
    width = 2 * half / split
    if blur < width / BLUR:
        steps = 2 if blur < width / SHARP else 1
        return GridPlan(split, GRID_PART, steps, radius)
    alone = cells_per_column(n, columns, n_clusters, noise, budget)
    if columns <= COARSE_COLUMNS:
        alone = max(alone, COARSE_CELLS)
    return GridPlan(alone, 1.0, 0, radius)


def plan_cells(problem: Problem) -> GridPlan:
    """Choose the grid of a problem, from public and noisy numbers."""
    sizes = (problem.n, problem.columns, problem.expected_clusters)
    return plan_grid(*sizes, noise=problem.noise, budget=problem.budget, half=problem.half)


def release_cells(problem: Problem, cells: int, budget: float) -> GridCounts:
    """Release the noisy counts of a grid with so many cells to a column."""
    sides = _sides(cells, problem.columns)
    exact = grid_counts(problem.engine, sides, problem.half).ravel()
    noise, contribution = problem.noise, problem.contribution
    noisy = noise.counts(exact, budget, contribution=contribution, source=problem.source)
    return GridCounts(
        _midpoints(sides, problem.half),
        noisy,
        posterior_counts(noisy, noise, budget, contribution=contribution),
        noise.count_deviation(budget, contribution=contribution),
        noise.count_tails(noisy, budget, contribution=contribution),
    )


def count_cells(cells: GridCounts, problem: Problem) -> int:
    """Choose the number of clusters from released cells."""
    kept = cells.counts > FAINT * cells.counts.max()
    width = 2 * problem.half / len(cells.counts) ** (1 / min(problem.columns, WIDEST_GRID))
    return count_clusters(
        cells.midpoints[kept],
        cells.counts[kept],
        max_clusters=problem.max_clusters,
        blur=problem.columns * width**2 / 12,
        source=problem.source,
    )


def cluster_cells(cells: GridCounts, k: int, problem: Problem) -> Ints:
    """Find k lattice centers among released cells."""
    kept = cells.counts > FAINT * cells.counts.max()
    if kept.sum() < k:  # too little is certain: the k cells that look fullest
        kept = np.argsort(-cells.noisy, kind="stable")[:k]
    points, weights = cells.midpoints[kept], np.maximum(cells.counts[kept], 1e-6)
    centers = cluster_points(points, weights, k, problem.source)
    return np.clip(np.rint(centers), -problem.half, problem.half).astype(np.int64)


def take_step(problem: Problem, centers: Ints, budget: float, clip_radius: int) -> KMeansResult:
    """Move released centers once toward the noisy means of the records around them."""
    noise, half = problem.noise, problem.half
    exact = nearest_statistics(problem.engine, centers, clip_radius=clip_radius, shape=noise.shape)
    pairs = noise.pairs(
        exact,
        budget,
        clip_radius=clip_radius,
        contribution=problem.contribution,
        source=problem.source,
    )
    moves = shrunken_moves(pairs, clip_radius)
    moved = np.clip(np.rint(centers + moves), -half, half).astype(np.int64)
    corners = farthest_corners(moved, half)
    radii = confidence_radii(pairs, (moved - centers).astype(np.float64), corners)
    empty = noise_probabilities(pairs.tails)
    return KMeansResult(moved, pairs.counts.astype(np.float64), radii, empty, 1)


def _sides(cells: int, columns: int) -> tuple[int, ...]:
    """Return how many cells each column has."""
    cut = min(columns, WIDEST_GRID)
    return (cells,) * cut + (1,) * (columns - cut)


def _midpoints(sides: tuple[int, ...], half: int) -> Floats:
    axes = []
    for cells in sides:
        edges = grid_edges(cells, half)
        axes.append((edges[:-1] + edges[1:]) / 2)
    return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)


def cells_per_column(
    n: float, columns: int, n_clusters: int, noise: BudgetedNoise, budget: float
) -> int:
    """Return how many cells to a column so many records can fill."""
    # A Laplace scale is its deviation over sqrt 2; Su et al. count in records times epsilon.
    signal = n * math.sqrt(2) / noise.count_deviation(budget, contribution=1) / FINENESS
    signal = min(max(signal, 0.0), MAX_CELLS**2.0)  # more is finer than any grid
    exponent = 2 * columns / (2 + columns)
    wanted = max(float(CELLS_PER_CLUSTER * n_clusters), signal**exponent)
    most = max(2, math.floor(MAX_CELLS ** (1 / min(columns, WIDEST_GRID)) + 1e-9))
    return int(min(max(2, round(wanted ** (1 / columns))), most))


def _whole(
    cells: Ints,
    labels: Ints,
    sides: tuple[int, ...],
    centers: Ints,
    *,
    half: int,
    reach: int,
) -> npt.NDArray[np.bool_]:
    """Return which cells hold only points nearest to the center of their label."""
    low, high = np.empty((2, len(cells), len(sides)))
    outer = np.zeros(len(cells), dtype=bool)
    for column, index in enumerate(np.unravel_index(cells, sides)):
        first = np.ceil(grid_edges(sides[column], half))  # lattice points: of the next cell, last
        first[-1] += 1
        first[[0, -1]] += -reach, reach
        if reach and sides[column] > HALVES:
            outer |= (index == 0) | (index == sides[column] - 1)
        low[:, column], high[:, column] = first[index], first[index + 1] - 1
    middles, widths, points = (low + high) / 2, high - low, centers.astype(np.float64)
    whole = np.empty(len(cells), dtype=bool)
    for cell, (middle, width, own) in enumerate(zip(middles, widths, labels, strict=True)):
        squares = ((points - middle) ** 2).sum(axis=1)
        # How much farther the own center is than another one, squared, is linear inside the cell.
        lead = squares - squares[own] - np.abs(points - points[own]) @ width
        # Among equals the lowest index is nearest.
        whole[cell] = (lead[:own] > 0).all() and (lead[own:] >= 0).all()
    return whole & ~outer


def judge_cells(
    cells: GridCounts,
    centers: Ints,
    problem: Problem,
    details: dict[str, int],
    diagonals: Floats | None = None,
    *,
    reach: int = 0,
) -> KMeansResult:
    """Say how full and how sure clusters of cells are, where no step was worth its price.

    ``diagonals``: of the cells, where these are not of one size. ``reach``: how far beyond the grid
    records of its outer cells may lie; they were brought there along rays from the middle, which
    leaves halves of columns as they are, but not smaller cells.
    """
    points = centers.astype(np.float64)
    k = len(points)
    labels, squares = pairwise_distances_argmin_min(cells.midpoints, points, metric="sqeuclidean")
    sizes = np.bincount(labels, weights=cells.counts, minlength=k).astype(np.float64)
    empty_cells = noise_probabilities(cells.tails)
    if diagonals is None:
        sides = _sides(details["cells"], problem.columns)
        widths = 2 * problem.half / np.array(sides)
        diagonals = np.full(len(cells.counts), float(np.linalg.norm(widths)))
        # Records of a cell that reaches beyond the points nearest to its center may be others'.
        judged = np.flatnonzero(empty_cells < 1.0)
        whole = _whole(judged, labels[judged], sides, centers, half=problem.half, reach=reach)
        empty_cells[judged[~whole]] = 1.0
    # Noise of every cell of the region, and records anywhere inside their cells.
    noise = cells.deviation * np.sqrt(np.bincount(labels, weights=squares, minlength=k))
    inside = np.bincount(labels, weights=cells.counts * diagonals / 2, minlength=k)
    with np.errstate(divide="ignore", invalid="ignore"):
        radii = np.where(sizes > 0, (NOISE_QUANTILE * noise + inside) / sizes, np.inf)
    if problem.columns > SURE_COLUMNS:
        radii[:] = np.inf
    # The regions were chosen by the noise they are judged by: each is judged by its fullest cell,
    # among all cells.
    empty = np.ones(k)
    np.minimum.at(empty, labels, empty_cells)
    radii[radii >= farthest_corners(points, problem.half)] = np.inf
    return KMeansResult(centers, sizes, radii, empty, 1, details)
