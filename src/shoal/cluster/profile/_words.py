"""Keywords of text: words that enough people wrote, and how many in each cluster.

A word is a run of 3 to 20 letters, in lower case. Of each record its longest ones count (short
words are mostly those that every text has), of each person at most ``max_words`` in all, each once,
in the cluster where that person wrote it first. Words are selected over all clusters, with a delta
(proofs/partitions.md); then those are counted in each cluster. Both are chosen and counted person
by person: what others wrote decides nothing.

In blocks of numbers a word is four doubles of six bytes each, so that tables of every kind give the
same counts.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats, Ints
from shoal.cluster._noise import BudgetedNoise
from shoal.cluster._partitions import selection_noise
from shoal.noise import KeyCounts, RandomSource, privatize
from shoal.tables import ArrayTable, ArrowTable, Block, SparkTable

__all__ = ["PARTS", "NoisyWords", "WordPlan", "exact_words", "release_words", "word_columns"]

LETTERS = re.compile(r"[^\W\d_]+")
SHORTEST, LONGEST = 3, 20
PARTS, BYTES = 4, 6  # doubles of a word, and bytes of UTF-8 in each: whole numbers below 2^48
SELECTION = 0.5  # of a field's budget, for which words; the rest for how many in each cluster

Words = Mapping[tuple[int, str], int]


class WordPlan(NamedTuple):
    """A field of text, its budget, its delta, and how many words of a person count."""

    name: str
    title: str
    budget: float
    delta: float
    max_words: int


class NoisyWords(NamedTuple):
    """Selected words, their noisy counts by cluster, and the deviation of the noise."""

    words: tuple[str, ...]
    counts: Ints  # shape (clusters, words)
    deviation: float


def longest_words(text: str | None, most: int) -> list[str]:
    """Return the longest words of a text, each once.

    >>> longest_words("The parcel was late, LATE again: 2 weeks!", 3)
    ['parcel', 'again', 'weeks']
    """
    found = {
        word
        for word in LETTERS.findall((text or "").lower())
        if SHORTEST <= len(word) <= LONGEST and len(word.encode()) <= PARTS * BYTES
    }
    return _longest(found, most)


def _longest(words: Iterable[str], most: int) -> list[str]:
    return sorted(words, key=lambda word: (-len(word), word))[:most]


def word_columns(texts: Sequence[str | None], most: int) -> list[Floats]:
    """Return the words of each text as columns of doubles, zeros where there is none."""
    packed = np.zeros((len(texts), most * PARTS))
    for row, text in enumerate(texts):
        for index, word in enumerate(longest_words(text, most)):
            data = word.encode().ljust(PARTS * BYTES, b"\0")
            packed[row, index * PARTS : (index + 1) * PARTS] = [
                int.from_bytes(data[start : start + BYTES])
                for start in range(0, PARTS * BYTES, BYTES)
            ]
    return list(np.ascontiguousarray(packed.T))


def _unpacked(parts: Sequence[int]) -> str:
    data = b"".join(int(part).to_bytes(BYTES) for part in parts)
    return data.rstrip(b"\0").decode()


def exact_words(
    table: ArrayTable | ArrowTable | SparkTable,
    first: int,
    most: int,
    users: npt.NDArray[Any] | None = None,
) -> Words:
    """Count how many people wrote each word in each cluster; the words start at column `first`.

    With ``users``, a number for each row of a table in memory, all rows of a person count together.
    """
    job = CountWords(first, most)
    if users is None or not isinstance(table, ArrayTable):
        keys, counts = table.fold(job)
        return {
            (int(key[0]), _unpacked(key[1:])): int(count)
            for key, count in zip(keys, counts, strict=True)
        }
    people: dict[Any, dict[str, int]] = {}
    for user, row in zip(users.tolist(), table.X, strict=True):
        written = people.setdefault(user, {})
        for start in range(first, first + most * PARTS, PARTS):
            parts = row[start : start + PARTS]
            if parts[0]:
                written.setdefault(_unpacked(parts), int(row[0]))
    counted: Counter[tuple[int, str]] = Counter()
    for written in people.values():
        counted.update((written[word], word) for word in _longest(written, most))
    return counted


@dataclass(frozen=True)
class CountWords:
    """The job: records that have each word, by cluster."""

    first: int
    most: int
    looks: bool = field(default=True, init=False)

    def start(self) -> "WordFold":
        """Begin with no records."""
        return WordFold(self)

    def combine(self, results: Sequence[tuple[Ints, ...]]) -> tuple[Ints, ...]:
        """Add up the counts of parts."""
        keys = np.concatenate([part[0] for part in results])
        return _added(keys, np.concatenate([part[1] for part in results]))


class WordFold:
    """Words of the records taken in so far."""

    def __init__(self, job: CountWords) -> None:
        self._job = job
        self._parts: list[tuple[Ints, Ints]] = [
            (np.empty((0, 1 + PARTS), dtype=np.int64), np.empty(0, dtype=np.int64))
        ]

    def add(self, block: Block) -> None:
        """Add some more records."""
        first = self._job.first
        seen: list[Ints] = []
        for start in range(first, first + self._job.most * PARTS, PARTS):
            keys = np.stack([block[0], *block[start : start + PARTS]], axis=1).astype(np.int64)
            new = keys[:, 1] > 0
            for before in seen:  # a record has a word once, in tables made by hand too
                new &= (keys != before).any(axis=1)
            seen.append(keys)
            keys = keys[new]
            self._parts.append(_added(keys, np.ones(len(keys), dtype=np.int64)))
        keys, counts = (np.concatenate(side) for side in zip(*self._parts, strict=True))
        self._parts = [_added(keys, counts)]

    def result(self) -> tuple[Ints, ...]:
        """Return a row for each cluster and word, and how many records have it."""
        return self._parts[0]


def _added(keys: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Put equal rows together."""
    if not len(keys):
        return keys, counts
    distinct, inverse = np.unique(keys, axis=0, return_inverse=True)
    total = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(total, inverse.ravel(), counts)
    return distinct, total


def release_words(
    exact: Words,
    plan: WordPlan,
    noise: BudgetedNoise,
    clusters: Sequence[int],
    source: RandomSource,
) -> NoisyWords:
    """Select words over all clusters, then count them in each, at the cost of the plan.

    One person adds 1 to at most ``max_words`` counts of either release.
    """
    totals: Counter[str] = Counter()
    for (_, word), count in exact.items():
        totals[word] += count
    budgets = plan.budget * SELECTION, plan.budget * (1 - SELECTION)
    selecting = selection_noise(noise, budgets[0], max_keys=plan.max_words, delta=plan.delta)
    shown = privatize(KeyCounts.of(totals), selecting, cost=budgets[0], source=source)
    words: tuple[str, ...] = shown.keys
    counting = selection_noise(noise, budgets[1], max_keys=plan.max_words, delta=plan.delta).noise
    table = np.array(
        [[exact.get((cluster, word), 0) for word in words] for cluster in clusters],
        dtype=np.int64,
    ).reshape(len(clusters), len(words))
    noisy = privatize(table, counting, cost=budgets[1], source=source)
    return NoisyWords(words, noisy, math.sqrt(plan.max_words / budgets[1]))
