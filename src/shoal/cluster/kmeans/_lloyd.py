"""Noisy Lloyd on the lattice: rounds of noisy counts and sums around moving centers.

One record belongs to one center, so adding or removing it changes one count by 1 and each column of
one sum by at most the lattice's half width. Only noisy values reach the next round, and every
entry gets noise whatever it holds (proofs/kmeans.md).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shoal._typing import Ints
from shoal.cluster._centers import uniforms
from shoal.cluster._noise import NoisyPairs
from shoal.cluster.kmeans._pairs import confidence_radii, farthest_corners, noise_probabilities
from shoal.cluster.kmeans._problem import Found, Problem
from shoal.engines import nearest_statistics

__all__ = ["LastRound", "noisy_lloyd", "noisy_rounds"]


# A center whose noisy count is below this many standard deviations of the noise is taken as empty.
EMPTY = 2.0


class LastRound(NamedTuple):
    """The centers after the last round, and what it released around those before."""

    centers: Ints
    pairs: NoisyPairs


def noisy_lloyd(problem: Problem, start: Ints, rounds: int) -> Found:
    """Move centers to the noisy means of their records, in rounds of equal shares.

    Parameters
    ----------
    problem : Problem
        Records and budget.
    start : ndarray of int64, shape (k, d)
        First centers, from public values only.
    rounds : int
        How many rounds to run.

    Returns
    -------
    found : Found
        Post-processing of noisy counts and sums.
    """
    last = noisy_rounds(problem, start, [problem.share / rounds] * rounds)
    places = last.centers.astype(np.float64)
    radii = confidence_radii(last.pairs, places, farthest_corners(places, problem.half))
    # A mean that may lie anywhere is noise, whoever is there.
    empty = np.where(np.isfinite(radii), noise_probabilities(last.pairs.tails), 1.0)
    return Found(last.centers, last.pairs.counts.astype(np.float64), radii, empty, rounds)


def noisy_rounds(problem: Problem, start: Ints, shares: Sequence[float]) -> LastRound:
    """Run one round for each share.

    Parameters
    ----------
    problem : Problem
        Records and privacy_measure.
    start : ndarray of int64, shape (k, d)
        First centers, from public values only.
    shares : sequence of float
        What each round spends.

    Returns
    -------
    last : LastRound
        Centers, and the noisy pairs they were computed from.
    """
    half, unit = problem.half, problem.unit
    k, d = start.shape
    centers = start
    for turn, share in enumerate(shares, 1):
        exact = nearest_statistics(problem.engine, centers)
        pairs = problem.noise.pairs(exact, share, reach=half, unit=unit, source=problem.source)
        counts = pairs.counts
        empty = counts < EMPTY * pairs.deviations.counts
        moved = np.where(empty[:, None], centers, pairs.sums / np.maximum(counts, 1)[:, None])
        if turn < len(shares) and empty.any() and not empty.all():
            # An empty center is wasted: it goes beside the fullest one, nearer from turn to turn.
            step = half / (2 * turn * k ** (1 / d))
            near = step * uniforms((int(empty.sum()), d), problem.source)
            moved[empty] = moved[counts.argmax()] + near
        centers = np.clip(np.rint(moved), -half, half).astype(np.int64)
    return LastRound(centers, pairs)
