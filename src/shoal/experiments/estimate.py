"""A mean over independent runs, with its interval."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from shoal._statistics import mean_interval

__all__ = ["Estimate", "rounded"]

ERROR = 0.05


@dataclass(frozen=True)
class Estimate:
    """A mean over runs and its 95% limits; prints as ``0.125 [0.100, 0.150]``.

    Parameters
    ----------
    mean : float
        The mean.
    low, high : float
        Student's limits; those of a single run are itself, and say nothing.

    Examples
    --------
    >>> print(Estimate.of([0.1, 0.3, 0.2]))
    0.200 [-0.048, 0.448]
    >>> Estimate.of([0.1, 0.3, 0.2]).brief
    '0.20 ± 0.25'
    """

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> "Estimate":
        """Summarise one value for each run, at least one."""
        sample = list(values)
        mean = float(np.mean(sample))
        if len(sample) == 1:
            return cls(mean, mean, mean)
        return cls(mean, *mean_interval(sample, error=ERROR))

    def __str__(self) -> str:
        mean, low, high = (rounded(one, 3) for one in (self.mean, self.low, self.high))
        return f"{mean} [{low}, {high}]"

    @property
    def brief(self) -> str:
        """The mean and half of the interval, in few digits; of a single run the mean alone."""
        half = (self.high - self.low) / 2
        digits = 2 if abs(self.mean) < 10 else 0 if abs(self.mean) >= 100 else 1
        mean = rounded(self.mean, digits)
        return f"{mean} ± {half:.{digits}f}" if half else mean

    def overlaps(self, other: "Estimate") -> bool:
        """Tell whether the runs leave open which of the two is larger."""
        return self.low <= other.high and other.low <= self.high


def rounded(value: float, digits: int) -> str:
    """Write a number; a little less than nothing as 0.00, not as -0.00.

    Parameters
    ----------
    value : float
        Any number.
    digits : int
        After the point.

    Returns
    -------
    text : str
        Rounded.

    Examples
    --------
    >>> rounded(-0.0004, 2)
    '0.00'
    """
    return f"{round(value, digits) + 0.0:.{digits}f}"
