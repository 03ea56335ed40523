"""The distribution of records behind partition responses, as smooth as held-out reports ask for.

EM finds the weights of atoms through the true channel. Without end it fits chance, so the number of
updates is what smooths: as many as explain each half of the reports best by the other half, and
some more for all of them together. A mixture of as many Gaussians as clusters, fitted through the
same channel, is averaged with it where held-out reports do not speak against that.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from shoal._typing import Floats
from shoal.reports._partition_likelihood import ColorChannel, em_step

__all__ = ["HeldOut", "Weights", "choose_updates", "updated"]

UPDATES = (3, 4, 6, 8, 11, 16, 22, 32, 45, 64, 90, 128)  # after which the halves are compared
MORE = 1.4  # times as many updates for all reports as for half of them
MAX_POWER = 6.0  # of an update's factors: where little of a report is true, steps are short
PATIENCE = 3  # comparisons in a row without a gain, after which no more updates are tried


class HeldOut(NamedTuple):
    """Counts of all reports and of two random halves, and evenly spread records.

    Parameters
    ----------
    counts : ndarray of float64
        Of all reports.
    halves : tuple of two ndarray of float64
        Which sum to them.
    even : ndarray of float64
        Weights of the atoms where records are spread evenly.
    """

    counts: Floats
    halves: tuple[Floats, Floats]
    even: Floats

    def gains(self, channel: ColorChannel, weights: tuple[Floats, Floats]) -> tuple[float, float]:
        """Return by how many nats each half explains the other better than evenly spread records.

        Weights are those that were estimated from the first and from the second half.
        """
        even = np.log(channel.forward(self.even))
        first, second = (np.log(channel.forward(own)) - even for own in weights)
        return float(self.halves[1] @ first), float(self.halves[0] @ second)


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


def choose_updates(channel: ColorChannel, reports: HeldOut, start: Floats) -> Weights:
    """Estimate the weights of atoms with as many updates as held-out reports ask for."""
    halves = (start, start)
    best, best_halves, chosen = -math.inf, halves, 0
    ratios: list[float] = []
    done = worse = 0
    for updates in UPDATES:
        halves = (
            updated(channel, reports.halves[0], halves[0], updates - done),
            updated(channel, reports.halves[1], halves[1], updates - done),
        )
        done = updates
        gains = reports.gains(channel, halves)
        ratios += gains
        worse += 1
        if sum(gains) > best:
            best, best_halves, chosen, worse = sum(gains), halves, updates, 0
        if worse == PATIENCE:
            break
    # Those that were not tried count as if they explained nothing: the mean is no larger for it.
    evidence = float(logsumexp(ratios)) - math.log(2 * len(UPDATES))
    whole = updated(channel, reports.counts, start, round(MORE * chosen))
    return Weights(whole, best_halves, best, evidence)


def updated(channel: ColorChannel, counts: Floats, weights: Floats, updates: int) -> Floats:
    """Update weights so many times."""
    if not counts.any():
        return weights
    power = min(1.0 / channel.keep, MAX_POWER)
    for _ in range(updates):
        weights = em_step(channel, counts, weights, power).weights
    return weights
