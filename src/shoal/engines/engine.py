"""What an engine is: records in parts, and kernels whose results add up.

A kernel turns one part of the records into integers; the statistic is the sum over all parts. The
integers are exact, so the sum is the same whatever the parts are, whoever computes them and in
whatever order. An engine holds the records and decides just that: the parts, the threads, the
machines. Kernels know nothing of engines, and engines nothing of what is added up.

Results that have no common shape, such as counts of those cells alone that hold a record, cannot be
added up by an engine that knows nothing of them: their kernel brings its own ``merge``. Parts of
sums need no such function, so the plain kernels stay as plain as they are.

Why it is exact. Columns of records and centers are integers of at most 2^19 in absolute value,
offsets between two of them at most 2^20, weights at most 2^8, and there are at most 8192 = 2^13
columns. So

* a product of a record and a center is at most 2^51, with all its partial sums; three of them,
  which is what a distance takes, stay below 2^53; the squared length of an offset is at most 2^53;
* weighted sums over a part of at most 2^24 rows are at most 2^52.

Doubles hold all integers up to 2^53, so matrix products and sums in doubles are exact in any order.
Sums over parts are int64, which suffices for 2^34 rows with weights, and for 2^42 without.

Sums of squares would not fit: at 784 columns those of 2^14 records from corner to corner pass
int64. So no kernel adds up squares in lattice steps. Each record's square is brought to a coarser
unit first, by itself alone (MOMENT_UNIT, SECOND_UNIT), and the lattice is as fine in many columns
as in a few: one that depends on d is not needed.
"""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from shoal._typing import Ints
from shoal.exceptions import DataError, ParameterError

__all__ = [
    "HALF",
    "MAX_COLUMNS",
    "MAX_ROWS",
    "MAX_WEIGHT",
    "Engine",
    "Kernel",
    "MergeKernel",
    "Merges",
    "Part",
    "Sums",
    "check_integer",
    "check_total",
    "lattice_points",
    "totals_of",
]

#: Largest absolute value of a lattice record in any column.
HALF = 2**19
#: Largest number of columns of an engine's records.
MAX_COLUMNS = 2**13
#: Largest weight of a record.
MAX_WEIGHT = 2**8
MAX_ROWS = 2**24  # of one part


@dataclass(frozen=True, eq=False)
class Part:
    """A part of an engine's records: some rows with their weights.

    Parameters
    ----------
    records : ndarray of int32, shape (rows, d)
        Lattice records, at most 2^19 in absolute value; at most 2^24 rows.
    weights : ndarray of int32, shape (rows,), default=None
        Weight of each record, 0 to 2^8; None gives each a weight of 1.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import Part
    >>> part = Part(np.zeros((5, 2), dtype=np.int32))
    >>> [len(block.records) for block in part.blocks(2)]
    [2, 2, 1]
    """

    records: npt.NDArray[np.int32]
    weights: npt.NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        if len(self.records) > MAX_ROWS:
            raise DataError(
                f"records of one part must have at most {MAX_ROWS} rows: split them",
                parameter="records",
                code="size",
            )

    def blocks(self, rows: int) -> Iterator["Part"]:
        """Cut the part into blocks that fit in cache."""
        if len(self.records) <= rows:
            if len(self.records):
                yield self
            return
        for start in range(0, len(self.records), rows):
            weights = None if self.weights is None else self.weights[start : start + rows]
            yield Part(self.records[start : start + rows], weights)


class Kernel(Protocol):
    """Protocol of statistics that add up over parts; implemented by frozen dataclasses.

    They can be pickled. The shape of a result depends on public values only, so that an empty part
    gives zeros.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from shoal.engines import ArrayEngine
    >>> @dataclass(frozen=True)
    ... class ColumnSums:
    ...     rows = 1_000_000
    ...     def __call__(self, part):
    ...         return (part.records.sum(axis=0, dtype=np.int64),)
    >>> engine = ArrayEngine(np.array([[1, 2], [3, 4]], dtype=np.int32))
    >>> engine.add_up(ColumnSums())[0].tolist()
    [4, 6]
    """

    @property
    def rows(self) -> int:
        """Number of rows above which it pays to split a part, from public sizes alone."""
        ...

    def __call__(self, part: Part, /) -> tuple[Ints, ...]:
        """Return the statistic of one part."""
        ...


