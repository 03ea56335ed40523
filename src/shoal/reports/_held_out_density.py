"""The distribution of records behind tallied reports, as smooth as held-out reports ask for.

The iterative Bayesian update finds the weights of the atoms through the channel. How wide the
kernels are that make up the distribution, where the updates begin and how many there are is what
explains each half of the reports best by the other half.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from shoal._typing import Floats
from shoal.remap import iterative_bayesian_update
from shoal.reports._record_channel import AtomDensity, KernelChannel, spread_weights

__all__ = ["HeldOutDensity", "Part", "held_out_density"]

WIDTHS = (0.0, 1.5, 4.0)  # cells: standard deviations of the kernels, on a grid
UPDATES = (0, 4, 12, 36, 108)
MORE = 1.4  # times as many updates for all reports as for half of them
EVIDENCE = 1.0  # nats over all reports that more updates must explain them better by
SMALLEST = 1e-12  # of the probability where records are spread evenly


class Part(NamedTuple):
    """Reports that a distribution is estimated from, and those that judge it.

    Parameters
    ----------
    channel : KernelChannel
        Of both.
    own, other : ndarray of float64
        Counts of the tally. All reports together have no others.
    starts : tuple of ndarray of float64
        Weights of the atoms that updates begin at, none of them zero.
    """

    channel: KernelChannel
    own: Floats
    other: Floats
    starts: tuple[Floats, ...]


class HeldOutDensity(NamedTuple):
    """A distribution of records, and what held-out reports say about it.

    Parameters
    ----------
    whole : AtomDensity
        From all reports.
    halves : tuple of two AtomDensity
        From one half each.
    log_evidence : float
        Logarithm of a mean of likelihood ratios of held-out reports, each of an estimate from the
        others over records that are spread evenly over the box (shoal.reports.blind).
    blind : bool
        Whether evenly spread records explain held-out reports as well as any estimate does.
    """

    whole: AtomDensity
    halves: tuple[AtomDensity, AtomDensity]
    log_evidence: float
    blind: bool


def held_out_density(whole: Part, halves: tuple[Part, Part]) -> HeldOutDensity:
    """Estimate the distribution of records from all reports and from each half of them."""
    widths = WIDTHS if whole.channel.atoms.cells else WIDTHS[:1]
    best, chosen, gains = 0.0, None, []
    for start in range(len(whole.starts)):
        last_width = -math.inf
        for width in widths[::-1]:
            last = -math.inf
            for updates in UPDATES:
                each = [_gain(part, _fitted(part, start, width, updates)) for part in halves]
                gains += each
                if sum(each) > best + EVIDENCE:
                    best, chosen = sum(each), (start, width, updates)
                if sum(each) < last:  # more of them fit chance
                    break
                last = sum(each)
            if last < last_width:  # so do narrower kernels
                break
            last_width = last
    # Those that were not tried count as if they explained nothing: the sum is no larger for it.
    possible = len(halves) * len(whole.starts) * len(widths) * len(UPDATES)
    evidence = float(logsumexp(gains)) - math.log(possible)
    if chosen is None:
        return HeldOutDensity(_even(whole), (_even(halves[0]), _even(halves[1])), evidence, True)
    start, width, updates = chosen
    more = round(MORE * updates)
    return HeldOutDensity(
        _density(whole, _fitted(whole, start, width, more)),
        (
            _density(halves[0], _fitted(halves[0], start, width, updates)),
            _density(halves[1], _fitted(halves[1], start, width, updates)),
        ),
        evidence,
        False,
    )


def _even(part: Part) -> AtomDensity:
    return _density(part, part.starts[0])


def _density(part: Part, weights: Floats) -> AtomDensity:
    atoms = part.channel.atoms
    return AtomDensity(atoms.points, weights, atoms.width, part.channel, part.own)


def _gain(part: Part, weights: Floats) -> float:
    """Return by how many nats other reports are explained better than by evenly spread records."""
    seen = part.other > 0
    ratios = part.channel.forward(weights)[seen] / part.channel.blind()[seen]
    return float(part.other[seen] @ np.log(np.maximum(ratios, SMALLEST)))


def _fitted(part: Part, start: int, width: float, updates: int) -> Floats:
    weights = part.starts[start]
    if updates and part.own.any():
        weights = iterative_bayesian_update(
            part.own,
            part.channel.smoothed(width),
            weights.shape,
            start=weights,
            max_iter=updates,
            tol=0.0,
        ).prior
    return spread_weights(part.channel.atoms, weights, width)
