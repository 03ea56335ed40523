"""Planar Laplace noise by inverse distribution function, rounded to the lattice, exact.

The radius of the distribution e^(-||z||) in the plane has the distribution function C(r) = 1 - (1 +
r) e^-r, whose inverse is r = -(W_{-1}((p - 1)/e) + 1) with the lower branch of Lambert's function;
the angle is uniform (Andres et al. 2013). The same distribution as ``k_norm`` in two dimensions, by
another road. The inverse is found by Newton's method, which is not trusted: what it returns is put
back into the distribution function, and the residual bounds its error (proofs/planar.md).
"""

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats
from shoal.noise._interval_arithmetic import Undecided, exact, floor_of, is_positive, settle
from shoal.noise.k_norm_sampler import turned_pairs
from shoal.noise.laplace_sampler import check_scale
from shoal.noise.source import RandomSource

__all__ = ["planar_laplace"]


BITS = 63
CHUNK = 1 << 14
TRUSTED = 43  # a uniform below 2^(TRUSTED - BITS) has too few known bits for the bound below
SHORTEST = 2.0**-10  # a shorter radius has lost too many bits, likewise
ROUGHEST = 2.0**-30  # a larger residual is no bound on the radius
# Relative error of (1 + r) e^-r in doubles, and of the angle (proofs/planar.md, lemma 2).
SLACK = 2.0**-47
STEPS = 5  # of Newton's method: from its start, the radius has all digits of a double after four


def planar_laplace(
    count: int, *, scale: float | Fraction, source: RandomSource
) -> npt.NDArray[np.int64]:
    """Draw vectors of planar (two-dimensional) Laplace noise, rounded to integers.

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
    noise : ndarray of int64, shape (count, 2)
        Independent vectors, each column contiguous in memory.

    Examples
    --------
    >>> from shoal.noise import SeededSource, planar_laplace
    >>> planar_laplace(5, scale=100.0, source=SeededSource(1)).shape
    (5, 2)
    """
    check_scale("scale", scale)
    noise = np.empty((2, count), dtype=np.int64)
    for start in range(0, count, CHUNK):
        part = noise[:, start : start + CHUNK]
        words = source.words(2 * part.shape[1]).reshape(2, -1)
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
    turns, survivals = uniforms[:1], uniforms[1]
    times = float(scale)
    with np.errstate(all="ignore"):  # words near zero are settled below
        radii = _approximate_radii(survivals)
        residuals = np.abs((1.0 + radii) * np.exp(-radii) - survivals) / survivals
        residuals += SLACK + 2.0**-BITS / survivals
        errors = residuals * (2.0 * (1.0 + radii) / radii) + SLACK * radii
        vectors = turned_pairs(turns, times * radii[np.newaxis])
        rounded = np.rint(vectors)
        off = np.abs(vectors - rounded).max(axis=0)
        unsure = ~(off < 0.5 - times * errors)
        unsure |= ~((radii >= SHORTEST) & (residuals < ROUGHEST))
        unsure |= prefixes.min(axis=0) < 2**TRUSTED
        noise[...] = np.where(unsure, 0.0, rounded)
    evaluate = partial(_vector, scale=scale)
    for i in np.flatnonzero(unsure):
        known = [int(prefix) for prefix in prefixes[:, i]]
        noise[:, i] = settle(evaluate, known, BITS, source)


def _approximate_radii(survivals: Floats) -> Floats:
    """Solve (1 + r) e^-r = survival in doubles, as r - log(1 + r) = -log(survival)."""
    depths = -np.log(survivals)
    radii: Floats = np.sqrt(2.0 * depths) + depths  # above the root, as all steps after it
    for _ in range(STEPS):
        radii -= (radii - np.log1p(radii) - depths) * (1.0 + radii) / radii
    return radii


def _vector(context: Any, uniforms: list[Any], scale: Fraction) -> list[int]:
    length = exact(context, scale) * _radius(context, uniforms[1])
    angle = 2 * context.pi * (uniforms[0] - context.mpf(0.5))
    sides = (length * context.cos(angle), length * context.sin(angle))
    return [floor_of(side + context.mpf(0.5)) for side in sides]


def _radius(context: Any, survival: Any) -> Any:
    """Enclose the r with (1 + r) e^-r = survival: from the root of one end to that of the other."""
    is_positive(survival)
    return context.mpf([_root(context, survival.b).a, _root(context, survival.a).b])


def _root(context: Any, survival: Any) -> Any:
    """Enclose the root for one survival by bisection; (1 + r) e^-r falls."""

    def too_short(radius: Any) -> bool:
        return is_positive((1 + radius) * context.exp(-radius) - survival)

    low, high = context.mpf(0), context.mpf(1)
    while too_short(high):
        high *= 2
    for _ in range(context.prec):
        middle = (low + high) / 2
        try:
            low, high = (middle, high) if too_short(middle) else (low, middle)
        except Undecided:  # as narrow as the precision allows
            break
    return context.mpf([low.a, high.b])
