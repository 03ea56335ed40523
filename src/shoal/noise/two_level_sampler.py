"""How often a local report is drawn from the record at all, exact.

Consider a distribution that gives the values of a high set, which depends on the record, e^epsilon
times the probability of all others, with ``rest`` values outside the high set for each one inside.
It is a mixture: with probability (1 - q) / (1 + rest q), q = e^-epsilon, uniform on the high set,
else uniform on all values. Piecewise, square wave and Duchi's mechanism
are of this kind. The weight is a real number; proofs/piecewise.md shows that each choice below is
made with exactly that probability.
"""

import math
import numbers
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.exceptions import ParameterError
from shoal.noise._interval_arithmetic import exact, is_positive, settle
from shoal.noise.source import RandomSource

__all__ = ["two_level"]

BITS = 64
# Bound on the error of the doubles' probability and uniform (proofs/piecewise.md, lemma 1).
SLACK = 2.0**-40
LARGEST_REST = 2**62  # what the lemma allows for


def two_level(
    size: int | tuple[int, ...],
    *,
    epsilon: float | Fraction,
    rest: int | Fraction,
    source: RandomSource,
) -> npt.NDArray[np.bool_]:
    """Choose which reports of a two-level mechanism are drawn from its high set.

    Such a mechanism (Piecewise, Square Wave, Duchi) gives all values in a set around the record,
    the high set, e^epsilon times the probability of the others.

    Parameters
    ----------
    size : int or tuple of int
        Shape of the result.
    epsilon : float or Fraction
        Logarithm of the ratio between the two levels, at least 0.
    rest : int or Fraction
        Number of values outside the high set for each one inside, from 0 to 2^62.
    source : RandomSource
        Source of the random numbers.

    Returns
    -------
    high : ndarray of bool
        Independent choices, True with probability (1 - e^-epsilon) / (1 + rest e^-epsilon).

    Examples
    --------
    >>> from shoal.noise import SeededSource, two_level
    >>> high = two_level(100_000, epsilon=1.0, rest=1, source=SeededSource(1))
    >>> round(float(high.mean()), 2)  # (e - 1) / (e + 1) = 0.462
    0.46
    """
    for name, value in {"epsilon": epsilon, "rest": rest}.items():
        if not isinstance(value, numbers.Real) or not math.isfinite(value) or value < 0:
            raise ParameterError(f"{name} must be a finite number of at least 0, got {value!r}")
    if rest > LARGEST_REST:
        raise ParameterError(f"rest must be a finite number of at most 2^62, got {rest!r}")
    shape = (size,) if isinstance(size, int) else size
    words = source.words(math.prod(shape))
    odds = math.exp(-float(epsilon))
    probability = -math.expm1(-float(epsilon)) / (1 + float(rest) * odds)
    uniforms = words.astype(np.float64)
    uniforms *= 2.0**-BITS
    high = uniforms < probability
    passes = partial(_passes, epsilon=Fraction(epsilon), rest=Fraction(rest))
    np.subtract(uniforms, probability, out=uniforms)
    np.abs(uniforms, out=uniforms)
    for i in np.flatnonzero(uniforms < SLACK):
        high[i] = settle(passes, [int(words[i])], BITS, source)
    return high.reshape(shape)


def _passes(context: Any, uniforms: list[Any], epsilon: Fraction, rest: Fraction) -> bool:
    odds = context.exp(-exact(context, epsilon))
    return is_positive((1 - odds) / (1 + exact(context, rest) * odds) - uniforms[0])
