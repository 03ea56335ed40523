"""Exact confidence limits for a probability (Clopper & Pearson, Biometrika 26, 1934)."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import betainccinv, betaincinv

from shoal._typing import Floats


class Limits(NamedTuple):
    """Lower and upper limits, each of which fails with at most the probability asked for."""

    low: Floats
    high: Floats


def clopper_pearson(hits: npt.ArrayLike, trials: int, *, error: float) -> Limits:
    """Limits of a probability from the number of hits among independent trials.

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
    # The beta law has no meaning at 0 hits (low) or 0 misses (high): the limits there are 0 and 1.
    low = np.where(hit > 0, betaincinv(np.maximum(hit, 1), missed + 1, error), 0.0)
    high = np.where(missed > 0, betainccinv(hit + 1, np.maximum(missed, 1), error), 1.0)
    return Limits(low=low, high=high)


def log_ratio_bound(
    likely: npt.ArrayLike, unlikely: npt.ArrayLike, trials: int, *, delta: float, error: float
) -> Floats:
    """Lower bound of ln((p - delta) / q) from hits under two laws, wrong with at most `error`.

    Parameters
    ----------
    likely, unlikely : array-like of int
        Hits of an event under the law where it is likely (p) and the one where it is not (q).
    trials : int
        Number of trials under each law.
    delta : float
        The delta of (epsilon, delta), taken off p.
    error : float
        Largest probability with which the bound may be wrong; each side gets half of it.

    Returns
    -------
    bound : ndarray of float
        ``-inf`` where p may be as small as delta.

    Examples
    --------
    >>> float(log_ratio_bound(750, 250, 1000, delta=0.0, error=0.05).round(3))
    0.954
    """
    low = clopper_pearson(likely, trials, error=error / 2).low - delta
    high = clopper_pearson(unlikely, trials, error=error / 2).high
    with np.errstate(divide="ignore"):
        return np.where(low > 0, np.log(np.maximum(low, 0.0)) - np.log(high), -np.inf)
