"""A mean and how far it may be off, from repeats or as given."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal._statistics import mean_interval
from shoal.plotting._tidy import Columns

__all__ = ["Interval", "interval"]

CONFIDENCE = 0.95


class Interval(NamedTuple):
    """A mean with the ends of its interval; both are the mean where nothing is known of it."""

    mean: float
    low: float
    high: float


def interval(
    rows: Columns,
    kept: npt.NDArray[np.bool_],
    *,
    value: str,
    low: str | None = None,
    high: str | None = None,
) -> Interval:
    """Return the mean of some rows and an interval of 95 %, by Student's t where none is given.

    Parameters
    ----------
    rows : dict of str to ndarray
        Columns of numbers.
    kept : ndarray of bool
        Which rows; at least one.
    value : str
        Column of what is averaged, finite.
    low, high : str, default=None
        Columns of the ends; both or neither. Several rows' are averaged.

    Returns
    -------
    interval : Interval
        Mean, low, high.

    Examples
    --------
    >>> ends = interval({"ami": np.array([0.4, 0.5, 0.6])}, np.full(3, True), value="ami")
    >>> [round(float(end), 3) for end in ends]
    [0.5, 0.252, 0.748]
    """
    values = rows[value][kept]
    mean = float(values.mean())
    if low is not None and high is not None:
        ends = [float(rows[end][kept].mean()) for end in (low, high)]
        return Interval(mean, *(end if np.isfinite(end) else mean for end in ends))
    if len(values) == 1:
        return Interval(mean, mean, mean)
    return Interval(mean, *mean_interval(values, error=1 - CONFIDENCE))
