"""Atoms for many columns: drawn from what the reports say of each column alone.

Partitions that look at one axis give its distribution: first the mean of a family of beta
distributions, each weighted by its likelihood (a few reports are enough for that), then as many
updates of EM as held-out reports ask for. Atoms are drawn as if the axes were independent; that
they are not is left to their weights.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import softmax
from scipy.stats import beta

from shoal._bounds import public_box
from shoal._typing import Floats, Ints
from shoal.partitions import Axis, AxisGrids, Partitions, box_axes, places
from shoal.reports._cross_fit import Fit, cross_fit
from shoal.reports._partition_likelihood import ColorChannel

__all__ = ["POINTS", "Counted", "Drawn", "draw_atoms", "partition_axes"]

ATOMS = 4096
MOVED = 0.15  # of the atoms, along one axis: few records far from the others are a cluster too, ...
MOVED_WEIGHT = 0.01  # ... but none are expected there
POINTS = 128  # of an interval
MEANS = (*np.linspace(0.05, 0.95, 19), 0.003, 0.01, 0.02, 0.98, 0.99, 0.997)
SPREADS = (0.9, 0.6, 0.45, 0.3, 0.2, 0.12, 0.07, 0.04)  # over the largest with that mean
SMALLEST = 1e-9  # share of a point that a beta distribution all but excludes


class Drawn(NamedTuple):
    """Drawn atoms, and the weights that they begin with."""

    points: Floats
    start: Floats


class Counted(NamedTuple):
    """Reports of all devices, and two random halves of them.

    Parameters
    ----------
    pairs : ndarray of int64
        Seen pairs, partition * n_colors + color, increasing.
    whole : ndarray of float64
        How often each was reported.
    halves : tuple of two ndarray of float64
        Which sum to that.
    """

    pairs: Ints
    whole: Floats
    halves: tuple[Floats, Floats]

    def of(self, chosen: Ints) -> "Counted":
        """Return the counts of some pairs."""
        halves = self.halves[0][chosen], self.halves[1][chosen]
        return Counted(self.pairs[chosen], self.whole[chosen], halves)


def partition_axes(partitions: Partitions) -> tuple[Axis, ...]:
    """Return the axes that partitions divide: those of a grid, else the columns of the box."""
    for block in partitions.blocks:
        if isinstance(block, AxisGrids):
            return tuple(block.axes)
    return box_axes(public_box(partitions.bounds, partitions.columns))


def draw_atoms(
    partitions: Partitions, keep: float, counted: Counted, rng: np.random.RandomState
) -> tuple[Drawn, Drawn, Drawn]:
    """Draw atoms from the columns of all reports, and half as many from those of each half."""
    axes = partition_axes(partitions)
    single, own = _of_single_axes(partitions, counted)
    shares = [_axis_shares(i, axes, single, keep, own) for i in range(len(axes))]
    whole, first, second = (
        _draw(axes, [each[part] for each in shares], many, rng)
        for part, many in enumerate((ATOMS, ATOMS // 2, ATOMS // 2))
    )
    return whole, first, second


def _of_single_axes(partitions: Partitions, counted: Counted) -> tuple[list[AxisGrids], Counted]:
    """Return the grids of one axis a partition, and the reports of them, numbered from 0."""
    colors = partitions.n_colors
    grids: list[AxisGrids] = []
    chosen, pairs = [], []
    first = kept = 0
    for block in partitions.blocks:
        last = first + block.n_partitions
        if isinstance(block, AxisGrids) and block.chosen.shape[1] == 1:
            grids.append(block)
            mine = np.arange(*np.searchsorted(counted.pairs, [first * colors, last * colors]))
            chosen.append(mine)
            pairs.append(counted.pairs[mine] + (kept - first) * colors)
            kept += block.n_partitions
        first = last
    if not grids:
        return [], counted
    return grids, counted.of(np.concatenate(chosen))._replace(pairs=np.concatenate(pairs))


def _axis_shares(
    number: int, axes: Sequence[Axis], grids: Sequence[AxisGrids], keep: float, counted: Counted
) -> tuple[Floats, Floats, Floats]:
    """Return the distribution along one axis by all reports of it, and by each half."""
    axis = axes[number]
    levels = axis.kind == "levels"
    size = axis.stop - axis.start if levels else POINTS
    along = np.zeros((size, len(axes)))
    along[:, number] = np.arange(size) if levels else (np.arange(size) + 0.5) / size
    even = np.full(size, 1.0 / size)
    if not grids:
        return even, even, even
    partitions = Partitions(grids)
    looks_at = np.concatenate([grid.chosen[:, 0] for grid in grids]) == number
    own = counted.of(np.flatnonzero(looks_at[counted.pairs // partitions.n_colors]))
    if not own.whole.any():
        return even, even, even
    channel = ColorChannel.of(partitions, keep, places(along, axes), own.pairs)
    whole, first, second = (
        Fit(channel, even if levels else _beta_mean(channel, counts))
        for counts in (own.whole, *own.halves)
    )
    fitted = cross_fit((whole, first, second), own.whole, own.halves, channel.forward(even))
    return fitted.whole, *fitted.halves


def _beta_mean(channel: ColorChannel, counts: Floats) -> Floats:
    """Return the mean of beta distributions, weighted by their likelihood."""
    family = _beta_family()
    log_likelihoods = counts @ np.log(channel.forward(family.T))
    mean: Floats = softmax(log_likelihoods) @ family
    return mean


@cache
def _beta_family() -> Floats:
    """Return beta distributions of many means and spreads, as shares of equal intervals."""
    ends = np.linspace(0.0, 1.0, POINTS + 1)
    means, spreads = (each.ravel() for each in np.meshgrid(MEANS, SPREADS))
    size = 1.0 / spreads**2 - 1.0
    shares = np.diff(beta.cdf(ends, (means * size)[:, None], ((1 - means) * size)[:, None]))
    shares = np.maximum(shares, SMALLEST)
    return np.vstack([np.full(POINTS, 1.0 / POINTS), shares / shares.sum(axis=1, keepdims=True)])


def _draw(
    axes: Sequence[Axis], shares: Sequence[Floats], many: int, rng: np.random.RandomState
) -> Drawn:
    """Draw atoms with independent positions along the axes, and move some anywhere along one."""
    along = np.column_stack(
        [_positions(axis, own, many, rng) for axis, own in zip(axes, shares, strict=True)]
    )
    moved = rng.permutation(many)[: round(MOVED * many)]
    for atom, number in zip(moved, rng.randint(len(axes), size=len(moved)), strict=True):
        axis = axes[number]
        levels = axis.stop - axis.start
        along[atom, number] = rng.randint(levels) if axis.kind == "levels" else rng.uniform()
    start = np.full(many, (1.0 - MOVED_WEIGHT) / (many - len(moved)))
    start[moved] = MOVED_WEIGHT / len(moved)
    return Drawn(places(along, axes), start)


def _positions(axis: Axis, shares: Floats, many: int, rng: np.random.RandomState) -> Floats:
    """Draw positions along an axis, each share as often as it says."""
    ranks = (rng.permutation(many) + rng.uniform(size=many)) / many
    index = np.minimum(np.searchsorted(np.cumsum(shares), ranks), len(shares) - 1)
    if axis.kind == "levels":
        return index.astype(np.float64)
    drawn: Floats = (index + rng.uniform(size=many)) / len(shares)
    return drawn
