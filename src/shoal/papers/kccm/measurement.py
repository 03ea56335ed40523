"""The cost of the fits that share one start."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

__all__ = ["Measurement"]


@dataclass(frozen=True)
class Measurement:
    """Mean cost of the runs on one start; prints as one line.

    Runs on one start are alike, so what is independent is the start: intervals go over starts.

    Parameters
    ----------
    variant : str
        Name in the source, ``"average k"`` to ``"gaussian nk"``, or ``"auto"``; with the formula
        before it where it is as published.
    k : int
        Number of clusters.
    epsilon : float
        What was promised, or what is really spent where nothing is.
    delta : float
        The same; 0 but for Gaussian noise.
    start : int
        Number of the start.
    nicv : float
        Mean squared distance to the nearest center, averaged over runs.
    reference : float
        The same for k-means without privacy, best of ten starts.
    runs : int, default=1
        How many fits.
    deviation : float, default=0.0
        Standard deviation of their costs.

    Examples
    --------
    >>> print(Measurement("average k", 3, 1.0, 0.0, 7, nicv=0.3, reference=0.2, runs=50))
    average k, k = 3, epsilon 1, start 7, 50 runs: NICV 0.3000, 1.500 of k-means without privacy
    """

    variant: str
    k: int
    epsilon: float
    delta: float
    start: int
    nicv: float
    reference: float
    runs: int = 1
    deviation: float = 0.0

    @classmethod
    def of(cls, costs: npt.NDArray[np.float64], **words: Any) -> Self:
        """Sum up the costs of all runs on a start.

        Parameters
        ----------
        costs : ndarray of float64, shape (runs,)
            NICV of each run.
        **words
            The other fields.

        Returns
        -------
        measurement : Measurement
            With mean and deviation.
        """
        spread = float(costs.std(ddof=1)) if len(costs) > 1 else 0.0
        return cls(nicv=float(costs.mean()), runs=len(costs), deviation=spread, **words)

    @property
    def relative(self) -> float:
        """NICV over that of k-means without privacy."""
        return self.nicv / self.reference

    def __str__(self) -> str:
        return (
            f"{self.variant}, k = {self.k}, epsilon {self.epsilon:.4g}, start {self.start}, "
            f"{self.runs} run{'s' if self.runs > 1 else ''}: NICV {self.nicv:.4f}, "
            f"{self.relative:.3f} of k-means without privacy"
        )
