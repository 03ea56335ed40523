"""Statistics that several packages share."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import betainccinv, betaincinv, stdtrit

from shoal._typing import Floats

__all__ = ["Limits", "clopper_pearson", "mean_interval"]


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


class Limits(NamedTuple):
    """Lower and upper limits, each of which fails with at most the probability asked for."""

    low: Floats
    high: Floats


def clopper_pearson(hits: npt.ArrayLike, trials: int, *, error: float) -> Limits:
    """Return exact limits of a probability from hits among trials (Clopper & Pearson, 1934).

    Parameters
    ----------
    hits : array-like of int
        Numbers of hits; any shape.
    trials : int
        Number of trials, the same for every entry of `hits`.
    error : float
        Largest probability with which each of the two limits may be wrong.

    Returns
    -------
    limits : Limits
        Arrays ``low`` and ``high`` of the shape of `hits`.

    Examples
    --------
    >>> low, high = clopper_pearson([0, 5, 10], 10, error=0.025)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0, 0.1871, 0.6915], [0.3085, 0.8129, 1.0])
    """
    hit = np.asarray(hits, dtype=np.float64)
    missed = trials - hit
    # The beta distribution has no meaning at 0 hits (low) or 0 misses (high): the limits there are
    # 0 and 1.
    low = np.where(hit > 0, betaincinv(np.maximum(hit, 1), missed + 1, error), 0.0)
    high = np.where(missed > 0, betainccinv(hit + 1, np.maximum(missed, 1), error), 1.0)
    return Limits(low=low, high=high)
