"""The law of tallied reports given records at some places: all that an estimate needs to know.

A distribution of records is a weight for each of some places of the box, its atoms. Reports that
say the same are counted together, in a cell of the tally.
"""

import copy
import math
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from shoal._bounds import Box
from shoal._typing import Floats, Ints
from shoal.reports._record_distributions import Expected, RecordDistribution

__all__ = [
    "AtomDensity",
    "Atoms",
    "KernelChannel",
    "MatrixChannel",
    "ProductChannel",
    "RecordChannel",
    "Singles",
    "grid_atoms",
    "spread_weights",
]

Singles: TypeAlias = npt.NDArray[np.float32]

CUT = 4.0  # standard deviations at which a kernel ends
SMALLEST = 1e-300  # probability of a report that no atom explains


@dataclass(frozen=True, eq=False)
class Atoms:
    """Places that records may be at.

    Parameters
    ----------
    points : ndarray of float64, shape (m, d)
        The places.
    width : ndarray of float64, shape (d,)
        Sides of the box around a place that its records are spread over.
    cells : tuple of int
        Numbers of atoms in each column, where they are the middles of the cells of a grid in the
        order of its indices; else empty.
    """

    points: Floats
    width: Floats
    cells: tuple[int, ...] = ()


class RecordChannel(Protocol):
    """From distributions of records to those of tallied reports, and back."""

    @property
    def atoms(self) -> Atoms:
        """Places of records."""

    @property
    def tally(self) -> Ints:
        """Cell of the tally that each report falls in, shape (n,)."""

    def forward(self, weights: Floats) -> Floats:
        """Return the probability of each cell of the tally, from weights of the atoms."""

    def backward(self, values: Floats) -> Floats:
        """Apply the adjoint: from a value of each cell to one of each atom."""

    def blind(self) -> Floats:
        """Return what ``forward`` returns for records that are spread evenly over the box."""


class KernelChannel(RecordChannel, Protocol):
    """A channel of atoms that may be the cells of a grid, with kernels around them."""

    def smoothed(self, width: float) -> RecordChannel:
        """Return the channel from weights of kernels around the cells of a grid, in cells.

        The box reflects them, so that none leaves it. Atoms that lie anywhere have none.
        """


@dataclass(frozen=True, eq=False)
class AtomDensity(RecordDistribution):
    """A distribution of records on the atoms of a channel.

    Parameters
    ----------
    channel : RecordChannel
        Of the reports that it was estimated from.
    counts : ndarray of float64
        Their numbers in the cells of the tally.
    """

    channel: RecordChannel
    counts: Floats

    def expected(self, values: Floats) -> Expected:
        """Return posterior means of values at the atoms, one for each cell with reports."""
        seen = self.counts > 0
        densities = np.maximum(self.channel.forward(self.weights)[seen], SMALLEST)
        means = self.channel.forward(self.weights * values)[seen] / densities
        return Expected(means, self.counts[seen])


def grid_atoms(box: Box, cells: tuple[int, ...]) -> Atoms:
    """Return the middles of the cells of a grid over the box."""
    width = box.high / cells - box.low / cells
    sides = [
        low + (np.arange(many) + 0.5) * step
        for low, step, many in zip(box.low, width, cells, strict=True)
    ]
    points = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, len(cells))
    return Atoms(points, width, cells)


class ProductChannel:
    """Few columns that are perturbed independently: atoms are the cells of a grid.

    Parameters
    ----------
    atoms : Atoms
        Of a grid.
    symbols : ndarray of int64, shape (n, d)
        What each column of each report says, as an index.
    matrices : list of ndarray of float64, shapes (s_j, c_j)
        For each column the probability of each index, given the cell of the record.
    """

    def __init__(self, atoms: Atoms, symbols: Ints, matrices: list[Floats]) -> None:
        self.atoms = atoms
        self._matrices = matrices
        self._smoothed: dict[float, ProductChannel] = {0.0: self}
        self._shape = tuple(len(matrix) for matrix in matrices)
        self.tally: Ints = np.ravel_multi_index(tuple(symbols.T), self._shape).astype(np.int64)

    def forward(self, weights: Floats) -> Floats:
        """Return the probability of each cell of the tally."""
        table = weights.reshape(self.atoms.cells)
        return self._apply(table, [matrix.T for matrix in self._matrices])

    def backward(self, values: Floats) -> Floats:
        """Apply the adjoint."""
        return self._apply(values.reshape(self._shape), self._matrices)

    def blind(self) -> Floats:
        """Return the probability of each cell where records are spread evenly."""
        many = math.prod(self.atoms.cells)
        return self.forward(np.full(many, 1.0 / many))

    def smoothed(self, width: float) -> "ProductChannel":
        """Return the channel from weights of kernels, which are products of their columns."""
        if width not in self._smoothed:
            other = copy.copy(self)
            other._matrices = [
                ndimage.gaussian_filter1d(matrix, width, axis=1, mode="reflect", truncate=CUT)
                for matrix in self._matrices
            ]
            self._smoothed[width] = other
        return self._smoothed[width]

    @staticmethod
    def _apply(table: Floats, matrices: list[Floats]) -> Floats:
        # Contracting the first axis puts the new one last: after d steps the order is the same.
        for matrix in matrices:
            table = np.tensordot(table, matrix, axes=(0, 0))
        flat: Floats = table.ravel()
        return flat


class MatrixChannel:
    """Reports given atoms one by one, for atoms that lie anywhere.

    Parameters
    ----------
    atoms : Atoms
        Places of records.
    tally : ndarray of int64, shape (n,)
        Cell of each report.
    ratios : ndarray of float32, shape (t, m)
        Probability of each cell given each atom, over that where records are spread evenly: of
        many columns, neither is a number that single precision can hold.
    """

    def __init__(self, atoms: Atoms, tally: Ints, ratios: Singles) -> None:
        self.atoms, self.tally = atoms, tally
        self._ratios = ratios

    def forward(self, weights: Floats) -> Floats:
        """Return the probability of each cell of the tally, over that of evenly spread records."""
        return (self._ratios @ weights.astype(np.float32)).astype(np.float64)

    def backward(self, values: Floats) -> Floats:
        """Apply the adjoint."""
        return (values.astype(np.float32) @ self._ratios).astype(np.float64)

    def blind(self) -> Floats:
        """Return ones."""
        return np.ones(len(self._ratios))

    def smoothed(self, width: float) -> "MatrixChannel":
        """Return the channel from weights of kernels, where atoms are the cells of a grid."""
        if not (self.atoms.cells and width):
            return self
        other = copy.copy(self)
        tables = self._ratios.reshape(-1, *self.atoms.cells)
        widths = (0.0, *[width] * len(self.atoms.cells))
        smooth = ndimage.gaussian_filter(tables, widths, mode="reflect", truncate=CUT)
        other._ratios = smooth.reshape(self._ratios.shape)
        return other


def spread_weights(atoms: Atoms, weights: Floats, width: float) -> Floats:
    """Return the weights of atoms from those of kernels around them."""
    if not (atoms.cells and width):
        return weights
    spread: Floats = ndimage.gaussian_filter(
        weights.reshape(atoms.cells), width, mode="reflect", truncate=CUT
    ).ravel()
    return spread
