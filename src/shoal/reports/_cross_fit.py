"""Weights of atoms, with as many updates as each half of the reports asks for to explain the other.

Atoms that were drawn from all reports know the held-out ones already. Each half may have atoms, or
a start, of its own, so that what it explains of the other half is explained without having seen it.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from shoal._typing import Floats
from shoal.reports._partition_likelihood import ColorChannel, em_step

__all__ = ["UPDATES", "Fit", "Weights", "cross_fit", "updated"]

# Updates after which the halves are compared.
UPDATES = (3, 4, 6, 8, 11, 16, 22, 32, 45, 64, 90, 128, 181, 256, 362, 512, 724, 1024)
MORE = 1.4  # times as many updates for all reports as for half of them
MAX_POWER = 6.0  # of an update's factors: where little of a report is true, steps are short
PATIENCE = 3  # comparisons in a row without a gain, after which no more updates are tried


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of the atoms by all reports and by each half, and what the halves say of each other.

    Parameters
    ----------
    whole : ndarray of float64
        By all reports.
    halves : tuple of two ndarray of float64
        By each half.
    gain : float
        Nats by which the halves explain each other better than evenly spread records do.
    log_evidence : float
        Logarithm of a mean of likelihood ratios of held-out reports, each of an estimate from the
        others over evenly spread records (shoal.reports.blind).
    """

    whole: Floats
    halves: tuple[Floats, Floats]
    gain: float
    log_evidence: float


class Fit(NamedTuple):
    """Where the weights of some atoms begin, and how reports see those atoms."""

    channel: ColorChannel
    start: Floats


def cross_fit(
    fits: tuple[Fit, Fit, Fit],
    counts: Floats,
    halves: tuple[Floats, Floats],
    even: Floats,
    *,
    tries: tuple[int, ...] = (0, *UPDATES),
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
    tries : tuple of int
        Numbers of updates to choose from.

    Returns
    -------
    weights : Weights
        By all reports and by each half.
    """
    weights = (fits[1].start, fits[2].start)
    best, best_weights, chosen = -math.inf, weights, 0
    ratios: list[float] = []
    done = worse = 0
    blind = np.log(even)
    for updates in tries:
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
    evidence = float(logsumexp(ratios)) - math.log(2 * len(tries))
    whole = updated(fits[0].channel, counts, fits[0].start, round(MORE * chosen))
    return Weights(whole, best_weights, best, evidence)


def updated(channel: ColorChannel, counts: Floats, weights: Floats, updates: int) -> Floats:
    """Update weights so many times."""
    if not counts.any():
        return weights
    power = min(1.0 / channel.keep, MAX_POWER)
    for _ in range(updates):
        weights = em_step(channel, counts, weights, power).weights
    return weights
