"""Noisy counts of keys that nobody lists beforehand: those that reach a threshold are released.

The keys of a table (the words of its texts, the names of its cities) come from the records, so a
key that only one person has must hardly ever show, and noise cannot be drawn for all keys there
might be. Keys that occur get noise; those whose noisy count reaches a threshold are released, in
their own order. A key of one person reaches it with a probability that the threshold keeps small:
that is the delta of the release (Korolova et al. 2009; proofs/partitions.md). Where the keys are
known beforehand, :class:`shoal.noise.SparseLaplaceNoise` does without a delta.
"""

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Generic, Self, TypeVar

import numpy as np

from shoal import _numbers
from shoal._typing import Bools, Ints
from shoal.exceptions import ParameterError
from shoal.noise._interval_arithmetic import exact as enclosed
from shoal.noise.distributions import LaplaceNoise, RoundedGaussianNoise
from shoal.noise.releases import PrivacyMeasure
from shoal.noise.source import RandomSource

__all__ = ["KeyCounts", "ThresholdedNoise", "key_threshold"]

Key = TypeVar("Key", str, tuple[int, str])

MAX_THRESHOLD = 2**61  # a count and its noise are an int64
GUARD_BITS = 96  # beyond those that 1 - delta needs
ROUNDING = 2.0**-60  # the error function is right to far more bits than this
SLACK = 1e-9  # of the doubles that bound a failure; a threshold too low misses by far more


@dataclass(frozen=True, eq=False)
class KeyCounts(Generic[Key]):
    """Keys, such as words, and how many people have each; a key not listed has count 0.

    In a release, keys may also be missing because their noisy count is too small.

    Parameters
    ----------
    keys : tuple of str, or of pairs (int, str)
        The keys, each once, sorted by code point so that they do not show the order of the records.
    counts : ndarray of int64, shape (m,)
        Count of each key.

    Examples
    --------
    >>> from shoal.noise import KeyCounts
    >>> KeyCounts.of({"tea": 3, "coffee": 5}).keys
    ('coffee', 'tea')
    """

    keys: tuple[Key, ...]
    counts: Ints

    def __post_init__(self) -> None:
        """Refuse an order that comes from the records."""
        if len(self.keys) != len(self.counts) or not _ascending(self.keys):
            raise ParameterError("keys must ascend, each once, with a count each, got others")

    @classmethod
    def of(cls, counts: Mapping[Key, int]) -> Self:
        """Make counts from a mapping, with the keys sorted.

        Parameters
        ----------
        counts : mapping of keys to int
            Count of each key, in any order.

        Returns
        -------
        counted : KeyCounts
            The same counts, sorted by key.
        """
        keys = tuple(sorted(counts))
        return cls(keys, np.array([counts[key] for key in keys], dtype=np.int64))

    def some(self, which: Bools) -> Self:
        """Return the counts of selected keys.

        Parameters
        ----------
        which : ndarray of bool, shape (m,)
            Mask of the keys to keep.

        Returns
        -------
        counted : KeyCounts
            The counts of these keys.
        """
        keys = tuple(self.keys[i] for i in np.flatnonzero(which))
        return type(self)(keys, self.counts[which])


@dataclass(frozen=True)
class ThresholdedNoise:
    """Noise on the counts of all keys that occur; releases those that reach a threshold.

    Parameters
    ----------
    noise : LaplaceNoise or RoundedGaussianNoise
        Noise of each count, with the same scale for all.
    threshold : int
        Smallest noisy count that is released, at least 2.
    delta : float
        Largest probability, in (0, 1), that a key which only one person has is released.

    Examples
    --------
    >>> from shoal.noise import KeyCounts, SeededSource
    >>> noise = ThresholdedNoise(LaplaceNoise(1.0), threshold=16, delta=1e-6)
    >>> exact = KeyCounts.of({"a rare word": 1, "tea": 400})
    >>> noise.sample(exact, SeededSource(1)).keys
    ('tea',)
    >>> noise.privacy_loss(exact, KeyCounts.of({"tea": 399}))
    1.0
    >>> noise.privacy_loss(exact, KeyCounts.of({"a rare word": 1}))
    inf
    """

    noise: LaplaceNoise | RoundedGaussianNoise
    threshold: int
    delta: float

    def __post_init__(self) -> None:
        """Refuse a threshold that a single person reaches without noise."""
        if not 2 <= self.threshold <= MAX_THRESHOLD:
            raise ParameterError(
                f"threshold must be from 2 to 2^61, got {self.threshold}: see key_threshold"
            )
        _numbers.positive_probability("delta", self.delta)

    def __str__(self) -> str:
        return f"{self.noise}, keys from {self.threshold} on, delta {self.delta:.4g}"

    @property
    def privacy_measure(self) -> PrivacyMeasure:
        """Return the privacy measure: that of the noise."""
        return self.noise.privacy_measure

    def sample(self, exact: KeyCounts[Any], source: RandomSource) -> KeyCounts[Any]:
        """Draw the keys whose noisy counts reach the threshold, with these counts."""
        noisy = self.noise.sample(exact.counts, source)
        return KeyCounts(exact.keys, noisy).some(noisy >= self.threshold)

    def privacy_loss(self, exact: KeyCounts[Any], other: KeyCounts[Any]) -> float:
        """Return the privacy loss over the keys that both tables have.

        Infinite if keys that only one of them has are released with a probability above delta.
        """
        both = set(exact.keys) & set(other.keys)
        shared = [np.array([key in both for key in side.keys], bool) for side in (exact, other)]
        for side, common in zip((exact, other), shared, strict=True):
            # The slack is arbitrary, and so is what counts where both are equal.
            if self._shown(side.counts[~common]) > self.delta * (1 + SLACK):
                return math.inf
        return self.noise.privacy_loss(exact.counts[shared[0]], other.counts[shared[1]])

    def _shown(self, counts: Ints) -> float:
        """Bound the probability that any of these counts reaches the threshold."""
        with np.errstate(divide="ignore"):  # a count that surely shows
            hidden = np.log1p(-self.noise.upper_tail(self.threshold - counts))
        return -math.expm1(math.fsum(hidden))


