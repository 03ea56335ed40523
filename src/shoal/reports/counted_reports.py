"""Reports that came several times, each with how often: all that partition responses hold.

A partition response is one of a few thousand pairs of a partition and a color, so any number of
reports is a table of counts. It is added up block by block, in the memory of one block.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from shoal._records import validate_records
from shoal._report_channel import PartitionChannel
from shoal._typing import Floats, Ints
from shoal.exceptions import DataError, ParameterError
from shoal.reports._partition_likelihood import tally

__all__ = ["CountedReports", "counted_rows"]


@dataclass(frozen=True, eq=False)
class CountedReports:
    """Distinct reports of ``PartitionResponse``, and how often each occurs.

    Estimators find the same clusters from it as from the list of all reports.

    Parameters
    ----------
    reports : ndarray of float64, shape (m, 2)
        Pairs of a partition and a color, all different.
    counts : ndarray of int64, shape (m,)
        Number of occurrences of each pair, at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.mechanisms import PartitionResponse
    >>> from shoal.reports import CountedReports, NoiseAwareKMeans
    >>> mechanism = PartitionResponse(4.0, bounds=([0.0, 0.0], [1.0, 1.0]), random_state=0)
    >>> records = np.repeat([[0.2, 0.2], [0.8, 0.8]], 2000, axis=0)
    >>> blocks = [mechanism.fit_transform(part) for part in np.split(records, 4)]
    >>> counted = CountedReports.of_blocks(blocks, mechanism)
    >>> counted.n_reports
    4000
    >>> model = NoiseAwareKMeans(2, mechanism=mechanism, random_state=0).fit(counted)
    >>> sorted(model.cluster_centers_[:, 0].round(1).tolist())
    [0.2, 0.8]
    """

    reports: Floats
    counts: Ints

    @property
    def n_reports(self) -> int:
        """Number of reports, the sum of the counts."""
        return int(self.counts.sum())

    @classmethod
    def of_blocks(cls, blocks: Iterable[Floats], mechanism: Any) -> Self:
        """Count reports block by block; the order of the blocks does not matter.

        Parameters
        ----------
        blocks : iterable of ndarray of float64, shape (n, 2)
            Pairs of a partition and a color.
        mechanism : PartitionResponse
            The mechanism that made the reports.

        Returns
        -------
        counted : CountedReports
            Counted reports, sorted by partition and color.

        Raises
        ------
        ParameterError
            If the mechanism is of another kind, or cannot have made these reports.
        DataError
            If there are no reports.
        """
        if not isinstance(mechanism, PartitionChannel):
            raise ParameterError(
                f"mechanism must be a PartitionResponse, got {type(mechanism).__name__}: its "
                "reports hardly repeat, so pass them one by one",
                parameter="mechanism",
                code="type",
            )
        partitions = mechanism.make_partitions()
        counts = np.zeros(partitions.n_partitions * partitions.n_colors, dtype=np.int64)
        for block in blocks:
            seen = tally(block, partitions)
            counts[seen.pairs] += seen.counts.astype(np.int64)
        pairs = np.flatnonzero(counts)
        if not len(pairs):
            raise DataError(
                "reports must hold at least one, got none", parameter="reports", code="empty"
            )
        reports = np.column_stack(np.divmod(pairs, partitions.n_colors)).astype(np.float64)
        return cls(reports, counts[pairs])


def counted_rows(Z: Any, *, one_by_one: bool = False) -> tuple[Floats, Ints | None]:
    """Return checked partition responses, and how often each came; None for once each."""
    if isinstance(Z, CountedReports):
        reports = validate_records(Z.reports)
        return (np.repeat(reports, Z.counts, axis=0), None) if one_by_one else (reports, Z.counts)
    return validate_records(Z), None
