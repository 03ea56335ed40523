"""Windowed moments: counts, sums of clipped offsets and squared lengths around given centers.

A record belongs to its nearest center by exact squared distance, the lowest index among equals. Its
offset from there is clipped to the center's own window, a ball of ``radius`` lattice steps, by
truncation towards the center: never longer than the radius, in exact integers. So one record more
or less changes one center's statistics alone, with weight w

* the count by w,
* the sums by at most w * radius in Euclidean length,
* the moment by at most w * MOMENT_UNIT / 2.

Why it is exact. Squared distances are integers of at most 2^53 (shoal.engines.engine). The part of
a record in a moment is the floor of one correctly rounded quotient, an integer of 0 to MOMENT_UNIT,
from the record alone; so moments over a part are at most 2^19 * 2^8 * 2^24 = 2^51, and int64 holds
those of 2^34 rows with weights, 2^42 records in all; more are refused.
"""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats, Ints
from shoal.engines._offsets import MAX_CLIP_RADIUS, group_sums, part_rows
from shoal.engines._parallel import Scratch, thread_scratch
from shoal.engines._rows import clip_lengths, product, row_blocks, rows_of, squared_lengths
from shoal.engines.array_engine import as_engine
from shoal.engines.engine import Engine, Part, check_total, lattice_points
from shoal.exceptions import ParameterError

__all__ = ["MOMENT_UNIT", "WindowKernel", "WindowStatistics", "window_statistics"]

#: Squared length, in integers, to which an offset as long as its window is scaled.
MOMENT_UNIT = 2**20
MAX_TOTAL = 2**42  # 2^34 rows with weights; times the longest column of an offset it is 2^62


@dataclass(frozen=True, eq=False)
class WindowStatistics:
    """Count, sum and squared length of the records nearest to each center, within its window.

    Parameters
    ----------
    counts : ndarray of int64, shape (k,)
        Sum of the weights of the records whose nearest center it is.
    sums : ndarray of int64, shape (k, d)
        Weighted sum of their offsets from the center, each clipped to the window.
    moments : ndarray of int64, shape (k,)
        Weighted sum of the squared lengths of the clipped offsets (before truncation to whole
        lattice steps), in units of radius^2 / MOMENT_UNIT, minus MOMENT_UNIT / 2 for each record.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import window_statistics
    >>> records, center = np.array([[3, 4], [60, 80]]), np.array([[0, 0]])
    >>> windows = window_statistics(records, center, np.array([100]))
    >>> windows.counts.tolist(), windows.sums.tolist()
    ([2], [[63, 84]])
    """

    counts: Ints
    sums: Ints
    moments: Ints


@dataclass(frozen=True, eq=False)
class WindowKernel:
    """Counts, sums and moments of windows, for one part of the records."""

    centers: Ints  # shape (k, d): lattice centers
    radii: Ints  # shape (k,): how long an offset may be, in lattice steps

    @property
    def rows(self) -> int:
        """Rows of a part above which it pays to split it."""
        return part_rows(sum(self.centers.shape) + 1)

    def __call__(self, part: Part, /) -> tuple[Ints, Ints, Ints]:
        """Return counts, sums and moments of one part."""
        k, d = self.centers.shape
        totals = np.zeros((k, d + 2))
        scratch = thread_scratch()
        for block in part.blocks(row_blocks(k + d + 2)):
            # A column of ones adds up to the counts, the last one to the moments.
            rows = rows_of(block.records, d + 2, scratch)
            rows[:, d:] = 1.0, 0.0
            labels, squares = self._nearest(rows[:, : d + 1], scratch)
            clip_lengths(
                rows,
                self._anchors,
                labels,
                squares=squares,
                radii=self._lengths,
                scratch=scratch,
            )
            rows[:, d + 1] = self._moments(labels, squares)
            totals += group_sums(labels, rows, block.weights, k)
        exact = totals.astype(np.int64)
        counts = exact[:, d].copy()
        # Rows that were clipped are centers plus offsets, like all others.
        return counts, exact[:, :d] - counts[:, None] * self.centers, exact[:, d + 1].copy()

    def _nearest(self, rows: Floats, scratch: Scratch) -> tuple[npt.NDArray[np.intp], Floats]:
        """Return the nearest center of each record, the lowest among equals, and its square."""
        keys = product(rows, self._form, scratch)
        labels = keys.argmin(axis=1)
        squares = squared_lengths(rows[:, :-1])
        squares += keys[np.arange(len(rows)), labels]
        return labels, squares

    def _moments(self, labels: npt.NDArray[np.intp], squares: Floats) -> Floats:
        """Return the part of each record in its center's moment."""
        parts = squares / (self._lengths * self._lengths).take(labels)
        np.minimum(parts, 1.0, out=parts)
        parts *= MOMENT_UNIT
        np.floor(parts, out=parts)
        parts -= MOMENT_UNIT // 2
        return parts

    @functools.cached_property
    def _anchors(self) -> Floats:
        """Return the centers as rows."""
        k, d = self.centers.shape
        anchors = np.zeros((k, d + 2))
        anchors[:, :d], anchors[:, d] = self.centers, 1.0
        return anchors

    @functools.cached_property
    def _lengths(self) -> Floats:
        return self.radii.astype(np.float64)

    @functools.cached_property
    def _form(self) -> Floats:
        """Matrix whose product with rows is the squared distance to each center, less ||x||^2."""
        centers = self.centers.astype(np.float64)
        return np.vstack([-2.0 * centers.T, squared_lengths(centers)])


def window_statistics(
    engine: Engine | npt.NDArray[Any], centers: npt.NDArray[Any], radii: npt.NDArray[Any]
) -> WindowStatistics:
    """Count and sum the records nearest to each center, clipped to the center's window.

    The window of a center is a ball around it: offsets longer than its radius are shrunk to it.

    Parameters
    ----------
    engine : Engine, or ndarray of integers, shape (n, d)
        Lattice records, at most 2^19 in absolute value; their weights may add up to 2^42 at most.
    centers : ndarray of integers, shape (k, d)
        Lattice points, at most 2^19 in absolute value.
    radii : ndarray of integers, shape (k,)
        Radius of each center's window, 1 to 2^27 lattice steps.

    Returns
    -------
    statistics : WindowStatistics
        Exact counts, sums and moments. Of equally near centers, a record counts for the one with
        the lowest index.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import MOMENT_UNIT, window_statistics
    >>> records = np.array([[0, 1], [3, 4], [60, 80]])
    >>> windows = window_statistics(records, np.array([[0, 0]]), np.array([10]))
    >>> windows.counts.tolist(), windows.sums.tolist()
    ([3], [[8, 12]])
    >>> windows.moments / MOMENT_UNIT  # 1/100, 25/100 and 1, each less a half
    array([-0.24000072])
    """
    held = as_engine(engine)
    check_total(held, MAX_TOTAL)
    points = lattice_points("centers", centers, held.columns)
    return WindowStatistics(*held.add_up(WindowKernel(points, check_radii(radii, len(points)))))


def check_radii(radii: npt.NDArray[Any], count: int) -> Ints:
    """Return ``radii`` as int64, one for each center."""
    if radii.shape != (count,) or radii.dtype.kind not in "iu":
        raise ParameterError(f"radii must be {count} integers, one for each center")
    if not (radii.min() >= 1 and radii.max() <= MAX_CLIP_RADIUS):
        raise ParameterError(f"radii must lie between 1 and {MAX_CLIP_RADIUS}: clip them first")
    return radii.astype(np.int64, copy=False)
