"""The engine for records that are read anew in every pass: from files, or by a cluster of machines.

Whoever holds the records hands out blocks of them; what is done with a block is here, once for all:
encode it to the lattice, gather as many rows as the kernel likes, call the kernel. Results are
exact integers, so they are the same bits as those of an array in memory. Files that fit in memory
on the lattice are read once and kept there (:func:`load_array_engine`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from shoal._directions import unit_length as of_unit_length
from shoal._typing import Ints
from shoal.engines._parallel import cleared_scratch, one_blas_thread
from shoal.engines.array_engine import ArrayEngine
from shoal.engines.engine import MAX_COLUMNS, Kernel, MergeKernel, Part, totals_of
from shoal.exceptions import DataError
from shoal.tables import CHANGED, ArrowTable, Block, Job, Label, refuse_infinite

__all__ = ["Encoder", "LatticeJob", "StreamEngine", "StreamTable", "load_array_engine"]

MIN_ROWS = 1 << 14  # calls of a kernel on fewer rows are mostly overhead
MAX_VALUES = 1 << 24  # lattice values that one thread gathers: 64 MiB


class Encoder(Protocol):
    """Protocol of encoders: round columns of records to lattice records; can be pickled.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import Encoder
    >>> from shoal.noise import Lattice
    >>> encoder: Encoder = Lattice.box(np.array([0.0]), np.array([10.0]), half=100)
    >>> out = np.empty(2, dtype=np.int32)
    >>> encoder.encode_column(0, np.array([5.0, 99.0]), out), out.tolist()
    (False, [0, 100])
    """

    def encode_column(
        self, column: int, values: npt.NDArray[np.float64], out: npt.NDArray[Any]
    ) -> bool:
        """Clip and round the values of one column; return whether none had to be clipped."""
        ...


class StreamTable(Protocol):
    r"""Protocol of tables that are read in blocks of records.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from shoal.engines import StreamTable
    >>> from shoal.tables import ArrowTable
    >>> folder = tempfile.TemporaryDirectory()
    >>> _ = (Path(folder.name) / "ages.csv").write_text("age\n5\n7.5\n")
    >>> table: StreamTable = ArrowTable(folder.name, columns=["age"])
    >>> table.check()
    >>> table.rows, table.columns
    (2, 1)
    >>> folder.cleanup()
    """

    @property
    def columns(self) -> int:
        """Number of columns of a record."""
        ...

    @property
    def rows(self) -> int:
        """Number of records, counted when they were validated."""
        ...

    def fold(self, job: Job) -> tuple[Ints, ...]:
        """Apply a function to all blocks of records, and combine the results."""
        ...

    def collect(self, label: Label) -> Any:
        """Return a number for each record."""
        ...


class StreamEngine:
    r"""Engine for records in files or on a cluster, which every statistic reads anew.

    Parameters
    ----------
    table : StreamTable
        A validated table: its records are finite, and their number is known.
    encoder : Encoder
        The public lattice.
    unit_length : bool, default=False
        Whether records are scaled to length 1 before they are rounded to the lattice.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from shoal.engines import StreamEngine, total_weight
    >>> from shoal.noise import Lattice
    >>> from shoal.tables import ArrowTable
    >>> lattice = Lattice.box(np.array([0.0]), np.array([10.0]), half=100)
    >>> folder = tempfile.TemporaryDirectory()
    >>> _ = (Path(folder.name) / "ages.csv").write_text("age\n5\n7.5\n")
    >>> table = ArrowTable(folder.name, columns=["age"])
    >>> table.check()
    >>> engine = StreamEngine(table, lattice)
    >>> engine.columns, total_weight(engine)
    (1, 2)
    >>> folder.cleanup()
    """

    def __init__(self, table: StreamTable, encoder: Encoder, *, unit_length: bool = False) -> None:
        if table.columns > MAX_COLUMNS:
            raise DataError(
                f"records must have 1 to {MAX_COLUMNS} columns, got {table.columns}",
                parameter="records",
                code="columns",
            )
        self._table = table
        self._encoder = encoder
        self._unit_length = unit_length

    @property
    def columns(self) -> int:
        """Number of columns of a record."""
        return self._table.columns

    @property
    def weight(self) -> int:
        """Number of records."""
        return self._table.rows

    def add_up(self, kernel: Kernel | MergeKernel) -> tuple[Ints, ...]:
        """Return a kernel's result for all records, added up or merged over the parts."""
        with one_blas_thread():
            return self._table.fold(
                LatticeJob(kernel, self._encoder, self.columns, self._unit_length)
            )

    def collect(self, function: Callable[[Part], npt.NDArray[np.int32]], *, rows: int) -> Any:
        """Return a number for each record."""
        with one_blas_thread():
            return self._table.collect(LatticeLabel(function, self._encoder, self._unit_length))


