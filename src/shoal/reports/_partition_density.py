"""The distribution of records behind partition responses, as smooth as held-out reports ask for.

EM finds the weights of atoms through the true channel. Without end it fits chance, so the number of
updates is what smooths: as many as explain each half of the reports best by the other half, and
some more for all of them together.

In few columns atoms are the cells of a coarse grid. Where records are concentrated, the middle of a
cell stands for them badly: heavy cells are halved a few times, and how the records lie within each
cell of the coarse grid is estimated. Then the weights of the coarse cells are estimated anew, with
records lying within them like that: fine where the records are, and as smooth as before elsewhere.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.sparse import csr_array, eye_array

from shoal._bounds import Box
from shoal._typing import Floats, Ints
from shoal.reports._atoms import Cells
from shoal.reports._cross_fit import UPDATES, Fit, Weights, cross_fit, updated
from shoal.reports._partition_likelihood import ColorChannel, Tally

__all__ = ["CellDensity", "HeldOut", "cell_density", "choose_updates"]

HEAVY = 1 / 400  # weight of a cell that is halved
HALVINGS = 4
HALVING_UPDATES = 20  # after each halving
MATERIAL = 4.0  # nats by which held-out reports must be explained better by what is less smooth
SPARSENESS = (1.0, 2.0)  # standard errors of a share: one so large is halved, or divided by five
MIN_PARTS = 8.0  # of a column, each a place of its own; more for many clusters
KERNEL = 0.4  # of a part: what lies around


@dataclass(frozen=True, eq=False)
class CellDensity:
    """A distribution of records on cells of the box, and on what it rests.

    Parameters
    ----------
    cells : Cells
        Atoms.
    channel : ColorChannel
        Of these atoms.
    reports : HeldOut
        Their counts.
    weights : Weights
        Of the cells.
    """

    cells: Cells
    channel: ColorChannel
    reports: "HeldOut"
    weights: Weights


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


def cell_density(
    open_channel: Callable[[Floats], ColorChannel],
    counted: Tally,
    box: Box,
    n_clusters: int,
    rng: np.random.RandomState,
) -> CellDensity:
    """Estimate the distribution of records in few columns, given the channel of any atoms."""
    coarse = Cells.regular(box)
    channel = open_channel(coarse.points)
    reports = HeldOut(counted.counts, counted.halves(rng), coarse.volumes)
    weights = choose_updates(channel, reports, coarse.start)
    fine, within, fine_channel = _halve_heavy(open_channel, counted, coarse, weights.whole)
    seen = replace(fine_channel, members=csr_array(fine_channel.members @ within))
    again = weights if fine is coarse else choose_updates(seen, reports, coarse.start)
    if again.gain <= weights.gain + MATERIAL:
        fine, within, fine_channel = coarse, eye_array(len(coarse.sides), format="csr"), channel
        seen, again = channel, weights
    sparse = _choose_sparseness(seen, reports, again, coarse, n_clusters)
    weights = Weights(
        within @ sparse.whole,
        (within @ sparse.halves[0], within @ sparse.halves[1]),
        sparse.gain,
        weights.log_evidence,  # of atoms that do not depend on reports
    )
    return CellDensity(fine, fine_channel, reports._replace(even=fine.volumes), weights)


def _halve_heavy(
    open_channel: Callable[[Floats], ColorChannel], counted: Tally, coarse: Cells, weights: Floats
) -> tuple[Cells, Any, ColorChannel]:
    """Halve heavy cells; return the parts, how records lie on them, and their channel."""
    fine, parents, channel = coarse, np.arange(len(weights)), open_channel(coarse.points)
    for _ in range(HALVINGS):
        heavy = weights > HEAVY
        if not heavy.any():
            break
        fine, parts = fine.halved(heavy)
        parents, weights = parents[parts], weights[parts] / np.bincount(parts)[parts]
        channel = open_channel(fine.points)
        weights = updated(channel, counted.counts, weights, HALVING_UPDATES)
    return fine, _within(weights, parents, len(coarse.sides)), channel


def _choose_sparseness(
    channel: ColorChannel, reports: HeldOut, weights: Weights, coarse: Cells, n_clusters: int
) -> Weights:
    """Take weight from where there is little, if that explains held-out reports clearly better.

    Weights cannot be negative, so that chance leaves some in every empty part of the box, which
    draws centers there.
    """
    best = weights
    total = reports.counts.sum()
    error = 1.0 / (math.sqrt((channel.n_colors - 1) * total) * channel.keep)  # of a small share
    for level in SPARSENESS:
        halves = (
            _sparse(weights.halves[0], coarse, n_clusters, level * error * math.sqrt(2)),
            _sparse(weights.halves[1], coarse, n_clusters, level * error * math.sqrt(2)),
        )
        gain = sum(reports.gains(channel, halves))
        if gain > best.gain + MATERIAL:
            whole = _sparse(weights.whole, coarse, n_clusters, level * error)
            best = Weights(whole, halves, gain, weights.log_evidence)
    return best


def _sparse(weights: Floats, coarse: Cells, n_clusters: int, level: float) -> Floats:
    """Multiply weights by m^2 / (m^2 + level^2), with m the share of records around."""
    columns = coarse.middles.shape[1]
    per_side = max(MIN_PARTS, 2.0 * n_clusters ** (1.0 / columns))
    many = round(len(weights) ** (1.0 / columns))
    table = weights.reshape((many,) * columns)
    around = gaussian_filter(table, KERNEL * many / per_side, mode="constant", truncate=3.0)
    shares = np.maximum(around.ravel() * (many / per_side) ** columns, np.finfo(float).tiny)
    with np.errstate(over="ignore"):  # where next to nothing is around, the weight becomes 0
        sparse: Floats = weights / (1.0 + (level / shares) ** 2)
    sparse /= sparse.sum()
    return sparse


def _within(weights: Floats, parents: Ints, coarse: int) -> Any:
    """Return a sparse matrix with the distribution of records on the parts of each coarse cell."""
    totals = np.bincount(parents, weights, coarse)
    sizes = np.bincount(parents, minlength=coarse)
    tiny = np.finfo(float).tiny
    shares = (weights + tiny) / (totals + tiny * sizes)[parents]
    return csr_array((shares, (np.arange(len(weights)), parents)), shape=(len(weights), coarse))


def choose_updates(channel: ColorChannel, reports: HeldOut, start: Floats) -> Weights:
    """Estimate the weights of atoms with as many updates as held-out reports ask for."""
    fit = Fit(channel, start)
    even = channel.forward(reports.even)
    return cross_fit((fit, fit, fit), reports.counts, reports.halves, even, tries=UPDATES)
