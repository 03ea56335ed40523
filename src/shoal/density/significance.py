"""How prominent a peak must be, from simulated densities without clusters.

Simulate an estimate of a flat density on a patch of cells, and take the largest prominence of its
peaks. Peaks far from each other are independent, so that over an area of several patches the
largest of all stays below t with a probability that is the product of those of the patches: that of
exp(-rate(t) * area), where rate is that of prominences above t in a patch. The largest of many has
a Gumbel distribution, which some dozens of patches tell.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Maxima", "significance_threshold"]

EULER = 0.5772156649015329
SPREAD = 0.05  # smallest scale of a Gumbel distribution: equal maxima are no certainty


class Maxima(NamedTuple):
    """Largest prominences in patches of one density without clusters.

    Parameters
    ----------
    values : array-like
        Of each patch.
    patches : float
        How many such patches an estimate has at most.
    """

    values: npt.ArrayLike
    patches: float


def significance_threshold(simulated: list[Maxima], alpha: float) -> float:
    """Return the prominence that no peak reaches by chance, with probability 1 - alpha.

    Parameters
    ----------
    simulated : list of Maxima
        Of several densities; the one that asks for the highest threshold counts.
    alpha : float
        Probability of any false cluster.

    Returns
    -------
    threshold : float
        Prominence, in standard deviations.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.density import Maxima, significance_threshold
    >>> values = np.random.default_rng(0).gumbel(2.0, 0.3, size=4000)
    >>> round(significance_threshold([Maxima(values, 1.0)], 0.05), 1)
    2.9
    """
    rate = -math.log1p(-alpha)
    return max(_upper(maxima, rate) for maxima in simulated)


def _upper(maxima: Maxima, rate: float) -> float:
    values = np.asarray(maxima.values, dtype=np.float64)
    scale = max(float(values.std(ddof=1)) * math.sqrt(6) / math.pi, SPREAD)
    location = float(values.mean()) - EULER * scale
    return location + scale * math.log(maxima.patches / rate)