@runtime_checkable
class MergeKernel(Protocol):
    """Protocol of statistics whose results are merged over parts, because shapes may differ.

    Implemented by frozen dataclasses that can be pickled. The shape of a result may depend on the
    records. Merging in any order and grouping gives the same bits as a single part with all
    records.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from shoal.engines import ArrayEngine
    >>> @dataclass(frozen=True)
    ... class Highest:
    ...     rows = 1_000_000
    ...     def __call__(self, part):
    ...         return (part.records.max(axis=0).astype(np.int64),)
    ...     def merge(self, *results):
    ...         return (np.max([highest for (highest,) in results], axis=0),)
    >>> engine = ArrayEngine(np.array([[1, 7], [3, 4]], dtype=np.int32))
    >>> engine.add_up(Highest())[0].tolist()
    [3, 7]
    """

    @property
    def rows(self) -> int:
        """Number of rows above which it pays to split a part, from public sizes alone."""
        ...

    def __call__(self, part: Part, /) -> tuple[Ints, ...]:
        """Return the statistic of one part."""
        ...

    def merge(self, *results: tuple[Ints, ...]) -> tuple[Ints, ...]:
        """Combine the results of one or more parts into one."""
        ...


class Engine(Protocol):
    """Protocol of engines: objects that hold lattice records and run kernels on them.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import ArrayEngine, Engine
    >>> engine: Engine = ArrayEngine(np.array([[1, 2], [3, 4], [5, 6]]))
    >>> engine.columns, engine.weight
    (2, 3)
    """

    @property
    def columns(self) -> int:
        """Number of columns of a record."""
        ...

    @property
    def weight(self) -> int:
        """Sum of the weights of all records."""
        ...

    def add_up(self, kernel: Kernel | MergeKernel) -> tuple[Ints, ...]:
        """Return a kernel's result for all records, added up or merged over the parts."""
        ...

    def collect(self, function: Callable[[Part], npt.NDArray[np.int32]], *, rows: int) -> Any:
        """Return a value for each record: raw-data output, for the curator only."""
        ...


Result = tuple[Ints, ...]


class Sums:
    """Results that add up; several threads may add."""

    def __init__(self) -> None:
        self._totals: list[Ints] = []
        self._lock = threading.Lock()

    def add(self, result: Result) -> None:
        """Take in the result of one more part, whose arrays are not used by others."""
        with self._lock:
            if not self._totals:
                self._totals.extend(result)
                return
            for total, value in zip(self._totals, result, strict=True):
                np.add(total, value, out=total)

    def result(self) -> Result:
        """Return the sum over all parts, of which there was at least one."""
        return tuple(self._totals)


class Merges:
    """Results that their kernel merges; several threads may add."""

    def __init__(self, kernel: MergeKernel) -> None:
        self._kernel = kernel
        # Results wait for one of about their size, so that none is copied once for each part; those
        # that wait differ by more than a factor of two, so all are less than twice the largest.
        self._waiting: list[Result] = []
        self._lock = threading.Lock()

    def add(self, result: Result) -> None:
        """Take in the result of one more part."""
        while True:
            with self._lock:
                alike = [i for i, other in enumerate(self._waiting) if _alike(other, result)]
                if not alike:
                    self._waiting.append(result)
                    return
                other = self._waiting.pop(alike[0])
            result = self._kernel.merge(other, result)

    def result(self) -> Result:
        """Return what all parts merge to, of which there was at least one."""
        first, *others = self._waiting
        return self._kernel.merge(first, *others) if others else first


def totals_of(kernel: Kernel | MergeKernel) -> Sums | Merges:
    """Begin to put together the results of a kernel."""
    return Merges(kernel) if isinstance(kernel, MergeKernel) else Sums()


def _alike(one: Result, other: Result) -> bool:
    smaller, larger = sorted(sum(values.size for values in result) for result in (one, other))
    return larger <= 2 * smaller


def lattice_points(name: str, points: npt.NDArray[Any], columns: int) -> npt.NDArray[np.int64]:
    """Return ``points`` as int64 of shape (at least 1, columns), within the lattice."""
    if points.ndim != 2 or points.shape[1] != columns or len(points) == 0:
        raise ParameterError(f"{name} must have shape (1 or more, {columns}), got {points.shape}")
    if points.dtype.kind not in "iu":
        raise ParameterError(f"{name} must be integers, got {points.dtype}: round them first")
    if not (points.min() >= -HALF and points.max() <= HALF):
        raise ParameterError(f"{name} must lie between {-HALF} and {HALF}: clip them first")
    return points.astype(np.int64, copy=False)


def check_total(engine: Engine, most: int) -> None:
    """Refuse more records than the sums of a statistic have room for in int64."""
    if engine.weight > most:
        raise DataError(
            f"records must be at most {most}, each as often as its weight: split them",
            parameter="records",
            code="size",
        )


def check_integer(name: str, value: Any, most: int) -> int:
    """Return ``value`` as an int from 1 to ``most``."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ParameterError(f"{name} must be a whole number, got {value!r}")
    if not 1 <= value <= most:
        raise ParameterError(f"{name} must be from 1 to {most}, got {value!r}")
    return int(value)
