"""Records in fewer columns: public directions from a public center, on a lattice of their own.

A projection turns one record into one, by itself alone, so one record more or less is one more or
less after it, with the same weight. In memory the projected records are kept, four bytes for each
value; of files and of Spark each pass projects them again, and no pass holds more than some parts.

Why it is exact. Columns of an offset are at most 2^20 in 2^13 columns, so its length is at most
2^26.5; directions are integers of at most that length. Partial sums of their products are at most
2^53 by Cauchy and Schwarz, so matrix products in doubles are exact in any order. What follows is
one correctly rounded product and a truncation for each column, and the clipping of windows.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats, Ints
from shoal.engines._offsets import INWARD, MAX_CLIP_RADIUS, part_rows
from shoal.engines._parallel import thread_scratch
from shoal.engines._rows import clip_lengths, product, row_blocks, rows_of, squared_lengths
from shoal.engines.array_engine import ArrayEngine, as_engine
from shoal.engines.ball import lattice_point
from shoal.engines.engine import HALF, MAX_COLUMNS, Engine, Kernel, MergeKernel, Part, check_integer
from shoal.exceptions import ParameterError

__all__ = ["DIRECTION_UNIT", "Projection", "project"]

#: Length, in integers, of the directions of :func:`project`.
DIRECTION_UNIT = 2**26
MAX_LENGTH = 1.01 * DIRECTION_UNIT  # rounding to integers may make a direction a bit longer

BALL = np.array([float(HALF)])  # radius of the projected records


@dataclass(frozen=True, eq=False)
class Projection:
    """A map from records of many columns to records of a few; pickles."""

    center: Ints  # shape (d,): lattice point that becomes 0
    directions: Ints  # shape (p, d): integers of length DIRECTION_UNIT
    radius: int  # what becomes HALF, in lattice steps

    @property
    def rows(self) -> int:
        """Rows of a part above which it pays to split it."""
        return part_rows(sum(self.directions.shape))

    def __call__(self, part: Part, /) -> npt.NDArray[np.int32]:
        """Return the records of one part after the projection."""
        p, d = self.directions.shape
        projected = np.empty((len(part.records), p), dtype=np.int32)
        step = HALF * INWARD / (float(DIRECTION_UNIT) * self.radius)
        # Far beyond the ball columns are clipped one by one, so that squares stay exact.
        limit = math.isqrt(2**53 // p)
        start = 0
        scratch = thread_scratch()
        for block in part.blocks(row_blocks(d + p + 1)):
            rows = rows_of(block.records, d + 1, scratch)
            rows[:, d] = 1.0
            columns = product(rows, self._form, scratch)
            columns *= step
            np.trunc(columns, out=columns)
            np.clip(columns, -limit, limit, out=columns)
            clip_lengths(
                columns,
                np.zeros((1, p)),
                np.zeros(len(rows), dtype=np.intp),
                squares=squared_lengths(columns),
                radii=BALL,
                scratch=scratch,
            )
            projected[start : start + len(rows)] = columns
            start += len(rows)
        return projected

    @functools.cached_property
    def _form(self) -> Floats:
        """Matrix whose product with rows is that of their offsets with the directions."""
        directions = self.directions.T.astype(np.float64)
        return np.vstack([directions, -self.center.astype(np.float64) @ directions])

    def apply(self, part: Part) -> Part:
        """Return the part after the projection, with its weights."""
        return Part(self(part), part.weights)


class ProjectedEngine:
    """Exact statistics of projected records that another engine holds."""

    def __init__(self, engine: Engine, projection: Projection) -> None:
        self._engine = engine
        self._projection = projection

    @property
    def columns(self) -> int:
        """Number of columns of a projected record."""
        return len(self._projection.directions)

    @property
    def weight(self) -> int:
        """Number of records, each as often as its weight says."""
        return self._engine.weight

    def add_up(self, kernel: Kernel | MergeKernel) -> tuple[Ints, ...]:
        """Return a kernel's results over all projected records, added up or merged."""
        if isinstance(kernel, MergeKernel):
            return self._engine.add_up(ProjectedMergeKernel(kernel, self._projection))
        return self._engine.add_up(ProjectedKernel(kernel, self._projection))

    def collect(self, function: Callable[[Part], npt.NDArray[np.int32]], *, rows: int) -> Any:
        """Return a number for each record: raw-data output, for the curator only."""
        rows = min(rows, self._projection.rows)
        return self._engine.collect(ProjectedFunction(function, self._projection), rows=rows)


