"""The engine for records in memory: parts on threads.

numpy leaves the interpreter free while it computes, so threads share the records without copying
them. Each part gives exact integers, hence the same bits for any number of threads and of parts.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from shoal._typing import Ints
from shoal.engines._parallel import run_in_parts
from shoal.engines.engine import (
    HALF,
    MAX_COLUMNS,
    MAX_ROWS,
    MAX_WEIGHT,
    Engine,
    Kernel,
    MergeKernel,
    Part,
    check_integer,
    totals_of,
)
from shoal.exceptions import DataError, DataTypeError

__all__ = ["ArrayEngine", "as_engine", "total_weight"]

MAX_THREADS = 1024
WIDE = 16  # columns from which records are held one after the other


class ArrayEngine:
    """Engine for lattice records in memory: exact statistics, computed in threads.

    Parameters
    ----------
    records : ndarray of integers, shape (n, d)
        Lattice records, at most 2^19 in absolute value; at most 8192 columns. They are used in
        place if they are int32 and contiguous, by rows or by columns (which is faster for few
        columns), and copied once otherwise.
    weights : ndarray of integers, shape (n,), default=None
        Weight of each record, 0 to 256; None gives each a weight of 1.
    threads : int, default=None
        Largest number of threads; None takes as many as the process may use.
    rows : int, default=None
        Largest number of rows of a part; None lets each kernel choose.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import ArrayEngine, total_weight
    >>> total_weight(ArrayEngine(np.array([[1, 2], [3, 4]]), np.array([1, 5])))
    6
    """

    def __init__(
        self,
        records: npt.NDArray[Any],
        weights: npt.NDArray[Any] | None = None,
        *,
        threads: int | None = None,
        rows: int | None = None,
    ) -> None:
        if records.ndim != 2:
            raise DataError(
                f"records must have 2 dimensions, got {records.ndim}",
                parameter="records",
                code="shape",
            )
        if not 1 <= records.shape[1] <= MAX_COLUMNS:
            raise DataError(
                f"records must have 1 to {MAX_COLUMNS} columns, got {records.shape[1]}",
                parameter="records",
                code="columns",
            )
        self._records = _small_integers("records", records, -HALF, HALF)
        self._weights = None
        if weights is not None:
            if weights.shape != records.shape[:1]:
                raise DataError(
                    "weights must be one number for each record: pass shape (n,)",
                    parameter="weights",
                    code="shape",
                )
            self._weights = _small_integers("weights", weights, 0, MAX_WEIGHT)
        self._threads = None if threads is None else check_integer("threads", threads, MAX_THREADS)
        self._rows = None if rows is None else check_integer("rows", rows, MAX_ROWS)

    @property
    def columns(self) -> int:
        """Number of columns of a record."""
        return int(self._records.shape[1])

    @property
    def weight(self) -> int:
        """Sum of the weights of all records."""
        if self._weights is None:
            return len(self._records)
        return int(self._weights.sum(dtype=np.int64))

    def add_up(self, kernel: Kernel | MergeKernel) -> tuple[Ints, ...]:
        """Return a kernel's result for all records, added up or merged over the parts."""
        totals = totals_of(kernel)

        def add(start: int, stop: int) -> None:
            totals.add(kernel(self._part(start, stop)))

        rows = self._rows or kernel.rows
        run_in_parts(add, len(self._records), rows, threads=self._threads)
        return totals.result()

    def collect(
        self, function: Callable[[Part], npt.NDArray[np.int32]], *, rows: int
    ) -> npt.NDArray[np.int32]:
        """Return a value for each record, in the order of the records."""
        numbers = np.empty(len(self._records), dtype=np.int32)

        def fill(start: int, stop: int) -> None:
            numbers[start:stop] = function(self._part(start, stop))

        run_in_parts(fill, len(self._records), self._rows or rows, threads=self._threads)
        return numbers

    def transform(
        self, function: Callable[[Part], npt.NDArray[np.int32]], columns: int, *, rows: int
    ) -> "ArrayEngine":
        """Return an engine with transformed records, one for each record, with its weight."""
        order: Literal["F", "C"] = "F" if columns < WIDE else "C"
        records = np.empty((len(self._records), columns), dtype=np.int32, order=order)

        def fill(start: int, stop: int) -> None:
            records[start:stop] = function(self._part(start, stop))

        run_in_parts(fill, len(records), self._rows or rows, threads=self._threads)
        return ArrayEngine(records, self._weights, threads=self._threads, rows=self._rows)

    def _part(self, start: int, stop: int) -> Part:
        weights = None if self._weights is None else self._weights[start:stop]
        return Part(self._records[start:stop], weights)


def as_engine(records: "Engine | npt.NDArray[Any]") -> Engine:
    """Wrap an array of lattice records; leave an engine as it is."""
    return ArrayEngine(records) if isinstance(records, np.ndarray) else records


def total_weight(engine: Engine | npt.NDArray[Any]) -> int:
    """Return the sum of the weights of all records: their number, without weights.

    Parameters
    ----------
    engine : Engine, or ndarray of integers, shape (n, d)
        Lattice records.

    Returns
    -------
    weight : int
        Exact sum; adding or removing one record changes it by the record's weight.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import total_weight
    >>> total_weight(np.zeros((3, 2), dtype=np.int32))
    3
    """
    return as_engine(engine).weight


def _small_integers(
    name: str, values: npt.NDArray[Any], low: int, high: int
) -> npt.NDArray[np.int32]:
    if values.dtype.kind not in "iu":
        raise DataTypeError(
            f"{name} must be integers, got {values.dtype}: encode them first", parameter=name
        )
    # The limits hold up the exactness of every sum, so they are looked at once, here.
    if values.size and not (low <= values.min() and values.max() <= high):
        raise DataError(
            f"{name} must lie between {low} and {high}: encode them first",
            parameter=name,
            code="range",
        )
    if values.flags.forc:
        return values.astype(np.int32, copy=False)
    return np.ascontiguousarray(values, dtype=np.int32)
