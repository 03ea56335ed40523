"""Records in an array: in memory, or in a file that is mapped into memory."""

import itertools
import mmap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats, Ints, Labels, Records
from shoal.schema import Schema
from shoal.tables.table import Block, Job, Label, usable_threads

__all__ = ["ArrayTable"]

Result = TypeVar("Result")

# Bytes of lattice records that an estimator keeps of a memory map; a larger one is read again in
# every pass, as large files are.
HELD = 2**30
BLOCK_VALUES = 1 << 20  # doubles that a thread makes at a time: 8 MiB


@dataclass(frozen=True, eq=False)
class ArrayTable:
    """A table in memory, whose values have been checked.

    Parameters
    ----------
    X : ndarray of float16, float32 or float64, shape (n, d)
        Finite numbers; may be a memory map.
    names : tuple of str, default=()
        Names of the columns; empty if they have none.
    labels : ndarray, default=None
        Known classes of the records, as text or numbers.
    user_ids : list of str or int, or column of a frame, default=None
        User whose record each row is, unchanged from the source.
    weights : ndarray of float64, default=None
        Weight of each row, if the schema has a field for it.
    schema : Schema, default=None
        Schema by which the records were encoded.

    Examples
    --------
    >>> import numpy as np
    >>> ArrayTable(np.zeros((5, 2))).columns
    2
    """

    X: Records = field(repr=False)
    names: tuple[str, ...] = ()
    labels: npt.NDArray[Any] | None = field(default=None, repr=False)
    user_ids: Any = field(default=None, repr=False)
    weights: Floats | None = field(default=None, repr=False)
    schema: Schema | None = field(default=None, repr=False)
    in_memory = True

    @property
    def columns(self) -> int:
        """Number of columns of a record."""
        return int(self.X.shape[1])

    @property
    def rows(self) -> int:
        """Number of records, which is private."""
        return len(self.X)

    @property
    def fits_in_memory(self) -> bool:
        """Return whether an estimator may keep all records on its lattice, at four bytes each."""
        return 4 * self.X.size <= HELD or not _is_mapped(self.X)

    def check(self) -> None:
        """Do nothing; arrays are checked when the table is made."""

    def doubles(self) -> Floats:
        """Return the records in double precision; a copy if they have less."""
        return self.X.astype(np.float64, copy=False)

    def fold(self, job: Job) -> tuple[Ints, ...]:
        """Run a job on all records, block by block.

        Parameters
        ----------
        job : Job
            The statistic to compute.

        Returns
        -------
        result : tuple of ndarray of int64
            The statistic, the same for any number of threads.
        """

        def work(blocks: Iterator[Block]) -> tuple[Ints, ...]:
            fold = job.start()
            for block in blocks:
                fold.add(block)
            return fold.result()

        return job.combine(self._on_threads(work))

    def collect(self, label: Label) -> Labels:
        """Return an integer for each record, in their order; as private as the records.

        Parameters
        ----------
        label : callable
            Takes a block of records and returns an integer for each of them.

        Returns
        -------
        labels : ndarray of int32, shape (n,)
            One number for each record, for the curator only.
        """
        parts = self._on_threads(lambda blocks: [label(block) for block in blocks])
        return np.concatenate([np.empty(0, dtype=np.int32), *itertools.chain(*parts)])

    def _on_threads(self, work: Callable[[Iterator[Block]], Result]) -> list[Result]:
        """Run a function on each of some equal parts of the records, each in a thread."""
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - not for one record

        rows = max(1, BLOCK_VALUES // self.columns)
        threads = max(1, min(usable_threads(), self.rows // rows))
        ends = np.linspace(0, self.rows, threads + 1).astype(int).tolist()
        with ThreadPoolExecutor(threads) as pool:
            running = [
                pool.submit(work, self._blocks(start, stop, rows))
                for start, stop in itertools.pairwise(ends)
            ]
            return [one.result() for one in running]

    def _blocks(self, start: int, stop: int, rows: int) -> Iterator[Block]:
        for first in range(start, stop, rows):
            part = self.X[first : min(first + rows, stop)]
            yield list(np.array(part.T, dtype=np.float64, order="C"))


def _is_mapped(X: Any) -> bool:
    """Return whether an array, or the one that it is a view of, lies in a file."""
    while X is not None:
        if isinstance(X, np.memmap | mmap.mmap):
            return True
        X = X.obj if isinstance(X, memoryview) else getattr(X, "base", None)
    return False
