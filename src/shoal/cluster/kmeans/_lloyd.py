"""Noisy Lloyd on the lattice: rounds of noisy counts and sums around moving centres.

One record belongs to one centre, so adding or removing it changes one count by 1 and each column of
one sum by at most the lattice's half width. Only noisy values reach the next round, and every
entry gets noise whatever it holds (proofs/kmeans.md).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.cluster._centres import uniforms
from shoal.cluster._noise import NoisyPairs
from shoal.cluster.kmeans._pairs import confidence_radii, farthest_corners, noise_probabilities
from shoal.cluster.kmeans._problem import Found, Problem
from shoal.engines import nearest_statistics

__all__ = ["LastRound", "noisy_lloyd", "noisy_rounds"]

Integers = npt.NDArray[np.int64]

# A centre whose noisy count is below this many standard deviations of the noise is taken as empty.
EMPTY = 2.0


class LastRound(NamedTuple):
    """The centres after the last round, and what it released around those before."""

    centres: Integers
    pairs: NoisyPairs


def noisy_lloyd(problem: Problem, start: Integers, rounds: int) -> Found:
    """Move centres to the noisy means of their records, in rounds of equal shares.

    Parameters
    ----------
    problem : Problem
        Records and budget.
    start : ndarray of int64, shape (k, d)
        First centres, from public values only.
    rounds : int
        How many rounds to run.

    Returns
    -------
    found : Found
        Post-processing of noisy counts and sums.
    """
    last = noisy_rounds(problem, start, [problem.share / rounds] * rounds)
    places = last.centres.astype(np.float64)
    radii = confidence_radii(last.pairs, places, farthest_corners(places, problem.half))
    # A mean that may lie anywhere is noise, whoever is there.
    empty = np.where(np.isfinite(radii), noise_probabilities(last.pairs.tails), 1.0)
    return Found(last.centres, last.pairs.counts.astype(np.float64), radii, empty, rounds)


def noisy_rounds(problem: Problem, start: Integers, shares: Sequence[float]) -> LastRound:
    """Run one round for each share.

    Parameters
    ----------
    problem : Problem
        Records and currency.
    start : ndarray of int64, shape (k, d)
        First centres, from public values only.
    shares : sequence of float
        What each round spends.

    Returns
    -------
    last : LastRound
        Centres, and the noisy pairs they were computed from.
    """
    half, unit = problem.half, problem.unit
    k, d = start.shape
    centres = start
    for turn, share in enumerate(shares, 1):
        exact = nearest_statistics(problem.engine, centres)
        pairs = problem.noise.pairs(exact, share, reach=half, unit=unit, source=problem.source)
        counts = pairs.counts
        empty = counts < EMPTY * pairs.deviations.counts
        moved = np.where(empty[:, None], centres, pairs.sums / np.maximum(counts, 1)[:, None])
        if turn < len(shares) and empty.any() and not empty.all():
            # An empty centre is wasted: it goes beside the fullest one, nearer from turn to turn.
            step = half / (2 * turn * k ** (1 / d))
            near = step * uniforms((int(empty.sum()), d), problem.source)
            moved[empty] = moved[counts.argmax()] + near
        centres = np.clip(np.rint(moved), -half, half).astype(np.int64)
    return LastRound(centres, pairs)
