"""Public pseudo-random words: the same on every device, in every language.

A word is made from a seed and indices by the finalizer of MurmurHash3, 32 bits at a time, so that a
client computes the words of its own partition alone. Nothing private depends on them.
"""

import numpy as np
import numpy.typing as npt

from shoal import _numbers
from shoal.exceptions import ParameterError

__all__ = ["WORDS", "check_public_numbers", "next_prime", "public_words"]

WORDS = 2**32  # how many values a word has
MAX_PARTITIONS, MAX_COLORS = 2**24, 2**16  # a device makes the numbers of all partitions
GOLDEN = 0x9E3779B1  # 2^32 over the golden ratio, odd: spreads small indices
FIRST, SECOND = 0x85EBCA6B, 0xC2B2AE35  # of the finalizer
MASK = np.uint64(0xFFFFFFFF)


def check_public_numbers(n_partitions: int, n_colors: int, seed: int) -> None:
    """Refuse numbers of a public document that no device should work with."""
    if _numbers.count("n_partitions", n_partitions) > MAX_PARTITIONS:
        raise ParameterError(
            f"n_partitions must be at most 2^24, got {n_partitions!r}",
            parameter="n_partitions",
            code="range",
        )
    if _numbers.count("n_colors", n_colors, least=2) > MAX_COLORS:
        raise ParameterError(
            f"n_colors must be at most 2^16, got {n_colors!r}", parameter="n_colors", code="range"
        )
    if _numbers.count("seed", seed, least=0) >= WORDS:
        raise ParameterError(
            f"seed must be below 2^32, got {seed!r}", parameter="seed", code="range"
        )


def public_words(seed: int, *indices: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return a word below 2^32 for every combination of indices, which broadcast.

    Parameters
    ----------
    seed : int
        From 0 to 2^32 - 1.
    *indices : array-like of int
        Which word: a partition, a purpose, a position.

    Returns
    -------
    words : ndarray of int64
        In the shape that the indices broadcast to.

    Examples
    --------
    >>> from shoal.partitions.hashing import public_words
    >>> public_words(0, [0, 1], 7).tolist()
    [2438488908, 696888886]
    """
    words = _mixed(np.array(seed & 0xFFFFFFFF, dtype=np.uint64))
    for index in indices:
        steps = np.asarray(index, dtype=np.uint64) * np.uint64(GOLDEN) & MASK
        words = _mixed((words + steps) & MASK)
    return words.astype(np.int64)


def _mixed(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    words = words ^ words >> np.uint64(16)
    words = words * np.uint64(FIRST) & MASK
    words = words ^ words >> np.uint64(13)
    words = words * np.uint64(SECOND) & MASK
    return words ^ words >> np.uint64(16)


def next_prime(least: int) -> int:
    """Return the smallest prime of at least this.

    >>> [next_prime(number) for number in (1, 2, 82)]
    [2, 2, 83]
    """
    number = max(2, least)
    while any(number % divisor == 0 for divisor in range(2, int(number**0.5) + 1)):
        number += 1
    return number
