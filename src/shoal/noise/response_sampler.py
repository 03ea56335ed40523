"""Randomized response with several answers, exact.

The true answer is kept where a 64-bit word is below T = floor(2^64 lam), else the answer is
uniform, with lam = (e^epsilon - 1) / (e^epsilon + choices - 1). T comes from the lower end of an
interval, so that it is never above the exact one: the probabilities of an answer under two truths
have a ratio of 1 + choices T / (2^64 - T) at most, which is at most e^epsilon
(proofs/partition_response.md). The same number of words is drawn whatever the answers are.
"""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from functools import lru_cache

import numpy as np

from shoal import _numbers
from shoal._typing import Ints
from shoal.exceptions import ParameterError
from shoal.noise.source import RandomSource
from shoal.noise.uniform_sampler import uniform_integers

__all__ = ["keep_threshold", "odds_between", "randomized_response"]

WORD_BITS = 64
DIGITS = 160  # decimal ones, beyond those that e^-epsilon has zeros: far more than a word has
MAX_EPSILON = 1000  # from here on, T is 2^64 - 1
MIN_EPSILON = 2.0**-40  # below it, T has few digits left


@lru_cache(maxsize=256, typed=True)
def keep_threshold(epsilon: float, choices: int) -> int:
    """Return the integer threshold of randomized response.

    The true answer is kept if a random 64-bit word is below it.

    Parameters
    ----------
    epsilon : float
        Epsilon of the response, at least 2^-40.
    choices : int
        Number of possible answers, at least 2.

    Returns
    -------
    threshold : int
        The largest integer T with T / 2^64 at most (e^epsilon - 1) / (e^epsilon + choices - 1),
        and below 2^64.

    Examples
    --------
    >>> from shoal.noise import keep_threshold
    >>> round(keep_threshold(1.0, 4) / 2**64, 4)  # (e - 1) / (e + 3)
    0.3005
    """
    if _numbers.positive("epsilon", epsilon) < MIN_EPSILON:
        raise ParameterError(
            f"epsilon must be at least 2^-40, got {epsilon!r}: raise it",
            parameter="epsilon",
            code="resolution",
        )
    _numbers.count("choices", choices, least=2)
    _, odds = odds_between(Fraction(float(epsilon)))
    return math.floor((1 - odds) / (1 + (int(choices) - 1) * odds) * (1 << WORD_BITS))


@lru_cache(maxsize=256)
def odds_between(epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """Return exact lower and upper bounds of e^-epsilon, free of floating-point rounding.

    Parameters
    ----------
    epsilon : Fraction
        Epsilon, at least 0. Anything above 1000 is treated as 1000, which does not weaken the
        guarantee.

    Returns
    -------
    low, high : Fraction
        Lower and upper bound, with a relative error below 10^-150.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from shoal.noise import odds_between
    >>> low, high = odds_between(Fraction(1))
    >>> round(float(low), 6), 0 < high - low < Fraction(1, 10**150)
    (0.367879, True)
    """
    exponent = min(epsilon, Fraction(MAX_EPSILON))
    # Contexts of its own, with no traps that others have set.
    digits = DIGITS + math.ceil(exponent / 2)
    least, most = (
        Context(prec=digits, rounding=rounding).divide(-exponent.numerator, exponent.denominator)
        for rounding in (ROUND_FLOOR, ROUND_CEILING)
    )
    # Decimals round an exponential to the nearest: one less in the last digit is below it.
    context = Context(prec=digits)
    low = context.next_minus(context.exp(least))
    return Fraction(low), Fraction(context.next_plus(context.exp(most)))


def randomized_response(
    answers: Ints, *, epsilon: float, choices: int, source: RandomSource
) -> Ints:
    """Keep each answer with a fixed probability, or replace it by a uniformly random one.

    Parameters
    ----------
    answers : ndarray of int64
        True answers, from 0 to ``choices`` - 1.
    epsilon : float
        Epsilon of each response, at least 2^-40.
    choices : int
        Number of possible answers, at least 2.
    source : RandomSource
        Source of the random numbers.

    Returns
    -------
    responses : ndarray of int64
        Responses, in the shape of the answers.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.noise import SeededSource, randomized_response
    >>> truth = np.full(100_000, 3)
    >>> said = randomized_response(truth, epsilon=1.0, choices=4, source=SeededSource(1))
    >>> round(float((said == 3).mean()), 2)  # e / (e + 3) = 0.475
    0.48
    """
    threshold = np.uint64(keep_threshold(epsilon, choices))
    kept = source.words(answers.size).reshape(answers.shape) < threshold
    uniform = uniform_integers(answers.shape, below=choices, source=source)
    return np.where(kept, answers, uniform)