def key_threshold(
    noise: LaplaceNoise | RoundedGaussianNoise, *, max_keys: int, delta: float
) -> int:
    """Return the smallest threshold that hides the keys of a single person except for delta.

    Parameters
    ----------
    noise : LaplaceNoise or RoundedGaussianNoise
        Noise of each count, with the same scale for all.
    max_keys : int
        Largest number of keys of a person; each adds 1 to a count.
    delta : float
        Largest probability that any of them is released, in (0, 1).

    Returns
    -------
    threshold : int
        Smallest threshold at which any of ``max_keys`` counts of 1 is released with a probability
        of at most ``delta``. It is decided in interval arithmetic; if that leaves it open, it is
        one more.

    Examples
    --------
    >>> from shoal.noise import LaplaceNoise, key_threshold
    >>> key_threshold(LaplaceNoise(1.0), max_keys=1, delta=1e-6)
    15
    """
    keys = _numbers.count("max_keys", max_keys)
    _numbers.positive_probability("delta", delta)
    if isinstance(noise, LaplaceNoise):
        return _smallest("laplace", noise.scale, keys, float(delta))
    if np.size(noise.sigmas) != 1 or not noise.sigmas > 0:
        raise ParameterError("noise must have one scale above 0 for all counts")
    return _smallest("gaussian", float(noise.sigmas), keys, float(delta))


@lru_cache(maxsize=256)
def _smallest(kind: str, scale: float, max_keys: int, delta: float) -> int:
    passes = _TESTS[kind](scale, max_keys, delta)
    low, high = 1, 2
    while not passes(high):
        low, high = high, 2 * high
        if high > MAX_THRESHOLD:
            raise ParameterError(f"noise must leave a threshold up to 2^61, got scale {scale:g}")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high


def _laplace_test(scale: float, max_keys: int, delta: float) -> Callable[[int], bool]:
    """Return whether P[any of max_keys counts of 1 reaches t] <= delta is certain."""
    from mpmath.ctx_iv import MPIntervalContext  # noqa: PLC0415 - a device needs no thresholds

    context = MPIntervalContext()
    context.prec = GUARD_BITS + math.ceil(-math.log2(delta))
    width, most = Fraction(scale), 1 - enclosed(context, Fraction(delta))
    total = 1 + context.exp(-enclosed(context, 1 / width))

    def passes(threshold: int) -> bool:
        # 1 + noise >= t, for t >= 2, is noise >= t - 1 >= 1.
        tail = context.exp(-enclosed(context, (threshold - 1) / width)) / total
        # The lower end against the upper one; where they are equal, it is certain as well.
        return bool(((1 - tail) ** max_keys).a >= most.b)

    return passes


def _gaussian_test(sigma: float, max_keys: int, delta: float) -> Callable[[int], bool]:
    """Return whether P[any of max_keys counts of 1 reaches t] <= delta, tails rounded up."""
    from mpmath.ctx_mp import MPContext  # noqa: PLC0415 - likewise

    context = MPContext()
    context.prec = GUARD_BITS + math.ceil(-math.log2(delta))
    most, root = 1 - context.mpf(delta), context.sqrt(2) * context.mpf(sigma)

    def passes(threshold: int) -> bool:
        # A normal variable rounds to t - 1 or more from t - 3/2 on.
        tail = context.erfc((threshold - context.mpf(1.5)) / root) / 2 * (1 + ROUNDING)
        return bool((1 - tail) ** max_keys >= most)

    return passes


_TESTS = {"laplace": _laplace_test, "gaussian": _gaussian_test}


def _ascending(keys: tuple[Any, ...]) -> bool:
    return all(a < b for a, b in itertools.pairwise(keys))
