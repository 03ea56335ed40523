"""Cells that a density is given on: who touches whom, and how large they are.

A grid has cells of one size. Boxes are cells of different sizes that fill a box without gaps, as
the leaves of a tree do. Cells touch where they share a border or a corner.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from shoal._boxes import touching_boxes
from shoal._typing import Floats, Ints

__all__ = ["BoxCells", "CellGraph", "Edges", "GridCells", "place_cells"]


class Edges(NamedTuple):
    """Pairs of cells that touch, as two arrays of cell indices; each pair occurs once.

    Examples
    --------
    >>> from shoal.density import GridCells
    >>> edges = GridCells((3,)).edges
    >>> edges.one.tolist(), edges.other.tolist()
    ([1, 2], [0, 1])
    """

    one: Ints
    other: Ints


class CellGraph(Protocol):
    """Protocol of the cells that a cluster tree is built on, such as :class:`GridCells`.

    Examples
    --------
    >>> from shoal.density import CellGraph, GridCells
    >>> cells: CellGraph = GridCells((2, 3))  # any object with these properties will do
    >>> cells.count, cells.dimensions
    (6, 2)
    """

    @property
    def count(self) -> int:
        """Number of cells."""

    @property
    def dimensions(self) -> int:
        """Number of columns."""

    @property
    def volumes(self) -> Floats:
        """Volume of each cell, in the unit of volume of the densities."""

    @property
    def corners(self) -> tuple[Floats, Floats]:
        """Lowest and highest corner of each cell, in parts of the whole box."""

    @property
    def edges(self) -> Edges:
        """Pairs of cells that touch."""


@dataclass(frozen=True)
class GridCells:
    """The cells of a grid, numbered in C order.

    Parameters
    ----------
    shape : tuple of int
        Number of cells along each column.

    Examples
    --------
    >>> from shoal.density import GridCells
    >>> cells = GridCells((2, 2))
    >>> cells.count, len(cells.edges.one)
    (4, 6)
    """

    shape: tuple[int, ...]

    @property
    def count(self) -> int:
        """Number of cells."""
        return math.prod(self.shape)

    @property
    def dimensions(self) -> int:
        """Number of columns."""
        return len(self.shape)

    @property
    def volumes(self) -> Floats:
        """Volume of each cell: 1, so that densities are records per cell."""
        return np.ones(self.count)

    @property
    def corners(self) -> tuple[Floats, Floats]:
        """Lowest and highest corner of each cell, in parts of the whole box."""
        index = np.stack(np.unravel_index(np.arange(self.count), self.shape), axis=1)
        return index / self.shape, (index + 1) / self.shape

    @cached_property
    def edges(self) -> Edges:
        """Pairs of cells that touch, also at a corner."""
        numbers = np.arange(self.count, dtype=np.int64).reshape(self.shape)
        pairs = [
            (numbers[tuple(_from(step) for step in steps)], numbers[tuple(map(_upto, steps))])
            for steps in itertools.product((-1, 0, 1), repeat=self.dimensions)
            if steps > (0,) * self.dimensions
        ]
        one = np.concatenate([pair[0].ravel() for pair in pairs])
        other = np.concatenate([pair[1].ravel() for pair in pairs])
        return Edges(one, other)


@dataclass(frozen=True, eq=False)
class BoxCells:
    """Cells of different sizes that fill a box without gaps; corners are whole numbers.

    Parameters
    ----------
    low, high : ndarray of int64, shape (m, d)
        Corners of each cell.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.density import BoxCells
    >>> cells = BoxCells(np.array([[0], [2], [3]]), np.array([[2], [3], [4]]))
    >>> cells.volumes.tolist(), cells.edges.one.tolist(), cells.edges.other.tolist()
    ([0.5, 0.25, 0.25], [0, 1], [1, 2])
    """

    low: Ints
    high: Ints

    @property
    def count(self) -> int:
        """Number of cells."""
        return len(self.low)

    @property
    def dimensions(self) -> int:
        """Number of columns."""
        return int(self.low.shape[1])

    @cached_property
    def volumes(self) -> Floats:
        """Volume of each cell; the volumes of all cells add up to 1."""
        whole = (self.high.max(axis=0) - self.low.min(axis=0)).astype(np.float64)
        volumes: Floats = ((self.high - self.low) / whole).prod(axis=1)
        return volumes

    @property
    def corners(self) -> tuple[Floats, Floats]:
        """Lowest and highest corner of each cell, in parts of the whole box."""
        start = self.low.min(axis=0)
        whole = (self.high.max(axis=0) - start).astype(np.float64)
        return (self.low - start) / whole, (self.high - start) / whole

    @cached_property
    def edges(self) -> Edges:
        """Pairs of cells that touch, also at a corner."""
        return Edges(*touching_boxes(self.low, self.high))


def place_cells(values: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """Return the corners of the cells of a release, scaled to a box from 0 to 1.

    Parameters
    ----------
    values : mapping
        The values of a release: ``cells``, the numbers of the cells, and either the ``shape`` of
        their grid, or ``cell_low`` and ``cell_high``, the corners of all cells in steps of a
        lattice from -half to ``half``.

    Returns
    -------
    low, high : ndarray of shape (m, d)
        Corners of each cell, from 0 to 1 along each column.

    Examples
    --------
    >>> from shoal.density import place_cells
    >>> low, high = place_cells({"cells": [3], "shape": [2, 4]})
    >>> low.tolist(), high.tolist()
    ([[0.0, 0.75]], [[0.5, 1.0]])
    """
    index = np.asarray(values["cells"], dtype=np.int64)
    if "cell_low" in values:
        half = values["half"]
        low, high = (np.asarray(values[end])[index] for end in ("cell_low", "cell_high"))
        return (low + half) / (2 * half), (high + half) / (2 * half)
    shape = tuple(int(side) for side in values["shape"])
    places = np.column_stack(np.unravel_index(index, shape))
    return places / shape, (places + 1) / shape


def _from(step: int) -> slice:
    """Return the cells that have a neighbor ``step`` cells before them."""
    return slice(max(step, 0), min(step, 0) or None)


def _upto(step: int) -> slice:
    """Return the neighbors that these cells have ``step`` cells before them."""
    return slice(max(-step, 0), min(-step, 0) or None)
