"""The leaves of a noisy tree, and how many records they hold, for k-means and private copies.

The public box is halved where the noisy count of a node says so (after PrivTree, Zhang, Xiao & Xie
2016), for a price that does not grow with the depth (:mod:`shoal.noise.tree_shape`,
proofs/tree.md): leaves are small where records crowd. Then every leaf gets a noisy count, those
without records too. Estimates of the counts behind the noisy ones are post-processing.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats, Ints
from shoal.cluster._denoise import posterior_counts
from shoal.cluster._noise import BudgetedNoise
from shoal.engines import Engine, dyadic_boxes, dyadic_counts, grid_counts, max_halvings
from shoal.noise import RandomSource, SparseCounts, TreeShapeNoise, privatize

__all__ = [
    "CROWD_PARTS",
    "DOUBT",
    "SHAPE_PART",
    "NoisyLeaves",
    "PlannedLeaves",
    "crowd_budget",
    "release_fullest",
    "release_leaves",
    "release_shape",
    "shape_noise",
]

CROWD_PARTS = 0.001, 0.03  # of the budget, for the records in the fullest cells of a grid,
ENOUGH = 0.01  # in between so much that the scale of its noise is this part of all records
DOUBT = 1.5  # scales of its noise above what counts as a crowd, so that noise alone seldom decides
CLEAR = 0.1  # of all records: the scale must be smaller, or the number would be noise
SHAPE_PART = 0.45  # of the budget of a tree, for its shape
ROOTS = 2  # halvings that are always made
MAX_SPLITS = 2**16  # about so many nodes can be split at most, whatever epsilon is
OUTSKIRTS = 3.0  # deviations: what leaves of the first levels hold together, if they hold anything
NEAR = 6.0  # spreads from the mean of the others: nothing is unlikely there


class PlannedLeaves(NamedTuple):
    """The leaves of a released shape, and how many records are in them: that is still exact."""

    low: Floats  # corners, shape (m, d), in lattice steps
    high: Floats
    depths: Ints  # halvings that made each
    exact: Ints


class NoisyLeaves(NamedTuple):
    """Released leaves: noisy counts, and estimates of the true ones."""

    low: Floats
    high: Floats
    depths: Ints
    noisy: Ints
    counts: Floats
    deviation: float  # of the noise of a count

    @property
    def midpoints(self) -> Floats:
        """Middles of the leaves, in lattice steps."""
        return (self.low + self.high) / 2


def crowd_budget(n: float, budget: float) -> float:
    """Return what a number of records in the fullest cells may cost; 0 where it would be noise."""
    least, most = (part * budget for part in CROWD_PARTS)
    if most * CLEAR * n < 1.0:
        return 0.0
    return min(max(1.0 / (ENOUGH * n), least), most)


def release_fullest(
    engine: Engine,
    side: int,
    fullest: int,
    noise: BudgetedNoise,
    budget: float,
    *,
    half: int,
    contribution: int,
    source: RandomSource,
) -> int:
    """Release how many records the fullest cells hold, of a grid with so many cells to a column.

    One record more or less changes the sum of the m largest counts by its weight at most.
    """
    exact = grid_counts(engine, (side,) * engine.columns, half).ravel()
    held = np.sort(exact)[-fullest:].sum(keepdims=True)
    return int(noise.counts(held, budget, contribution=contribution, source=source)[0])


def shape_noise(
    n: float, budget: float, *, columns: int, half: int, contribution: int
) -> TreeShapeNoise:
    """Return the noise that decides the shape of a tree of n records."""
    depth = max_halvings(columns, half)
    return TreeShapeNoise.for_budget(
        budget,
        contribution=contribution,
        roots=min(ROOTS, depth - 1),
        depth=depth,
        min_decay=math.ceil(n * contribution / MAX_SPLITS),
    )


def release_shape(
    engine: Engine,
    n: float,
    budget: float,
    *,
    half: int,
    contribution: int,
    source: RandomSource,
) -> PlannedLeaves:
    """Release which nodes of the tree are leaves.

    ``n``: number of records, declared or noisy, in contributions of one person.
    """
    columns = engine.columns
    shaping = shape_noise(n, budget, columns=columns, half=half, contribution=contribution)
    depth = shaping.depth
    counted = dyadic_counts(engine, depth, half)
    shape = privatize(
        SparseCounts(counted.codes, counted.counts), shaping, cost=budget, source=source
    )
    # The leaves lie side by side: each ends where the next begins.
    running = np.concatenate([[0], np.cumsum(counted.counts)])
    exact = np.diff(running[np.searchsorted(counted.codes, shape.codes)], append=running[-1])
    low, high = dyadic_boxes(shape.codes, shape.depths, columns=columns, halvings=depth, half=half)
    return PlannedLeaves(low, high, shape.depths, exact)


def release_leaves(
    planned: PlannedLeaves,
    noise: BudgetedNoise,
    budget: float,
    *,
    contribution: int,
    source: RandomSource,
) -> NoisyLeaves:
    """Release the counts of all leaves, and estimate the true ones."""
    low, high, depths, exact = planned
    noisy = noise.counts(exact, budget, contribution=contribution, source=source)
    counts = posterior_counts(noisy, noise, budget, contribution=contribution)
    deviation = noise.count_deviation(budget, contribution=contribution)
    leaves = NoisyLeaves(low, high, depths, noisy, counts, deviation)
    counts[_outskirts(leaves)] = 0.0
    return leaves


def _outskirts(leaves: NoisyLeaves) -> npt.NDArray[np.bool_]:
    """Return which leaves are empty outskirts, by their counts level by level from above.

    Leaves of the first levels are large: noise in them lies far from all records, and costs most.
    Down to the level where they certainly hold something together, only those count that are
    likely themselves: beyond ``NEAR`` spreads from the others' mean, the less the farther out. Of
    all records at most 1 / r^2 lie r times as far (Chebyshev): such are the odds against them.
    """
    levels = np.arange(leaves.depths.max() + 1)
    held = np.cumsum(np.bincount(leaves.depths, weights=leaves.noisy, minlength=len(levels)))
    number = np.cumsum(np.bincount(leaves.depths, minlength=len(levels)))
    sure = held > OUTSKIRTS * leaves.deviation * np.sqrt(number)
    outside = leaves.depths <= np.max(levels[~sure], initial=-1)
    scale = leaves.deviation / math.sqrt(2)
    # Of m Laplace draws, about m^(2/3) / 2 are larger than this.
    likely = np.full(len(leaves.depths), scale * math.log(max(int(outside.sum()), 2)) / 3)
    inside = np.where(outside, 0.0, leaves.counts)
    if inside.sum() > 0:
        middle = np.average(leaves.midpoints, axis=0, weights=inside)
        squares = ((leaves.midpoints - middle) ** 2).sum(axis=1)
        spread = max(float(np.average(squares, weights=inside)), 1.0)
        likely += scale * np.log(np.maximum(squares / (NEAR**2 * spread), 1.0))
    empty: npt.NDArray[np.bool_] = outside & (leaves.noisy <= likely)
    return empty
