"""A mean over independent runs, with its interval."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from shoal._statistics import mean_interval

__all__ = ["Estimate", "rounded"]

ERROR = 0.05
ROUNDING = 1e-6  # by which an interval that was not cut may be off its middle


@dataclass(frozen=True)
class Estimate:
    """A mean over runs with its 95% confidence interval; prints as ``0.125 [0.100, 0.150]``.

    Parameters
    ----------
    mean : float
        The mean.
    low, high : float
        Ends of Student's t interval. For a single run both equal the mean and mean nothing. NaN if
        there is no interval; they are then not printed.

    Examples
    --------
    >>> print(Estimate.of([0.1, 0.3, 0.2]))
    0.200 [-0.048, 0.448]
    >>> Estimate.of([0.1, 0.3, 0.2]).brief
    '0.20 ± 0.25'
    >>> Estimate.of([0.1, 0.3, 0.2], lowest=0.0).brief
    '0.20 [0.00, 0.45]'
    >>> print(f"{Estimate(0.021, 0.0, 0.042):.1%}")
    2.1% [0.0%, 4.2%]
    """

    mean: float
    low: float
    high: float

    @classmethod
    def of(
        cls,
        values: Iterable[float],
        *,
        lowest: float = -math.inf,
        highest: float = math.inf,
        error: float = ERROR,
    ) -> "Estimate":
        """Summarize one value per run by its mean and interval.

        Parameters
        ----------
        values : iterable of float
            Values of independent runs, at least one.
        lowest, highest : float
            Smallest and largest possible value; the interval is clipped to these.
        error : float, default=0.05
            Probability that the interval misses the mean.

        Returns
        -------
        estimate : Estimate
            Mean and interval.
        """
        sample = list(values)
        mean = float(np.mean(sample))
        if len(sample) == 1:
            return cls(mean, mean, mean)
        low, high = mean_interval(sample, error=error)
        return cls(mean, max(low, lowest), min(high, highest))

    def __str__(self) -> str:
        mean, low, high = (rounded(one, 3) for one in (self.mean, self.low, self.high))
        return mean if math.isnan(self.low) else f"{mean} [{low}, {high}]"

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        mean, low, high = (format(one, spec) for one in (self.mean, self.low, self.high))
        return mean if math.isnan(self.low) else f"{mean} [{low}, {high}]"

    @property
    def brief(self) -> str:
        """The mean and half the interval (or the whole one, if it was clipped) in few digits."""
        digits = 2 if abs(self.mean) < 10 else 0 if abs(self.mean) >= 100 else 1
        mean, low, high = (rounded(one, digits) for one in (self.mean, self.low, self.high))
        if self.low == self.high:
            return mean
        half = self.high - self.mean
        if self.mean - self.low < (1 - ROUNDING) * half:
            return f"{mean} [{low}, {high}]"
        return f"{mean} ± {half:.{digits}f}"

    def overlaps(self, other: "Estimate") -> bool:
        """Return whether the intervals leave open which of the two is larger."""
        return self.low <= other.high and other.low <= self.high


def rounded(value: float, digits: int) -> str:
    """Format a number with a fixed number of digits, without ever writing -0.00.

    Parameters
    ----------
    value : float
        Any number.
    digits : int
        Number of digits after the decimal point.

    Returns
    -------
    text : str
        The rounded number.

    Examples
    --------
    >>> rounded(-0.0004, 2)
    '0.00'
    """
    return f"{round(value, digits) + 0.0:.{digits}f}"
