"""Shifted grids over all axes, or over a few of them at a time, with colored cells."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from shoal import _numbers
from shoal._typing import Floats, Ints
from shoal.exceptions import ParameterError
from shoal.partitions.axes import Axis, axis_bounds, checked_axes, position, positions
from shoal.partitions.hashing import WORDS, check_public_numbers, next_prime, public_words

__all__ = ["AxisGrids"]

MAX_CELLS = 2**26  # of one partition: the products of two such numbers are exact in a double
SHIFT, AXES, FACTOR, OFFSET = range(4)  # what a public word is for


class _Numbers(NamedTuple):
    """Public numbers of every partition, one row each."""

    chosen: Ints  # axes, shape (n_partitions, size)
    shifts: Floats  # part of a cell by which the cells of a chosen axis are moved
    counts: Ints  # cells of a chosen axis
    cells: Ints  # cells of the partition
    primes: Ints
    factors: Ints
    offsets: Ints

    def of(self, index: Ints | int) -> "_Numbers":
        """Return the numbers of some partitions, or of one."""
        return _Numbers._make(column[index] for column in self)


@dataclass(frozen=True)
class AxisGrids:
    """Grids with public random shifts, whose cells are colored as evenly as possible.

    Partition j divides ``size`` of the axes. An interval is cut into ``cells`` parts, all shifted
    by a public random fraction of a cell (which adds one part); levels are used as they are. Cells
    are numbered in the order of their axes, and cell c has the color ((factor c + offset) mod
    prime) mod ``n_colors``, with a public factor and offset for each partition and the least prime
    that is at least the number of cells: two cells share a color with probability about 1/n_colors.
    With at least as many colors as cells, no two cells share one.

    Parameters
    ----------
    axes : sequence of Axis
        All axes of the records.
    n_partitions : int
        Number of grids.
    n_colors : int
        Number of colors, at least 2.
    cells : int
        Number of parts of an interval.
    size : int, default=None
        Number of axes that one partition divides; None takes all.
    seed : int, default=0
        Seed of the public random numbers, from 0 to 2^32 - 1.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal._bounds import public_box
    >>> from shoal.partitions import AxisGrids, box_axes
    >>> grids = AxisGrids(box_axes(public_box((0.0, 1.0), 3)), 64, 4, cells=8, size=1)
    >>> colors = grids.colors(np.zeros((64, 3)), np.arange(64))
    >>> bool((colors >= 0).all() and (colors < 4).all())
    True
    """

    axes: Sequence[Axis]
    n_partitions: int
    n_colors: int
    cells: int
    size: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the numbers: they may come from a file."""
        object.__setattr__(self, "axes", checked_axes(self.axes))
        check_public_numbers(self.n_partitions, self.n_colors, self.seed)
        _numbers.count("cells", self.cells)
        if self.size is not None and not 1 <= _numbers.count("size", self.size) <= len(self.axes):
            raise ParameterError(
                f"size must be at most the number of axes, {len(self.axes)}, got {self.size!r}",
                parameter="size",
                code="range",
            )
        largest = sorted((_cells(axis, self.cells) for axis in self.axes), reverse=True)
        most = math.prod(largest[: self._size])
        if most > MAX_CELLS:
            raise ParameterError(
                f"cells must leave at most 2^26 cells in a partition, got {self.cells!r} on "
                f"{self._size} axes: choose fewer cells or a smaller size",
                parameter="cells",
                code="size",
            )

    @property
    def columns(self) -> int:
        """Number of columns of a point."""
        return max(axis.stop for axis in self.axes)

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Public box that the partitions divide."""
        return axis_bounds(self.axes)

    @property
    def chosen(self) -> Ints:
        """Indices of the axes that each partition divides, shape (n_partitions, size)."""
        return self._numbers.chosen

    def colors(self, points: Floats, index: Ints) -> Ints:
        """Return the color of each point in the partition given for it."""
        own = self._numbers.of(index)
        along = positions(points, self.axes)
        rows = np.arange(len(points))
        cell = np.zeros(len(points), dtype=np.int64)
        for t in range(self._size):
            axis = own.chosen[:, t]
            cell = cell * own.counts[:, t] + self._cell(along[rows, axis], axis, own.shifts[:, t])
        return self._color(cell, own)

    def color(self, point: Sequence[float], index: int) -> int:
        """Return the color of one point in one partition, faster than ``colors``."""
        chosen, shifts, counts, cells, prime, factor, offset = self._rows[index]
        cell = 0
        for number, shift, count in zip(chosen, shifts, counts, strict=True):
            axis = self.axes[number]
            along = position(point, axis)
            levels = axis.kind == "levels"
            cell = cell * count + int(along if levels else math.floor(along * self.cells + shift))
        few = cells <= self.n_colors
        return int((cell + offset if few else (factor * cell + offset) % prime) % self.n_colors)

    def color_table(self, points: Floats) -> Ints:
        """Return the color of every point in every partition, shape (n_partitions, points)."""
        along = positions(points, self.axes)
        kind = np.uint16 if self.n_colors <= 2**16 else np.int64
        table = np.empty((self.n_partitions, len(points)), dtype=kind)
        for j in range(self.n_partitions):
            own = self._numbers.of(j)
            cell = np.zeros(len(points), dtype=np.int64)
            for axis, shift, count in zip(own.chosen, own.shifts, own.counts, strict=True):
                cell = cell * count + self._cell(along[:, axis], axis, shift)
            table[j] = self._color(cell, own)
        return table

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as values that JSON can hold."""
        return {
            "kind": "AxisGrids",
            "axes": [list(axis) for axis in self.axes],
            "n_partitions": int(self.n_partitions),
            "n_colors": int(self.n_colors),
            "cells": int(self.cells),
            "size": None if self.size is None else int(self.size),
            "seed": int(self.seed),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Return the grids that :meth:`to_dict` described."""
        fields = {"kind", "axes", "n_partitions", "n_colors", "cells", "size", "seed"}
        if set(plain) != fields:
            raise ParameterError(
                f"grids must have the fields {sorted(fields)}", parameter="grids", code="format"
            )
        return cls(**{name: value for name, value in plain.items() if name != "kind"})

    @property
    def _size(self) -> int:
        return len(self.axes) if self.size is None else int(self.size)

    @cached_property
    def _numbers(self) -> _Numbers:
        chosen = self._chosen()
        counts = np.array([_cells(axis, self.cells) for axis in self.axes])[chosen]
        index, position = np.arange(self.n_partitions), np.arange(self._size)
        shifts = public_words(self.seed, SHIFT, index[:, None], position) / WORDS
        cells = counts.prod(axis=1)
        known = {int(count): next_prime(int(count)) for count in np.unique(cells)}
        primes = np.array([known[int(count)] for count in cells])
        factors = 1 + public_words(self.seed, FACTOR, index) % np.maximum(primes - 1, 1)
        offsets = public_words(self.seed, OFFSET, index) % primes
        return _Numbers(chosen, shifts, counts, cells, primes, factors, offsets)

    @cached_property
    def _rows(self) -> list[tuple[Any, ...]]:
        """The same, one tuple of plain numbers for each partition."""
        return list(zip(*(column.tolist() for column in self._numbers), strict=True))

    def _chosen(self) -> Ints:
        """Choose axes: all choices in turn where there are few, otherwise at random."""
        total = math.comb(len(self.axes), self._size)
        if total <= self.n_partitions:
            choices = np.array(list(itertools.combinations(range(len(self.axes)), self._size)))
            return choices[np.arange(self.n_partitions) % total]
        order = np.tile(np.arange(len(self.axes)), (self.n_partitions, 1))
        rows = np.arange(self.n_partitions)
        for t in range(self._size):
            j = t + public_words(self.seed, AXES, rows, t) % (len(self.axes) - t)
            order[rows, t], order[rows, j] = order[rows, j], order[rows, t].copy()
        return order[:, : self._size]

    def _cell(self, along: Floats, axis: Ints, shift: Floats) -> Ints:
        levels = np.array([one.kind == "levels" for one in self.axes])[axis]
        moved = np.floor(along * self.cells + shift)
        return np.where(levels, along, moved).astype(np.int64)

    def _color(self, cell: Ints, own: _Numbers) -> Ints:
        few = own.cells <= self.n_colors
        spread = (own.factors * cell + own.offsets) % own.primes
        return np.asarray(np.where(few, cell + own.offsets, spread) % self.n_colors)


def _cells(axis: Axis, cells: int) -> int:
    return axis.stop - axis.start if axis.kind == "levels" else cells + 1
