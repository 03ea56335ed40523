"""Two-sided geometric noise on the integers, exact.

P[X = x] = (1 - q)/(1 + q) * q^|x| with q = e^(-1/scale). Adding it to an integer statistic of L1
sensitivity s is (s/scale)-differentially private (Ghosh, Roughgarden & Sundararajan 2012), for
whichever adjacency s was computed under. proofs/noise.md shows that the arithmetic below draws from
this very distribution, not from an approximation of it.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.exceptions import ParameterError
from shoal.noise._interval_arithmetic import exact, floor_of, log_of, settle
from shoal.noise.source import RandomSource

__all__ = ["MAX_SCALE", "check_scale", "discrete_laplace"]

#: Largest scale of discrete Laplace noise; values then stay far from the ends of int64.
MAX_SCALE = 2.0**50

BITS = 63  # of a word: one bit is the sign, the rest the magnitude's uniform
CHUNK = 1 << 13  # draws at a time, so that every intermediate stays in cache
# A uniform below 2^(TRUSTED - BITS) has too few known bits for the doubles' error bound.
TRUSTED = 44
# Bound on the error of the doubles' exponent, in units of the scale (proofs/noise.md, lemma 2).
SLACK = 2.0**-41


def discrete_laplace(
    size: int | tuple[int, ...], *, scale: float | Fraction, source: RandomSource
) -> npt.NDArray[np.int64]:
    """Draw integers from the discrete Laplace (two-sided geometric) distribution.

    Parameters
    ----------
    size : int or tuple of int
        Shape of the result.
    scale : float or Fraction
        Scale of the distribution, above 0 and at most 2^50.
    source : RandomSource
        Source of the random numbers.

    Returns
    -------
    noise : ndarray of int64
        Independent draws.

    Examples
    --------
    >>> from shoal.noise import SeededSource, discrete_laplace
    >>> discrete_laplace(5, scale=2.0, source=SeededSource(1)).dtype
    dtype('int64')
    """
    check_scale("scale", scale)
    shape = (size,) if isinstance(size, int) else size
    noise = np.empty(math.prod(shape), dtype=np.int64)
    for start in range(0, noise.size, CHUNK):
        part = noise[start : start + CHUNK]
        _fill(part, source.words(part.size), Fraction(scale), source)
    return noise.reshape(shape)


def check_scale(name: str, scale: float | Fraction) -> None:
    """Refuse a scale that no sampler can draw at."""
    if not 0 < scale <= MAX_SCALE:
        raise ParameterError(f"{name} must be above 0 and at most 2^50, got {scale!r}")


def _fill(
    noise: npt.NDArray[np.int64],
    words: npt.NDArray[np.uint64],
    scale: Fraction,
    source: RandomSource,
) -> None:
    # |X| >= k iff V <= 2 q^k / (1 + q): |X| = floor(scale * (ln(2 / (1 + q)) - ln V)), cut at 0.
    signs = words.view(np.int64) >> 63
    uniforms = (words & np.uint64(2**BITS - 1)).view(np.int64)
    times = float(scale)
    constant = math.log(2.0) - math.log1p(math.exp(-1.0 / times)) + BITS * math.log(2.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # a zero word is settled below
        exponents = uniforms.astype(np.float64)
        np.log(exponents, out=exponents)
        np.subtract(constant, exponents, out=exponents)
        exponents *= times
        floors = np.floor(exponents)
        exponents -= floors
        exponents -= 0.5
        np.abs(exponents, out=exponents)
        unsure = ~(exponents < 0.5 - SLACK * times)
        unsure |= uniforms < 2**TRUSTED
        np.maximum(floors, 0.0, out=floors)
        magnitudes = floors.astype(np.int64)
    for i in np.flatnonzero(unsure):
        magnitudes[i] = settle(
            lambda c, u: _magnitude(c, u, scale), [int(uniforms[i])], BITS, source
        )
    np.bitwise_xor(magnitudes, signs, out=noise)  # minus a number is its complement plus one
    noise -= signs


def _magnitude(context: Any, uniforms: list[Any], scale: Fraction) -> int:
    times = exact(context, scale)
    odds = context.exp(-1 / times)
    return max(0, floor_of(times * (context.log(2 / (1 + odds)) - log_of(context, uniforms[0]))))
