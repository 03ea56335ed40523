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
from sklearn.metrics import pairwise_distances_argmin_min

from shoal._typing import Floats, Ints
from shoal.cluster._noise import Noise
from shoal.cluster.kmeans._denoise import posterior_counts
from shoal.cluster.kmeans._n_clusters import count_clusters
from shoal.cluster.kmeans._pairs import (
    confidence_radii,
    farthest_corners,
    noise_probabilities,
    shrunken_moves,
)
from shoal.cluster.kmeans._problem import Found, Problem
from shoal.cluster.kmeans._synopsis import cluster_points
from shoal.engines import grid_counts, grid_edges, nearest_statistics

__all__ = [
    "GRID_SHARE",
    "WIDEST_GRID",
    "WINDOW",
    "Cells",
    "Plan",
    "cluster_cells",
    "count_cells",
    "grid_kmeans",
    "plan_grid",
    "polish",
    "release_cells",
]


GRID_SHARE = 0.5
FINENESS = 10.0  # records times epsilon for one cell in two columns (Su et al.)
CELLS_PER_CLUSTER = 8  # fewer cells cannot tell the clusters apart
MAX_CELLS = 2**17
WIDEST_GRID = 16  # columns that are cut; where there are more, the step alone sees the others
WINDOW = 0.5  # of the spacing of k centers in the box, to each side
BLUR = 5.0  # a step is worth taking while its noise is below a cell's width over this
SHARP = 80.0  # and two steps while it is below the width over this
COARSE_CELLS, COARSE_COLUMNS = 3, 6  # without a step, two cells a column are too coarse up to 6
FAINT = 1e-3  # cells below this part of the largest are left out of the clustering
NOISE_QUANTILE = 2.0  # standard deviations of a sum over many cells, for 95%


class Plan(NamedTuple):
    """How to divide the budget: cells to a column, share of the grid, steps and their window."""

    cells: int
    grid_share: float
    steps: int
    reach: int


class Cells(NamedTuple):
    """A released grid: midpoints of its cells, noisy counts, and estimates of the true ones.

    ``tails``: probability of each noisy count, or a larger one, in an empty cell.
    """

    midpoints: Floats
    noisy: Ints
    counts: Floats
    deviation: float
    tails: Floats


def plan_grid(
    n: float, columns: int, n_clusters: int, *, noise: Noise, share: float, half: int
) -> Plan:
    """Choose the grid, and whether a step around its centers is worth its price.

    Parameters
    ----------
    n : float
        Number of records, public or noisy, in units of what one person may add.
    columns, n_clusters : int
        Sizes.
    noise : Noise
        The privacy measure.
    share : float
        What the method may spend.
    half : int
        Half the width of the box.

    Returns
    -------
    plan : Plan
        From public or noisy numbers alone.
    """
    spacing = WINDOW * half / n_clusters ** (1 / columns)
    reach = max(1, round(spacing * (math.sqrt(columns) if noise.shape == "ball" else 1.0)))
    split = _cells(n, columns, n_clusters, noise, GRID_SHARE * share)
    step = noise.pair_deviations((1 - GRID_SHARE) * share, columns=columns, reach=reach, unit=1)
    blur = step.sums * n_clusters / max(n, 1.0)
    width = 2 * half / split
    if blur < width / BLUR:
        steps = 2 if blur < width / SHARP else 1
        return Plan(split, GRID_SHARE, steps, reach)
    alone = _cells(n, columns, n_clusters, noise, share)
    if columns <= COARSE_COLUMNS:
        alone = max(alone, COARSE_CELLS)
    return Plan(alone, 1.0, 0, reach)


def grid_kmeans(problem: Problem) -> Found:
    """Cluster the cells of a noisy grid, and move the centers once.

    Parameters
    ----------
    problem : Problem
        Records and budget.

    Returns
    -------
    found : Found
        Post-processing of noisy counts and sums.
    """
    expected = problem.expected_clusters
    plan = plan_grid(
        problem.n,
        problem.columns,
        expected,
        noise=problem.noise,
        share=problem.share,
        half=problem.half,
    )
    cells = release_cells(problem, plan.cells, plan.grid_share * problem.share)
    k = problem.n_clusters or count_cells(cells, problem)
    centers = cluster_cells(cells, k, problem)
    details = {"cells": plan.cells}
    if plan.grid_share == 1.0:
        return _from_cells(cells, centers, problem, details)
    step_share = (1 - plan.grid_share) * problem.share / plan.steps
    for _ in range(plan.steps):
        found = polish(problem, centers, step_share, plan.reach)
        centers = found.centers
    return replace(found, rounds=plan.steps, details=details)


def release_cells(problem: Problem, cells: int, share: float) -> Cells:
    """Release the noisy counts of a grid.

    Parameters
    ----------
    problem : Problem
        Records and privacy_measure.
    cells : int
        Cells to a column.
    share : float
        What the counts cost.

    Returns
    -------
    cells : Cells
        Noisy counts and what follows from them.
    """
    cut = min(problem.columns, WIDEST_GRID)
    sides = (cells,) * cut + (1,) * (problem.columns - cut)
    exact = grid_counts(problem.engine, sides, problem.half).ravel()
    noise, unit = problem.noise, problem.unit
    noisy = noise.counts(exact, share, unit=unit, source=problem.source)
    return Cells(
        _midpoints(sides, problem.half),
        noisy,
        posterior_counts(noisy, noise, share, unit=unit),
        noise.count_deviation(share, unit=unit),
        noise.count_tails(noisy, share, unit=unit),
    )


