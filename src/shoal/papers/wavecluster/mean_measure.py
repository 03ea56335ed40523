"""The mean of a measure over runs, with its interval."""

import math
from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np

from shoal._statistics import mean_interval
from shoal.papers.wavecluster.measurement import Measurement

__all__ = ["ERROR", "Mean", "Measure", "mean_measure"]

Measure = Literal["k_error", "clusters", "dsg", "f_measure", "ocm", "two_ce", "ocm_with_noise"]

ERROR = 0.05  # of the intervals
SHARES = ("f_measure", "ocm", "two_ce", "ocm_with_noise")  # at most 1


class Mean(NamedTuple):
    """A mean and where it may lie; prints without an interval where there was one run.

    Parameters
    ----------
    value : float
        The mean.
    low, high : float
        Student's interval of 95%; NaN for a single run.

    Examples
    --------
    >>> print(Mean(0.5, 0.25, 0.75), Mean(0.5, math.nan, math.nan))
    0.500 [0.250, 0.750] 0.500
    >>> print(f"{Mean(0.021, 0.0, 0.042):.1%}")
    2.1% [0.0%, 4.2%]
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self:.3f}"

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        value, low, high = (format(one, spec) for one in self)
        return value if math.isnan(self.low) else f"{value} [{low}, {high}]"

    @classmethod
    def of(
        cls,
        values: Iterable[float],
        *,
        lowest: float = -math.inf,
        highest: float = math.inf,
        error: float = ERROR,
    ) -> "Mean":
        """Take the mean of independent values, which lie between two limits.

        Parameters
        ----------
        values : iterable of float
            At least one.
        lowest, highest : float
            Limits of the values; the interval is cut there, since no mean can lie beyond.
        error : float, default=0.05
            Probability with which the interval may miss.

        Returns
        -------
        mean : Mean
        """
        sample = np.array(list(values), dtype=np.float64)
        if len(sample) < 2:
            return cls(float(sample.mean()), math.nan, math.nan)
        low, high = mean_interval(sample, error=error)
        return cls(float(sample.mean()), max(low, lowest), min(high, highest))


def mean_measure(runs: Iterable[Measurement], measure: Measure, *, error: float = ERROR) -> Mean:
    """Return the mean of a measure over runs of one method.

    Parameters
    ----------
    runs : iterable of Measurement
        Of one set, method and epsilon.
    measure : str
        ``"k_error"`` is |mean k' - k| / k, as in the source's text (141.0 is 2.1% off 144).
    error : float, default=0.05
        Probability with which the interval may miss.

    Returns
    -------
    mean : Mean
        With its interval.
    """
    some = list(runs)
    if measure != "k_error":
        highest = 1.0 if measure in SHARES else math.inf
        values = (getattr(one, measure) for one in some)
        return Mean.of(values, lowest=0.0, highest=highest, error=error)
    value, low, high = Mean.of(((one.k_private - one.k) / one.k for one in some), error=error)
    ends = sorted((abs(low), abs(high)))
    return Mean(abs(value), 0.0 if low <= 0 <= high else ends[0], ends[1])
