"""Counts of records by cluster and level, of tables of every kind: exact ones, and noisy ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from shoal._typing import Ints
from shoal.cluster._contributions import Contributions
from shoal.cluster.profile._plan import ProfilePlan
from shoal.noise import RandomSource
from shoal.tables import ArrayTable, ArrowTable, Block, SparkTable

__all__ = ["exact_counts", "noisy_counts"]


def noisy_counts(
    table: ArrayTable | ArrowTable | SparkTable,
    given: Contributions,
    plan: ProfilePlan,
    clusters: int,
    source: RandomSource,
) -> list[Ints]:
    """Count records by cluster and level, and add noise to every count of every field."""
    levels = [len(field.histogram.levels) for field in plan.fields]
    exact = exact_counts(table, clusters, levels, given.weights)
    return [
        plan.noise.counts(counts, field.budget, contribution=given.max_contribution, source=source)
        for counts, field in zip(exact, plan.fields, strict=True)
    ]


def exact_counts(
    table: ArrayTable | ArrowTable | SparkTable,
    clusters: int,
    levels: Sequence[int],
    weights: npt.NDArray[np.int32] | None = None,
) -> tuple[Ints, ...]:
    """Count the records of coded blocks: of each field a table of clusters by levels.

    Parameters
    ----------
    table : table
        Read by a :class:`~shoal.cluster.profile._coding.Coding`.
    clusters : int
        Number of labels, that of no cluster, -1, included: it is the last.
    levels : sequence of int
        Number of levels of each field.
    weights : ndarray of int32, default=None
        How much each record counts, of records in memory.

    Returns
    -------
    counts : tuple of ndarray of int64, shape (clusters, levels)
        One for each field.
    """
    if weights is not None and isinstance(table, ArrayTable):
        table = ArrayTable(np.column_stack([table.X, weights]))
    return table.fold(CountLevels(clusters, tuple(levels), weighted=weights is not None))


@dataclass(frozen=True)
class CountLevels:
    """The job: the first column is the cluster, the others levels, the last perhaps a weight."""

    clusters: int
    levels: tuple[int, ...]
    weighted: bool = False
    looks: bool = field(default=True, init=False)

    def start(self) -> "LevelFold":
        """Begin with no records."""
        return LevelFold(self)

    def combine(self, results: Sequence[tuple[Ints, ...]]) -> tuple[Ints, ...]:
        """Add up the counts of parts."""
        return tuple(np.sum(parts, axis=0) for parts in zip(*results, strict=True))


class LevelFold:
    """Counts of the records taken in so far."""

    def __init__(self, job: CountLevels) -> None:
        self._job = job
        self._counts = [np.zeros((job.clusters, size), dtype=np.int64) for size in job.levels]

    def add(self, block: Block) -> None:
        """Add some more records."""
        # No cluster, -1, is the last row.
        labels = block[0].astype(np.int64) % self._job.clusters
        weights = block[-1] if self._job.weighted else None
        for index, counts in enumerate(self._counts):
            cells = labels * counts.shape[1] + block[index + 1].astype(np.int64)
            # Sums of whole weights are exact in doubles.
            added = np.bincount(cells, weights=weights, minlength=counts.size)
            self._counts[index] = counts + added.astype(np.int64).reshape(counts.shape)

    def result(self) -> tuple[Ints, ...]:
        """Return the counts."""
        return tuple(self._counts)