@dataclass(frozen=True, eq=False)
class ProjectedKernel:
    """A kernel's statistic of projected records, for one part of the records."""

    kernel: Kernel
    projection: Projection

    @property
    def rows(self) -> int:
        """Rows of a part above which it pays to split it."""
        return min(self.kernel.rows, self.projection.rows)

    def __call__(self, part: Part, /) -> tuple[Ints, ...]:
        """Return the statistic of one part."""
        return self.kernel(self.projection.apply(part))


@dataclass(frozen=True, eq=False)
class ProjectedMergeKernel:
    """A kernel's statistic of projected records that merges over parts."""

    kernel: MergeKernel
    projection: Projection

    @property
    def rows(self) -> int:
        """Rows of a part above which it pays to split it."""
        return min(self.kernel.rows, self.projection.rows)

    def __call__(self, part: Part, /) -> tuple[Ints, ...]:
        """Return the statistic of one part."""
        return self.kernel(self.projection.apply(part))

    def merge(self, *results: tuple[Ints, ...]) -> tuple[Ints, ...]:
        """Return the statistic of several parts, at least one, from those of each."""
        return self.kernel.merge(*results)


@dataclass(frozen=True, eq=False)
class ProjectedFunction:
    """A number for each record, from the projected record alone."""

    function: Callable[[Part], npt.NDArray[np.int32]]
    projection: Projection

    def __call__(self, part: Part, /) -> npt.NDArray[np.int32]:
        """Return the numbers of the records of one part."""
        return self.function(self.projection.apply(part))


def project(
    engine: Engine | npt.NDArray[Any],
    center: npt.NDArray[Any],
    directions: npt.NDArray[Any],
    radius: int,
) -> Engine:
    """Project records onto a few public directions, on another lattice.

    Column i of a projected record is ``directions[i] . (x - center) / DIRECTION_UNIT`` in steps of
    radius / HALF, truncated to whole steps. Projected records further than ``radius`` from the
    center are moved to that distance, so that all lie in a ball of radius HALF around 0.

    Parameters
    ----------
    engine : Engine, or ndarray of integers, shape (n, d)
        Lattice records.
    center : ndarray of integers, shape (d,)
        A public lattice point.
    directions : ndarray of integers, shape (p, d)
        Public directions, each of length DIRECTION_UNIT up to rounding; they need not be
        orthogonal.
    radius : int
        Distance from the center that is mapped to HALF, 1 to 2^27 lattice steps.

    Returns
    -------
    engine : Engine
        An engine of p columns, with the same weights.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import DIRECTION_UNIT, HALF, nearest_statistics, project
    >>> records = np.array([[10, 7], [12, 7], [90, 7]])
    >>> line = project(records, np.array([10, 0]), np.array([[DIRECTION_UNIT, 0]]), 4)
    >>> nearest_statistics(line, np.array([[0]])).sums / HALF  # 0, 2/4 and 1, truncated
    array([[1.49999619]])
    """
    held = as_engine(engine)
    projection = Projection(
        lattice_point("center", center, held.columns),
        _check_directions(directions, held.columns),
        check_integer("radius", radius, MAX_CLIP_RADIUS),
    )
    if isinstance(held, ArrayEngine):
        return held.transform(projection, len(directions), rows=projection.rows)
    return ProjectedEngine(held, projection)


def _check_directions(directions: npt.NDArray[Any], columns: int) -> Ints:
    if directions.ndim != 2 or directions.shape[1] != columns or len(directions) == 0:
        shape = directions.shape
        raise ParameterError(f"directions must have shape (1 or more, {columns}), got {shape}")
    if len(directions) > MAX_COLUMNS:
        raise ParameterError(f"directions must be at most {MAX_COLUMNS}, got {len(directions)}")
    if directions.dtype.kind not in "iu":
        raise ParameterError(f"directions must be integers, got {directions.dtype}: round them")
    if not (np.linalg.norm(directions.astype(np.float64), axis=1) <= MAX_LENGTH).all():
        raise ParameterError(f"directions must have length {DIRECTION_UNIT}: scale and round them")
    return directions.astype(np.int64, copy=False)
