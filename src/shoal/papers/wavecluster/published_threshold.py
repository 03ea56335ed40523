"""The source's exponential mechanism for a threshold: its range ends at the true maximum.

The positive values x_1 >= ... >= x_m of the band cut (0, x_1] into partitions; a candidate in
(x_(i+1), x_i] has rank i, the number of values that reach it. A partition is chosen with
probability proportional to its width times e^(-epsilon |i - k| / 2), a candidate evenly in it.
Where one record raises x_1, candidates appear that its absence rules out: no epsilon covers that.
"""

from typing import NamedTuple

import numpy as np

from shoal._typing import Floats, Ints

__all__ = ["Partitions", "draw_threshold", "threshold_partitions"]


class Partitions(NamedTuple):
    """Partitions of (0, Max], from low to high; those of equal values, of width 0, are left out.

    Parameters
    ----------
    low, high : ndarray of float64, shape (m,)
        Partition j is (low[j], high[j]].
    ranks : ndarray of int64, shape (m,)
        How many values reach a candidate in it.
    chances : ndarray of float64, shape (m,)
        Probability with which it is chosen.
    """

    low: Floats
    high: Floats
    ranks: Ints
    chances: Floats


def threshold_partitions(values: Floats, *, k: float, epsilon: float) -> Partitions:
    """Return the partitions and the chance of each.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        Positive values of the band, without noise, in any order; at least one.
    k : float
        Rank that is wanted.
    epsilon : float
        What the source takes this to cost.

    Returns
    -------
    partitions : Partitions
        From low to high, so that ranks fall.

    Examples
    --------
    >>> import numpy as np
    >>> found = threshold_partitions(np.array([4.0, 1.0, 4.0, 2.0]), k=3, epsilon=np.log(4.0))
    >>> found.high.tolist(), found.ranks.tolist()
    ([1.0, 2.0, 4.0], [4, 3, 2])
    >>> found.chances.round(3).tolist()  # widths 1, 1, 2 with weights 1/2, 1, 1/2
    [0.2, 0.4, 0.4]
    """
    ascending = np.sort(values)
    low = np.concatenate([[0.0], ascending[:-1]])
    ranks = np.arange(len(ascending), 0, -1)
    wide = ascending > low
    low, high, ranks = low[wide], ascending[wide], ranks[wide]
    # In logarithms: at a large epsilon all but a few weights are too small for a double.
    logs = np.log(high - low) - epsilon / 2 * np.abs(ranks - k)
    weights = np.exp(logs - logs.max())
    return Partitions(low, high, ranks, weights / weights.sum())


def draw_threshold(partitions: Partitions, generator: np.random.Generator) -> float:
    """Choose a partition, and a candidate evenly in it.

    Parameters
    ----------
    partitions : Partitions
        From :func:`threshold_partitions`.
    generator : numpy.random.Generator
        Where randomness comes from.

    Returns
    -------
    threshold : float
        Above 0, at most the true maximum.

    Examples
    --------
    >>> import numpy as np
    >>> found = threshold_partitions(np.array([3.0]), k=1, epsilon=1.0)
    >>> 0 < draw_threshold(found, np.random.default_rng(0)) <= 3.0
    True
    """
    chosen = generator.choice(len(partitions.chances), p=partitions.chances)
    width = partitions.high[chosen] - partitions.low[chosen]
    # random() may be 0 but never 1, and a partition is open below and closed above.
    return float(partitions.high[chosen] - generator.random() * width)
