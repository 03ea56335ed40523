"""Noisy Lloyd on the lattice: rounds of noisy counts and sums around moving centers.

One record belongs to one center, so adding or removing it changes one count by 1 and each column of
one sum by at most the lattice's half width. Only noisy values reach the next round, and every
entry gets noise whatever it holds (proofs/kmeans.md). The number of rounds is that of Su, Cao, Li,
Bertino & Jin (2016).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shoal._typing import Ints
from shoal.cluster._budget import count_weight
from shoal.cluster._centers import pack_spheres, uniforms
from shoal.cluster._noise import Body, BudgetedNoise, GDPNoise, NoisyPairs, PureNoise
from shoal.cluster.kmeans._problem import (
    KMeansMethod,
    KMeansResult,
    Problem,
    confidence_radii,
    farthest_corners,
    noise_probabilities,
)
from shoal.engines import nearest_statistics
from shoal.privacy import epsilon_to_gdp

__all__ = ["LastRound", "LloydMethod", "first_centers", "lloyd_rounds", "noisy_rounds"]

TOLERANCE = 0.004  # largest squared error of a center that a round should add (Su et al.)
MIN_ROUNDS, MAX_ROUNDS = 2, 7
# A center whose noisy count is below this many standard deviations of the noise is taken as empty.
EMPTY = 2.0


class LloydMethod(KMeansMethod):
    """Rounds of equal budgets, from centers that are packed into the box."""

    name = "lloyd"

    def make_noise(self, body: Body) -> BudgetedNoise:
        """Return the noise that the estimator's epsilon and delta buy for records of this body."""
        epsilon, delta = float(self.model.epsilon), float(self.model.delta)
        if delta > 0:
            return GDPNoise(epsilon_to_gdp(epsilon, delta) ** 2, self.model.split, cube=True)
        return PureNoise(epsilon, self.model.split)

    @property
    def needs_n(self) -> bool:
        """Return whether the method must know the number of records, public or noisy."""
        return self.model.max_iter is None

    def smallest_budget(self, budget: float) -> float:
        """Return the least that a single release gets of the method's budget."""
        return budget / (self.model.max_iter or MAX_ROUNDS)

    def run(self, problem: Problem) -> KMeansResult:
        """Move centers to the noisy means of their records."""
        k, d = problem.expected_clusters, problem.columns
        start = first_centers(problem, k)
        epsilon = float(self.model.epsilon)
        rounds = int(self.model.max_iter or lloyd_rounds(problem.n, d, k, epsilon))
        last = noisy_rounds(problem, start, [problem.budget / rounds] * rounds)
        points = last.centers.astype(np.float64)
        radii = confidence_radii(last.pairs, points, farthest_corners(points, problem.half))
        # A mean that may lie anywhere is noise, whoever is there.
        empty = np.where(np.isfinite(radii), noise_probabilities(last.pairs.tails), 1.0)
        counts = last.pairs.counts.astype(np.float64)
        return KMeansResult(last.centers, counts, radii, empty, rounds)


class LastRound(NamedTuple):
    """The centers after the last round, and what it released around those before."""

    centers: Ints
    pairs: NoisyPairs


def first_centers(problem: Problem, k: int) -> Ints:
    """Return k lattice centers that are spread over the box, from public values only."""
    centers = pack_spheres(k, problem.columns, problem.source)
    return np.rint(centers * problem.half).astype(np.int64)


def lloyd_rounds(n: float, columns: int, n_clusters: int, epsilon: float) -> int:
    """Choose how many rounds epsilon buys, of which none should move a center far by noise."""
    weight = columns + count_weight(columns)
    needed = math.sqrt(2 / TOLERANCE * (n_clusters * weight) ** 3) / max(n, 1.0)
    return int(min(max(epsilon / needed, MIN_ROUNDS), MAX_ROUNDS))


def noisy_rounds(problem: Problem, start: Ints, budgets: Sequence[float]) -> LastRound:
    """Run one round for each budget, from centers of public values only."""
    half, source = problem.half, problem.source
    k, d = start.shape
    centers = start
    for turn, budget in enumerate(budgets, 1):
        exact = nearest_statistics(problem.engine, centers)
        pairs = problem.noise.pairs(
            exact, budget, clip_radius=half, contribution=problem.contribution, source=source
        )
        counts = pairs.counts
        empty = counts < EMPTY * pairs.deviations.counts
        moved = np.where(empty[:, None], centers, pairs.sums / np.maximum(counts, 1)[:, None])
        if turn < len(budgets) and empty.any() and not empty.all():
            # An empty center is wasted: it goes beside the fullest one, nearer from turn to turn.
            step = half / (2 * turn * k ** (1 / d))
            near = step * uniforms((int(empty.sum()), d), source)
            moved[empty] = moved[counts.argmax()] + near
        centers = np.clip(np.rint(moved), -half, half).astype(np.int64)
    return LastRound(centers, pairs)
