"""The public lattice: records become integers before any noise, and come back after it.

A proof about real numbers does not cover doubles (Mironov 2012). On integers it does: sums are
exact in any order, noise is exact, and two neighbouring inputs have the same possible outputs. The
lattice is made from public bounds alone. Rounding a record acts on that record only, so it cannot
raise any sensitivity beyond the lattice's own.
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from shoal.exceptions import ParameterError

__all__ = ["Lattice"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

LARGEST_INDEX = 2**52  # lattice points and their doubles are one to one up to here


@dataclass(frozen=True, eq=False)
class Lattice:
    """A grid of public points, ``origin + step * integer`` in each column.

    Parameters
    ----------
    origin, step : ndarray of float64, shape (d,)
        Point of index 0, and the distance between neighbours, in the records' unit.
    low, high : ndarray of int64, shape (d,)
        Smallest and largest index of a record; records beyond are clipped.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.noise import Lattice
    >>> lattice = Lattice.box(np.array([0.0]), np.array([10.0]), half=100)
    >>> lattice.encode(np.array([[5.0], [7.51], [99.0]])).ravel().tolist()
    [0, 50, 100]
    >>> lattice.decode(np.array([[50]])).item()
    7.5
    """

    origin: Floats
    step: Floats
    low: Integers
    high: Integers

    @classmethod
    def box(cls, low: Floats, high: Floats, *, half: int = 2**19) -> Self:
        """Map each column of a public box to the integers -half .. half.

        Parameters
        ----------
        low, high : ndarray of float64, shape (d,)
            Corners of the box, low below high in every column.
        half : int, default=2**19
            Largest index; 2^19 keeps products of two records exact in doubles for d <= 8192.

        Returns
        -------
        lattice : Lattice
            With a step of its own in each column.
        """
        indices = np.full(low.shape, half, dtype=np.int64)
        # Halving first keeps the width of a box as wide as the doubles themselves finite.
        return cls(low / 2 + high / 2, (high / 2 - low / 2) / half, -indices, indices)

    @classmethod
    def isotropic(cls, low: Floats, high: Floats, *, step: float) -> Self:
        """Cover a public box with one step for all columns, so that distances keep their meaning.

        Parameters
        ----------
        low, high : ndarray of float64, shape (d,)
            Corners of the box, low below high in every column.
        step : float
            Distance between neighbours; rounded down to a power of two, so that indices and
            points convert without error.

        Returns
        -------
        lattice : Lattice
            Its points are multiples of the step; those of records lie inside the box.

        Raises
        ------
        ParameterError
            If the box holds no lattice point in some column, or indices above 2^52.
        """
        power = 2.0 ** math.floor(math.log2(step))
        first, last = np.ceil(low / power), np.floor(high / power)
        if (first > last).any():
            raise ParameterError(
                f"bounds must be at least one lattice step ({power:g}) apart in every column: "
                "widen the narrowest column or raise epsilon"
            )
        if max(np.abs(first).max(), np.abs(last).max()) > LARGEST_INDEX:
            raise ParameterError(
                f"bounds must lie within 2^52 lattice steps ({power:g}) of zero: "
                "shift or rescale the columns, or lower epsilon"
            )
        return cls(
            np.zeros_like(low),
            np.full_like(low, power),
            first.astype(np.int64),
            last.astype(np.int64),
        )

    @property
    def diameter(self) -> float:
        """Largest Euclidean distance between two lattice points of the box."""
        sides = (self.high - self.low).astype(np.float64) * self.step
        return float(np.linalg.norm(sides))

    def encode(self, X: Floats) -> Integers:
        """Clip records to the box and round them to lattice indices.

        Parameters
        ----------
        X : ndarray of float64, shape (n, d)
            Records.

        Returns
        -------
        indices : ndarray of int64, shape (n, d)
            The nearest lattice points inside the box.
        """
        # A record so far away that its index overflows becomes infinite, and is clipped too.
        with np.errstate(over="ignore"):
            # One column after the other in memory: the inner loops then run over many records.
            indices = np.subtract(X, self.origin, order="F")
            indices /= self.step
        np.rint(indices, out=indices)
        np.clip(indices, self.low, self.high, out=indices)
        return indices.astype(np.int64)

    def decode(self, indices: npt.NDArray[np.int64 | np.float64]) -> Floats:
        """Give the points of lattice indices, inside the box or not.

        Parameters
        ----------
        indices : ndarray, shape (n, d)
            Indices; fractions are allowed, as in a mean of indices.

        Returns
        -------
        points : ndarray of float64, shape (n, d)
            In the records' unit.
        """
        points: Floats = indices * self.step
        points += self.origin
        return points
