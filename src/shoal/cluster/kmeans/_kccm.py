"""DP-KCCM with its promise kept: over-cluster, noisy rounds, then merge the nearest centers.

The source starts with ``overcluster`` times as many centers as are wanted, moves them for T noisy
rounds and merges the two nearest until k remain. Its noise does not depend on epsilon (MATH section
6); here those of the rounds add up to the budget. Merging reads noisy centers and sizes only,
so it is post-processing (proofs/kmeans.md).
"""

import math
from typing import Literal, NamedTuple

import numpy as np

from shoal._typing import Floats
from shoal.cluster._budget import CountSum
from shoal.cluster._noise import Body, BudgetedNoise, GDPNoise, NoisyPairs, PureNoise
from shoal.cluster.kmeans._lloyd import first_centers, noisy_rounds
from shoal.cluster.kmeans._problem import (
    KMeansMethod,
    KMeansResult,
    Problem,
    confidence_radii,
    farthest_corners,
    noise_probabilities,
)
from shoal.privacy import epsilon_to_gdp

__all__ = [
    "KCCM_NOISE",
    "KCCM_ROUNDS",
    "KCCMMethod",
    "KCCMNoise",
    "Merged",
    "merge_nearest",
    "round_budgets",
]

#: Kinds of noise of DP-KCCM: the parameter ``noise`` of :class:`shoal.DPKMeans`.
KCCMNoise = Literal["average", "allocation", "gaussian"]
#: All kinds of noise of DP-KCCM.
KCCM_NOISE: tuple[KCCMNoise, ...] = ("average", "allocation", "gaussian")
#: Number of rounds of DP-KCCM in its paper.
KCCM_ROUNDS = 12


class KCCMMethod(KMeansMethod):
    """Find more clusters than wanted in noisy rounds, and merge them."""

    name = "kccm"

    def make_noise(self, body: Body) -> BudgetedNoise:
        """Return the noise that the estimator's epsilon and delta buy for records of this body."""
        epsilon, delta = float(self.model.epsilon), float(self.model.delta)
        if self.model.noise == "gaussian":
            return GDPNoise(epsilon_to_gdp(epsilon, delta) ** 2, "equal", cube=True)
        return PureNoise(epsilon, "equal")

    @property
    def needs_n(self) -> bool:
        """Return whether the method must know the number of records, public or noisy."""
        return False

    def smallest_budget(self, budget: float) -> float:
        """Return the least that a single release gets of the method's budget."""
        rounds = self.model.max_iter or KCCM_ROUNDS
        return budget / (rounds * (rounds + 1) / 2 if self.model.noise == "allocation" else rounds)

    def run(self, problem: Problem) -> KMeansResult:
        """Move ``overcluster`` times as many centers as are wanted, and merge the nearest."""
        half, k = problem.half, problem.expected_clusters
        start = first_centers(problem, int(self.model.overcluster) * k)
        rounds = int(self.model.max_iter or KCCM_ROUNDS)
        last = noisy_rounds(problem, start, round_budgets(problem.budget, rounds, self.model.noise))
        sizes = last.pairs.counts.astype(np.float64)
        merged = merge_nearest(last.centers.astype(np.float64), sizes, k)
        centers = np.rint(merged.centers)
        pooled = [_pooled(last.pairs, members) for members in merged.members]
        radii = np.array(
            [
                confidence_radii(pairs, point, farthest_corners(point, half))[0]
                for pairs, point in zip(pooled, centers[:, None], strict=True)
            ]
        )
        # Which centers were merged depends on their noise, so each counts as one of all of them.
        each = noise_probabilities(last.pairs.tails)
        empty = np.array([each[members].min() for members in merged.members])
        empty[np.isinf(radii)] = 1.0  # a mean that may lie anywhere is noise
        return KMeansResult(centers.astype(np.int64), merged.sizes, radii, empty, rounds)


class Merged(NamedTuple):
    """What is left after merging; ``members`` are indices of the centers that became one."""

    centers: Floats
    sizes: Floats
    members: list[list[int]]


def round_budgets(budget: float, rounds: int, noise: KCCMNoise) -> list[float]:
    """Divide a budget over T rounds: alike, or t / (1 + ... + T) for round t (allocation)."""
    if noise == "allocation":
        return [budget * t / (rounds * (rounds + 1) / 2) for t in range(1, rounds + 1)]
    return [budget / rounds] * rounds


def merge_nearest(centers: Floats, sizes: Floats, k: int) -> Merged:
    """Merge the two nearest centers into their mean until k remain."""
    points, counts = centers.copy(), sizes.copy()
    members = [[i] for i in range(len(points))]
    gaps = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    alive = np.ones(len(points), dtype=bool)
    for _ in range(len(points) - k):
        p, q = (int(i) for i in np.unravel_index(gaps.argmin(), gaps.shape))
        weights = np.maximum(counts[[p, q]], 1.0)
        points[p] = weights @ points[[p, q]] / weights.sum()
        counts[p] += counts[q]
        members[p] += members[q]
        alive[q] = False
        gaps[q] = gaps[:, q] = np.inf
        row = np.where(alive, np.linalg.norm(points - points[p], axis=1), np.inf)
        row[p] = np.inf
        gaps[p] = gaps[:, p] = row
    return Merged(points[alive], counts[alive], [members[i] for i in np.flatnonzero(alive)])


def _pooled(pairs: NoisyPairs, members: list[int]) -> NoisyPairs:
    """Add up the pairs of merged centers: one pair with the noise of all of them.

    Their records' exact mean is that of the pooled pair, whatever weights merged the centers.
    """
    spread = math.sqrt(len(members))
    return NoisyPairs(
        pairs.counts[members].sum(keepdims=True),
        pairs.sums[members].sum(axis=0, keepdims=True),
        CountSum(*(spread * deviation for deviation in pairs.deviations)),
        np.ones(1),  # not asked for: a bound of any probability
    )
