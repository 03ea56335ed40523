"""What Spark's tasks give for each record: its number, or a report of it."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal._optional import require
from shoal.exceptions import DataError
from shoal.tables.blocks import block_of
from shoal.tables.staged import Start
from shoal.tables.table import Label

__all__ = ["ATTEMPT", "ERROR", "PARTITION", "LabelTask", "ReportTask"]

# Columns beside a report: who drew it, and why a record could not be used.
PARTITION, ATTEMPT, ERROR = "partition", "attempt", "error"
ATTEMPT_BITS = 63  # of a random number that no two attempts share; a long of Java


@dataclass(frozen=True, eq=False)
class LabelTask:
    """A number for each record.

    Parameters
    ----------
    label : callable
        From a block to a number for each of its records.
    names : tuple of str
        Columns.
    """

    label: Label
    names: tuple[str, ...]

    def run(self, *columns: Any) -> Any:
        """Return the numbers of some records, from their columns."""
        arrow = require("pyarrow", extra="spark")
        batch = arrow.RecordBatch.from_arrays(list(columns), names=list(self.names))
        return arrow.array(self.label(block_of(batch, self.names)), arrow.int32())


@dataclass(frozen=True, eq=False)
class ReportTask:
    """A report of each record, marked with the attempt that drew it.

    Every attempt at a partition draws a random number for itself, by which its reports can be told
    from those of any other attempt (two have the same with probability 2^-63).

    Parameters
    ----------
    start : callable
        From the number of a partition to a function that draws reports of a block.
    names : tuple of str
        Columns.
    """

    start: Start
    names: tuple[str, ...]

    def run(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Return a batch of reports for each batch, and at its end why records cannot be used."""
        arrow = require("pyarrow", extra="spark")
        partition = require("pyspark", extra="spark").TaskContext.get().partitionId()
        attempt = secrets.randbits(ATTEMPT_BITS)

        def marked(columns: list[Any], errors: Any) -> Any:
            marks = [
                arrow.array(np.full(len(errors), mark, dtype=np.int64))
                for mark in (partition, attempt)
            ]
            names = [*self.names, PARTITION, ATTEMPT, ERROR]
            return arrow.RecordBatch.from_arrays([*columns, *marks, errors], names=names)

        draw = self.start(partition)
        for batch in batches:
            if batch.num_rows == 0:
                continue
            try:
                reports = np.asarray(draw(block_of(batch, self.names)), dtype=np.float64)
            except DataError as bad:
                nothing = [arrow.nulls(1, arrow.float64()) for _ in self.names]
                yield marked(nothing, arrow.array([str(bad)], arrow.string()))
                return
            columns = [arrow.array(np.ascontiguousarray(column)) for column in reports.T]
            yield marked(columns, arrow.nulls(len(reports), arrow.string()))
