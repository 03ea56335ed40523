"""Discrete Laplace noise on very many cells, nearly all of them empty, of which few are shown.

Every cell of a public number gets noise, and those that reach a public threshold are shown; the
cells that hold nothing are not visited one by one (:func:`shoal.noise.noisy_cells_above`).
Which cells
hold something is hidden with the rest: the law is that of noise on every cell.
"""

import math
from dataclasses import dataclass

import numpy as np

from shoal._typing import Ints
from shoal.noise._privatize import PrivacyMeasure
from shoal.noise.discrete_laplace import discrete_laplace
from shoal.noise.distributions import is_whole, whole
from shoal.noise.noisy_cells import check_noisy_cells, noisy_cells_above
from shoal.noise.source import RandomSource

__all__ = ["SparseCounts", "SparseLaplaceNoise"]


@dataclass(frozen=True, eq=False)
class SparseCounts:
    """Cells and their values; cells that are not named have value 0, or are not shown.

    Parameters
    ----------
    codes : ndarray of int64, shape (m,)
        Which cells, ascending.
    values : ndarray of int64, shape (m,)
        Their values.
    """

    codes: Ints
    values: Ints


@dataclass(frozen=True)
class SparseLaplaceNoise:
    """Noise on all cells; those that reach the threshold are shown.

    Parameters
    ----------
    cells : int
        Number of cells.
    threshold : int
        Smallest value shown, at least 1.
    scale : float
        Scale of the noise.

    Examples
    --------
    >>> from shoal.noise import SeededSource
    >>> law = SparseLaplaceNoise(cells=10**12, threshold=40, scale=1.0)
    >>> exact = SparseCounts(np.array([5, 7 * 10**11]), np.array([1, 600]))
    >>> law.sample(exact, SeededSource(1)).codes.tolist()
    [700000000000]
    >>> law.privacy_loss(exact, SparseCounts(np.array([7 * 10**11]), np.array([600])))
    1.0
    """

    cells: int
    threshold: int
    scale: float

    def __str__(self) -> str:
        return (
            f"discrete Laplace noise, scale {self.scale:.4g}, on {self.cells:,} cells, shown from "
            f"{self.threshold}"
        )

    @property
    def privacy_measure(self) -> PrivacyMeasure:
        """Epsilon."""
        return "epsilon"

    def sample(self, exact: SparseCounts, source: RandomSource) -> SparseCounts:
        """Draw the cells that reach the threshold, and their noisy values."""
        # By public numbers: how many cells are occupied must not decide whether this fails.
        check_noisy_cells(self.cells, self.threshold, self.scale)
        noise = discrete_laplace(exact.values.shape, scale=self.scale, source=source)
        noisy = whole(exact.values) + noise
        passed = noisy >= self.threshold
        rest = self.cells - len(exact.codes)
        empty = noisy_cells_above(rest, threshold=self.threshold, scale=self.scale, source=source)
        codes = np.concatenate([exact.codes[passed], free_codes(empty.positions, exact.codes)])
        order = np.argsort(codes, kind="stable")
        values = np.concatenate([noisy[passed], empty.values])
        return SparseCounts(codes[order], values[order])

    def privacy_loss(self, exact: SparseCounts, other: SparseCounts) -> float:
        """Sum of the differences over the scale, cells that only one of them names included.

        Infinite where a value is no integer.
        """
        if not (is_whole(exact.values) and is_whole(other.values)):
            return math.inf
        codes, places = np.unique(np.concatenate([exact.codes, other.codes]), return_inverse=True)
        gap = np.zeros(len(codes), dtype=np.int64)
        np.add.at(gap, places, np.concatenate([exact.values, -other.values]))
        return float(np.abs(gap).sum()) / self.scale


def free_codes(positions: Ints, taken: Ints) -> Ints:
    """Turn positions among the cells that are not taken into codes.

    Parameters
    ----------
    positions : ndarray of int64
        Positions among the cells that are not taken, from 0.
    taken : ndarray of int64
        Codes of the others, ascending.

    Returns
    -------
    codes : ndarray of int64
        Codes of the cells at these positions.

    Examples
    --------
    >>> free_codes(np.array([0, 1, 2]), np.array([1, 2])).tolist()
    [0, 3, 4]
    """
    # The j-th taken cell has taken[j] - j free ones before it.
    free_before = taken - np.arange(len(taken))
    codes: Ints = positions + np.searchsorted(free_before, positions, side="right")
    return codes
