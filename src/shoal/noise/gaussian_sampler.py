"""Gaussian noise on the integers, exact.

P[X = x] proportional to e^(-x^2 / (2 sigma^2)). Adding it to every column of an integer statistic
of L2 sensitivity s is (s^2 / (2 sigma^2))-zCDP (Canonne, Kamath & Steinke 2020, theorem 4), for
whichever adjacency s was computed under. Sampled by their rejection from the discrete Laplace
distribution; proofs/noise.md shows that each acceptance is decided exactly.
"""

import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.noise._interval_arithmetic import exact, is_positive, settle
from shoal.noise.laplace_sampler import check_scale, discrete_laplace
from shoal.noise.source import RandomSource

__all__ = ["discrete_gaussian"]

BITS = 64
CHUNK = 1 << 13
# Bound on the error of the doubles' acceptance probability (proofs/noise.md, lemma 3).
SLACK = 2.0**-38


def discrete_gaussian(
    size: int | tuple[int, ...], *, sigma: float | Fraction, source: RandomSource
) -> npt.NDArray[np.int64]:
    """Draw integers from the discrete Gaussian distribution.

    Parameters
    ----------
    size : int or tuple of int
        Shape of the result.
    sigma : float or Fraction
        Scale of the distribution, above 0 and at most 2^50; close to its standard deviation.
    source : RandomSource
        Source of the random numbers.

    Returns
    -------
    noise : ndarray of int64
        Independent draws.

    Examples
    --------
    >>> from shoal.noise import SeededSource, discrete_gaussian
    >>> discrete_gaussian((2, 3), sigma=4.0, source=SeededSource(1)).shape
    (2, 3)
    """
    check_scale("sigma", sigma)
    shape = (size,) if isinstance(size, int) else size
    noise = np.empty(math.prod(shape), dtype=np.int64)
    filled = 0
    while filled < noise.size:
        # About one proposal in four is refused; asking for more spares a second small round.
        wanted = min(CHUNK, (noise.size - filled) * 3 // 2 + 16)
        drawn = _accepted(wanted, Fraction(sigma), source)[: noise.size - filled]
        noise[filled : filled + drawn.size] = drawn
        filled += drawn.size
    return noise.reshape(shape)


def _accepted(count: int, sigma: Fraction, source: RandomSource) -> npt.NDArray[np.int64]:
    scale = Fraction(max(1, math.floor(sigma)))
    proposals = discrete_laplace(count, scale=scale, source=source)
    words = source.words(count)
    offsets = np.abs(proposals) - float(sigma * sigma / scale)
    likelihoods = np.exp(-0.5 * np.square(offsets / float(sigma)))
    margins = likelihoods - words.astype(np.float64) * 2.0**-BITS
    accepted = margins > 0.0
    for i in np.flatnonzero(np.abs(margins) < SLACK):
        offset = abs(int(proposals[i])) - sigma * sigma / scale
        passes = partial(_passes, exponent=offset * offset / (2 * sigma * sigma))
        accepted[i] = settle(passes, [int(words[i])], BITS, source)
    return proposals[accepted]


def _passes(context: Any, uniforms: list[Any], exponent: Fraction) -> bool:
    return is_positive(context.exp(-exact(context, exponent)) - uniforms[0])
