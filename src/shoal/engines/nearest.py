"""Nearest centers on the lattice: exact counts and sums, in any order of the records.

A record belongs to its nearest center by exact squared distance, the lowest index among equals. So
one record more or less changes one count by its weight and one row of sums by at most weight *
clip_radius, in each column (cube) or in Euclidean length (ball); without a radius by at most
weight * 2^19 in each column. shoal.engines.engine says why doubles are exact here.
"""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats, Ints
from shoal.engines._offsets import (
    Belonging,
    block_rows,
    check_clip,
    columns_of,
    few_groups,
    lies_by_column,
    offset_sums,
    part_rows,
    product_rows,
)
from shoal.engines._parallel import Scratch, thread_scratch
from shoal.engines.array_engine import as_engine
from shoal.engines.engine import HALF, Engine, Part, lattice_points

__all__ = ["NearestKernel", "NearestStatistics", "nearest_centers", "nearest_statistics"]


UNIT = 2**52  # from here to its double, doubles are the integers
ONE = int(np.float64(1.0).view(np.int64))  # the bits of 1.0


@dataclass(frozen=True, eq=False)
class NearestStatistics:
    """Count and sum of the records nearest to each center.

    Parameters
    ----------
    counts : ndarray of int64, shape (k,)
        Sum of the weights of the records whose nearest center it is.
    sums : ndarray of int64, shape (k, d)
        Weighted sum of these records, or of their clipped offsets from the center.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import nearest_statistics
    >>> around = nearest_statistics(np.array([[0], [1], [9]]), np.array([[0], [10]]))
    >>> around.counts.tolist(), around.sums.tolist()
    ([2, 1], [[1], [9]])
    """

    counts: Ints
    sums: Ints


@dataclass(frozen=True, eq=False)
class NearestKernel:
    """Counts and sums around given centers, for one part of the records."""

    centers: Ints  # shape (k, d): lattice centers
    clip_radius: int | None = None  # largest offset; None adds up the records themselves
    shape: str = "cube"  # whether ``clip_radius`` bounds each column or the Euclidean length

    @property
    def rows(self) -> int:
        """Rows of a part above which it pays to split it."""
        return part_rows(sum(self.centers.shape) + 1)

    def __call__(self, part: Part, /) -> tuple[Ints, Ints]:
        """Return counts and sums of one part."""
        return offset_sums(
            part,
            self._assign,
            self.centers,
            clip_radius=self.clip_radius,
            shape=self.shape,
            rows=self._block_rows(lies_by_column(part.records)),
        )

    def labels(self, part: Part) -> npt.NDArray[np.int32]:
        """Return the index of the nearest center of each record of one part."""
        labels = np.empty(len(part.records), dtype=np.int32)
        scratch = thread_scratch()
        start = 0
        for block in part.blocks(block_rows(2 * self.centers.shape[1] + 3)):
            stop = start + len(block.records)
            labels[start:stop] = self._nearest(columns_of(block.records, scratch), scratch)
            start = stop
        return labels

    def _block_rows(self, by_column: bool) -> int:
        k, d = self.centers.shape
        # Indices come from as many products as a block needs, 0s and 1s from a single one.
        return product_rows(d, k) if self._few(by_column) else block_rows(2 * d + 3)

    def _few(self, by_column: bool) -> bool:
        k, d = self.centers.shape
        return k <= few_groups(d, by_column) and self._in_bits

    @functools.cached_property
    def _slots(self) -> int:
        """Power of two that leaves bits for an index below a distance, or 0 if doubles do not."""
        k, d = self.centers.shape
        slots = 1 << (k - 1).bit_length()
        return slots if 3 * d * HALF**2 * slots + k <= 2**53 else 0

    @functools.cached_property
    def _in_bits(self) -> bool:
        """Return whether keys can lie between UNIT and its double, where their bits count them."""
        k, d = self.centers.shape
        return self._slots > 0 and 4 * d * HALF**2 * self._slots + k <= UNIT

    @functools.cached_property
    def _form(self) -> Floats:
        """Matrix whose product with columns is a key for each center, slots * distance + index."""
        k, d = self.centers.shape
        form = np.empty((k, d + 1))
        np.multiply(self.centers, -2.0, out=form[:, :d])
        # ||x||^2 is the same for all centers, so it is left out of all distances.
        form[:, d] = np.einsum("ij,ij->i", self.centers, self.centers)
        if self._slots:
            form *= self._slots
            form[:, d] += np.arange(k)
        if self._in_bits:
            # What is left of a distance is at least -||x||^2: no key is below UNIT.
            form[:, d] += UNIT + self._slots * d * HALF**2
        return form

    def _assign(self, columns: Floats, scratch: Scratch) -> tuple[Belonging, Belonging]:
        """Return the nearest center of each record, in the ways that are fastest."""
        by_column = columns.flags.c_contiguous
        if not self._few(by_column):
            labels = self._nearest(columns, scratch)
            return labels, labels
        keys, least = self._keys(columns, scratch), scratch.take("least", columns.shape[1:])
        np.minimum.reduce(keys, axis=0, out=least)
        # From the integers of their bits: -1 for the nearest center, whose bits are all set, and 0
        # to UNIT for any other, which has none of those that make a double of 1.
        bits, above = keys.view(np.int64), least.view(np.int64)
        above += 1
        bits -= above
        bits &= ONE
        if by_column:
            return keys, keys
        # Whole records are copied faster than multiplied.
        above -= 1
        above &= self._slots - 1
        return above.astype(np.intp, copy=False), keys

    def _nearest(self, columns: Floats, scratch: Scratch) -> npt.NDArray[np.intp]:
        """Return the index of the nearest center of each record."""
        k, d = self.centers.shape
        labels = scratch.take("labels", columns.shape[1:]).view(np.int64)
        rows = product_rows(d, k)
        for start in range(0, len(labels), rows):
            some = columns[:, start : start + rows]
            if self._slots:
                # Distance and index are one number: the least has the lowest index among equals,
                # and numpy finds a minimum faster than its index.
                least = scratch.take("least", some.shape[1:])
                labels[start : start + rows] = np.minimum.reduce(
                    self._keys(some, scratch), axis=0, out=least
                )
            else:
                distances = scratch.take("keys", (some.shape[1], k))
                np.matmul(some.T, self._form.T, out=distances)
                labels[start : start + rows] = distances.argmin(axis=1)
        if self._slots:
            labels &= self._slots - 1
        return labels.astype(np.intp, copy=False)

    def _keys(self, columns: Floats, scratch: Scratch) -> Floats:
        keys = scratch.take("keys", (len(self.centers), columns.shape[1]))
        return np.matmul(self._form, columns, out=keys)


