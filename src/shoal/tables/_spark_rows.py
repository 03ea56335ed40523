"""What Spark's tasks give for each record: its number, or a report of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal._optional import require
from shoal.exceptions import DataError
from shoal.tables.blocks import block_of
from shoal.tables.staged import Start
from shoal.tables.table import Label

__all__ = ["ERROR", "LabelTask", "ReportTask"]

ERROR = "error"


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
        """Give the numbers of some records, from their columns."""
        arrow = require("pyarrow", extra="spark")
        batch = arrow.RecordBatch.from_arrays(list(columns), names=list(self.names))
        return arrow.array(self.label(block_of(batch, self.names)), arrow.int32())


@dataclass(frozen=True, eq=False)
class ReportTask:
    """A report of each record.

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
        """Give a batch of reports for each batch, and at its end why records cannot be used."""
        arrow = require("pyarrow", extra="spark")
        context = require("pyspark", extra="spark").TaskContext.get()
        draw = self.start(context.partitionId())
        for batch in batches:
            if batch.num_rows == 0:
                continue
            try:
                reports = np.asarray(draw(block_of(batch, self.names)), dtype=np.float64)
            except DataError as bad:
                nothing = [arrow.nulls(1, arrow.float64()) for _ in self.names]
                yield self._batch(nothing, arrow.array([str(bad)], arrow.string()))
                return
            columns = [arrow.array(np.ascontiguousarray(column)) for column in reports.T]
            yield self._batch(columns, arrow.nulls(len(reports), arrow.string()))

    def _batch(self, columns: list[Any], errors: Any) -> Any:
        arrow = require("pyarrow", extra="spark")
        return arrow.RecordBatch.from_arrays([*columns, errors], names=[*self.names, ERROR])
