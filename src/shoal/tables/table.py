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
    "Staged",
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
(rows, d). Called once for each partition, and again for each new attempt at it, in the thread or
process that works on it; pickles."""


class Fold(Protocol):
    """A job under way, in one thread or process.

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
        """Add some more records."""
        ...

    def result(self) -> tuple[Ints, ...]:
        """Return the statistic of all records that were taken in, perhaps none."""
        ...


class Job(Protocol):
    """A statistic of records: a frozen dataclass that pickles.

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
        """Return whether the table itself refuses NaN and inf."""
        ...

    def start(self) -> Fold:
        """Begin with no records."""
        ...

    def combine(self, results: Sequence[tuple[Ints, ...]]) -> tuple[Ints, ...]:
        """Return the statistic of all records from those of disjoint parts, at least one."""
        ...


class Table(Protocol):
    """Whoever holds the raw records.

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
        """Names of the columns; none where they have none."""
        ...

    @property
    def columns(self) -> int:
        """Number of columns of a record."""
        ...

    @property
    def in_memory(self) -> bool:
        """Return whether a number for each record may be kept without being asked for."""
        ...

    def check(self) -> None:
        """Check that every record can be read and is finite, before anything is spent on them."""
        ...


class Staged(Protocol):
    """Reports of all records of a table, which nobody has seen yet.

    Examples
    --------
    >>> from shoal.tables import Staged
    >>> class Kept:
    ...     def __init__(self, reports):
    ...         self.reports = reports
    ...     def publish(self):
    ...         return self.reports
    ...     def discard(self):
    ...         self.reports = None
    >>> staged: Staged = Kept([0.3, 0.7])
    >>> staged.publish()
    [0.3, 0.7]
    """

    def publish(self) -> Any:
        """Return them: a dataset of files, or a Spark DataFrame."""
        ...

    def discard(self) -> None:
        """Leave nothing of them."""
        ...


class CountRows:
    """A job that counts records, and does nothing else with them.

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
        """Begin with no records."""
        return CountRows()

    def add(self, block: Block) -> None:
        """Add some more records."""
        self._rows += len(block[0])

    def result(self) -> tuple[Ints, ...]:
        """Return the number of records."""
        return (np.array([self._rows], dtype=np.int64),)

    def combine(self, results: Sequence[tuple[Any, ...]]) -> tuple[Ints, ...]:
        """Add up the numbers of parts."""
        return (np.sum([rows for (rows,) in results], axis=0),)


class ExternalTable:
    """What tables that are not in memory share: they are read some records at a time.

    Parameters
    ----------
    names : sequence of str
        Columns that are read, in this order.
    schema : Schema, default=None
        By which records are encoded; `names` are then its columns.
    """

    in_memory = False

    def __init__(self, names: Sequence[str], schema: Schema | None = None) -> None:
        self._reader = BlockReader(check_names(names), schema=schema)
        self._rows: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, encoded by the schema if any; numbers of a list have none."""
        return self._reader.block_names

    @property
    def columns(self) -> int:
        """Number of columns of a record, as a job is given it."""
        return self._reader.columns

    @property
    def schema(self) -> Schema | None:
        """The schema by which records are encoded."""
        return self._reader.schema

    @property
    def rows(self) -> int:
        """Number of records, after ``check``: private."""
        if self._rows is None:
            raise ParameterError("the table must be checked before its records are counted")
        return self._rows

    def _refuse_lists(self) -> None:
        """Refuse to draw reports of a column of lists, which have no names to be written under."""
        if self._reader.width is not None:
            raise DataTypeError(
                "reports must be of columns of numbers, got a column of lists: give each of its "
                "numbers a column, or pass an array"
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