def count_cells(cells: Cells, problem: Problem) -> int:
    """Choose the number of clusters from released cells.

    Parameters
    ----------
    cells : Cells
        The grid.
    problem : Problem
        For the most clusters that may be chosen.

    Returns
    -------
    n_clusters : int
        Post-processing of the noisy counts.
    """
    kept = cells.counts > FAINT * cells.counts.max()
    width = 2 * problem.half / len(cells.counts) ** (1 / min(problem.columns, WIDEST_GRID))
    return count_clusters(
        cells.midpoints[kept],
        cells.counts[kept],
        most=problem.most_clusters,
        blur=problem.columns * width**2 / 12,
        source=problem.source,
    )


def cluster_cells(cells: Cells, k: int, problem: Problem) -> Ints:
    """Find k centers among released cells.

    Parameters
    ----------
    cells : Cells
        The grid.
    k : int
        How many.
    problem : Problem
        For the box and the random starts.

    Returns
    -------
    centers : ndarray of int64, shape (k, d)
        Lattice centers.
    """
    kept = cells.counts > FAINT * cells.counts.max()
    if kept.sum() < k:  # too little is certain: the k cells that look fullest
        kept = np.argsort(-cells.noisy, kind="stable")[:k]
    points, weights = cells.midpoints[kept], np.maximum(cells.counts[kept], 1e-6)
    centers = cluster_points(points, weights, k, problem.source)
    return np.clip(np.rint(centers), -problem.half, problem.half).astype(np.int64)


def polish(problem: Problem, centers: Ints, share: float, reach: int) -> Found:
    """Move centers once toward the noisy means of the records around them.

    Parameters
    ----------
    problem : Problem
        Records and privacy_measure.
    centers : ndarray of int64, shape (k, d)
        Where they are, from released values.
    share : float
        What the step costs.
    reach : int
        How far a record can pull, to each side or in all.

    Returns
    -------
    found : Found
        Moved centers.
    """
    noise, half = problem.noise, problem.half
    exact = nearest_statistics(problem.engine, centers, reach=reach, shape=noise.shape)
    pairs = noise.pairs(exact, share, reach=reach, unit=problem.unit, source=problem.source)
    moves = shrunken_moves(pairs, reach)
    moved = np.clip(np.rint(centers + moves), -half, half).astype(np.int64)
    corners = farthest_corners(moved, half)
    radii = confidence_radii(pairs, (moved - centers).astype(np.float64), corners)
    empty = noise_probabilities(pairs.tails)
    return Found(moved, pairs.counts.astype(np.float64), radii, empty, 1)


def _midpoints(sides: tuple[int, ...], half: int) -> Floats:
    axes = []
    for cells in sides:
        edges = grid_edges(cells, half)
        axes.append((edges[:-1] + edges[1:]) / 2)
    return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)


def _cells(n: float, columns: int, n_clusters: int, noise: Noise, share: float) -> int:
    # A Laplace scale is its deviation over sqrt 2; Su et al. count in records times epsilon.
    signal = n * math.sqrt(2) / noise.count_deviation(share, unit=1) / FINENESS
    signal = min(max(signal, 0.0), MAX_CELLS**2.0)  # more is finer than any grid
    exponent = 2 * columns / (2 + columns)
    wanted = max(float(CELLS_PER_CLUSTER * n_clusters), signal**exponent)
    most = max(2, math.floor(MAX_CELLS ** (1 / min(columns, WIDEST_GRID)) + 1e-9))
    return int(min(max(2, round(wanted ** (1 / columns))), most))


def _from_cells(cells: Cells, centers: Ints, problem: Problem, details: dict[str, int]) -> Found:
    places = centers.astype(np.float64)
    k = len(places)
    labels, squares = pairwise_distances_argmin_min(cells.midpoints, places, metric="sqeuclidean")
    sizes = np.bincount(labels, weights=cells.counts, minlength=k).astype(np.float64)
    # Noise of every cell of the region, and records anywhere inside their cells.
    noise = cells.deviation * np.sqrt(np.bincount(labels, weights=squares, minlength=k))
    cell = 2 * problem.half / details["cells"] * math.sqrt(problem.columns) / 2
    with np.errstate(divide="ignore"):
        radii = np.where(sizes > 0, NOISE_QUANTILE * noise / sizes + cell, np.inf)
    # The regions were chosen by the noise they are judged by: each is judged by its fullest cell,
    # among all cells of the grid.
    empty = np.ones(k)
    np.minimum.at(empty, labels, noise_probabilities(cells.tails))
    radii[radii >= farthest_corners(places, problem.half)] = np.inf
    return Found(centers, sizes, radii, empty, 1, details)