def nearest_statistics(
    engine: Engine | npt.NDArray[Any],
    centers: npt.NDArray[Any],
    *,
    clip_radius: int | None = None,
    shape: str = "cube",
) -> NearestStatistics:
    """Count and sum the records nearest to each center.

    Parameters
    ----------
    engine : Engine, or ndarray of integers, shape (n, d)
        Lattice records, at most 2^19 in absolute value.
    centers : ndarray of integers, shape (k, d)
        Lattice points, at most 2^19 in absolute value.
    clip_radius : int, default=None
        None sums the records themselves. A number from 1 to 2^27 sums their offsets from the
        center, clipped to it.
    shape : {"cube", "ball"}, default="cube"
        ``"cube"`` clips each column of an offset to -clip_radius .. clip_radius. ``"ball"`` shrinks
        an offset longer than ``clip_radius`` toward the center, to whole lattice steps and at most
        that length.

    Returns
    -------
    statistics : NearestStatistics
        Exact counts and sums. Of equally near centers, a record counts for the one with the lowest
        index.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import ArrayEngine, nearest_statistics
    >>> records = ArrayEngine(np.array([[0], [1], [9]], dtype=np.int32))
    >>> nearest_statistics(records, np.array([[0], [10]])).sums.ravel().tolist()
    [1, 9]
    >>> nearest_statistics(records, np.array([[3], [10]]), clip_radius=2).sums.ravel().tolist()
    [-4, -1]
    """
    held = as_engine(engine)
    kernel = NearestKernel(
        lattice_points("centers", centers, held.columns), check_clip(clip_radius, shape), shape
    )
    return NearestStatistics(*held.add_up(kernel))


def nearest_centers(engine: Engine | npt.NDArray[Any], centers: npt.NDArray[Any]) -> Any:
    """Find the nearest center of each record.

    Parameters
    ----------
    engine : Engine, or ndarray of integers, shape (n, d)
        Lattice records.
    centers : ndarray of integers, shape (k, d)
        Lattice centers.

    Returns
    -------
    labels : ndarray of int32, shape (n,), or what the engine has in its place
        Index of the nearest center, the lowest of equally near ones. Raw-data output.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import nearest_centers
    >>> nearest_centers(np.array([[4], [5], [6]]), np.array([[0], [10]])).tolist()
    [0, 0, 1]
    """
    held = as_engine(engine)
    kernel = NearestKernel(lattice_points("centers", centers, held.columns))
    return held.collect(kernel.labels, rows=kernel.rows)
