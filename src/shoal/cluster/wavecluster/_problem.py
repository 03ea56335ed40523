"""What every technique of DPWaveCluster is given, and what it gives back."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats, Ints
from shoal.cluster._noise import PureNoise
from shoal.cluster.wavecluster._band import Band
from shoal.engines import Engine, grid_counts
from shoal.noise import RandomSource

__all__ = ["Cells", "WaveProblem", "exact_counts", "noisy_counts"]


@dataclass(frozen=True, eq=False)
class WaveProblem:
    """The records behind their engine, and all that is public or already noisy.

    Parameters
    ----------
    engine : Engine
        Exact statistics of the lattice records.
    half : int
        Records lie in -half .. half.
    cells : int
        Cells along each column.
    band : Band
        From cells to values of the average band.
    threshold : float
        Part of the positive values that is not significant.
    n : float
        Number of records, declared or noisy; only some techniques ask.
    noise : PureNoise
        The privacy measure.
    share : float
        What the technique may spend of it, all of it.
    source : RandomSource
        Where random words come from.
    """

    engine: Engine
    half: int
    cells: int
    band: Band
    threshold: float
    n: float
    noise: PureNoise
    share: float
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
class Cells:
    """Significant cells of the band, in the order of their codes.

    Parameters
    ----------
    codes : ndarray of int64, shape (m,)
        Which band values are significant, numbered row by row.
    values : ndarray of float64, shape (m,)
        Their noisy values, in units of what one record changes.
    threshold : float
        What a value had to reach.
    everything : ndarray of float64 or None
        All noisy values of the band, where all were released.
    """

    codes: Ints
    values: Floats
    threshold: float
    everything: Floats | None = None

    @classmethod
    def of(cls, values: Floats, mask: npt.NDArray[np.bool_], threshold: float) -> "Cells":
        """Take the significant ones of a whole band."""
        codes = np.flatnonzero(mask.ravel())
        return cls(codes, values.ravel()[codes], float(threshold), values)


def noisy_counts(problem: WaveProblem, share: float) -> Ints:
    """Release the counts of all cells.

    Parameters
    ----------
    problem : WaveProblem
        Records and privacy_measure.
    share : float
        What the counts cost.

    Returns
    -------
    counts : ndarray of int64, shape ``problem.sides``
        With discrete Laplace noise; one record is in one cell.
    """
    exact = exact_counts(problem)
    return problem.noise.counts(exact, share, unit=1, source=problem.source)


def exact_counts(problem: WaveProblem) -> Ints:
    """Count the records of all cells, without noise: not to be released as it is."""
    return grid_counts(problem.engine, problem.sides, problem.half)
