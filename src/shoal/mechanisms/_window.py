"""One column's report: high on a window around the record, low elsewhere, exact on integers.

Reports are cells -reach .. reach, M of them. The record is one of N + 1 positions, and a window of
W = M - N cells is centerd on it, which never sticks out. Every cell of the window has e^epsilon
times the probability of every other cell. The window always has exactly W cells, so the law is
epsilon locally private whatever W and N are and however the record was rounded
(proofs/piecewise.md). Piecewise and square wave differ in W / N and in the length of a cell.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Self

import numpy as np

from shoal._typing import Floats, Ints
from shoal.noise import RandomSource, two_level, uniform_integers

__all__ = ["Window"]


WIDTH = 2**22 + 1  # cells of the window: the published ratio W / N is met to 2^-23
MOST = 2.0**24  # positions over width; at epsilon where it matters, noise is 10^-7 of the box


@dataclass(frozen=True)
class Window:
    """A law of cells given a position.

    Parameters
    ----------
    epsilon : Fraction
        Logarithm of the ratio between the two levels.
    positions : int
        N, even: records are -N/2 .. N/2.
    step : float
        Length of a cell, in units where the records are [-1, 1].
    width : int
        W, odd.
    """

    epsilon: Fraction
    positions: int
    step: float
    width: int = WIDTH

    @classmethod
    def unbiased(cls, epsilon: Fraction, ratio: float) -> Self:
        """Make the law whose reports have the record as their mean.

        Parameters
        ----------
        epsilon : Fraction
            Epsilon of the column.
        ratio : float
            Positions over width wanted.

        Returns
        -------
        law : Window
            With cells as long as it takes.
        """
        law = cls(epsilon, _even(ratio), 1.0)
        return cls(epsilon, law.positions, 2.0 / (law.positions * law.weight))

    @classmethod
    def around(cls, epsilon: Fraction, ratio: float) -> Self:
        """Make the law whose windows lie around the record itself.

        Parameters
        ----------
        epsilon : Fraction
            Epsilon of the column.
        ratio : float
            Positions over width wanted.

        Returns
        -------
        law : Window
            With cells as long as the distance between positions.
        """
        positions = _even(ratio)
        return cls(epsilon, positions, 2.0 / positions)

    @property
    def cells(self) -> int:
        """M, the number of possible reports."""
        return self.positions + self.width

    @property
    def reach(self) -> int:
        """Largest cell."""
        return (self.cells - 1) // 2

    @cached_property
    def weight(self) -> float:
        """Probability that a report is drawn from the window as such, not from all cells."""
        odds = math.exp(-float(self.epsilon))
        return -math.expm1(-float(self.epsilon)) / (1 + self.positions / self.width * odds)

    def draw(self, positions: Ints, source: RandomSource) -> Ints:
        """Draw one cell for each position.

        Parameters
        ----------
        positions : ndarray of int64
            Records.
        source : RandomSource
            Where random words come from.

        Returns
        -------
        cells : ndarray of int64
            Reports.
        """
        cells = uniform_integers(positions.shape, below=self.cells, source=source)
        cells -= self.reach
        rest = Fraction(self.positions, self.width)
        high = two_level(positions.shape, epsilon=self.epsilon, rest=rest, source=source)
        offsets = uniform_integers(int(high.sum()), below=self.width, source=source)
        cells[high] = positions[high] + offsets - self.width // 2
        return cells

    def log_mass(self, cells: Ints, positions: Ints) -> Floats:
        """Log-probability of cells.

        Parameters
        ----------
        cells : ndarray of int64
            Reports.
        positions : ndarray of int64
            Records, of the same shape or one that broadcasts to it.

        Returns
        -------
        log_mass : ndarray of float64
            Minus infinity beyond the last cell.
        """
        epsilon = float(self.epsilon)
        low = -epsilon - math.log(self.width + self.positions * math.exp(-epsilon))
        inside = np.abs(cells - positions) <= self.width // 2
        masses = np.where(inside, low + epsilon, low)
        masses[np.abs(cells) > self.reach] = -np.inf
        return masses

    def variance(self, units: Floats) -> Floats:
        """Variance of reports, in units where the records are [-1, 1].

        Parameters
        ----------
        units : ndarray of float64
            Records.

        Returns
        -------
        variance : ndarray of float64
            Largest at the ends of the box.
        """
        odds = math.exp(-float(self.epsilon))
        ratio = self.positions / self.width
        missed = odds * (1 + ratio) / (1 + ratio * odds)  # 1 - weight, without cancellation
        across = missed * (self.cells**2 - 1) + self.weight * (self.width**2 - 1)
        centers = units * (self.positions * self.step / 2)
        spread: Floats = self.step**2 * across / 12 + self.weight * missed * centers**2
        return spread


def _even(ratio: float) -> int:
    return 2 * max(1, round(WIDTH * min(ratio, MOST) / 2))
