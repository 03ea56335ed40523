"""Weights of atoms that are drawn anew for each half of the reports.

Atoms that were drawn from all reports know the held-out ones already. Here each half has atoms, or
a start, of its own, so that what it explains of the other half is explained without having seen it.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from shoal._typing import Floats
from shoal.reports._partition_density import MORE, PATIENCE, UPDATES, Weights, updated
from shoal.reports._partition_likelihood import ColorChannel

__all__ = ["Fit", "cross_fit"]


class Fit(NamedTuple):
    """Where the weights of some atoms begin, and how reports see those atoms."""

    channel: ColorChannel
    start: Floats


def cross_fit(
    fits: tuple[Fit, Fit, Fit], counts: Floats, halves: tuple[Floats, Floats], even: Floats
) -> Weights:
    """Estimate weights of atoms with as many updates as each half asks for to explain the other.

    Parameters
    ----------
    fits : tuple of three Fit
        For all reports, and for each half.
    counts : ndarray of float64
        Of all reports.
    halves : tuple of two ndarray of float64
        Which sum to them.
    even : ndarray of float64
        Probability of each seen pair where records are spread evenly.

    Returns
    -------
    weights : Weights
        By all reports and by each half; no update at all is a choice too.
    """
    weights = (fits[1].start, fits[2].start)
    best, best_weights, chosen = -math.inf, weights, 0
    ratios: list[float] = []
    done = worse = 0
    blind = np.log(even)
    for updates in (0, *UPDATES):
        weights = (
            updated(fits[1].channel, halves[0], weights[0], updates - done),
            updated(fits[2].channel, halves[1], weights[1], updates - done),
        )
        done = updates
        gains = (
            float(halves[1] @ (np.log(fits[1].channel.forward(weights[0])) - blind)),
            float(halves[0] @ (np.log(fits[2].channel.forward(weights[1])) - blind)),
        )
        ratios += gains
        worse += 1
        if sum(gains) > best:
            best, best_weights, chosen, worse = sum(gains), weights, updates, 0
        if worse == PATIENCE:
            break
    # Those that were not tried count as if they explained nothing: the mean is no larger for it.
    evidence = float(logsumexp(ratios)) - math.log(2 * (1 + len(UPDATES)))
    whole = updated(fits[0].channel, counts, fits[0].start, round(MORE * chosen))
    return Weights(whole, best_weights, best, evidence)
