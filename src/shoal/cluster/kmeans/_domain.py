"""Where the records are: a center and a radius, learned for a small part of the budget.

Bounds in many columns are mostly empty. A noisy histogram of distances from their middle says how
far out records are, a noisy mean of offsets clipped to that radius where they are, and a second
histogram around this mean how wide they spread. One record changes one entry of a histogram by its
weight, and one row of the windows; each later release depends on earlier ones through noisy values
only (proofs/kmeans.md, "The ball").
"""

import math
from typing import NamedTuple

import numpy as np

from shoal._typing import Floats, Ints
from shoal.cluster.kmeans._problem import Problem
from shoal.engines import Engine, radius_counts, window_statistics

__all__ = ["Domain", "DomainBudgets", "learn_domain", "noisy_radius"]

OCTAVES = 6  # the smallest radius that is looked for is 1/64 of the largest
STEPS = 6  # radii an octave
OUTSIDE = 0.02  # part of the records that may be clipped
CERTAIN = 2.0  # deviations of the noise that a tail must exceed
HALF_OF_ALL = 0.5  # no tail needs to be larger than this part of the records


class Domain(NamedTuple):
    """A lattice point and the radius around it that holds nearly all records."""

    center: Ints
    radius: int


class DomainBudgets(NamedTuple):
    """What is spent on learning a domain: each of two histograms, and the mean."""

    histogram: float
    mean: float


def learn_domain(problem: Problem, budgets: DomainBudgets) -> Domain:
    """Learn the center and radius of the records inside the public ball."""
    middle = np.zeros(problem.columns, dtype=np.int64)
    outer = noisy_radius(problem, problem.engine, Domain(middle, problem.radius), budgets.histogram)
    center = _noisy_mean(problem, Domain(middle, outer), budgets.mean)
    widest = min(problem.radius, outer) + math.ceil(float(np.linalg.norm(center)))
    radius = noisy_radius(problem, problem.engine, Domain(center, widest), budgets.histogram)
    return Domain(center, radius)


def noisy_radius(problem: Problem, engine: Engine, widest: Domain, budget: float) -> int:
    """Return a radius around the domain's center beyond which there are few records.

    From the outside in, the first edge of the histogram beyond which more records are than a small
    part of all, or than noise explains.
    """
    edges = _edges(widest.radius)
    exact = radius_counts(engine, widest.center, edges)
    noise, contribution = problem.noise, problem.contribution
    noisy = noise.counts(exact, budget, contribution=contribution, source=problem.source)
    counts = noisy[:-1].astype(np.float64)
    counts[-1] += noisy[-1]  # none is further out than the domain says, up to rounding
    tails = np.cumsum(counts[::-1])
    n = max(problem.n, 1.0) * contribution
    deviation = noise.count_deviation(budget, contribution=contribution)
    limits = CERTAIN * deviation * np.sqrt(np.arange(1, len(tails) + 1) + 1.0)
    limits = np.minimum(np.maximum(limits, OUTSIDE * n), HALF_OF_ALL * n)
    beyond = np.flatnonzero(tails > limits)
    if len(beyond) == 0:
        return widest.radius
    return int(edges[len(edges) - 1 - beyond[0]])


def _edges(largest: int) -> Ints:
    """Return radii up to the largest, so many to an octave, without those that are the same."""
    powers: Floats = 2.0 ** (-np.arange(OCTAVES * STEPS, -1, -1) / STEPS)
    edges: Ints = np.unique(np.maximum(np.rint(largest * powers), 1.0).astype(np.int64))
    return edges


def _noisy_mean(problem: Problem, domain: Domain, budget: float) -> Ints:
    """Release the mean of clipped offsets, shrunk toward the domain's center by its noise."""
    radii = np.array([domain.radius])
    exact = window_statistics(problem.engine, domain.center[None], radii)
    noisy = problem.noise.windows(
        exact, radii, budget, contribution=problem.contribution, source=problem.source
    )
    n = max(problem.n, 1.0) * problem.contribution
    move = noisy.sums[0] / n
    noise = len(move) * float(noisy.deviations.sums[0] / n) ** 2
    square = float(move @ move)
    part = max(0.0, 1.0 - noise / square) if square > 0 else 0.0  # James & Stein (1961)
    moved = np.clip(np.rint(domain.center + part * move), -problem.half, problem.half)
    lattice: Ints = moved.astype(np.int64)
    return lattice
