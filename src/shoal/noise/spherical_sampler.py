"""Laplace noise in three dimensions by spherical coordinates, rounded to the lattice, exact.

Density proportional to e^(-||z||): the radius is the sum of three exponentials, the angle around
the axis is uniform, and so is the COSINE of the angle from the axis. (A uniform angle from it, as
in the kd-Laplace thesis, crowds the poles and promises nothing.) The same distribution as
``k_norm`` in three dimensions, by another road; exact by the same principle (proofs/spherical.md).
"""

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.noise._interval_arithmetic import exact, floor_of, log_of, settle
from shoal.noise.k_norm_sampler import turned_pairs
from shoal.noise.laplace_sampler import check_scale
from shoal.noise.source import RandomSource

__all__ = ["spherical_laplace"]

BITS = 63
CHUNK = 1 << 13
TRUSTED = 43  # a uniform this close to 0 or 1 has too few known bits for the bound below
WORDS = 5  # turn, height, three exponentials
SLACK = 2.0**-40  # per unit of scale and of radius + 1 (proofs/spherical.md, lemma 2)


def spherical_laplace(
    count: int, *, scale: float | Fraction, source: RandomSource
) -> npt.NDArray[np.int64]:
    """Draw vectors of three-dimensional Laplace noise, rounded to integers.

    Parameters
    ----------
    count : int
        Number of vectors.
    scale : float or Fraction
        Scale of the distribution in lattice steps, above 0 and at most 2^50.
    source : RandomSource
        Source of the random numbers.

    Returns
    -------
    noise : ndarray of int64, shape (count, 3)
        Independent vectors, each column contiguous in memory.

    Examples
    --------
    >>> from shoal.noise import SeededSource, spherical_laplace
    >>> spherical_laplace(5, scale=100.0, source=SeededSource(1)).shape
    (5, 3)
    """
    check_scale("scale", scale)
    noise = np.empty((3, count), dtype=np.int64)
    for start in range(0, count, CHUNK):
        part = noise[:, start : start + CHUNK]
        words = source.words(WORDS * part.shape[1]).reshape(WORDS, -1)
        _fill(part, words >> np.uint64(64 - BITS), Fraction(scale), source)
    return noise.T


def _fill(
    noise: npt.NDArray[np.int64],
    words: npt.NDArray[np.uint64],
    scale: Fraction,
    source: RandomSource,
) -> None:
    prefixes = words.view(np.int64)
    uniforms = prefixes.astype(np.float64) * 2.0**-BITS
    turns, heights = uniforms[:1], uniforms[1]
    depths = (np.uint64(2**BITS) - words[1]).astype(np.float64) * 2.0**-BITS
    times = float(scale)
    with np.errstate(divide="ignore", invalid="ignore"):  # a zero word is settled below
        radii = -np.log(uniforms[2:]).sum(axis=0)
        vectors = np.empty(noise.shape)
        vectors[:2] = turned_pairs(
            turns, times * 2.0 * radii * np.sqrt(heights * depths)[np.newaxis]
        )
        vectors[2] = times * radii * (heights - depths)
        rounded = np.rint(vectors)
        off = np.abs(vectors - rounded).max(axis=0)
        unsure = ~(off < 0.5 - SLACK * times * (1.0 + radii))
        unsure |= prefixes.min(axis=0) < 2**TRUSTED
        unsure |= depths < 2.0 ** (TRUSTED - BITS)
        noise[...] = np.where(unsure, 0.0, rounded)
    evaluate = partial(_vector, scale=scale)
    for i in np.flatnonzero(unsure):
        known = [int(prefix) for prefix in prefixes[:, i]]
        noise[:, i] = settle(evaluate, known, BITS, source)


def _vector(context: Any, uniforms: list[Any], scale: Fraction) -> list[int]:
    turn, height, *chances = uniforms
    radius = exact(context, scale) * sum(-log_of(context, chance) for chance in chances)
    angle = 2 * context.pi * (turn - context.mpf(0.5))
    across = 2 * radius * context.sqrt(height * (1 - height))
    sides = (
        across * context.cos(angle),
        across * context.sin(angle),
        radius * (2 * height - 1),
    )
    return [floor_of(side + context.mpf(0.5)) for side in sides]
