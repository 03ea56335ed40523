"""Grids, distances, convolutions and geometric medians that remaps and report clustering share."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from scipy import fft

from shoal._bounds import Box
from shoal._typing import Floats, Ints

__all__ = [
    "CellChannel",
    "Cloud",
    "Convolution",
    "RegularGrid",
    "geometric_medians",
    "squared_distances",
]


def squared_distances(first: Floats, second: Floats) -> Floats:
    """Return the squared distance of each row of one table to each row of the other.

    Parameters
    ----------
    first, second : ndarray of float64, shapes (n, d) and (m, d)
        Points. Subtract a large common offset first, as it causes cancellation.

    Returns
    -------
    squares : ndarray of float64, shape (n, m)
        Squared distances, never negative.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.remap import squared_distances
    >>> squared_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 1.0]])).tolist()
    [[25.0, 1.0]]
    """
    squares: Floats = first @ (-2.0 * second.T)
    squares += np.einsum("ij,ij->i", first, first)[:, None]
    squares += np.einsum("ij,ij->i", second, second)
    np.maximum(squares, 0.0, out=squares)
    return squares


CHUNK_ROWS = 1 << 14  # reports looked up at a time, so that every pass stays in cache


@dataclass(frozen=True, eq=False)
class RegularGrid:
    """Regular grid of cells over a public box, with a margin of equal cells around it.

    Parameters
    ----------
    box : Box
        Public box.
    cells : ndarray of int64, shape (d,)
        Number of cells of each column inside the box.
    margin : ndarray of int64, shape (d,)
        Number of cells added on each side.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal._bounds import public_box
    >>> from shoal.remap import RegularGrid
    >>> grid = RegularGrid(public_box((0.0, 1.0), 2), np.array([4, 4]), np.array([1, 1]))
    >>> grid.cells.tolist(), grid.margin.tolist()
    ([4, 4], [1, 1])
    """

    box: Box
    cells: Ints
    margin: Ints

    @property
    def width(self) -> Floats:
        """Width of a cell in each column."""
        width: Floats = self.box.high / self.cells - self.box.low / self.cells
        return width

    @property
    def outer(self) -> Ints:
        """Number of cells in each column, with the margin."""
        outer: Ints = self.cells + 2 * self.margin
        return outer

    def centers(self) -> tuple[Floats, ...]:
        """Cell centers of each column inside the box."""
        sides = zip(self.box.low, self.width, self.cells, strict=True)
        return tuple(low + (np.arange(cells) + 0.5) * width for low, width, cells in sides)

    def outer_centers(self) -> tuple[Floats, ...]:
        """Cell centers of each column, with the margin."""
        sides = zip(self.box.low, self.width, self.cells, self.margin, strict=True)
        return tuple(
            low + (np.arange(-margin, cells + margin) + 0.5) * width
            for low, width, cells, margin in sides
        )

    def count(self, reports: Floats) -> Floats:
        """Count reports in the cells of the outer grid; those beyond are moved to its border."""
        counts = np.zeros(int(np.prod(self.outer)), dtype=np.int64)
        for start in range(0, len(reports), CHUNK_ROWS):
            positions = self._positions(reports[start : start + CHUNK_ROWS])
            flat = np.zeros(positions.shape[1], dtype=np.int64)
            for position, side in zip(positions, self.outer, strict=True):
                flat *= side
                flat += np.minimum(position + 0.5, side - 1).astype(np.int64)
            counts += np.bincount(flat, minlength=len(counts))
        return counts.reshape(self.outer).astype(np.float64)

    def look_up(self, field: Floats, reports: Floats) -> Floats:
        """Interpolate a field, given at the centers of the outer grid, linearly at reports.

        Parameters
        ----------
        field : ndarray of float64, shape (..., d)
            A point for each cell of the outer grid.
        reports : ndarray of float64, shape (n, d)
            Reports; those beyond the outer grid are first moved to its border.

        Returns
        -------
        points : ndarray of float64, shape (n, d)
            Interpolated points; a field that maps every center to itself leaves reports unchanged.
        """
        columns = reports.shape[1]
        table = np.ascontiguousarray(np.moveaxis(field, -1, 0).reshape(columns, -1))
        strides = np.append(np.cumprod(self.outer[:0:-1])[::-1], 1)
        points = np.empty_like(reports)
        for start in range(0, len(reports), CHUNK_ROWS):
            positions = self._positions(reports[start : start + CHUNK_ROWS])
            lower = [
                np.minimum(position, side - 2).astype(np.int64)
                for position, side in zip(positions, self.outer, strict=True)
            ]
            upper_weight = [position - low for position, low in zip(positions, lower, strict=True)]
            corner = sum(low * stride for low, stride in zip(lower, strides, strict=True))
            total = np.zeros((columns, positions.shape[1]))
            for bits in itertools.product((0, 1), repeat=columns):
                weight = np.ones(positions.shape[1])
                for bit, up in zip(bits, upper_weight, strict=True):
                    weight *= up if bit else 1.0 - up
                index = corner + int(np.dot(bits, strides))
                for j in range(columns):
                    total[j] += weight * table[j].take(index)
            points[start : start + CHUNK_ROWS] = total.T
        return points

    def _positions(self, reports: Floats) -> Floats:
        """Return the coordinates of reports in cells from the first center, one column a row.

        Far reports are drawn toward the middle of the box, not clipped column by column: their
        direction, which is all that they say about the record, stays.
        """
        middle = self.box.low / 2 + self.box.high / 2
        positions: Floats = np.ascontiguousarray((reports - middle).T)
        positions /= self.width[:, None]
        half = (self.outer[:, None] - 1) / 2
        excess = np.abs(positions / half).max(axis=0)
        np.maximum(excess, 1.0, out=excess)
        positions /= excess
        positions += half
        return positions


Sides = Sequence[int] | npt.NDArray[np.int64]


class CellChannel(Protocol):
    """Protocol of linear maps from distributions of records on cells to those of counted reports.

    :class:`Convolution` is one.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.remap import CellChannel, Convolution
    >>> channel: CellChannel = Convolution(np.array([0.25, 0.5, 0.25]), cells=[2], outer=[4])
    >>> channel.backward(np.array([0.0, 1.0, 0.0, 0.0])).round(2).tolist()
    [0.5, 0.25]
    """

    def forward(self, prior: Floats) -> Floats:
        """Return the distribution of counted reports for a distribution of records."""

    def backward(self, weights: Floats) -> Floats:
        """Apply the adjoint (transposed) map."""


class Convolution:
    """Convolution with a kernel, from cells of the box to cells of the outer grid around it.

    The Fourier transforms are long enough to avoid wrap-around: results are those of the matrix
    K[z, x] = kernel[z - x], up to rounding errors of about 1e-16 of the largest.

    Parameters
    ----------
    kernel : ndarray of float64
        Odd number of values in each column; the middle one is that of z = x. It is zero at all
        other offsets.
    cells : sequence of int
        Number of cells of the box in each column, in the middle of the outer grid.
    outer : sequence of int
        Number of cells of the outer grid in each column; ``outer - cells`` is even.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.remap import Convolution
    >>> blur = Convolution(np.array([0.25, 0.5, 0.25]), cells=[2], outer=[4])
    >>> blur.forward(np.array([1.0, 0.0])).round(2).tolist()
    [0.25, 0.5, 0.25, 0.0]
    """

    def __init__(self, kernel: Floats, cells: Sides, outer: Sides) -> None:
        cells, outer = [int(side) for side in cells], [int(side) for side in outer]
        margins = [(side - inner) // 2 for inner, side in zip(cells, outer, strict=True)]
        self._inner = tuple(slice(m, m + c) for m, c in zip(margins, cells, strict=True))
        self._outer = tuple(slice(0, side) for side in outer)
        extent = [inner + margin - 1 for inner, margin in zip(cells, margins, strict=True)]
        self._size = [fft.next_fast_len(2 * r + 1, real=True) for r in extent]
        wrapped = np.zeros(self._size)
        offsets, positions = [], []
        for side, longest, size in zip(kernel.shape, extent, self._size, strict=True):
            middle = side // 2
            kept = np.arange(-min(middle, longest), min(middle, longest) + 1)
            offsets.append(kept + middle)
            positions.append(kept % size)
        wrapped[np.ix_(*positions)] = kernel[np.ix_(*offsets)]
        self._spectrum = fft.rfftn(wrapped)
        self._mirrored = np.conj(self._spectrum)

    def forward(self, prior: Floats) -> Floats:
        """Return the sum over x of K[z, x] prior[x], for every z of the outer grid."""
        padded = np.zeros(self._size)
        padded[self._inner] = prior
        return self._apply(padded, self._spectrum)[self._outer]

    def backward(self, weights: Floats) -> Floats:
        """Return the sum over z of K[z, x] weights[z], for every x of the box."""
        padded = np.zeros(self._size)
        padded[self._outer] = weights
        return self._apply(padded, self._mirrored)[self._inner]

    def _apply(self, padded: Floats, spectrum: npt.NDArray[np.complex128]) -> Floats:
        product = fft.rfftn(padded)
        product *= spectrum
        result: Floats = fft.irfftn(product, self._size, overwrite_x=True)
        return result


MAX_ITER = 100
PRECISION = 1e-3  # of `scale`: when every median moves less, all have arrived


class Cloud(NamedTuple):
    """Weighted points for each of n rows: the same points in all rows, up to a shift of each row.

    Attributes
    ----------
    weights : ndarray of float64, shape (n, m)
        Weights of the points in each row.
    points : ndarray of float64, shape (m, d)
        Points.
    shifts : ndarray of float64, shape (n, d), or None
        Shift that is added to the points in each row.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.remap import Cloud
    >>> cloud = Cloud(np.array([[0.5, 0.5]]), np.array([[0.0], [2.0]]))
    >>> (cloud.weights @ cloud.points).tolist()
    [[1.0]]
    """

    weights: Floats
    points: Floats
    shifts: Floats | None = None


def geometric_medians(clouds: Sequence[Cloud], start: Floats, *, scale: float) -> Floats:
    """Minimize the weighted sum of Euclidean distances to the points of all clouds, for each row.

    Parameters
    ----------
    clouds : sequence of Cloud
        Points and weights.
    start : ndarray of float64, shape (n, d)
        Initial values, such as the weighted means.
    scale : float
        Length that matters, such as the width of a cell; distances are smoothed at a thousandth of
        it, so that a median may lie on a point.

    Returns
    -------
    medians : ndarray of float64, shape (n, d)
        One median for each row.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.remap import Cloud, geometric_medians
    >>> cloud = Cloud(np.array([[0.2, 0.2, 0.6]]), np.array([[0.0], [1.0], [9.0]]))
    >>> geometric_medians([cloud], np.array([[5.6]]), scale=1.0).round(1).tolist()
    [[9.0]]
    """
    smooth = (PRECISION * scale) ** 2
    medians = start.copy()
    moving = np.arange(len(medians))
    for _ in range(MAX_ITER):
        here = medians[moving]
        there, total = np.zeros_like(here), np.zeros(len(here))
        for cloud in clouds:
            shift = np.zeros_like(here) if cloud.shifts is None else cloud.shifts[moving]
            # Near zero: large common parts would cancel badly.
            origin = cloud.points.mean(axis=0)
            squares = squared_distances(here - shift - origin, cloud.points - origin)
            pulls = cloud.weights[moving] / np.sqrt(squares + smooth)
            pull = pulls.sum(axis=1)
            there += pulls @ cloud.points + pull[:, None] * shift
            total += pull
        there /= total[:, None]
        medians[moving] = there
        moving = moving[np.abs(there - here).max(axis=1) > PRECISION * scale]
        if len(moving) == 0:
            break
    return medians
