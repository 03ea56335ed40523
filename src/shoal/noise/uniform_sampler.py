"""Integers that are exactly uniform, by rejection.

A 64-bit word modulo m is uniform only if m divides 2^64. Words at or above the largest multiple of
m are drawn again; the others are uniform on a whole number of rounds of 0 .. m - 1.
"""

import math
import numbers

import numpy as np
import numpy.typing as npt

from shoal.exceptions import ParameterError
from shoal.noise.source import RandomSource

__all__ = ["uniform_integers"]

LARGEST = 2**62  # sums of a few draws stay far from the ends of int64


def uniform_integers(
    size: int | tuple[int, ...], *, below: int, source: RandomSource
) -> npt.NDArray[np.int64]:
    """Draw integers uniformly from 0 to ``below`` - 1.

    Parameters
    ----------
    size : int or tuple of int
        Shape of the result.
    below : int
        Number of possible values, from 1 to 2^62.
    source : RandomSource
        Source of the random numbers.

    Returns
    -------
    integers : ndarray of int64
        Independent draws.

    Examples
    --------
    >>> from shoal.noise import SeededSource, uniform_integers
    >>> draws = uniform_integers((1000, 2), below=3, source=SeededSource(1))
    >>> np.unique(draws).tolist()
    [0, 1, 2]
    """
    if not isinstance(below, numbers.Integral) or not 1 <= below <= LARGEST:
        raise ParameterError(f"below must be a whole number from 1 to 2^62, got {below!r}")
    shape = (size,) if isinstance(size, int) else size
    words = source.words(math.prod(shape))
    excess = 2**64 % int(below)  # zero for powers of two, where no word is refused
    if excess:
        limit = np.uint64(2**64 - excess)
        refused = np.flatnonzero(words >= limit)
        while refused.size:
            words[refused] = source.words(refused.size)
            refused = refused[words[refused] >= limit]
    words %= np.uint64(below)
    return words.view(np.int64).reshape(shape)
