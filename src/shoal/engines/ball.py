"""Statistics around one public center: how far records lie from it, and their second moments.

One record more or less, with weight w, changes one of the counts by w, and the second moments by
w y y^T with a vector y of at most SECOND_UNIT in Euclidean length, so by at most w * SECOND_UNIT^2
in Frobenius norm.

Why it is exact. Squared distances are integers of at most 2^53 (shoal.engines.engine), and are
compared with squares of integers. Columns of y are whole and at most 2^12: sums of products over a
block of 2^16 rows with weights are at most 2^48 in doubles, and int64 holds those of 2^38 records,
each counted as often as its weight says; more are refused.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._typing import Ints
from shoal.engines._offsets import INWARD, MAX_CLIP_RADIUS, block_rows, part_rows
from shoal.engines._parallel import thread_scratch
from shoal.engines._rows import row_blocks, rows_of, squared_lengths
from shoal.engines.array_engine import as_engine
from shoal.engines.engine import Engine, Part, check_integer, check_total, lattice_points
from shoal.exceptions import ParameterError

__all__ = ["SECOND_UNIT", "RadiusKernel", "SecondMomentKernel", "radius_counts", "second_moments"]

#: Length, in integers, to which an offset as long as the radius is scaled.
SECOND_UNIT = 2**12
MAX_TOTAL = 2**38  # times SECOND_UNIT^2 is 2^62
MAX_BLOCK = 2**16  # rows whose products add up in doubles


@dataclass(frozen=True, eq=False)
class RadiusKernel:
    """Counts of distances from a center, for one part of the records."""

    center: Ints  # shape (d,): lattice point
    edges: Ints  # shape (m,): increasing distances in lattice steps

    @property
    def rows(self) -> int:
        """Rows of a part above which it pays to split it."""
        return part_rows(2 * len(self.center))

    def __call__(self, part: Part, /) -> tuple[Ints]:
        """Return the counts of one part."""
        d, bins = len(self.center), len(self.edges) + 1
        limits, center = self.edges * self.edges, self.center.astype(np.float64)
        form = np.append(-2.0 * center, center @ center)
        totals = np.zeros(bins)
        scratch = thread_scratch()
        for block in part.blocks(row_blocks(d + 1)):
            rows = rows_of(block.records, d + 1, scratch)
            rows[:, d] = 1.0
            squares = np.dot(rows, form)
            squares += squared_lengths(rows[:, :d])
            # A bin is closed at its upper edge, as balls are.
            places = np.searchsorted(limits, squares.astype(np.int64), side="left")
            totals += np.bincount(places, weights=block.weights, minlength=bins)
        return (totals.astype(np.int64),)


@dataclass(frozen=True, eq=False)
class SecondMomentKernel:
    """Sums of products of clipped offsets from a center, for one part of the records."""

    center: Ints  # shape (d,): lattice point
    radius: int  # what becomes SECOND_UNIT, in lattice steps

    @property
    def rows(self) -> int:
        """Rows of a part above which it pays to split it."""
        return part_rows(2 * len(self.center))

    def __call__(self, part: Part, /) -> tuple[Ints]:
        """Return the sums of one part."""
        d = len(self.center)
        totals = np.zeros((d, d), dtype=np.int64)
        scratch = thread_scratch()
        # Larger than other blocks, since each adds a whole matrix.
        for block in part.blocks(min(block_rows(d), MAX_BLOCK)):
            offsets = rows_of(block.records, d, scratch)
            offsets -= self.center
            lengths = np.maximum(np.sqrt(squared_lengths(offsets)), float(self.radius))
            # As in the clipping of windows: no column ends up further out than it should.
            offsets *= (SECOND_UNIT * INWARD / lengths)[:, None]
            np.trunc(offsets, out=offsets)
            weighted = offsets if block.weights is None else offsets * block.weights[:, None]
            totals += np.dot(weighted.T, offsets).astype(np.int64)
        return (totals,)


def radius_counts(
    engine: Engine | npt.NDArray[Any], center: npt.NDArray[Any], edges: npt.NDArray[Any]
) -> Ints:
    """Count the records by their Euclidean distance from a center.

    Parameters
    ----------
    engine : Engine, or ndarray of integers, shape (n, d)
        Lattice records.
    center : ndarray of integers, shape (d,)
        A public lattice point.
    edges : ndarray of integers, shape (m,)
        Increasing distances, 1 to 2^27 lattice steps.

    Returns
    -------
    counts : ndarray of int64, shape (m + 1,)
        Exact sums of weights: of records up to the first edge, of those between the first and the
        second, and so on; the last is of those beyond all edges.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import radius_counts
    >>> records = np.array([[0, 0], [3, 4], [3, 5], [30, 40]])
    >>> radius_counts(records, np.array([0, 0]), np.array([5, 10])).tolist()
    [2, 1, 1]
    """
    held = as_engine(engine)
    if edges.ndim != 1 or len(edges) == 0 or edges.dtype.kind not in "iu":
        raise ParameterError(f"edges must be 1 or more integers, got shape {edges.shape}")
    limits = edges.astype(np.int64)
    if not (limits[0] >= 1 and limits[-1] <= MAX_CLIP_RADIUS and (np.diff(limits) > 0).all()):
        raise ParameterError(f"edges must increase, from at least 1 to at most {MAX_CLIP_RADIUS}")
    (counts,) = held.add_up(RadiusKernel(lattice_point("center", center, held.columns), limits))
    return counts


def second_moments(
    engine: Engine | npt.NDArray[Any], center: npt.NDArray[Any], radius: int
) -> Ints:
    """Return the second-moment matrix of the records' clipped offsets from a center.

    Parameters
    ----------
    engine : Engine, or ndarray of integers, shape (n, d)
        Lattice records; their weights may add up to 2^38 at most.
    center : ndarray of integers, shape (d,)
        A public lattice point.
    radius : int
        Length to which offsets are clipped, 1 to 2^27 lattice steps.

    Returns
    -------
    moments : ndarray of int64, shape (d, d)
        Sum of y y^T over the records, where y is the offset in steps of radius / SECOND_UNIT,
        shrunk to a length of SECOND_UNIT if it is longer, and truncated to whole steps.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import SECOND_UNIT, second_moments
    >>> records = np.array([[3, 0], [0, -50]])
    >>> (second_moments(records, np.array([0, 0]), 6) / SECOND_UNIT**2).round(2).tolist()
    [[0.25, 0.0], [0.0, 1.0]]
    """
    held = as_engine(engine)
    check_total(held, MAX_TOTAL)
    kernel = SecondMomentKernel(
        lattice_point("center", center, held.columns),
        check_integer("radius", radius, MAX_CLIP_RADIUS),
    )
    (moments,) = held.add_up(kernel)
    return moments


def lattice_point(name: str, point: npt.NDArray[Any], columns: int) -> Ints:
    """Return ``point`` as int64 of shape (columns,), within the lattice."""
    if point.shape != (columns,):
        raise ParameterError(f"{name} must have shape ({columns},), got {point.shape}")
    return lattice_points(name, point[None], columns).reshape(columns)
