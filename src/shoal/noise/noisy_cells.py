"""Which of very many empty cells pass a threshold once they have noise, exact.

A count of zero with discrete Laplace noise reaches a threshold t >= 1 with probability q = a^t / (1
+ a), a = e^(-1/scale). This file draws the cells that do, and their noise, with exactly the
distribution of drawing noise for every cell (proofs/noise.md) but without touching the others: the
gaps between them are geometric, and so is their noise above the threshold. It is how a grid of 2^62
cells, nearly all of them empty, is released at pure epsilon.

A geometric gap is taken apart: for any block b, gap = b * blocks + offset with independent parts,
the number of whole blocks geometric again and the offset of the gap's distribution cut off at b.
With b near 1/q both are decided by doubles, however small q is.
"""

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from shoal._typing import Ints
from shoal.exceptions import ParameterError
from shoal.noise._interval_arithmetic import exact, floor_of, is_positive, log_of, settle
from shoal.noise.laplace_sampler import check_scale
from shoal.noise.source import RandomSource

__all__ = ["NoisyCells", "check_noisy_cells", "noisy_cells_above"]

Enclosure = Callable[[Any], Any]  # from an interval context to an interval

MAX_CELLS = 2**62
MAX_REPORTS = 2**26  # to expect; a gigabyte of them
LARGEST = 2**61  # threshold, and noise above it: their sum is an int64
LARGEST_BITS = 60  # of a block: the longest gap, cells and two blocks, is below 2^63

CHUNK = 1 << 13  # draws at a time, so that every intermediate stays in cache
BITS = 63
# A uniform below 2^(TRUSTED - BITS) has too few known bits for the doubles' error bound.
TRUSTED = 44
# Error of the doubles' exponents per unit of the mean, and of their probabilities
# (proofs/noise.md, lemma 12).
SLACK = 2.0**-39


@dataclass(frozen=True, eq=False)
class NoisyCells:
    """Cells whose noise reaches the threshold, and their noise.

    Parameters
    ----------
    positions : ndarray of int64, shape (m,)
        Numbers of the cells, ascending.
    values : ndarray of int64, shape (m,)
        Noise of these cells, at least the threshold.

    Examples
    --------
    >>> from shoal.noise import SeededSource, noisy_cells_above
    >>> cells = noisy_cells_above(10**6, threshold=20, scale=2.0, source=SeededSource(0))
    >>> len(cells.positions) == len(cells.values), bool((cells.values >= 20).all())
    (True, True)
    """

    positions: Ints
    values: Ints


def noisy_cells_above(
    cells: int, *, threshold: int, scale: float | Fraction, source: RandomSource
) -> NoisyCells:
    """Draw the empty cells of a huge grid whose discrete Laplace noise reaches a threshold.

    The result is distributed as if noise were drawn for every cell, but only cells that reach the
    threshold are visited. If some cells of the grid are occupied, add noise to these separately;
    draw here for all cells, whose number is public, and drop those that turn out to be occupied.

    Parameters
    ----------
    cells : int
        Number of cells, from 0 to 2^62.
    threshold : int
        Smallest noise that is returned, from 1 to 2^61. The expected number of cells that reach it
        may be at most 2^26.
    scale : float or Fraction
        Scale of the noise as in :func:`discrete_laplace`, above 0 and at most 2^50.
    source : RandomSource
        Source of the random numbers.

    Returns
    -------
    noisy_cells_above : NoisyCells
        Numbers of the cells, from 0 to ``cells`` - 1, and their noise.

    Examples
    --------
    >>> from shoal.noise import SeededSource, noisy_cells_above
    >>> cells = noisy_cells_above(10**15, threshold=64, scale=2.0, source=SeededSource(1))
    >>> cells.positions.size, int(cells.values.min())  # 10^15 / (e^32 (1 + e^-1/2)) = 7.9 expected
    (9, 64)
    """
    check_noisy_cells(cells, threshold, scale)
    cells, threshold = int(cells), int(threshold)
    width = scale if isinstance(scale, Fraction) else Fraction(float(scale))
    chance = _chance(threshold, float(scale))
    positions = _positions(cells, chance, partial(_rate, threshold=threshold, scale=width), source)
    above = _geometric(positions.size, float(scale), partial(exact, value=width), LARGEST, source)
    return NoisyCells(positions=positions, values=above + threshold)


def check_noisy_cells(cells: int, threshold: int, scale: float | Fraction) -> None:
    """Refuse what cannot be drawn; what this allows for some cells it allows for fewer."""
    _check_whole("cells", cells, 0, MAX_CELLS, "2^62")
    _check_whole("threshold", threshold, 1, LARGEST, "2^61")
    check_scale("scale", scale)
    if int(cells) * _chance(int(threshold), float(scale)) > MAX_REPORTS:
        enough = math.ceil(float(scale) * (math.log(cells) - math.log(MAX_REPORTS)))
        raise ParameterError(
            f"threshold must leave at most 2^26 reports to expect, got {threshold}; "
            f"take {enough} or more, or fewer cells"
        )


