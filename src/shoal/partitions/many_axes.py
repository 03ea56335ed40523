"""Partitions of many axes, where a grid over all of them would have more cells than reports."""

from collections.abc import Sequence

import numpy as np

from shoal._typing import Floats
from shoal.partitions.axes import Axis, axis_bounds, places
from shoal.partitions.grids import AxisGrids
from shoal.partitions.hashing import WORDS, public_words
from shoal.partitions.partitions import Partitions
from shoal.partitions.seeds import NearestSeeds

__all__ = ["column_partitions", "one_grid_divides", "seed_partitions", "spread_over_axes"]

FEW_AXES = 3  # that one grid can divide
MIN_CELLS = 4  # of an interval that is looked at alone: shifts make up for their size, ...
MAX_CELLS = 63  # ... but as many as colors, one more with the shift, cost nothing
FEW_COLORS = 4  # up to which a report says so little that large cells are better
FEW_SEEDS, MANY_SEEDS = 16, 64  # of one partition with up to so many colors, and with more
STEPS = 4096  # of the box that seeds are rounded to: a short document
POINT = 100  # what a public word is for


def one_grid_divides(axes: Sequence[Axis]) -> bool:
    """Return whether the axes are a few intervals, so that a grid over all of them has few cells.

    Examples
    --------
    >>> from shoal._bounds import public_box
    >>> from shoal.partitions import box_axes, one_grid_divides
    >>> [one_grid_divides(box_axes(public_box((0.0, 1.0), d))) for d in (3, 4)]
    [True, False]
    """
    return len(axes) <= FEW_AXES and all(axis.kind == "interval" for axis in axes)


def column_partitions(
    axes: Sequence[Axis], n_colors: int, *, n_partitions: int = 256, seed: int = 0
) -> Partitions:
    """Return partitions of one axis each, as used in the first of two rounds.

    Parameters
    ----------
    axes : sequence of Axis
        Axes of the records.
    n_colors : int
        Number of colors of the cells.
    n_partitions : int, default=256
        Number of partitions, distributed over the axes in turn.
    seed : int, default=0
        Seed of the public random numbers.

    Returns
    -------
    partitions : Partitions
        Each divides an interval into 4 to 63 shifted parts, more for more colors, or takes levels
        as they are.

    Examples
    --------
    >>> from shoal._bounds import public_box
    >>> from shoal.partitions import box_axes, column_partitions
    >>> column_partitions(box_axes(public_box((0.0, 1.0), 6)), 4)
    Partitions(256 partitions with 4 colors, 6 columns)
    """
    cells = min(max(MIN_CELLS, n_colors - 1), MAX_CELLS)
    return Partitions([AxisGrids(axes, n_partitions, n_colors, cells, 1, seed)])


def seed_partitions(
    axes: Sequence[Axis],
    pool: Floats,
    n_colors: int,
    *,
    n_seeds: int | None = None,
    n_partitions: int = 256,
    seed: int = 0,
) -> Partitions:
    """Return partitions whose cells hold the points nearest to each of a few public seeds.

    Parameters
    ----------
    axes : sequence of Axis
        Axes of the records.
    pool : ndarray of float64, shape (m, columns)
        Points from which seeds are taken: public, or released from reports; in random order. They
        are rounded to 4,096 steps of the box.
    n_colors : int
        Number of colors of the cells.
    n_seeds : int, default=None
        Number of seeds of each partition, at most the whole pool; None takes 16, or 64 and more
        with more than four colors.
    n_partitions : int, default=256
        Number of partitions, each with other seeds.
    seed : int, default=0
        Seed of the public random numbers.

    Returns
    -------
    partitions : Partitions
        Partitions by the nearest seed in Euclidean distance, the one that k-means uses.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal._bounds import public_box
    >>> from shoal.partitions import box_axes, seed_partitions
    >>> pool = np.random.default_rng(0).uniform(size=(100, 6))
    >>> seed_partitions(box_axes(public_box((0.0, 1.0), 6)), pool, 4)
    Partitions(256 partitions with 4 colors, 6 columns)
    """
    low, high = axis_bounds(axes)
    shares = np.rint((pool / 2 - low / 2) / (high / 2 - low / 2) * STEPS) / STEPS
    if n_seeds is None:
        n_seeds = FEW_SEEDS if n_colors <= FEW_COLORS else max(MANY_SEEDS, n_colors)
    cells = NearestSeeds(
        (1.0 - shares) * low + shares * high,
        n_partitions,
        n_colors,
        n_seeds=min(n_seeds, len(pool)),
        low=low,
        high=high,
        scale=np.ones(len(low)),
        seed=seed,
    )
    return Partitions([cells])


def spread_over_axes(axes: Sequence[Axis], many: int, *, seed: int = 0) -> Floats:
    """Return public random points spread evenly over the axes, the same for the same arguments.

    Parameters
    ----------
    axes : sequence of Axis
        Axes of the records; all levels of an axis are equally frequent.
    many : int
        Number of points.
    seed : int, default=0
        Seed of the public random numbers.

    Returns
    -------
    points : ndarray of float64, shape (many, columns)
        Points in the box.

    Examples
    --------
    >>> from shoal._bounds import public_box
    >>> from shoal.partitions import box_axes, spread_over_axes
    >>> spread_over_axes(box_axes(public_box((0.0, 1.0), 6)), 100).shape
    (100, 6)
    """
    numbers, index = np.arange(many)[:, None], np.arange(len(axes))
    along = public_words(seed, POINT, numbers, index) / WORDS
    for i, axis in enumerate(axes):
        if axis.kind == "levels":
            along[:, i] = np.floor(along[:, i] * (axis.stop - axis.start))
    return places(along, axes)
