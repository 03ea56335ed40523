"""What a table is: records that are read some at a time, and jobs that are done on them.

A job turns blocks of records into integers; the result is a pure function of the records, whatever
the blocks are, whoever works on them, in whatever order and however often. So a part of the work
may be done again, by a machine that takes over from one that failed, and nothing changes.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from shoal._typing import Floats, Ints, Labels
from shoal.exceptions import DataTypeError, ParameterError
from shoal.schema import Schema
from shoal.tables.columns import BlockReader, check_names

__all__ = [
    "Block",
    "CountRows",
    "ExternalTable",
    "Fold",
    "Job",
    "Label",
    "Start",
    "Table",
    "usable_threads",
]

Block = Sequence[Floats]
"""The columns of some records, each contiguous; of finite numbers, unless a job looks itself."""
Label = Callable[[Block], Labels]
"""A number for each record of a block, of that record alone; pickles."""
Start = Callable[[int], Callable[[Block], Floats]]
"""From the number of a partition to a function that draws reports of a block's records, of shape
(rows, d). Called once for each partition, in the thread that works on it."""


class Fold(Protocol):
    """Partial result of a job, in one thread or process.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.tables import CountRows, Fold
    >>> fold: Fold = CountRows().start()
    >>> fold.add([np.zeros(3), np.ones(3)])
    >>> fold.result()[0].tolist()
    [3]
    """

    def add(self, block: Block) -> None:
        """Add a block of records."""
        ...

    def result(self) -> tuple[Ints, ...]:
        """Return the statistic of all records added so far, possibly none."""
        ...


class Job(Protocol):
    """A statistic of records to compute: a frozen dataclass that can be pickled.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.tables import CountRows, Job
    >>> job: Job = CountRows()
    >>> [total.tolist() for total in job.combine([(np.array([3]),), (np.array([4]),)])]
    [[7]]
    """

    @property
    def looks(self) -> bool:
        """Return whether the job itself refuses NaN and inf, so that the table need not."""
        ...

    def start(self) -> Fold:
        """Return a partial result that holds no records yet."""
        ...

    def combine(self, results: Sequence[tuple[Ints, ...]]) -> tuple[Ints, ...]:
        """Combine the statistics of one or more disjoint parts of the records."""
        ...


class Table(Protocol):
    """Protocol of tables of raw records, wherever these are stored.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.tables import ArrayTable, Table
    >>> table: Table = ArrayTable(np.zeros((5, 2)))
    >>> table.check()
    >>> table.columns, table.in_memory
    (2, True)
    """

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns; empty if they have none."""
        ...

    @property
    def columns(self) -> int:
        """Number of columns of a record."""
        ...

    @property
    def in_memory(self) -> bool:
        """Return whether an estimator keeps a number for each record without being asked to."""
        ...

    def check(self) -> None:
        """Check that every record can be read and is finite, before any budget is spent."""
        ...


class CountRows:
    """A job that counts the records.

    Examples
    --------
    >>> import numpy as np
    >>> fold = CountRows().start()
    >>> fold.add([np.zeros(3), np.ones(3)])
    >>> fold.result()[0].tolist()
    [3]
    """

    looks = False

    def __init__(self) -> None:
        self._rows = 0

    def start(self) -> "CountRows":
        """Return a partial result that holds no records yet."""
        return CountRows()

    def add(self, block: Block) -> None:
        """Add a block of records."""
        self._rows += len(block[0])

    def result(self) -> tuple[Ints, ...]:
        """Return the number of records."""
        return (np.array([self._rows], dtype=np.int64),)

    def combine(self, results: Sequence[tuple[Any, ...]]) -> tuple[Ints, ...]:
        """Return the sum of the counts of the parts."""
        return (np.sum([rows for (rows,) in results], axis=0),)


class ExternalTable:
    """Base of tables that are not in memory and are read block by block.

    Parameters
    ----------
    names : sequence of str
        Names of the columns that are read, in this order.
    schema : Schema, default=None
        Schema by which records are encoded; `names` are then its columns.
    """

    in_memory = False

    def __init__(self, names: Sequence[str], schema: Schema | None = None) -> None:
        self._reader = BlockReader(check_names(names), schema=schema)
        self._rows: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the (encoded) columns; columns that come from lists have none."""
        return self._reader.block_names

    @property
    def columns(self) -> int:
        """Number of columns of a record, encoded if there is a schema."""
        return self._reader.columns

    @property
    def schema(self) -> Schema | None:
        """The schema by which records are encoded, if any."""
        return self._reader.schema

    @property
    def rows(self) -> int:
        """Number of records, known after ``check``; it is private."""
        if self._rows is None:
            raise ParameterError("the table must be checked before its records are counted")
        return self._rows

    def _refuse_lists(self) -> None:
        """Refuse to draw reports of a column of lists, which have no names to be written under."""
        if self._reader.width is not None:
            raise DataTypeError(
                "reports must be of columns of numbers, got a column of lists: give each of its "
                "numbers a column, or pass an array",
                parameter="reports",
            )


def usable_threads() -> int:
    """Return the number of processors that the process may use.

    Examples
    --------
    >>> usable_threads() >= 1
    True
    """
    # Containers and batch systems give a process fewer processors than the machine has.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
