"""The engine for records that are read anew in every pass: from files, or by a cluster of machines.

Whoever holds the records hands out blocks of them; what is done with a block is here, once for all:
encode it to the lattice, gather as many rows as the kernel likes, call the kernel. Results are
exact integers, so they are the same bits as those of an array in memory.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from shoal._typing import Ints
from shoal.engines._blas import one_blas_thread
from shoal.engines.engine import MAX_COLUMNS, Kernel, MergeKernel, Part
from shoal.engines.totals import totals_of
from shoal.exceptions import DataError
from shoal.tables import Block, Job, Label
from shoal.tables.blocks import refuse_infinite

__all__ = ["Encoder", "LatticeJob", "StreamEngine", "StreamTable", "encoded"]


MIN_ROWS = 1 << 14  # calls of a kernel on fewer rows are mostly overhead
MAX_VALUES = 1 << 24  # lattice values that one thread gathers: 64 MiB


class Encoder(Protocol):
    """From a column of records to a column of lattice records; pickles."""

    def encode_column(
        self, column: int, values: npt.NDArray[np.float64], out: npt.NDArray[Any]
    ) -> bool:
        """Clip and round the values of one column; tell whether all of them lay inside."""
        ...


class StreamTable(Protocol):
    """Whoever hands out blocks of records."""

    @property
    def columns(self) -> int:
        """Number of columns of a record."""
        ...

    @property
    def rows(self) -> int:
        """Number of records, as they were checked."""
        ...

    def fold(self, job: Job) -> tuple[Ints, ...]:
        """Do a job on all records."""
        ...

    def collect(self, label: Label) -> Any:
        """Return a number for each record."""
        ...


class StreamEngine:
    """Exact statistics of a table's records, each pass reading them again.

    Parameters
    ----------
    table : StreamTable
        Checked: its records are finite, and their number is known.
    encoder : Encoder
        The public lattice.
    """

    def __init__(self, table: StreamTable, encoder: Encoder) -> None:
        if table.columns > MAX_COLUMNS:
            raise DataError(f"records must have 1 to {MAX_COLUMNS} columns, got {table.columns}")
        self._table = table
        self._encoder = encoder

    @property
    def columns(self) -> int:
        """Number of columns of a record."""
        return self._table.columns

    @property
    def weight(self) -> int:
        """Number of records."""
        return self._table.rows

    def add_up(self, kernel: Kernel) -> tuple[Ints, ...]:
        """Return the sum of a kernel's results over all records.

        Parameters
        ----------
        kernel : Kernel
            What to compute of each part.

        Returns
        -------
        totals : tuple of ndarray of int64
            The same as those of an array in memory.
        """
        return self._fold(kernel)

    def merge(self, kernel: MergeKernel) -> tuple[Ints, ...]:
        """Return a kernel's merged results over all records.

        Parameters
        ----------
        kernel : MergeKernel
            What to compute of each part, and how results merge.

        Returns
        -------
        merged : tuple of ndarray of int64
            The same as those of an array in memory.
        """
        return self._fold(kernel)

    def collect(self, function: Callable[[Part], npt.NDArray[np.int32]], *, rows: int) -> Any:
        """Return a number for each record.

        Parameters
        ----------
        function : callable
            Numbers of the records of one part.
        rows : int
            Rows of a part above which it pays to split it; blocks are smaller.

        Returns
        -------
        numbers : ndarray of int32, or what the table has in its place
            One for each record: raw-data output, for the curator only.
        """
        with one_blas_thread():
            return self._table.collect(LatticeLabel(function, self._encoder))

    def _fold(self, kernel: Kernel | MergeKernel) -> tuple[Ints, ...]:
        with one_blas_thread():
            return self._table.fold(LatticeJob(kernel, self._encoder, self.columns))


@dataclass(frozen=True, eq=False)
class LatticeJob:
    """A kernel's statistic, of records that are not on the lattice yet.

    Parameters
    ----------
    kernel : Kernel or MergeKernel
        What to compute of each part.
    encoder : Encoder
        The public lattice.
    columns : int
        Number of columns of a record.
    """

    kernel: Kernel | MergeKernel
    encoder: Encoder
    columns: int
    looks = True

    def start(self) -> "_LatticeFold":
        """Begin with no records."""
        return _LatticeFold(self)

    def combine(self, results: Sequence[tuple[Ints, ...]]) -> tuple[Ints, ...]:
        """Put together the results of several threads or machines."""
        totals = totals_of(self.kernel)
        for result in results:
            totals.add(result)
        return totals.result()


class _LatticeFold:
    """A part that is filled with lattice records, and handed to the kernel when it is full."""

    def __init__(self, job: LatticeJob) -> None:
        self._job = job
        rows = min(max(job.kernel.rows, MIN_ROWS), MAX_VALUES // job.columns)
        # One column after the other, as blocks have them.
        self._lattice = np.empty((job.columns, max(rows, 1)), dtype=np.int32)
        self._filled = 0
        self._totals = totals_of(job.kernel)
        self._empty = True

    def add(self, block: Block) -> None:
        """Take in some more records."""
        count, done = len(block[0]), 0
        while done < count:
            start = self._filled
            step = min(count - done, self._lattice.shape[1] - start)
            for place, values in enumerate(block):
                encode_checked(
                    self._job.encoder,
                    place,
                    values[done : done + step],
                    self._lattice[place, start : start + step],
                )
            self._filled += step
            done += step
            if self._filled == self._lattice.shape[1]:
                self._run()

    def result(self) -> tuple[Ints, ...]:
        """Return the statistic of all records that were taken in."""
        if self._filled or self._empty:
            self._run()
        return self._totals.result()

    def _run(self) -> None:
        with one_blas_thread():
            self._totals.add(self._job.kernel(Part(self._lattice[:, : self._filled].T)))
        self._filled = 0
        self._empty = False


@dataclass(frozen=True, eq=False)
class LatticeLabel:
    """A number for each record, from the lattice record alone.

    Parameters
    ----------
    function : callable
        Numbers of the records of one part.
    encoder : Encoder
        The public lattice.
    """

    function: Callable[[Part], npt.NDArray[np.int32]]
    encoder: Encoder

    def __call__(self, block: Block) -> npt.NDArray[np.int32]:
        """Return the numbers of a block's records."""
        with one_blas_thread():
            return self.function(Part(encoded(block, self.encoder).T))


def encoded(block: Block, encoder: Encoder) -> npt.NDArray[np.int32]:
    """Put a block on the lattice.

    Parameters
    ----------
    block : Block
        Columns of some records.
    encoder : Encoder
        The public lattice.

    Returns
    -------
    lattice : ndarray of int32, shape (d, rows)
        One column after the other.
    """
    lattice = np.empty((len(block), len(block[0])), dtype=np.int32)
    for place, values in enumerate(block):
        encode_checked(encoder, place, values, lattice[place])
    return lattice


def encode_checked(
    encoder: Encoder, place: int, values: npt.NDArray[np.float64], out: npt.NDArray[np.int32]
) -> None:
    """Put values of one column on the lattice, and refuse those that are infinite or NaN."""
    if not encoder.encode_column(place, values, out):
        refuse_infinite(values)  # records inside the box need no second look
