"""A regular public grid over the box, and the wider one that reports around the box fall on."""

import itertools
from dataclasses import dataclass

import numpy as np

from shoal._bounds import Box
from shoal._typing import Floats, Ints

__all__ = ["RegularGrid"]


CHUNK_ROWS = 1 << 14  # reports looked up at a time, so that every pass stays in cache


@dataclass(frozen=True, eq=False)
class RegularGrid:
    """Cells of a public box, and as many more of the same size around it.

    Parameters
    ----------
    box : Box
        Public box.
    cells : ndarray of int64, shape (d,)
        Number of cells of each column inside the box.
    margin : ndarray of int64, shape (d,)
        Number of cells added on each side.
    """

    box: Box
    cells: Ints
    margin: Ints

    @property
    def width(self) -> Floats:
        """Widths of a cell."""
        width: Floats = self.box.high / self.cells - self.box.low / self.cells
        return width

    @property
    def outer(self) -> Ints:
        """Numbers of cells with those around the box."""
        outer: Ints = self.cells + 2 * self.margin
        return outer

    def centers(self) -> tuple[Floats, ...]:
        """Cell centers of each column inside the box."""
        sides = zip(self.box.low, self.width, self.cells, strict=True)
        return tuple(low + (np.arange(cells) + 0.5) * width for low, width, cells in sides)

    def outer_centers(self) -> tuple[Floats, ...]:
        """Cell centers of each column, those around the box included."""
        sides = zip(self.box.low, self.width, self.cells, self.margin, strict=True)
        return tuple(
            low + (np.arange(-margin, cells + margin) + 0.5) * width
            for low, width, cells, margin in sides
        )

    def count(self, reports: Floats) -> Floats:
        """Count reports in the cells of the outer grid; those beyond are drawn in first."""
        counts = np.zeros(int(np.prod(self.outer)), dtype=np.int64)
        for start in range(0, len(reports), CHUNK_ROWS):
            places = self._places(reports[start : start + CHUNK_ROWS])
            flat = np.zeros(places.shape[1], dtype=np.int64)
            for place, side in zip(places, self.outer, strict=True):
                flat *= side
                flat += np.minimum(place + 0.5, side - 1).astype(np.int64)
            counts += np.bincount(flat, minlength=len(counts))
        return counts.reshape(self.outer).astype(np.float64)

    def look_up(self, field: Floats, reports: Floats) -> Floats:
        """Interpolate a field of the outer grid's centers linearly at reports.

        Parameters
        ----------
        field : ndarray of float64, shape (*outer, d)
            A point for each cell of the outer grid.
        reports : ndarray of float64, shape (n, d)
            Reports; those beyond the outer grid are drawn in first.

        Returns
        -------
        points : ndarray of float64, shape (n, d)
            A field that maps every center to itself maps every report to itself.
        """
        columns = reports.shape[1]
        table = np.ascontiguousarray(np.moveaxis(field, -1, 0).reshape(columns, -1))
        strides = np.append(np.cumprod(self.outer[:0:-1])[::-1], 1)
        points = np.empty_like(reports)
        for start in range(0, len(reports), CHUNK_ROWS):
            places = self._places(reports[start : start + CHUNK_ROWS])
            lower = [
                np.minimum(place, side - 2).astype(np.int64)
                for place, side in zip(places, self.outer, strict=True)
            ]
            upper_share = [place - low for place, low in zip(places, lower, strict=True)]
            corner = sum(low * stride for low, stride in zip(lower, strides, strict=True))
            total = np.zeros((columns, places.shape[1]))
            for bits in itertools.product((0, 1), repeat=columns):
                share = np.ones(places.shape[1])
                for bit, up in zip(bits, upper_share, strict=True):
                    share *= up if bit else 1.0 - up
                index = corner + int(np.dot(bits, strides))
                for j in range(columns):
                    total[j] += share * table[j].take(index)
            points[start : start + CHUNK_ROWS] = total.T
        return points

    def _places(self, reports: Floats) -> Floats:
        """Return the coordinates of reports in cells from the first center, one column a row.

        Far reports are drawn toward the middle of the box, not clipped column by column: their
        direction, which is all that they say about the record, stays.
        """
        middle = self.box.low / 2 + self.box.high / 2
        places: Floats = np.ascontiguousarray((reports - middle).T)
        places /= self.width[:, None]
        half = (self.outer[:, None] - 1) / 2
        excess = np.abs(places / half).max(axis=0)
        np.maximum(excess, 1.0, out=excess)
        places /= excess
        places += half
        return places
