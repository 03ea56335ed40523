"""What a table is: records that are read some at a time, and jobs that are done on them.

A job turns blocks of records into integers; the result is a pure function of the records, whatever
the blocks are, whoever works on them, in whatever order and however often. So a part of the work
may be done again, by a machine that takes over from one that failed, and nothing changes.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from shoal._typing import Ints

__all__ = ["Block", "CountRows", "Fold", "Job", "Label", "Table"]

Block = Sequence[npt.NDArray[np.float64]]
"""The columns of some records, each contiguous; of finite numbers, unless a job looks itself."""
Label = Callable[[Block], npt.NDArray[np.int32]]
"""A number for each record of a block, of that record alone; pickles."""


class Fold(Protocol):
    """A job under way, in one thread or process."""

    def add(self, block: Block) -> None:
        """Take in some more records."""
        ...

    def result(self) -> tuple[Ints, ...]:
        """Return the statistic of all records that were taken in, perhaps none."""
        ...


class Job(Protocol):
    """A statistic of records: a frozen dataclass that pickles."""

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
    """Whoever holds the raw records."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, where they have any."""
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
        """See that every record can be read and is finite, before anything is spent on them."""
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
        """Take in some more records."""
        self._rows += len(block[0])

    def result(self) -> tuple[Ints, ...]:
        """Return the number of records."""
        return (np.array([self._rows], dtype=np.int64),)

    def combine(self, results: Sequence[tuple[Any, ...]]) -> tuple[Ints, ...]:
        """Add up the numbers of parts."""
        return (np.sum([rows for (rows,) in results], axis=0),)
