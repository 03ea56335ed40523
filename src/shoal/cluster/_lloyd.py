"""Noisy Lloyd on the lattice: rounds of noisy counts and sums around moving centres.

One record belongs to one centre, so adding or removing it changes one count by 1 and each column of
one sum by at most the lattice's half width. Only noisy values reach the next round, and every
entry gets noise whatever it holds (proofs/lloyd.md).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.cluster._centres import uniforms
from shoal.cluster._noise import Noise
from shoal.engines import NearestStatistics
from shoal.noise import RandomSource

__all__ = ["NoisyCentres", "noisy_lloyd"]

Integers = npt.NDArray[np.int64]

# A centre whose noisy count is below this many standard deviations of the noise is taken as empty.
EMPTY = 2.0


@dataclass(frozen=True, eq=False)
class NoisyCentres:
    """What the rounds released: lattice centres and the noisy counts of the last round."""

    centres: Integers
    counts: Integers


def noisy_lloyd(
    measure: Callable[[Integers], NearestStatistics],
    start: Integers,
    *,
    half: int,
    rounds: int,
    noise: Noise,
    share: float,
    source: RandomSource,
) -> NoisyCentres:
    """Move centres to the noisy means of their records.

    Parameters
    ----------
    measure : callable
        Exact statistics of the records around given centres.
    start : ndarray of int64, shape (k, d)
        First centres, from public values only.
    half : int
        Largest absolute value of a record's column; centres stay within it.
    rounds : int
        How many rounds to run.
    noise : Noise
        The currency.
    share : float
        What all rounds together may spend of it.
    source : RandomSource
        Where random words come from.

    Returns
    -------
    result : NoisyCentres
        Post-processing of noisy counts and sums.
    """
    k, d = start.shape
    shares = noise.split(share / rounds, d)
    threshold = EMPTY * noise.deviation(shares.counts, columns=1, reach=1)
    centres = start
    for turn in range(1, rounds + 1):
        exact = measure(centres)
        counts = noise.add(exact.counts, shares.counts, columns=1, reach=1, source=source)
        sums = noise.add(exact.sums, shares.sums, columns=d, reach=half, source=source)
        empty = counts < threshold
        moved = np.where(empty[:, None], centres, sums / np.maximum(counts, 1)[:, None])
        if turn < rounds and empty.any() and not empty.all():
            # An empty centre is wasted: it goes beside the fullest one, nearer from turn to turn.
            reach = half / (2 * turn * k ** (1 / d))
            moved[empty] = moved[counts.argmax()] + reach * uniforms((int(empty.sum()), d), source)
        centres = np.clip(np.rint(moved), -half, half).astype(np.int64)
    return NoisyCentres(centres, counts)
