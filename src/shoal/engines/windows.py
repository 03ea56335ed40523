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
those of 2^34 rows with weights.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats, Ints
from shoal.engines._offsets import INWARD, MAX_CLIP_RADIUS, block_rows, part_rows
from shoal.engines.array_engine import as_engine
from shoal.engines.engine import Engine, Part, lattice_points
from shoal.engines.nearest import NearestKernel
from shoal.exceptions import ParameterError

__all__ = ["MOMENT_UNIT", "WindowKernel", "WindowStatistics", "window_statistics"]

MOMENT_UNIT = 2**20  # the squared length of an offset as long as its window


@dataclass(frozen=True, eq=False)
class WindowStatistics:
    """What one pass over the records adds up for each center and its window.

    Parameters
    ----------
    counts : ndarray of int64, shape (k,)
        Records whose nearest center it is, with their weights.
    sums : ndarray of int64, shape (k, d)
        Sums of offsets from the center, each clipped to the window.
    moments : ndarray of int64, shape (k,)
        Sums of squared lengths of the clipped offsets, before these are truncated to whole lattice
        steps, in units of radius^2 / MOMENT_UNIT and less MOMENT_UNIT / 2 for each record.
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
        totals = np.zeros((d + 2, k))
        nearest = NearestKernel(self.centers)
        for block in part.blocks(block_rows(2 * d + 3)):
            labels = nearest.labels(block)
            offsets = (block.records - self.centers[labels]).astype(np.float64)
            radii = self.radii[labels].astype(np.float64)
            squares = np.einsum("ij,ij->i", offsets, offsets)
            weights = np.ones(len(labels)) if block.weights is None else block.weights
            totals[d] += np.bincount(labels, weights=weights, minlength=k)
            parts = np.floor(MOMENT_UNIT * np.minimum(squares / (radii * radii), 1.0))
            totals[d + 1] += np.bincount(
                labels, weights=weights * (parts - MOMENT_UNIT / 2), minlength=k
            )
            clip_lengths(offsets, squares, radii)
            for column in range(d):
                values = weights * offsets[:, column]
                totals[column] += np.bincount(labels, weights=values, minlength=k)
        exact = totals.astype(np.int64)
        return exact[d].copy(), np.ascontiguousarray(exact[:d].T), exact[d + 1].copy()


def clip_lengths(offsets: Floats, squares: Floats, radii: Floats) -> None:
    """Shrink offsets longer than their radius in place, to whole steps and no longer than that."""
    longer = squares > radii * radii
    factors = radii[longer] * INWARD / np.sqrt(squares[longer])
    offsets[longer] = np.trunc(offsets[longer] * factors[:, None])


def window_statistics(
    engine: Engine | npt.NDArray[Any], centers: npt.NDArray[Any], radii: npt.NDArray[Any]
) -> WindowStatistics:
    """Count and add up the records of each center, clipped to a window of its own.

    Parameters
    ----------
    engine : Engine, or ndarray of integers, shape (n, d)
        Lattice records, at most 2^19 in absolute value.
    centers : ndarray of integers, shape (k, d)
        Lattice centers, likewise.
    radii : ndarray of integers, shape (k,)
        Radius of each center's window, 1 to 2^27 lattice steps.

    Returns
    -------
    statistics : WindowStatistics
        Exact counts, sums and moments; a record counts for its nearest center of lowest index only.

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
    points = lattice_points("centers", centers, held.columns)
    return WindowStatistics(*held.add_up(WindowKernel(points, check_radii(radii, len(points)))))


def check_radii(radii: npt.NDArray[Any], count: int) -> Ints:
    """Return ``radii`` as int64, one for each center."""
    if radii.shape != (count,) or radii.dtype.kind not in "iu":
        raise ParameterError(f"radii must be {count} integers, one for each center")
    if not (radii.min() >= 1 and radii.max() <= MAX_CLIP_RADIUS):
        raise ParameterError(f"radii must lie between 1 and {MAX_CLIP_RADIUS}: clip them first")
    return radii.astype(np.int64, copy=False)
