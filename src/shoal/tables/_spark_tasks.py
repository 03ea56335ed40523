"""What Spark's tasks do with records: partial statistics and labels.

The task of a statistic sends back one row: how many records it saw, why it stopped where it did,
and its statistic as bytes; rows are put together a few at a time. A bad record is an answer, not a
failure: Spark would try a failed task again, in vain, and write about it in its logs.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal._optional import require
from shoal._typing import Ints
from shoal.exceptions import DataError
from shoal.tables.columns import BlockReader
from shoal.tables.table import Job, Label

__all__ = [
    "PARTIALS",
    "CombineTask",
    "FoldTask",
    "LabelTask",
    "Partial",
    "combine",
]

PARTIALS = "rows long, error string, result binary"


@dataclass(frozen=True)
class Partial:
    """The statistic of some of the records.

    Parameters
    ----------
    rows : int
        How many records.
    error : str or None
        Why they cannot be used.
    result : tuple of ndarray of int64
        None of them where there is an error.
    """

    rows: int
    error: str | None
    result: tuple[Ints, ...]

    def batch(self) -> Any:
        """Write it as one row for Spark."""
        arrow = require("pyarrow", extra="spark")
        return arrow.RecordBatch.from_arrays(
            [
                arrow.array([self.rows], arrow.int64()),
                arrow.array([self.error], arrow.string()),
                arrow.array([_pack(self.result)], arrow.binary()),
            ],
            names=["rows", "error", "result"],
        )

    @classmethod
    def read(cls, rows: int, error: str | None, result: Any) -> "Partial":
        """Read the three values of a row."""
        return cls(rows, error, _unpack(result))


@dataclass(frozen=True, eq=False)
class FoldTask:
    """A job on the records of one partition.

    Parameters
    ----------
    job : Job
        What to compute.
    reader : BlockReader
        How its batches are read.
    """

    job: Job
    reader: BlockReader

    def run(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Return one row for all batches, none where there is no record."""
        fold, rows, error = self.job.start(), 0, None
        for batch in batches:
            if batch.num_rows == 0:
                continue
            rows += batch.num_rows
            try:
                fold.add(self.reader.read(batch, look=not self.job.looks))
            except DataError as bad:
                error = str(bad)
                break
        if rows:
            yield Partial(rows, error, () if error else fold.result()).batch()


@dataclass(frozen=True, eq=False)
class CombineTask:
    """Partial statistics of several partitions, put together where they are.

    Parameters
    ----------
    job : Job
        What they are statistics of.
    """

    job: Job

    def run(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Return one row for all rows, none where there is none."""
        found = combine(
            self.job,
            (
                Partial.read(row[0].as_py(), row[1].as_py(), row[2].as_buffer())
                for batch in batches
                for row in zip(*batch.columns, strict=True)
            ),
        )
        if found is not None:
            yield found.batch()


def combine(job: Job, partials: Iterable[Partial]) -> Partial | None:
    """Combine the statistics of disjoint sets of records; None where there are none."""
    parts = list(partials)
    if not parts:
        return None
    error = next((part.error for part in parts if part.error), None)
    result = () if error else job.combine([part.result for part in parts])
    return Partial(sum(part.rows for part in parts), error, result)


def _pack(arrays: Sequence[Ints]) -> bytes:
    head = [len(arrays)]
    for values in arrays:
        head += [values.ndim, *values.shape]
    parts = [np.array(head, dtype="<i8"), *arrays]
    return b"".join(np.ascontiguousarray(part, dtype="<i8").tobytes() for part in parts)


def _unpack(data: Any) -> tuple[Ints, ...]:
    values = np.frombuffer(data, dtype="<i8")
    shapes, index = [], 1
    for _ in range(int(values[0])):
        stop = index + 1 + int(values[index])
        shapes.append(tuple(values[index + 1 : stop].tolist()))
        index = stop
    arrays = []
    for shape in shapes:
        size = int(np.prod(shape, dtype=np.int64))
        # A copy: whoever puts results together may add to them in index.
        arrays.append(values[index : index + size].astype(np.int64).reshape(shape))
        index += size
    return tuple(arrays)


@dataclass(frozen=True, eq=False)
class LabelTask:
    """A number for each record.

    Parameters
    ----------
    label : callable
        From a block to a number for each of its records.
    reader : BlockReader
        How records are read.
    """

    label: Label
    reader: BlockReader

    def run(self, *columns: Any) -> Any:
        """Return the numbers of some records, from their columns."""
        arrow = require("pyarrow", extra="spark")
        batch = arrow.RecordBatch.from_arrays(list(columns), names=list(self.reader.names))
        return arrow.array(self.label(self.reader.read(batch)), arrow.int32())
