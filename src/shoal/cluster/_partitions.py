"""Partition selection: which keys (words, categories) enough people have, with noisy counts.

Each person adds 1 to the counts of at most ``max_keys`` keys, so one person more or less moves the
counts by ``max_keys`` in L1 and its square root in L2, and brings at most ``max_keys`` keys that
nobody else has. The first costs the budget, the second the delta (proofs/partitions.md; adjacency:
add or remove one person). What does not reach the threshold leaves no trace: released keys come in
their own order, and no message names a key or a number of keys.

Of a person with more keys, those with the lowest hashes count, salted with all keys of that person:
a choice that depends on no other person and on no order, and that prefers no key.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from shoal import _numbers
from shoal._typing import Ints
from shoal.cluster._noise import BudgetedNoise, round_up
from shoal.noise import (
    KeyCounts,
    LaplaceNoise,
    RandomSource,
    RoundedGaussianNoise,
    ThresholdedNoise,
    key_threshold,
    privatize,
)

__all__ = ["NoisyKeys", "select_partitions", "selection_noise"]

Key = TypeVar("Key", str, tuple[int, str])


@dataclass(frozen=True, eq=False)
class NoisyKeys(Generic[Key]):
    """The keys that enough people have, and how noisy their counts are."""

    keys: tuple[Key, ...]  # ascending by code point
    counts: Ints  # noisy, at least the threshold
    threshold: int
    deviation: float  # standard deviation of the noise of a count, before the threshold


def select_partitions(
    keys_by_row: Iterable[Iterable[Key]],
    noise: BudgetedNoise,
    budget: float,
    *,
    max_keys: int,
    delta: float,
    source: RandomSource,
    users: npt.NDArray[np.integer[Any]] | None = None,
) -> NoisyKeys[Key]:
    """Release the keys that enough people have, at the cost of ``budget`` and ``delta``.

    ``keys_by_row`` holds the keys of each row, none where a row has none. Without ``users`` a row
    is a person; with them (a number for each row) all rows of a person count together. The caller
    has charged both prices: the delta comes on top of the one that Gaussian noise needs.
    """
    thresholded = selection_noise(noise, budget, max_keys=max_keys, delta=delta)
    people = keys_by_row if users is None else _by_user(keys_by_row, users)
    exact = _count(people, max_keys)
    shown = privatize(exact, thresholded, cost=budget, source=source)
    deviation = _deviation(thresholded.noise)
    return NoisyKeys(shown.keys, shown.counts, thresholded.threshold, deviation)


def selection_noise(
    noise: BudgetedNoise, budget: float, *, max_keys: int, delta: float
) -> ThresholdedNoise:
    """Return the noise and the threshold of a selection, from public numbers alone."""
    keys = _numbers.count("max_keys", max_keys)
    base: LaplaceNoise | RoundedGaussianNoise
    if noise.approximate:
        base = RoundedGaussianNoise(round_up(round_up(math.sqrt(keys / budget))))
    else:
        base = LaplaceNoise(round_up(keys / budget))
    return ThresholdedNoise(base, key_threshold(base, max_keys=keys, delta=delta), delta)


def _by_user(
    keys_by_row: Iterable[Iterable[Key]], users: npt.NDArray[np.integer[Any]]
) -> Iterable[set[Key]]:
    held: dict[int, set[Key]] = {}
    for user, keys in zip(users.tolist(), keys_by_row, strict=True):
        held.setdefault(user, set()).update(keys)
    return held.values()


def _count(keys_by_person: Iterable[Iterable[Key]], max_keys: int) -> KeyCounts[Key]:
    counts: Counter[Key] = Counter()
    for keys in keys_by_person:
        counts.update(_bounded(set(keys), max_keys))
    return KeyCounts.of(counts)


def _bounded(keys: set[Key], most: int) -> Iterable[Key]:
    """Keep at most so many keys of a person, by a hash of that person's own keys."""
    if len(keys) <= most:
        return keys
    texts = {repr(key).encode(): key for key in keys}
    salt = blake2b(b"\n".join(sorted(texts)), digest_size=32).digest()
    order = sorted(texts, key=lambda text: blake2b(text, key=salt, digest_size=16).digest())
    return [texts[text] for text in order[:most]]


def _deviation(noise: LaplaceNoise | RoundedGaussianNoise) -> float:
    if isinstance(noise, RoundedGaussianNoise):
        return float(noise.sigmas)
    return math.sqrt(2.0) * noise.scale
