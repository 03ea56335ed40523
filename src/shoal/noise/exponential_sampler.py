"""The exponential mechanism: one of many candidates, the better the likelier, exact.

Candidate i is chosen with probability proportional to e^(-rate * penalties[i]) (McSherry & Talwar
2007). If one record changes every penalty by at most s, up or down, the choice is
(2 s rate)-differentially private; if it moves all penalties in one direction only, by at most s,
(s rate)-differentially private; always for the adjacency that s was computed under. The penalties
are those passed, roundings of the caller included. proofs/noise.md shows that the arithmetic below
chooses with these very probabilities, also where they are far too small for a double.

A uniform chooses among the different penalties, best first, by the inverse of their distribution
function; a second one chooses among the candidates that have that penalty.
"""

import math
import numbers
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.exceptions import ParameterError
from shoal.noise._interval_arithmetic import exact, is_positive, settle
from shoal.noise.source import RandomSource
from shoal.noise.uniform_sampler import uniform_integers

__all__ = ["exponential_choice"]

BITS = 64
LARGEST_RATE = 2**1000  # and its inverse is the smallest; lemma 10 of proofs/noise.md says why
# Error of the doubles' sums of weights, per unit of the total (proofs/noise.md, lemma 10):
SLACK = 2.0**-40  # for the exponents, the exponentials and the uniform
ROUNDING = 2.0**-51  # for each different penalty


def exponential_choice(
    penalties: npt.ArrayLike, *, rate: float | Fraction, source: RandomSource
) -> int:
    """Choose a candidate by the exponential mechanism: one with a small penalty most likely.

    Parameters
    ----------
    penalties : array-like of int or float, shape (n,)
        Penalty of each candidate, of any sign; only differences matter. Floats are taken as exact
        rational numbers.
    rate : float or Fraction
        Rate at which the probability falls with the penalty, from 2^-1000 to 2^1000. If one record
        moves a penalty by at most s, it is epsilon / (2 s), or epsilon / s if a record moves all
        penalties in the same direction.
    source : RandomSource
        Source of the random numbers.

    Returns
    -------
    index : int
        Index of the chosen candidate.

    Examples
    --------
    The fullest of four cells at epsilon 1; a record more or less raises or lowers one count by 1:

    >>> from shoal.noise import SeededSource, exponential_choice
    >>> counts = np.array([310, 25, 298, 7])
    >>> exponential_choice(-counts, rate=1.0, source=SeededSource(1))
    0
    """
    table = _checked(penalties)
    slope = _checked_rate(rate)
    distinct, counts = np.unique(table, return_counts=True)
    group = _group(distinct, counts, slope, source)
    members = np.flatnonzero(table == distinct[group])
    return int(members[uniform_integers(1, below=members.size, source=source)[0]])


def _checked(penalties: npt.ArrayLike) -> npt.NDArray[Any]:
    table = np.asarray(penalties)
    if table.ndim != 1 or table.size == 0:
        raise ParameterError(
            f"penalties must be one row of at least one number, got shape {table.shape}"
        )
    if table.dtype.kind not in "iuf" or table.dtype.itemsize > 8:
        raise ParameterError(
            "penalties must be integers or floats of at most 64 bits, "
            f"got {table.dtype}; convert them first"
        )
    if not np.isfinite(table).all():
        raise ParameterError(
            "penalties must be finite, got NaN or infinity; leave such candidates out"
        )
    return table.astype(np.float64) if table.dtype.kind == "f" else table


def _checked_rate(rate: float | Fraction) -> Fraction:
    slope = Fraction(0)
    if isinstance(rate, numbers.Rational):  # numpy's integers are not what Fraction computes with
        slope = Fraction(int(rate.numerator), int(rate.denominator))
    elif isinstance(rate, numbers.Real) and math.isfinite(rate):
        slope = Fraction(float(rate))
    if not Fraction(1, LARGEST_RATE) <= slope <= LARGEST_RATE:
        raise ParameterError(f"rate must be a number from 2^-1000 to 2^1000, got {rate!r}")
    return slope


def _group(
    distinct: npt.NDArray[Any],
    counts: npt.NDArray[np.intp],
    rate: Fraction,
    source: RandomSource,
) -> int:
    """Choose one of the different penalties, which ascend."""
    word = source.words(1)
    sums = np.cumsum(counts * np.exp(-_exponents(distinct, float(rate))))
    point = float(word[0]) * 2.0**-BITS * sums[-1]
    # What lies past the last boundary belongs to the last group, however little of it is left.
    boundaries = sums[:-1]
    group = int(np.searchsorted(boundaries, point, side="right"))
    nearest = np.abs(boundaries[max(0, group - 1) : group + 1] - point)
    if (nearest > (SLACK + ROUNDING * sums.size) * sums[-1]).all():
        return group
    least = Fraction(distinct[0].item())
    exponents = [rate * (Fraction(penalty) - least) for penalty in distinct.tolist()]
    find = partial(_first_above, counts=counts.tolist(), exponents=exponents)
    return settle(find, [int(word[0])], BITS, source)


def _exponents(distinct: npt.NDArray[Any], rate: float) -> npt.NDArray[np.float64]:
    if distinct.dtype.kind in "iu":  # differences below 2^64, which are exact modulo 2^64
        distinct = distinct.astype(np.uint64)
    with np.errstate(over="ignore"):  # e^-infinity is 0, what so large an exponent gives anyway
        exponents: npt.NDArray[np.float64] = (distinct - distinct[0]).astype(np.float64) * rate
    return exponents


def _first_above(
    context: Any, uniforms: list[Any], counts: Sequence[int], exponents: Sequence[Fraction]
) -> int:
    weights = [
        count * context.exp(-exact(context, exponent))
        for count, exponent in zip(counts, exponents, strict=True)
    ]
    left = uniforms[0] * sum(weights)
    for group, weight in enumerate(weights[:-1]):
        left -= weight
        if not is_positive(left):
            return group
    return len(weights) - 1
