"""Normal noise, rounded to the lattice, exact.

An integer plus a rounded normal number is their sum, rounded: post-processing of the Gaussian
mechanism. So noise of standard deviation sigma on integers of L2 sensitivity s keeps Gaussian
differential privacy with mu = s / sigma exactly (Dong, Roth & Su 2022), for whichever adjacency s
was computed under. The discrete Gaussian distribution does not (proofs/gdp.md). Drawn in pairs (Box
& Muller 1958); proofs/noise.md shows that the integers below have exactly the distribution of the
rounded reals.
"""

import math
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.noise._interval_arithmetic import floor_of, log_of, settle
from shoal.noise.k_norm_sampler import turned_pairs
from shoal.noise.laplace_sampler import MAX_SCALE
from shoal.noise.source import RandomSource

__all__ = ["rounded_gaussian"]

BITS = 63
CHUNK = 1 << 14  # pairs at a time, so that intermediates stay in cache
TRUSTED = 47  # a uniform below 2^(TRUSTED - BITS) has too few known bits for the bound below
SHORTEST = 2.0**-16  # a smaller exponential has lost too many bits, likewise
SLACK = 2.0**-43  # error of the doubles per unit of sigma (proofs/noise.md, lemma 14)


def rounded_gaussian(
    size: int | tuple[int, ...], *, sigmas: float | Floats, source: RandomSource
) -> npt.NDArray[np.int64]:
    """Draw normal numbers, rounded to integers.

    Parameters
    ----------
    size : int or tuple of int
        Shape of the result.
    sigmas : float or ndarray
        Standard deviation of each draw before rounding, above 0 and at most 2^50; an array is
        broadcast to ``size``.
    source : RandomSource
        Source of the random numbers.

    Returns
    -------
    noise : ndarray of int64
        Independent draws.

    Examples
    --------
    >>> from shoal.noise import SeededSource, rounded_gaussian
    >>> rounded_gaussian((2, 3), sigmas=[4.0, 4.0, 900.0], source=SeededSource(1)).shape
    (2, 3)
    """
    shape = (size,) if isinstance(size, int) else size
    widths = np.asarray(sigmas, dtype=np.float64)
    if not ((widths > 0) & (widths <= MAX_SCALE)).all():
        raise ParameterError(f"sigmas must be above 0 and at most 2^50, got {sigmas!r}")
    each = np.broadcast_to(widths, shape).reshape(-1)
    noise = np.empty(math.prod(shape), dtype=np.int64)
    for start in range(0, noise.size, 2 * CHUNK):
        stop = start + 2 * CHUNK
        _fill(noise[start:stop], each[start:stop], source)
    return noise.reshape(shape)


def _fill(noise: npt.NDArray[np.int64], sigmas: Floats, source: RandomSource) -> None:
    """Draw a chunk: the first half has the cosines of the pairs, the second half the sines."""
    pairs = (noise.size + 1) // 2
    words = source.words(2 * pairs)
    np.right_shift(words, 64 - BITS, out=words)
    prefixes = words.view(np.int64)
    uniforms = prefixes.astype(np.float64)
    uniforms *= 2.0**-BITS
    turns, logs = uniforms[:pairs], uniforms[pairs:]
    with np.errstate(divide="ignore", invalid="ignore"):  # a zero word is settled below
        np.log(logs, out=logs)
        unsure = prefixes[pairs:] < 2**TRUSTED
        unsure |= logs > -SHORTEST
        logs *= -2.0
        lengths = np.sqrt(logs, out=logs)
        values = turned_pairs(turns[np.newaxis], lengths[np.newaxis]).reshape(-1)[: noise.size]
        values *= sigmas
        rounded = np.rint(values)
        values -= rounded
        np.abs(values, out=values)
        close = ~(values < 0.5 - SLACK * sigmas)
        noise[...] = np.where(np.isfinite(rounded), rounded, 0.0)
    unsure |= close[:pairs]
    unsure[: noise.size - pairs] |= close[pairs:]
    for i in np.flatnonzero(unsure):
        known = [int(prefixes[i]), int(prefixes[pairs + i])]
        # The last sine of an odd number is not wanted.
        widths = [float(sigma) for sigma in sigmas[i::pairs]]
        noise[i::pairs] = settle(partial(_pair, sigmas=widths), known, BITS, source)


def _pair(context: Any, uniforms: list[Any], sigmas: list[float]) -> list[int]:
    turn, chance = uniforms
    angle = 2 * context.pi * (turn - context.mpf(0.5))
    length = context.sqrt(-2 * log_of(context, chance))
    normals = (length * context.cos(angle), length * context.sin(angle))
    half = context.mpf(0.5)
    return [
        floor_of(context.mpf(sigma) * normal + half)
        for sigma, normal in zip(sigmas, normals, strict=False)
    ]
