"""Spherical noise in d dimensions, rounded to the lattice, exact.

Density of z proportional to e^(-||z|| / scale) in the Euclidean norm: the d-dimensional Laplace
distribution of metric privacy and the K-norm mechanism of Hardt & Talwar (2010) for the Euclidean
ball. Added to integers of L2 sensitivity s it is (s/scale)-differentially private, and between any
two integer points at distance r it is (r/scale)-indistinguishable. Rounding to the lattice is
post-processing of the real-valued distribution, and the integers below have exactly the
distribution of the rounded real (proofs/noise.md), so that finite precision costs nothing.

With a scale for every entry the density is proportional to e^(-||z / scales||), and the noisy sum
is rounded to steps far below the noise: post-processing again, and rows of many columns and large
scales are decided by doubles as short ones are.

With m = ceil(d/2) Box-Muller pairs (E_j, angle_j), the direction of the first d normals is
independent of E_1 + ... + E_m, which therefore serves as part of the radius: r ~ Gamma(d) is that
sum plus d - m further exponentials.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats, Ints
from shoal.exceptions import ParameterError
from shoal.noise._interval_arithmetic import exact, floor_of, is_positive, log_of, settle
from shoal.noise.laplace_sampler import MAX_SCALE, check_scale
from shoal.noise.source import RandomSource

__all__ = ["elliptic_k_norm", "k_norm", "rounding_steps", "turned_pairs"]


BITS = 63
HALF = Fraction(1, 2)
CHUNK_VALUES = 1 << 17  # random words at a time, so that intermediates stay in cache
TRUSTED = 43  # a uniform below 2^(TRUSTED - BITS) has too few known bits for the bound below
SHORTEST = 2.0**-11  # a shorter square root of an exponential has lost too many bits, likewise
SLACK = 2.0**-41  # per unit of scale and column, for up to 512 columns (proofs/noise.md, lemma 5)
FINENESS = 2**10  # rounding steps of a noisy sum, at least so many to a standard deviation


def k_norm(
    count: int, dimension: int, *, scale: float | Fraction, source: RandomSource
) -> npt.NDArray[np.int64]:
    """Draw vectors of d-dimensional Laplace noise, rounded to integers.

    Parameters
    ----------
    count : int
        Number of vectors.
    dimension : int
        Number of columns d, at least 1.
    scale : float or Fraction
        Scale of the distribution in lattice steps, above 0 and at most 2^50.
    source : RandomSource
        Source of the random numbers.

    Returns
    -------
    noise : ndarray of int64, shape (count, dimension)
        Independent vectors, each column contiguous in memory.

    Examples
    --------
    >>> from shoal.noise import SeededSource, k_norm
    >>> k_norm(4, 3, scale=100.0, source=SeededSource(1)).shape
    (4, 3)
    """
    check_scale("scale", scale)
    if dimension < 1:
        raise ParameterError(f"dimension must be at least 1, got {dimension!r}")
    pairs = (dimension + 1) // 2
    per_vector = pairs + dimension
    noise = np.empty((dimension, count), dtype=np.int64)
    step = max(1, CHUNK_VALUES // per_vector)
    for start in range(0, count, step):
        part = noise[:, start : start + step]
        words = source.words(per_vector * part.shape[1]).reshape(per_vector, -1)
        _fill(part, words, Fraction(scale), source)
    return noise.T


def elliptic_k_norm(exact: Ints, *, scales: Floats, source: RandomSource) -> Ints:
    """Add multivariate Laplace noise, with a scale for every entry, to rows of integers.

    Parameters
    ----------
    exact : ndarray of int64, shape (n, d)
        Rows of integers.
    scales : ndarray, broadcast to shape (n, d)
        Scales in lattice steps, above 0 and at most 2^50. The noise z of row i has a density in
        proportion to e^(-||z / scales[i]||).
    source : RandomSource
        Source of the random numbers.

    Returns
    -------
    noisy : ndarray of int64, shape (n, d)
        Noisy rows, rounded: every entry is a multiple of its ``rounding_steps``. The variance of an
        entry's noise is (d + 1) scales^2, plus that of rounding.

    Examples
    --------
    A count and two sums in two rows, the second row with sums of half the scale:

    >>> import numpy as np
    >>> from shoal.noise import SeededSource, elliptic_k_norm
    >>> exact = np.array([[310, 5000, -700], [25, 80, 90]])
    >>> scales = np.array([[4.0, 200.0, 200.0], [4.0, 100.0, 100.0]])
    >>> elliptic_k_norm(exact, scales=scales, source=SeededSource(1)).shape
    (2, 3)
    """
    wide = np.broadcast_to(np.asarray(scales, dtype=np.float64), exact.shape)
    if not ((wide > 0) & (wide <= MAX_SCALE)).all():
        raise ParameterError(
            f"scales must be above 0 and at most 2^50, got {wide.min():g} to {wide.max():g}"
        )
    rows, columns = exact.shape
    per_vector = (columns + 1) // 2 + columns
    steps = rounding_steps(wide)
    # An integer is a multiple of its step, and the rest, which is rounded with the noise.
    rests = exact & (steps - 1)
    noise = np.empty((columns, rows), dtype=np.int64)
    length = max(1, CHUNK_VALUES // per_vector)
    for start in range(0, rows, length):
        part = slice(start, start + length)
        words = source.words(per_vector * noise[:, part].shape[1]).reshape(per_vector, -1)
        ratios, offsets = (wide[part] / steps[part]).T, (rests[part] / steps[part]).T
        _fill(noise[:, part], words, ratios, source, offsets=offsets)
    noisy: Ints = exact - rests + steps * noise.T
    return noisy


def rounding_steps(scales: Floats) -> Ints:
    """Return to multiples of what noisy sums are rounded: powers of 2, far below the noise."""
    finest = scales * (math.sqrt(scales.shape[-1] + 1) / FINENESS)
    steps: Ints = np.ldexp(1.0, np.frexp(np.maximum(finest, 1.0))[1] - 1).astype(np.int64)
    return steps


def _fill(
    noise: npt.NDArray[np.int64],
    words: npt.NDArray[np.uint64],
    scales: Fraction | Floats,
    source: RandomSource,
    *,
    offsets: Floats | None = None,
) -> None:
    """Round offsets, if any, plus scales times Laplace vectors, a vector a column of ``noise``."""
    dimension = noise.shape[0]
    pairs = (dimension + 1) // 2
    np.right_shift(words, 64 - BITS, out=words)
    prefixes = words.view(np.int64)
    uniforms = prefixes.astype(np.float64)
    uniforms *= 2.0**-BITS
    turns, logs = uniforms[:pairs], uniforms[pairs:]
    times = float(scales) if isinstance(scales, Fraction) else scales
    with np.errstate(divide="ignore", invalid="ignore"):  # a zero word is settled below
        np.log(logs, out=logs)
        unsure = prefixes[pairs:].min(axis=0) < 2**TRUSTED
        unsure |= logs[:pairs].max(axis=0) > -(SHORTEST**2)
        vectors, stretch = _unit_vectors(turns, logs, dimension)
        vectors *= times
        if offsets is not None:
            vectors += offsets
        rounded = np.rint(vectors)
        vectors -= rounded
        np.abs(vectors, out=vectors)
        error = dimension + 4.0 * math.sqrt(dimension) * stretch
        error *= SLACK * max(1.0, dimension / 512)
        if isinstance(times, float):
            farthest = vectors.max(axis=0) + times * error
        else:
            farthest = (vectors + times * error).max(axis=0)
        unsure |= ~(farthest < 0.5)
        noise[...] = rounded
    for i in np.flatnonzero(unsure):
        known = [int(prefix) for prefix in prefixes[:, i]]
        widths = [scales] * dimension if isinstance(scales, Fraction) else _exact(scales[:, i])
        shifts = [Fraction(0)] * dimension if offsets is None else _exact(offsets[:, i])
        settled = settle(partial(_vector, scales=widths, offsets=shifts), known, BITS, source)
        noise[:, i] = settled


def _exact(values: Floats) -> list[Fraction]:
    return [Fraction(value) for value in values.tolist()]


def _unit_vectors(turns: Floats, logs: Floats, dimension: int) -> tuple[Any, Any]:
    """Return vectors of scale 1, and their radius over the norm of their normals."""
    pairs = len(turns)
    if dimension == 1:  # the sign of the cosine, at no less than a quarter of its size
        cosines = 0.25 - np.abs(turns - 0.5)
        return np.copysign(logs, cosines), logs[0] / -np.abs(cosines[0])
    inner = -logs[:pairs].sum(axis=0)
    stretch = inner - logs[pairs:].sum(axis=0)
    lengths = np.sqrt(-logs[:pairs])
    if dimension % 2 == 0:  # the pairs' exponentials add up to the squared norm
        stretch /= np.sqrt(inner)
        lengths *= stretch
        return turned_pairs(turns, lengths), stretch
    vectors = turned_pairs(turns, lengths)[:dimension]
    stretch /= np.sqrt(np.einsum("ij,ij->j", vectors, vectors))
    vectors *= stretch
    return vectors, stretch


def turned_pairs(turns: Floats, lengths: Floats) -> Floats:
    """Return lengths times cos and sin of turns, in alternating rows; ``turns`` is overwritten."""
    # From the tangent of the half angle: one vectorized function of numpy instead of two that are
    # not.
    turns -= 0.5
    turns *= math.pi
    tangents = np.tan(turns, out=turns)
    halves = tangents * tangents
    halves += 1.0
    np.divide(lengths, halves, out=halves)
    halves *= 2.0
    normals = np.empty((2 * len(turns), turns.shape[1]))
    np.subtract(halves, lengths, out=normals[0::2])
    np.multiply(halves, tangents, out=normals[1::2])
    return normals


def _vector(
    context: Any, uniforms: list[Any], *, scales: Sequence[Fraction], offsets: Sequence[Fraction]
) -> list[int]:
    dimension = len(scales)
    pairs = (dimension + 1) // 2
    exponentials = [-log_of(context, u) for u in uniforms[pairs:]]
    radius = sum(exponentials)
    angles = [2 * context.pi * (u - context.mpf(0.5)) for u in uniforms[:pairs]]
    cosines = [context.cos(angle) for angle in angles]
    if dimension == 1:
        sides = [radius if is_positive(cosines[0]) else -radius]
    else:
        squares = exponentials[:pairs]
        if dimension % 2:  # of the last pair only the cosine counts
            squares[-1] *= cosines[-1] ** 2
        norm = context.sqrt(sum(squares))
        is_positive(norm)
        sides = []
        for angle, cosine, exponential in zip(angles, cosines, exponentials[:pairs], strict=True):
            length = radius / norm * context.sqrt(exponential)
            sides += [length * cosine, length * context.sin(angle)]
    return [
        floor_of(exact(context, scale) * side + exact(context, offset + HALF))
        for side, scale, offset in zip(sides[:dimension], scales, offsets, strict=True)
    ]
