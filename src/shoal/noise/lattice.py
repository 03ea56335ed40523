"""The public lattice: records become integers before any noise, and come back after it.

A proof about real numbers does not cover doubles (Mironov 2012). On integers it does: sums are
exact in any order, noise is exact, and two neighboring inputs have the same possible outputs. The
lattice is made from public bounds alone. Rounding a record acts on that record only, by the same
operations wherever it lies and however many there are, so it cannot raise any sensitivity beyond
the lattice's own (proofs/noise.md).
"""

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats, Ints, Records
from shoal.exceptions import ParameterError

__all__ = ["Lattice"]

LARGEST_INDEX = 2**52  # lattice points and their doubles are one to one up to here
MIN_NORMAL = float(np.finfo(np.float64).smallest_normal)
# Doubles rounded at a time: they stay in the last cache, and calls are long enough for threads that
# wait for the interpreter in between not to hinder each other. Measured.
BLOCK_VALUES = 1 << 18
#: Number of columns from which on records are rounded row by row, as they lie in memory.
WIDE = 16
FEW_ROWS = 2048  # with fewer of them, calls for each column take longer than they save

_threads = threading.local()


@dataclass(frozen=True, eq=False)
class Lattice:
    """A public grid of points, ``origin + step * integer`` in each column, to round records to.

    Noise is then drawn on integers, where proofs hold exactly, as they do not for floats.

    Parameters
    ----------
    origin, step : ndarray of float64, shape (d,)
        Point with index 0, and distance between neighboring points, in the unit of the records.
    low, high : ndarray of int64, shape (d,)
        Smallest and largest index of a record; records beyond are clipped to them.

    Raises
    ------
    ParameterError
        If a step or its inverse is not a normal double, so that indices could be wrong.

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
    low: Ints
    high: Ints

    def __post_init__(self) -> None:
        """Refuse steps by whose inverse records cannot be multiplied."""
        with np.errstate(all="ignore"):
            both = np.stack([self.step, np.reciprocal(self.step)])
        fine = ((both >= MIN_NORMAL) & (both < np.inf)).all(axis=0)
        if not fine.all():
            raise ParameterError(
                "bounds must allow for lattice steps from 2^-1022 to 2^1022, got one of "
                f"{self.step[~fine][0]:g}: rescale the columns",
                parameter="bounds",
                code="resolution",
            )

    @classmethod
    def box(cls, low: Floats, high: Floats, *, half: int | Ints = 2**19) -> Self:
        """Return the lattice that maps each column of a public box to the integers -half .. half.

        Parameters
        ----------
        low, high : ndarray of float64, shape (d,)
            Corners of the box, low below high in every column.
        half : int, or ndarray of int64 of shape (d,), default=2**19
            Largest index, the same for all columns or one for each; it is the column's weight in
            distances. With 2^19, products of two records are exact in doubles for d <= 8192.

        Returns
        -------
        lattice : Lattice
            The lattice, with another step in each column.
        """
        indices = np.full(low.shape, half, dtype=np.int64)
        # Halving first keeps the width of a box as wide as the doubles themselves finite.
        return cls(low / 2 + high / 2, (high / 2 - low / 2) / half, -indices, indices)

    @classmethod
    def isotropic(cls, low: Floats, high: Floats, *, step: float) -> Self:
        """Return a lattice on a public box with the same step in all columns, to keep distances.

        Parameters
        ----------
        low, high : ndarray of float64, shape (d,)
            Corners of the box, low below high in every column.
        step : float
            Distance between neighboring points. It is rounded down to a power of two, so that
            indices and points convert without error.

        Returns
        -------
        lattice : Lattice
            The lattice. Its points are multiples of the step; records are rounded to points inside
            the box.

        Raises
        ------
        ParameterError
            If a column of the box holds no lattice point, or indices exceed 2^52.
        """
        power = math.ldexp(1.0, math.frexp(step)[1] - 1)
        with np.errstate(over="ignore"):  # an infinite index is refused below
            first, last = np.ceil(low / power), np.floor(high / power)
        if (first > last).any():
            raise ParameterError(
                f"bounds must be at least one lattice step ({power:g}) apart in every column: "
                "widen the narrowest column or raise epsilon",
                parameter="bounds",
                code="resolution",
            )
        if max(np.abs(first).max(), np.abs(last).max()) > LARGEST_INDEX:
            raise ParameterError(
                f"bounds must lie within 2^52 lattice steps ({power:g}) of zero: "
                "shift or rescale the columns, or lower epsilon",
                parameter="bounds",
                code="resolution",
            )
        return cls(
            np.zeros_like(low),
            np.full_like(low, power),
            first.astype(np.int64),
            last.astype(np.int64),
        )

    @property
    def diameter(self) -> float:
        """Return the largest Euclidean distance between two lattice points of the box."""
        sides = (self.high - self.low).astype(np.float64) * self.step
        return float(np.linalg.norm(sides))

    def encode(self, X: Records, out: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
        """Clip records to the box and round them to lattice indices.

        Parameters
        ----------
        X : ndarray of float16, float32 or float64, shape (n, d)
            Records. They are converted to doubles in blocks, without a copy of all of them.
        out : ndarray of int32 or int64, shape (n, d), default=None
            Array for the indices, of a type that holds low .. high; None makes one of int64.

        Returns
        -------
        indices : ndarray of int64, or out
            Indices of the nearest lattice points inside the box.
        """
        n, d = X.shape
        by_column = d < WIDE or X.flags.f_contiguous
        if out is None:
            out = np.empty((n, d), dtype=np.int64, order="F" if by_column else "C")
        if not by_column or n < FEW_ROWS:
            limits = self.low.astype(np.float64), self.high.astype(np.float64)
            _round(X, out, self.origin, self.step, limits)
            return out
        # Of records that lie row by row, some at a time: they are in cache for the next column.
        rows = max(n if X.flags.f_contiguous else 2 * BLOCK_VALUES // d, 1)
        for start in range(0, n, rows):
            stop = start + rows
            for j in range(d):
                self.encode_column(j, X[start:stop, j], out[start:stop, j])
        return out

    def encode_column(self, column: int, values: Records, out: npt.NDArray[Any]) -> bool:
        """Clip the values of one column to the box and round them to lattice indices.

        Parameters
        ----------
        column : int
            Index of the column.
        values : ndarray of float16, float32 or float64, shape (n,)
            Values of this column.
        out : ndarray of int32 or int64, shape (n,)
            Array for the indices, of a type that holds low .. high. They equal those of ``encode``;
            the one of NaN has no meaning.

        Returns
        -------
        inside : bool
            Whether no value had to be clipped; if so, none is infinite or NaN.

        Examples
        --------
        >>> import numpy as np
        >>> from shoal.noise import Lattice
        >>> lattice = Lattice.box(np.array([0.0]), np.array([10.0]), half=100)
        >>> indices = np.empty(2, dtype=np.int32)
        >>> lattice.encode_column(0, np.array([7.51, 99.0]), indices)
        False
        >>> indices.tolist()
        [50, 100]
        """
        # Python's floats: numpy takes several times as long to look at a scalar of its own.
        origin, step, low, high = (
            float(given[column]) for given in (self.origin, self.step, self.low, self.high)
        )
        return _round(values, out, origin, step, (low, high))

    def widened(self, steps: float) -> Self:
        """Return the same points with a wider range of indices.

        Parameters
        ----------
        steps : float
            Number of steps to add at either end; indices stay within 2^52.

        Returns
        -------
        lattice : Lattice
            The wider lattice, for reports, whose noise may leave the box.
        """
        beyond = math.ceil(min(steps, float(LARGEST_INDEX)))
        low = np.maximum(self.low - beyond, -LARGEST_INDEX)
        return replace(self, low=low, high=np.minimum(self.high + beyond, LARGEST_INDEX))

    def decode(self, indices: npt.NDArray[np.int64 | np.float64]) -> Floats:
        """Return the points of lattice indices, inside or outside the box.

        Parameters
        ----------
        indices : ndarray, shape (n, d)
            Indices; fractions are allowed, as in a mean of indices.

        Returns
        -------
        points : ndarray of float64, shape (n, d)
            Points in the unit of the records.
        """
        points: Floats = indices * self.step
        points += self.origin
        return points


@contextmanager
def _scratch(size: int) -> Iterator[Floats]:
    # Memory taken anew has to be cleared page by page, which takes as long as the rounding itself:
    # each thread keeps its own, with zeros in place of the records that were rounded in it.
    held: Floats | None = getattr(_threads, "scratch", None)
    if held is None or held.size < size:
        held = np.zeros(size)
    _threads.scratch = None  # also after an exception or Ctrl-C
    yield held[:size]
    held[:size] = 0.0
    _threads.scratch = held


def _round(
    values: Records,
    out: npt.NDArray[Any],
    origin: Floats | float,
    step: Floats | float,
    limits: tuple[Floats | float, Floats | float],
) -> bool:
    """Round values to indices, each by itself alone, with what fits in cache in between.

    Says whether none had to be clipped, for limits of one column.
    """
    low, high = limits
    width = math.prod(values.shape[1:])
    rows = max(BLOCK_VALUES // width, 1)
    inside = True
    # A record so far away that its index overflows becomes infinite, and is clipped too; one so
    # close to the origin that it underflows is there. No setting of numpy tells either.
    with (
        np.errstate(over="ignore", invalid="ignore", under="ignore"),
        _scratch(min(rows, len(values)) * width) as memory,
    ):
        scratch = memory.reshape(-1, *values.shape[1:])
        # One product for every record, and three times as fast as a quotient.
        inverse = np.reciprocal(step)
        for start in range(0, len(values), rows):
            block = values[start : start + rows]
            indices = scratch[: len(block)]
            # In doubles, which hold narrower numbers exactly: numpy would take those for enough.
            np.subtract(block, origin, out=indices, dtype=np.float64)
            np.multiply(indices, inverse, out=indices)
            np.rint(indices, out=indices)
            if isinstance(low, float):
                # To see that nothing is to be clipped takes as long as clipping, but tells more.
                if not (len(block) and indices.min() >= low and indices.max() <= high):
                    inside = False
                    indices.clip(low, high, out=indices)
            else:  # numpy's clip is fast for scalars only
                inside = False
                np.maximum(indices, low, out=indices)
                np.minimum(indices, high, out=indices)
            out[start : start + rows] = indices
    return inside
