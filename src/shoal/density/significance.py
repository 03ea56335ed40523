"""How prominent a peak must be, from simulated densities without clusters.

Simulate estimates of a density that is known, and take what the peaks of each have beyond their
prominence in that density: that is chance. Peaks far from each other are independent, so that the
largest of several groups of peaks stays below t with a probability that is the product of those of
the groups. The largest of many has a Gumbel distribution, which some dozens of maxima tell.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats, Ints
from shoal.density.cluster_tree import DensityEstimate, Merges

__all__ = ["Maxima", "chance_prominence", "cut_peaks", "significance_threshold"]

EULER = 0.5772156649015329
SPREAD = 0.05  # smallest scale of a Gumbel distribution: equal maxima are no certainty


class Maxima(NamedTuple):
    """The largest prominences that chance produced in simulations.

    Parameters
    ----------
    values : array-like
        Largest prominence of each simulated group of peaks.
    groups : float
        Number of such groups in one estimate.

    Examples
    --------
    >>> from shoal.density import Maxima
    >>> chance = Maxima([2.1, 1.8, 2.6], groups=1.0)
    >>> max(chance.values)
    2.6
    """

    values: npt.ArrayLike
    groups: float


def significance_threshold(simulated: list[Maxima], alpha: float) -> float:
    """Return the prominence that, with probability 1 - alpha, no peak reaches by chance.

    Parameters
    ----------
    simulated : list of Maxima
        Simulations of one or more densities; the largest of their thresholds is returned.
    alpha : float
        Probability of any false cluster.

    Returns
    -------
    threshold : float
        Threshold of prominence, in standard deviations.

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


def chance_prominence(
    copy: DensityEstimate, merges: Merges, truth: DensityEstimate, true_merges: Merges
) -> Floats:
    """Return the part of each peak's prominence in a simulated estimate that is due to chance.

    It is the prominence of the peak beyond what it has in the density that was simulated from.

    Parameters
    ----------
    copy : DensityEstimate
        The simulated estimate.
    merges : Merges
        The merges of the copy.
    truth : DensityEstimate
        The density that was simulated from, on the same cells, which must be connected.
    true_merges : Merges
        The merges of the truth.

    Returns
    -------
    prominence : ndarray
        For the lower peak of each merge of the copy, in standard deviations.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.density import DensityEstimate, GridCells, chance_prominence, find_merges
    >>> edges, deviation = GridCells((5,)).edges, np.ones(5)
    >>> truth = DensityEstimate(np.array([9.0, 9.0, 9.0, 1.0, 8.0]), deviation)
    >>> copy = DensityEstimate(np.array([9.0, 6.0, 8.0, 1.0, 8.0]), deviation)
    >>> merges = find_merges(copy, edges)
    >>> merges.prominence.round(2).tolist()
    [1.41, 4.95]
    >>> chance_prominence(copy, merges, truth, find_merges(truth, edges)).round(2).tolist()
    [1.41, 0.0]
    """
    lower, higher = merges.peaks[merges.lower], merges.peaks[merges.higher]
    rise = np.minimum(truth.density[lower], truth.density[higher])
    rise -= _pass_between(truth.density, true_merges, lower, higher)
    chance: Floats = merges.prominence - rise / (math.sqrt(2) * copy.deviation[lower])
    return chance


def cut_peaks(estimate: DensityEstimate, merges: Merges, prominence: float) -> Floats:
    """Return the density with its less prominent peaks cut down to the passes beside them.

    Parameters
    ----------
    estimate : DensityEstimate
        The density.
    merges : Merges
        The merges of the density.
    prominence : float
        Peaks below this prominence, in standard deviations, are cut.

    Returns
    -------
    density : ndarray of shape (m,)
        The new density, nowhere higher than before; the highest peak stays.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.density import DensityEstimate, GridCells, cut_peaks, find_merges
    >>> estimate = DensityEstimate(np.array([9.0, 6.0, 8.0, 1.0, 8.0]), np.ones(5))
    >>> merges = find_merges(estimate, GridCells((5,)).edges)
    >>> cut_peaks(estimate, merges, 3.0).tolist()
    [9.0, 6.0, 6.0, 1.0, 8.0]
    """
    count, met = len(merges.peaks), len(merges.lower)
    # Components as nodes: basins first, then what each merge makes.
    node, parts = list(range(count)), []
    pairs = zip(merges.lower.tolist(), merges.higher.tolist(), strict=True)
    for made, (low, high) in enumerate(pairs, start=count):
        parts.append((node[low], node[high]))
        node[high] = made
    ceiling = [math.inf] * (count + met)
    kept, passes = (merges.prominence >= prominence).tolist(), merges.passes.tolist()
    for index in range(met - 1, -1, -1):
        above = ceiling[count + index]
        low, high = parts[index]
        ceiling[low] = above if kept[index] else min(above, passes[index])
        ceiling[high] = above
    cut: Floats = np.minimum(estimate.density, np.array(ceiling)[merges.basin])
    return cut


def _pass_between(density: Floats, merges: Merges, one: Ints, other: Ints) -> Floats:
    """Return the highest of the lowest densities on all ways between two cells, for each pair."""
    count = len(merges.peaks)
    # Basins in a row such that each component is a run: the last of the merges between two of them
    # in the row is the one in which they meet.
    after, gap = [-1] * count, [-1] * count
    last = list(range(count))
    for index, pair in enumerate(zip(merges.lower.tolist(), merges.higher.tolist(), strict=True)):
        low, high = pair
        after[last[high]], gap[last[high]] = low, index
        last[high] = last[low]
    row = [int(merges.higher[-1])] if len(merges.higher) else [0]
    while after[row[-1]] >= 0:
        row.append(after[row[-1]])
    place = np.empty(count, dtype=np.int64)
    place[row] = np.arange(count)
    latest = [np.array(gap, dtype=np.int64)[row]]  # of 1, 2, 4, ... gaps from each on
    while 2 ** len(latest) <= count:
        step = 2 ** (len(latest) - 1)
        latest.append(np.maximum(latest[-1][:-step], latest[-1][step:]))
    ends = np.sort([place[merges.basin[one]], place[merges.basin[other]]], axis=0)
    level = np.minimum(density[one], density[other])
    for power, table in enumerate(latest):
        gaps = ends[1] - ends[0]
        mine = (gaps >= 2**power) & (gaps < 2 ** (power + 1))
        first, end = ends[:, mine]
        met = np.maximum(table[first], table[end - 2**power])
        level[mine] = np.minimum(level[mine], merges.passes[met])
    return level


def _upper(maxima: Maxima, rate: float) -> float:
    values = np.asarray(maxima.values, dtype=np.float64)
    scale = max(float(values.std(ddof=1)) * math.sqrt(6) / math.pi, SPREAD)
    location = float(values.mean()) - EULER * scale
    return location + scale * math.log(maxima.groups / rate)
