"""Where the records are: their level, their mean, how far from it; and places around it.

The level is the mean of all columns together, one number, so its noise is the least of all. Columns
of real tables are skewed alike, most of them to the lower end of their bounds: the level is most of
the way from the middle of the box to the mean. One record more or less moves it by at most the
public radius of the box (proofs/kmeans.md, "Around the mean").
"""

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from shoal._typing import Floats, Ints
from shoal.cluster._centers import normals
from shoal.cluster.kmeans._problem import Problem
from shoal.engines import (
    DIRECTION_UNIT,
    HALF,
    MOMENT_UNIT,
    nearest_statistics,
    project,
    window_statistics,
)
from shoal.noise import RandomSource

__all__ = ["Place", "locate", "public_directions", "release_level", "spread_centers"]

# What is usual of columns in public units, before anything is known of these records.
LEVEL_SPREAD = 0.1  # variance of levels, in radii of the box
MEAN_SPREAD = 0.1  # most variance of a column's mean around the level
USUAL_LENGTH, LENGTH_SPREAD = 0.42, 0.06  # distance from the mean in box radii; spread of squares
SHORTEST, LONGEST = 0.02, 0.4  # squared length that is believed
MEAN_WINDOW = 0.5  # of the box's radius, around the level


class Place(NamedTuple):
    """Where the records are: their noisy mean, and how far they are from it."""

    mean: Ints  # shape (d,), on the lattice
    length: float  # root of the mean squared distance from it, in lattice steps


def locate(problem: Problem, total: float, *, level_budget: float, mean_budget: float) -> Place:
    """Release the level and the mean, each shrunk by the part of its square that is noise."""
    level = release_level(problem, level_budget, total)
    usual = USUAL_LENGTH * problem.radius
    if not mean_budget:
        return Place(level, usual)
    noise, columns = problem.noise, problem.columns
    radii = np.array([max(1, round(MEAN_WINDOW * problem.radius))])
    windows = noise.windows(
        window_statistics(problem.engine, level[None], radii),
        radii,
        mean_budget,
        contribution=problem.contribution,
        source=problem.source,
    )
    moves = windows.sums[0] / total
    variance = (float(windows.deviations.sums[0]) / total) ** 2
    most = MEAN_SPREAD * problem.radius**2 / columns
    # The square of noise alone is this much above its mean in one of six releases.
    by_noise = (1 + 2 / math.sqrt(columns)) * variance
    spread = min(max(0.0, float((moves**2).mean()) - by_noise), most)
    moves *= spread / (spread + variance) if spread else 0.0
    mean = np.clip(np.rint(level + moves), -problem.half, problem.half).astype(np.int64)
    # Of the squared length, what is usual counts for as much as the noise leaves open.
    radius = float(radii[0]) ** 2
    squared = (windows.moments[0] / (MOMENT_UNIT * total) + 0.5) * radius - float((moves**2).sum())
    open_ = (windows.deviations.moments / (MOMENT_UNIT * total) * radius) ** 2
    prior = (LENGTH_SPREAD * problem.radius**2) ** 2
    squared = (prior * squared + open_ * usual**2) / (prior + open_)
    box = problem.radius**2
    return Place(mean, math.sqrt(min(max(squared, SHORTEST * box), LONGEST * box)))


def release_level(problem: Problem, budget: float, total: float) -> Ints:
    """Release the mean of all columns together: that of the records' diagonal, in one column."""
    columns = problem.columns
    diagonal = np.full(columns, 1 / math.sqrt(columns))
    lattice = np.rint(diagonal * DIRECTION_UNIT).astype(np.int64)[None]
    origin = np.zeros(columns, dtype=np.int64)
    line = project(problem.engine, origin, lattice, problem.radius)
    exact = nearest_statistics(line, np.zeros((1, 1), dtype=np.int64)).sums
    # One record of weight 1 moves the sum by at most HALF, the length of what is projected.
    contribution = problem.contribution * HALF
    noisy = problem.noise.counts(exact, budget, contribution=contribution, source=problem.source)
    deviation = problem.noise.count_deviation(budget, contribution=contribution) / total
    usual = LEVEL_SPREAD * float(HALF) ** 2
    level = float(noisy[0, 0]) / total * usual / (usual + deviation**2)
    place = np.clip(level / HALF * problem.radius * diagonal, -problem.half, problem.half)
    return np.rint(place).astype(np.int64)


def spread_centers(problem: Problem, place: Place) -> Ints:
    """Spread centers around the mean in public directions, as far as clusters usually are."""
    k, columns = problem.expected_clusters, problem.columns
    ranks = NormalDist().inv_cdf((k - 0.375) / (k + 0.25))  # the largest of k normal numbers
    if k - 1 <= columns:
        # Corners of a simplex: no two are nearer than others, and no direction counts twice.
        corners = np.linalg.svd(np.eye(k) - 1 / k)[0][:, : k - 1] * math.sqrt(k / max(k - 1, 1))
        rays = corners @ public_directions(k - 1, columns, problem.source)
        ranks *= math.sqrt(k / max(k - 1, 1))
    else:
        rays = normals((k, columns), problem.source)
        rays /= np.linalg.norm(rays, axis=1)[:, None]
    centers = place.mean + ranks * place.length / math.sqrt(columns) * rays
    return np.clip(np.rint(centers), -problem.half, problem.half).astype(np.int64)


def public_directions(p: int, columns: int, source: RandomSource) -> Floats:
    """Draw p public orthogonal directions of length 1."""
    axes: Floats = np.linalg.qr(normals((columns, p), source))[0].T
    return axes
