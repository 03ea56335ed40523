"""Atoms for few columns: cells of a grid over the box, halved where the records are.

What is known before any report is that a declared box is wider than its records: the estimate
begins with a density that falls towards the borders, as 4 x (1 - x) in each column of the unit box.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from shoal._bounds import Box
from shoal._typing import Bools, Floats, Ints

__all__ = ["MAX_COLUMNS", "Cells"]

MAX_COLUMNS = 3  # that a grid can divide
PER_COLUMN = {1: 512, 2: 32, 3: 16}  # cells before any is halved


@dataclass(frozen=True, eq=False)
class Cells:
    """Boxes that divide the public box, each an atom at its middle.

    Parameters
    ----------
    box : Box
        The public box.
    middles : ndarray of float64, shape (m, d)
        In units of the box, 0 to 1.
    sides : ndarray of float64, shape (m,)
        Of each cell, in units of the box.
    """

    box: Box
    middles: Floats
    sides: Floats

    @classmethod
    def regular(cls, box: Box) -> Self:
        """Divide a box of few columns evenly."""
        columns = len(box.low)
        many = PER_COLUMN[columns]
        along = (np.arange(many) + 0.5) / many
        middles = np.stack(np.meshgrid(*[along] * columns, indexing="ij"), axis=-1)
        return cls(box, middles.reshape(-1, columns), np.full(many**columns, 1.0 / many))

    @property
    def points(self) -> Floats:
        """Middles of the cells."""
        points: Floats = self.box.low + self.middles * (self.box.high - self.box.low)
        return points

    @property
    def volumes(self) -> Floats:
        """Shares of the box, which evenly spread records have as weights."""
        volumes: Floats = self.sides ** self.middles.shape[1]
        volumes /= volumes.sum()
        return volumes

    @property
    def start(self) -> Floats:
        """Weights before any report: fewer records towards the borders."""
        weights: Floats = self.volumes * (self.middles * (1.0 - self.middles)).prod(axis=1)
        weights /= weights.sum()
        return weights

    def width(self, weights: Floats) -> Floats:
        """Sides of a cell with the mean square of those that hold the records."""
        side = np.sqrt(weights @ self.sides**2)
        width: Floats = side * (self.box.high - self.box.low)
        return width

    def halved(self, chosen: Bools) -> tuple[Self, Ints]:
        """Halve chosen cells in every column; return the cells, and of which old one each is part.

        A weight of an old cell is divided evenly among its parts.
        """
        columns = self.middles.shape[1]
        corners = np.stack(np.meshgrid(*[[-0.25, 0.25]] * columns, indexing="ij"), axis=-1)
        parts = (
            self.middles[chosen][:, None]
            + corners.reshape(-1, columns) * (self.sides[chosen][:, None, None])
        )
        kept, split = np.flatnonzero(~chosen), np.flatnonzero(chosen)
        parents = np.concatenate([kept, np.repeat(split, 2**columns)])
        middles = np.concatenate([self.middles[kept], parts.reshape(-1, columns)])
        sides = np.concatenate([self.sides[kept], np.repeat(self.sides[split] / 2, 2**columns)])
        return type(self)(self.box, middles, sides), parents