def _check_whole(name: str, value: int, least: int, most: int, most_name: str) -> None:
    if not isinstance(value, numbers.Integral) or not least <= value <= most:
        raise ParameterError(
            f"{name} must be a whole number from {least} to {most_name}, got {value!r}"
        )


def _chance(threshold: int, scale: float) -> float:
    with np.errstate(divide="ignore", over="ignore", under="ignore"):  # a tiny scale: chance 0
        steps = np.array([threshold, 1.0]) / scale
        passes, odds = np.exp(-steps)
    return float(passes / (1.0 + odds))


def _positions(cells: int, chance: float, enclose: Enclosure, source: RandomSource) -> Ints:
    rate = -math.log1p(-chance)
    bits = min(LARGEST_BITS, -math.frexp(rate)[1])  # block * rate is in [1/2, 1) if not cut
    block = 1 << bits
    mean = 1.0 / (block * rate) if rate > 0.0 else math.inf
    most = -(-cells // block)
    parts = [np.empty(0, dtype=np.int64)]
    seen = 0
    while seen < cells:
        expected = (cells - seen) * chance
        count = min(CHUNK, 1 + int(expected + 4.0 * math.sqrt(expected)))
        gaps = _geometric(count, mean, lambda c: 1 / (block * enclose(c)), most, source)
        gaps *= block
        gaps += _offsets(count, bits, rate, enclose, source)
        # The first position outside is below 2^64, so that a sum that wraps is negative.
        positions = np.cumsum(gaps + 1) + (seen - 1)
        outside = np.flatnonzero((positions >= cells) | (positions < 0))
        parts.append(positions[: outside[0]] if outside.size else positions)
        seen = cells if outside.size else int(positions[-1]) + 1
    return np.concatenate(parts)


def _geometric(
    count: int, mean: float, enclose: Enclosure, most: int, source: RandomSource
) -> Ints:
    """Draw min(most, floor(mean * E)), E exponential; ``enclose`` gives the mean in intervals."""
    floors = np.empty(count, dtype=np.int64)
    decide = partial(_floor, enclose=enclose, most=most)
    for start in range(0, count, CHUNK):
        part = floors[start : start + CHUNK]
        prefixes = (source.words(part.size) >> np.uint64(64 - BITS)).view(np.int64)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # settled below
            exponents = -mean * np.log(prefixes * 2.0**-BITS)
            rounded = np.floor(exponents)
            unsure = ~(np.abs(exponents - rounded - 0.5) < 0.5 - SLACK * mean)
            unsure |= prefixes < 2**TRUSTED
        part[...] = np.minimum(np.where(unsure, 0.0, rounded), most)
        for i in np.flatnonzero(unsure):
            part[i] = settle(decide, [int(prefixes[i])], BITS, source)
    return floors


def _floor(context: Any, uniforms: list[Any], enclose: Enclosure, most: int) -> int:
    exponent = -log_of(context, uniforms[0]) * enclose(context)
    return most if is_positive(exponent - most) else floor_of(exponent)


def _offsets(count: int, bits: int, rate: float, enclose: Enclosure, source: RandomSource) -> Ints:
    """Draw from 0 .. 2^bits - 1 proportionally to e^(-rate * offset), by rejection."""
    offsets = np.zeros(count, dtype=np.int64)
    pending = np.arange(count if bits else 0)
    while pending.size:
        words = source.words(2 * pending.size).reshape(2, -1)
        proposals = (words[0] >> np.uint64(64 - bits)).view(np.int64)
        margins = np.exp(-rate * proposals) - words[1].astype(np.float64) * 2.0**-64
        accepted = margins > 0.0
        for i in np.flatnonzero(np.abs(margins) < SLACK):
            passes = partial(_passes, offset=int(proposals[i]), enclose=enclose)
            accepted[i] = settle(passes, [int(words[1, i])], 64, source)
        offsets[pending[accepted]] = proposals[accepted]
        pending = pending[~accepted]
    return offsets


def _passes(context: Any, uniforms: list[Any], offset: int, enclose: Enclosure) -> bool:
    return is_positive(context.exp(-offset * enclose(context)) - uniforms[0])


def _rate(context: Any, threshold: int, scale: Fraction) -> Any:
    """Enclose -ln(1 - q), to about as many bits as the context has."""
    precision = context.prec
    context.prec = 2 * precision + 16  # of which 1 - q loses as many as q has zeros in front
    chance = context.exp(-exact(context, threshold / scale))
    chance /= 1 + context.exp(-exact(context, 1 / scale))
    if chance < context.ldexp(context.mpf(1), -precision):  # between q and q + q^2, as q < 1/2
        rate = context.mpf([chance.a, (chance + chance * chance).b])
    else:
        rate = -context.log(1 - chance)
    context.prec = precision
    return rate
