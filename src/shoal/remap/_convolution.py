"""Convolution of a prior with the law of the noise, by FFT, and its adjoint."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import fft

from shoal._typing import Floats

__all__ = ["Convolution"]

Sides = Sequence[int] | npt.NDArray[np.int64]


class Convolution:
    """From cells of the box to cells of the outer grid around it, and back.

    The transforms are long enough that nothing wraps around: results are those of the matrix
    K[z, x] = kernel[z - x], up to rounding of about 1e-16 of the largest.

    Parameters
    ----------
    kernel : ndarray of float64
        Odd number of values in each column; the middle one is that of z = x. Offsets that it does
        not hold count as zero.
    cells : sequence of int
        Numbers of cells of the box, in the middle of the outer grid.
    outer : sequence of int
        Numbers of cells of the outer grid; ``outer - cells`` is even.
    """

    def __init__(self, kernel: Floats, cells: Sides, outer: Sides) -> None:
        cells, outer = [int(side) for side in cells], [int(side) for side in outer]
        margins = [(side - inner) // 2 for inner, side in zip(cells, outer, strict=True)]
        self._inner = tuple(slice(m, m + c) for m, c in zip(margins, cells, strict=True))
        self._outer = tuple(slice(0, side) for side in outer)
        reach = [inner + margin - 1 for inner, margin in zip(cells, margins, strict=True)]
        self._size = [fft.next_fast_len(2 * r + 1, real=True) for r in reach]
        wrapped = np.zeros(self._size)
        offsets, places = [], []
        for side, longest, size in zip(kernel.shape, reach, self._size, strict=True):
            middle = side // 2
            kept = np.arange(-min(middle, longest), min(middle, longest) + 1)
            offsets.append(kept + middle)
            places.append(kept % size)
        wrapped[np.ix_(*places)] = kernel[np.ix_(*offsets)]
        self._spectrum = fft.rfftn(wrapped)
        self._mirrored = np.conj(self._spectrum)

    def forward(self, prior: Floats) -> Floats:
        """Sum over x of K[z, x] prior[x], for every z of the outer grid."""
        padded = np.zeros(self._size)
        padded[self._inner] = prior
        return self._apply(padded, self._spectrum)[self._outer]

    def backward(self, weights: Floats) -> Floats:
        """Sum over z of K[z, x] weights[z], for every x of the box."""
        padded = np.zeros(self._size)
        padded[self._outer] = weights
        return self._apply(padded, self._mirrored)[self._inner]

    def _apply(self, padded: Floats, spectrum: npt.NDArray[np.complex128]) -> Floats:
        product = fft.rfftn(padded)
        product *= spectrum
        result: Floats = fft.irfftn(product, self._size, overwrite_x=True)
        return result
