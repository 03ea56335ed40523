"""Randomized response with several answers, exact.

The true answer is kept where a 64-bit word is below T = floor(2^64 lam), else the answer is
uniform, with lam = (e^epsilon - 1) / (e^epsilon + choices - 1). T comes from the lower end of an
interval, so that it is never above the exact one: the probabilities of an answer under two truths
have a ratio of 1 + choices T / (2^64 - T) at most, which is at most e^epsilon
(proofs/partition_response.md). The same number of words is drawn whatever the answers are.
"""

from functools import lru_cache

import numpy as np
from mpmath.ctx_iv import MPIntervalContext
from mpmath.libmp import to_int

from shoal import _numbers
from shoal._typing import Ints
from shoal.exceptions import ParameterError
from shoal.noise.source import RandomSource
from shoal.noise.uniform_sampler import uniform_integers

__all__ = ["keep_threshold", "randomized_response"]

WORD_BITS = 64
PRECISION = 512  # bits: far more than epsilon and a word have
MIN_EPSILON = 2.0**-40  # below it, T has few digits left


@lru_cache(maxsize=256, typed=True)
def keep_threshold(epsilon: float, choices: int) -> int:
    """Return T: the true answer is kept where a 64-bit word is below it.

    Parameters
    ----------
    epsilon : float
        Of the response, at least 2^-40.
    choices : int
        Possible answers, at least 2.

    Returns
    -------
    threshold : int
        The largest whole number with T / 2^64 at most (e^epsilon - 1) / (e^epsilon + choices - 1),
        and below 2^64.

    Examples
    --------
    >>> from shoal.noise import keep_threshold
    >>> round(keep_threshold(1.0, 4) / 2**64, 4)  # (e - 1) / (e + 3)
    0.3005
    """
    if _numbers.positive("epsilon", epsilon) < MIN_EPSILON:
        raise ParameterError(f"epsilon must be at least 2^-40, got {epsilon!r}: raise it")
    _numbers.count("choices", choices, least=2)
    context = MPIntervalContext()  # of its own: mpmath's is shared by all threads
    context.prec = PRECISION
    odds = context.exp(context.mpf(float(epsilon))) - 1
    low, _ = context.ldexp(odds / (odds + int(choices)), WORD_BITS)._mpi_
    return int(to_int(low, "f"))


def randomized_response(
    answers: Ints, *, epsilon: float, choices: int, source: RandomSource
) -> Ints:
    """Keep each answer, or draw another one uniformly from all of them.

    Parameters
    ----------
    answers : ndarray of int64
        True answers, from 0 to ``choices`` - 1.
    epsilon : float
        Of each response, at least 2^-40.
    choices : int
        Possible answers, at least 2.
    source : RandomSource
        Where random words come from.

    Returns
    -------
    responses : ndarray of int64
        In the shape of the answers.

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
