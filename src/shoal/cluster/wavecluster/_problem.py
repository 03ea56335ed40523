"""What every technique of DPWaveCluster is, what it is given and what it gives back."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shoal._typing import Bools, Floats, Ints
from shoal.cluster._noise import PureNoise
from shoal.cluster.wavecluster._band import Band
from shoal.engines import Engine, grid_counts
from shoal.noise import RandomSource

__all__ = [
    "SignificantCells",
    "Technique",
    "WaveProblem",
    "exact_counts",
    "noisy_counts",
    "plain_cells",
    "top_cells",
]


class Technique(NamedTuple):
    """One way to find significant cells: a function in a file, listed in ``_techniques.py``."""

    name: str
    find_cells: Callable[["WaveProblem"], "SignificantCells"]  # spends all of the budget
    needs_n: bool = False  # whether it must know the number of records, public or noisy
    sparse: bool = False  # whether it takes grids of more cells than fit in a table


@dataclass(frozen=True, eq=False)
class WaveProblem:
    """The records behind their engine, and all that is public or already noisy."""

    engine: Engine  # exact statistics of the lattice records
    half: int  # records lie in -half .. half
    cells: int  # along each column
    band: Band  # from cells to values of the average band
    threshold: float  # part of the positive values that is not significant
    min_samples: int  # records of a dense neighborhood; only the density technique asks
    n: float  # number of records, declared or noisy; only some techniques ask
    noise: PureNoise
    budget: float  # what the technique may spend, all of it
    source: RandomSource

    @property
    def columns(self) -> int:
        """Number of columns."""
        return self.engine.columns

    @property
    def sides(self) -> tuple[int, ...]:
        """Cells along all columns."""
        return (self.cells,) * self.columns


@dataclass(frozen=True, eq=False)
class SignificantCells:
    """Significant cells of the band, in the order of their codes."""

    codes: Ints  # shape (m,): which band values are significant, numbered row by row
    values: Floats  # shape (m,): their noisy values, in units of what one record changes
    threshold: float  # what a value had to reach
    all_values: Floats | None = None  # all noisy values of the band, where all were released

    @classmethod
    def from_mask(cls, values: Floats, mask: Bools, threshold: float) -> "SignificantCells":
        """Take the significant ones of a whole band."""
        codes = np.flatnonzero(mask.ravel())
        return cls(codes, values.ravel()[codes], float(threshold), values)


def noisy_counts(problem: WaveProblem, budget: float) -> Ints:
    """Release the counts of all cells."""
    exact = exact_counts(problem)
    return problem.noise.counts(exact, budget, contribution=1, source=problem.source)


def exact_counts(problem: WaveProblem) -> Ints:
    """Count the records of all cells, without noise: not to be released as it is."""
    return grid_counts(problem.engine, problem.sides, problem.half)


def plain_cells(counts: Ints, band: Band, threshold: float) -> SignificantCells:
    """Find the significant cells of counts as they are, as private as these.

    WaveCluster without privacy (Sheikholeslami, Chatterjee & Zhang 1998).
    """
    values = band.dense(counts) / band.sensitivity
    return top_cells(values, (1 - threshold) * float((values > 0).sum()))


def top_cells(values: Floats, wanted: float) -> SignificantCells:
    """Keep the ``wanted`` largest positive values, and all values tied with the last of them.

    Parameters
    ----------
    values : ndarray of float64
        Values of the band.
    wanted : float
        How many to keep; a fraction is rounded up, as in the figures of the paper (144 of 159).

    Returns
    -------
    cells : SignificantCells
        The cells that are kept: none if no value is positive.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.cluster.wavecluster import top_cells
    >>> top_cells(np.array([[5.0, 0.0], [3.0, 1.0]]), 2).codes.tolist()
    [0, 2]
    """
    positive = np.sort(values[values > 0])[::-1]
    if positive.size == 0:
        return SignificantCells.from_mask(values, np.zeros(values.shape, dtype=bool), math.inf)
    rank = min(max(math.ceil(wanted - 1e-9), 1), positive.size)
    threshold = float(positive[rank - 1])
    return SignificantCells.from_mask(values, values >= threshold, threshold)
