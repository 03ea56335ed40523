"""DP-KCCM with its promise kept: over-cluster, noisy rounds, then merge the nearest centers.

The source starts with ``overcluster`` times as many centers as are wanted, moves them for T noisy
rounds and merges the two nearest until k remain. Its noise does not depend on epsilon (MATH section
6); here the shares of the rounds add up to the budget. Merging reads noisy centers and sizes only,
so it is post-processing (proofs/kmeans.md).
"""

import math
from typing import Literal, NamedTuple

import numpy as np

from shoal._typing import Floats
from shoal.cluster._budget import CountSum
from shoal.cluster._centers import pack_spheres
from shoal.cluster._noise import NoisyPairs
from shoal.cluster.kmeans._lloyd import noisy_rounds
from shoal.cluster.kmeans._pairs import confidence_radii, farthest_corners, noise_probabilities
from shoal.cluster.kmeans._problem import Found, Problem

__all__ = ["KCCM_NOISE", "KccmNoise", "Merged", "kccm", "merge_nearest", "round_shares"]


KccmNoise = Literal["average", "allocation", "gaussian"]
KCCM_NOISE: tuple[KccmNoise, ...] = ("average", "allocation", "gaussian")
ROUNDS = 12  # of the source


class Merged(NamedTuple):
    """What is left after merging; ``members`` are indices of the centers that became one."""

    centers: Floats
    sizes: Floats
    members: list[list[int]]


def kccm(problem: Problem, *, noise: KccmNoise, overcluster: int, rounds: int) -> Found:
    """Find more clusters than wanted, and merge them.

    Parameters
    ----------
    problem : Problem
        Records and budget; its privacy measure fits ``noise``.
    noise : {"average", "allocation", "gaussian"}
        How the budget is divided over rounds.
    overcluster : int
        Centers at the start for each one wanted; 1 merges nothing.
    rounds : int
        How many rounds to run.

    Returns
    -------
    found : Found
        Post-processing of noisy counts and sums.
    """
    k, d, half = problem.expected_clusters, problem.columns, problem.half
    start = np.rint(pack_spheres(overcluster * k, d, problem.source) * half).astype(np.int64)
    shares = round_shares(problem.share, rounds, noise)
    last = noisy_rounds(problem, start, shares)
    sizes = last.pairs.counts.astype(np.float64)
    merged = merge_nearest(last.centers.astype(np.float64), sizes, k)
    centers = np.rint(merged.centers)
    pooled = [_pooled(last.pairs, members) for members in merged.members]
    radii = np.array(
        [
            confidence_radii(pairs, place, farthest_corners(place, half))[0]
            for pairs, place in zip(pooled, centers[:, None], strict=True)
        ]
    )
    # Which centers were merged depends on their noise, so each counts as one of all of them.
    each = noise_probabilities(last.pairs.tails)
    empty = np.array([each[members].min() for members in merged.members])
    empty[np.isinf(radii)] = 1.0  # a mean that may lie anywhere is noise
    return Found(centers.astype(np.int64), merged.sizes, radii, empty, rounds)


def round_shares(share: float, rounds: int, noise: KccmNoise) -> list[float]:
    """Divide a share over rounds: alike, or later rounds more.

    Parameters
    ----------
    share : float
        To be divided.
    rounds : int
        Number of rounds T.
    noise : {"average", "allocation", "gaussian"}
        ``"allocation"``: round t gets t / (1 + ... + T); otherwise 1 / T.

    Returns
    -------
    shares : list of float
        One a round; they add up to ``share``.
    """
    if noise == "allocation":
        return [share * t / (rounds * (rounds + 1) / 2) for t in range(1, rounds + 1)]
    return [share / rounds] * rounds


def merge_nearest(centers: Floats, sizes: Floats, k: int) -> Merged:
    """Merge the two nearest centers into their mean until k remain.

    Parameters
    ----------
    centers : ndarray of float64, shape (m, d)
        Noisy centers.
    sizes : ndarray of float64, shape (m,)
        Noisy sizes; as weights of a mean they count at least 1.
    k : int
        How many to keep.

    Returns
    -------
    merged : Merged
        The k that remain, in the order of their first members; of equal gaps the first one goes.
    """
    places, counts = centers.copy(), sizes.copy()
    members = [[i] for i in range(len(places))]
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    alive = np.ones(len(places), dtype=bool)
    for _ in range(len(places) - k):
        p, q = (int(i) for i in np.unravel_index(gaps.argmin(), gaps.shape))
        weights = np.maximum(counts[[p, q]], 1.0)
        places[p] = weights @ places[[p, q]] / weights.sum()
        counts[p] += counts[q]
        members[p] += members[q]
        alive[q] = False
        gaps[q] = gaps[:, q] = np.inf
        row = np.where(alive, np.linalg.norm(places - places[p], axis=1), np.inf)
        row[p] = np.inf
        gaps[p] = gaps[:, p] = row
    return Merged(places[alive], counts[alive], [members[i] for i in np.flatnonzero(alive)])


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