@dataclass(frozen=True, eq=False)
class LatticeJob:
    """A kernel's statistic, of records that are not on the lattice yet."""

    kernel: Kernel | MergeKernel  # what to compute of each part
    encoder: Encoder  # the public lattice
    columns: int  # number of columns of a record
    unit_length: bool = False  # whether records are divided by their length first
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
        if self._job.unit_length:
            block = list(of_unit_length(block))
        count, done = len(block[0]), 0
        while done < count:
            start = self._filled
            step = min(count - done, self._lattice.shape[1] - start)
            for column, values in enumerate(block):
                _encode_finite(
                    self._job.encoder,
                    column,
                    values[done : done + step],
                    self._lattice[column, start : start + step],
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
        with one_blas_thread(), cleared_scratch():
            self._totals.add(self._job.kernel(Part(self._lattice[:, : self._filled].T)))
        self._filled = 0
        self._empty = False


@dataclass(frozen=True, eq=False)
class LatticeLabel:
    """A number for each record, from the lattice record alone."""

    function: Callable[[Part], npt.NDArray[np.int32]]  # numbers of the records of one part
    encoder: Encoder  # the public lattice
    unit_length: bool = False  # whether records are divided by their length first

    def __call__(self, block: Block) -> npt.NDArray[np.int32]:
        """Return the numbers of a block's records."""
        with one_blas_thread(), cleared_scratch():
            return self.function(Part(_encode(block, self.encoder, self.unit_length).T))


def _encode(block: Block, encoder: Encoder, normalize: bool) -> npt.NDArray[np.int32]:
    """Put a block on the lattice."""
    if normalize:
        block = list(of_unit_length(block))
    lattice = np.empty((len(block), len(block[0])), dtype=np.int32)
    for column, values in enumerate(block):
        _encode_finite(encoder, column, values, lattice[column])
    return lattice


def _encode_finite(
    encoder: Encoder, column: int, values: npt.NDArray[np.float64], out: npt.NDArray[np.int32]
) -> None:
    """Put values of one column on the lattice, and refuse those that are infinite or NaN."""
    if not encoder.encode_column(column, values, out):
        refuse_infinite(values)  # records inside the box need no second look


def load_array_engine(
    table: ArrowTable, encoder: Encoder, *, unit_length: bool = False
) -> ArrayEngine:
    r"""Read a table into memory as lattice records.

    Parameters
    ----------
    table : ArrowTable
        A validated table.
    encoder : Encoder
        The public lattice.
    unit_length : bool, default=False
        Whether records are scaled to length 1 before they are rounded to the lattice.

    Returns
    -------
    engine : ArrayEngine
        Engine with the records in memory, four bytes for each value; its statistics are the same as
        those of the files.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from shoal.engines import load_array_engine, total_weight
    >>> from shoal.noise import Lattice
    >>> from shoal.tables import ArrowTable
    >>> lattice = Lattice.box(np.array([0.0]), np.array([10.0]), half=100)
    >>> folder = tempfile.TemporaryDirectory()
    >>> _ = (Path(folder.name) / "ages.csv").write_text("age\n5\n7.5\n")
    >>> table = ArrowTable(folder.name, columns=["age"])
    >>> table.check()
    >>> total_weight(load_array_engine(table, lattice))
    2
    >>> folder.cleanup()
    """
    lattice = np.empty((table.columns, table.rows), dtype=np.int32)
    parts: dict[int, list[npt.NDArray[np.int32]]] = {}

    def work(pieces: Iterator[tuple[int, Iterator[Block]]]) -> None:
        for index, blocks in pieces:
            parts[index] = [_encode(block, encoder, unit_length) for block in blocks]

    table.on_threads(work, look=False)  # encoding looks itself
    if sum(part.shape[1] for piece in parts.values() for part in piece) != table.rows:
        raise DataError(CHANGED, code="conflict")
    start = 0
    for index in sorted(parts):  # labels come in the records' order
        for part in parts.pop(index):
            lattice[:, start : start + part.shape[1]] = part
            start += part.shape[1]
    return ArrayEngine(lattice.T)
