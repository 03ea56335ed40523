"""Principal directions of the records, from one noisy matrix of second moments.

The matrix is the sum of y y^T over records, y the offset from a released center clipped to a
released radius: one record moves it by at most the square of that radius in Frobenius norm. It is
neither centered again nor divided by a true count. Noise of a symmetric matrix has eigenvalues of
its own; directions below these say nothing, and where few are above, rounds are cheaper among
those. Eigenvectors and whatever follows from them are post-processing.
"""

import math
from typing import NamedTuple

import numpy as np

from shoal._typing import Floats, Ints
from shoal.cluster._noise import GDPNoise
from shoal.cluster.kmeans._domain import Domain
from shoal.cluster.kmeans._problem import Problem
from shoal.cluster.kmeans._synopsis import one_thread
from shoal.engines import DIRECTION_UNIT, HALF, SECOND_UNIT, Engine, project, second_moments

__all__ = ["MAX_AXES_COLUMNS", "Axes", "Projected", "project_records", "release_axes"]

MAX_AXES_COLUMNS = 2048  # of more, the matrix and its eigenvectors take too long
ABOVE = 0.7  # an eigenvalue counts from this part of the largest one that noise has


class Axes(NamedTuple):
    """Orthonormal directions, the one with most variance first."""

    directions: Floats  # shape (d, d), a direction in each column
    variances: Floats  # shape (d,): of the records, in squared lattice steps; none below 0
    certain: int  # number of directions whose variance is above the noise


class Projected(NamedTuple):
    """Records in fewer columns, and how to get back."""

    engine: Engine
    axes: Floats  # shape (d, p): unit vectors
    scale: float  # lattice steps of the records in one of the projected lattice


def release_axes(problem: Problem, noise: GDPNoise, domain: Domain, budget: float) -> Axes:
    """Spend the budget on second moments around the domain's center."""
    exact = second_moments(problem.engine, domain.center, domain.radius)
    noisy = noise.second_moments(
        exact,
        budget,
        clip_radius=SECOND_UNIT,
        contribution=problem.contribution,
        source=problem.source,
    )
    n = max(problem.n, 1.0) * problem.contribution
    step = (domain.radius / SECOND_UNIT) ** 2 / n
    with one_thread():
        values, vectors = np.linalg.eigh(noisy.matrix * step)
    # Eigenvalues of the noise alone reach sqrt(2 d) times its deviation.
    largest = noisy.deviation * step * math.sqrt(2 * problem.columns)
    certain = int((values > ABOVE * largest).sum())
    return Axes(vectors[:, ::-1], np.maximum(values[::-1], 0.0), certain)


def project_records(problem: Problem, domain: Domain, axes: Axes) -> Projected:
    """Bring records to the directions that are certain; the domain's radius becomes HALF."""
    kept = axes.directions[:, : axes.certain]
    directions: Ints = np.rint(kept.T * DIRECTION_UNIT).astype(np.int64)
    engine = project(problem.engine, domain.center, directions, domain.radius)
    return Projected(engine, kept, domain.radius / HALF)
