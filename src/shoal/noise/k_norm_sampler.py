"""Spherical noise in d dimensions, rounded to the lattice, exact.

Density of z proportional to e^(-||z|| / scale) in the Euclidean norm: the d-dimensional Laplace
distribution of metric privacy and the K-norm mechanism of Hardt & Talwar (2010) for the Euclidean
ball. Added to integers of L2 sensitivity s it is (s/scale)-differentially private, and between any
two integer points at distance r it is (r/scale)-indistinguishable. Rounding to the lattice is
post-processing of the real-valued distribution, and the integers below have exactly the
distribution of the rounded real (proofs/noise.md), so that finite precision costs nothing.

With m = ceil(d/2) Box-Muller pairs (E_j, angle_j), the direction of the first d normals is
independent of E_1 + ... + E_m, which therefore serves as part of the radius: r ~ Gamma(d) is that
sum plus d - m further exponentials.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.noise._interval_arithmetic import exact, floor_of, settle
from shoal.noise.laplace_sampler import check_scale
from shoal.noise.source import RandomSource

__all__ = ["k_norm", "turned_pairs"]


BITS = 63
CHUNK_VALUES = 1 << 17  # random words at a time, so that intermediates stay in cache
TRUSTED = 43  # a uniform below 2^(TRUSTED - BITS) has too few known bits for the bound below
SHORTEST = 2.0**-11  # a shorter square root of an exponential has lost too many bits, likewise
SLACK = 2.0**-41  # per unit of scale and column, for up to 512 columns (proofs/noise.md, lemma 5)


def k_norm(
    count: int, dimension: int, *, scale: float | Fraction, source: RandomSource
) -> npt.NDArray[np.int64]:
    """Draw d-dimensional Laplace vectors, rounded to integers.

    Parameters
    ----------
    count : int
        How many vectors.
    dimension : int
        Columns of each, at least 1.
    scale : float or Fraction
        Scale of the distribution in lattice steps, above 0 and at most 2^50.
    source : RandomSource
        Where random words come from.

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


def _fill(
    noise: npt.NDArray[np.int64],
    words: npt.NDArray[np.uint64],
    scale: Fraction,
    source: RandomSource,
) -> None:
    dimension = noise.shape[0]
    pairs = (dimension + 1) // 2
    np.right_shift(words, 64 - BITS, out=words)
    prefixes = words.view(np.int64)
    uniforms = prefixes.astype(np.float64)
    uniforms *= 2.0**-BITS
    turns, logs = uniforms[:pairs], uniforms[pairs:]
    with np.errstate(divide="ignore", invalid="ignore"):  # a zero word is settled below
        np.log(logs, out=logs)
        unsure = prefixes[pairs:].min(axis=0) < 2**TRUSTED
        unsure |= logs[:pairs].max(axis=0) > -(SHORTEST**2)
        vectors, stretch = _scaled(turns, logs, dimension, float(scale))
        rounded = np.rint(vectors)
        vectors -= rounded
        np.abs(vectors, out=vectors)
        error = float(scale) * dimension + 4.0 * math.sqrt(dimension) * stretch
        error *= SLACK * max(1.0, dimension / 512)
        unsure |= ~(vectors.max(axis=0) < 0.5 - error)
        noise[...] = rounded
    for i in np.flatnonzero(unsure):
        known = [int(prefix) for prefix in prefixes[:, i]]
        noise[:, i] = settle(lambda c, u: _vector(c, u, dimension, scale), known, BITS, source)


def _scaled(turns: Floats, logs: Floats, dimension: int, scale: float) -> tuple[Any, Any]:
    """Return vectors before rounding, and their radius over the norm of their normals."""
    pairs = len(turns)
    if dimension == 1:  # the sign of the cosine, at no less than a quarter of its size
        cosines = 0.25 - np.abs(turns - 0.5)
        return np.copysign(scale * logs, cosines), scale * logs[0] / -np.abs(cosines[0])
    inner = -logs[:pairs].sum(axis=0)
    stretch = inner - logs[pairs:].sum(axis=0)
    stretch *= scale
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


def _vector(context: Any, uniforms: list[Any], dimension: int, scale: Fraction) -> list[int]:
    pairs = (dimension + 1) // 2
    exponentials = [-context.log(u) for u in uniforms[pairs:]]
    radius = sum(exponentials)
    normals = []
    for uniform, exponential in zip(uniforms[:pairs], exponentials[:pairs], strict=True):
        angle = 2 * context.pi * (uniform - context.mpf(0.5))
        length = context.sqrt(exponential)
        normals += [length * context.cos(angle), length * context.sin(angle)]
    normals = normals[:dimension]
    norm = context.sqrt(sum(normal * normal for normal in normals))
    stretch = exact(context, scale) * radius / norm
    return [floor_of(stretch * normal + context.mpf(0.5)) for normal in normals]
