"""Noise in the shape of a box, rounded to the lattice, exact.

Density of z proportional to e^(-max_j |z_j| / scales[j]): the K-norm mechanism of Hardt & Talwar
(2010) for the box with half widths ``scales``. Added to integers of which one record moves the j-th
by at most a_j, all of them at once, it is epsilon-differentially private for epsilon = max_j a_j /
scales[j], all columns together. With m columns and a_j = epsilon = 1 its variance is (m + 1)(m +
2)/3 a column, where Laplace noise, which pays for the sum of the a_j, has 2 m^2. Rounding to the
lattice is post-processing of the real-valued distribution, and the integers below have exactly the
distribution of the rounded real (proofs/noise.md), so that finite precision costs nothing.

A point of this distribution in m columns is a uniform point of the box times an independent Gamma(m
+ 1).
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.noise._interval_arithmetic import exact, floor_of, log_of, settle
from shoal.noise.laplace_sampler import check_scale
from shoal.noise.source import RandomSource

__all__ = ["MAX_COLUMNS", "box_norm"]


#: Largest number of columns of box-shaped noise: values then stay far from the ends of int64, and
#: lemma 8 of proofs/noise.md holds.
MAX_COLUMNS = 256
BITS = 63
CHUNK_VALUES = 1 << 16  # random words at a time, so that intermediates stay in cache
FACTORS = 16  # this many uniforms of 63 bits, if none is 0, have a product that does not underflow
# Error of the doubles per unit of scale, for up to 256 columns (proofs/noise.md, lemma 8):
SLACK = 2.0**-46  # times the Gamma
ROUNDING = 2.0**-51  # for each of its uniforms
UNKNOWN = 2.0**-62  # over the smallest of them, likewise, for the bits not drawn


def box_norm(
    count: int, *, scales: Sequence[float | Fraction], source: RandomSource
) -> npt.NDArray[np.int64]:
    """Draw vectors of box-shaped noise (the K-norm mechanism of a box), rounded to integers.

    Parameters
    ----------
    count : int
        Number of vectors.
    scales : sequence of float or Fraction
        Half widths of the box in lattice steps, one for each of at most 256 columns; each above 0
        and at most 2^50.
    source : RandomSource
        Source of the random numbers.

    Returns
    -------
    noise : ndarray of int64, shape (count, len(scales))
        Independent vectors, each column contiguous in memory. With m columns, the variance of
        column j is (m + 1)(m + 2)/3 scales[j]^2, plus that of rounding.

    Examples
    --------
    A count that a record changes by 1 and two sums that it changes by at most 100, at epsilon 1/2:

    >>> from shoal.noise import SeededSource, box_norm
    >>> box_norm(4, scales=(2.0, 200.0, 200.0), source=SeededSource(1)).shape
    (4, 3)
    """
    columns = len(scales)
    if not 1 <= columns <= MAX_COLUMNS:
        raise ParameterError(f"scales must have 1 to {MAX_COLUMNS} entries, got {columns}")
    for j, scale in enumerate(scales):
        check_scale(f"scales[{j}]", scale)
    # Integers up to 2^50 are exact as doubles; numpy's own are none that interval arithmetic takes.
    widths = [scale if isinstance(scale, Fraction) else float(scale) for scale in scales]
    per_vector = 2 * columns + 1
    noise = np.empty((columns, count), dtype=np.int64)
    step = CHUNK_VALUES // per_vector
    for start in range(0, count, step):
        part = noise[:, start : start + step]
        words = source.words(per_vector * part.shape[1]).reshape(per_vector, -1)
        _fill(part, words, widths, source)
    return noise.T


def _fill(
    noise: npt.NDArray[np.int64],
    words: npt.NDArray[np.uint64],
    scales: Sequence[float | Fraction],
    source: RandomSource,
) -> None:
    columns = len(scales)
    np.right_shift(words, 64 - BITS, out=words)
    prefixes = words.view(np.int64)
    uniforms = prefixes.astype(np.float64)
    uniforms *= 2.0**-BITS
    vectors, chances = uniforms[:columns], uniforms[columns:]
    times = np.array([float(scale) for scale in scales])
    with np.errstate(divide="ignore", invalid="ignore"):  # a zero word is settled below
        gammas = _gammas(chances)
        errors = ((columns + 1) * UNKNOWN) / chances.min(axis=0)
        errors += SLACK * gammas
        errors += (columns + 1) * ROUNDING
        vectors -= 0.5
        vectors *= gammas
        vectors *= 2.0 * times[:, np.newaxis]
        rounded = np.rint(vectors)
        vectors -= rounded
        np.abs(vectors, out=vectors)
        errors *= times.max()
        errors += vectors.max(axis=0)
        unsure = ~(errors < 0.5)
        noise[...] = rounded
    for i in np.flatnonzero(unsure):
        known = [int(prefix) for prefix in prefixes[:, i]]
        noise[:, i] = settle(lambda c, u: _vector(c, u, scales), known, BITS, source)


def _gammas(chances: Floats) -> Floats:
    """Sum the exponentials -ln of each column, by one logarithm for up to FACTORS of them."""
    gammas = np.zeros(chances.shape[1])
    for first in range(0, len(chances), FACTORS):
        gammas -= np.log(np.multiply.reduce(chances[first : first + FACTORS], axis=0))
    return gammas


def _vector(context: Any, uniforms: list[Any], scales: Sequence[float | Fraction]) -> list[int]:
    columns = len(scales)
    gamma = -log_of(context, math.prod(uniforms[columns:]))
    half = context.mpf(0.5)
    sides = [2 * gamma * (uniform - half) for uniform in uniforms[:columns]]
    return [
        floor_of(exact(context, Fraction(scale)) * side + half)
        for scale, side in zip(scales, sides, strict=True)
    ]
