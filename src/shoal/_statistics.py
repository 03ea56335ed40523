"""Statistics that several packages share."""

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

__all__ = ["mean_interval"]


def mean_interval(values: npt.ArrayLike, *, error: float) -> tuple[float, float]:
    """Return Student's interval of the mean of independent values.

    Parameters
    ----------
    values : array-like of float
        At least two.
    error : float
        Probability with which the interval may miss, if the values are about normal.

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> low, high = mean_interval([0.1, 0.3, 0.2], error=0.05)
    >>> round(low, 3), round(high, 3)
    (-0.048, 0.448)
    """
    sample = np.asarray(values, dtype=np.float64)
    spread = float(sample.std(ddof=1)) / len(sample) ** 0.5
    half = float(stdtrit(len(sample) - 1, 1.0 - error / 2)) * spread
    mean = float(sample.mean())
    return mean - half, mean + half
