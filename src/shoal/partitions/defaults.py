"""Which partitions a campaign uses when it says nothing: from public numbers alone."""

import math
from functools import lru_cache

from shoal.partitions.axes import Axis
from shoal.partitions.grids import AxisGrids
from shoal.partitions.many_axes import (
    column_partitions,
    one_grid_divides,
    seed_partitions,
    spread_over_axes,
)
from shoal.partitions.partitions import Partitions

__all__ = ["default_colors", "default_partitions"]

MAX_BITS = 7  # of a color: more of them need more cells, of which each then says less
MIN_PARTITIONS = 256
MIN_CELLS = 8  # of an interval
COLUMN_PARTITIONS, SEED_PARTITIONS = 128, 384  # of many axes, in one round
POOL = 1024  # points that seeds are taken from
CLUSTERS = 8  # where their number is not known


def default_colors(epsilon: float) -> int:
    """Return the power of two nearest to e^epsilon + 1, at most 128.

    This number of colors gives the least variance of the estimated share of records in a cell (Wang
    et al. 2017). Above epsilon 5 almost every report holds the true color, and more shifted grids
    are worth more than smaller cells.

    Examples
    --------
    >>> [default_colors(epsilon) for epsilon in (0.5, 1.0, 2.0, 4.0)]
    [2, 4, 8, 64]
    """
    bits = round(math.log2(math.exp(min(epsilon, 20.0)) + 1.0))
    return 1 << min(max(1, bits), MAX_BITS)


@lru_cache(maxsize=64)
def default_partitions(
    axes: tuple[Axis, ...],
    *,
    epsilon: float,
    n_clusters: int | None = None,
    n_colors: int | None = None,
    seed: int = 0,
) -> Partitions:
    """Return partitions for finding a number of clusters from one round of reports.

    Up to three intervals are divided by grids over all of them. With more axes, or with levels, a
    quarter of the partitions divide a single axis each; the cells of the others are formed by the
    nearest of a few points that are spread over the box.

    Parameters
    ----------
    axes : tuple of Axis
        Axes of the records.
    epsilon : float
        Local epsilon of a report.
    n_clusters : int, default=None
        Number of clusters to be found: more clusters need smaller cells. None plans for 8.
    n_colors : int, default=None
        Number of colors of the cells; None takes :func:`default_colors`.
    seed : int, default=0
        Seed of the public random numbers.

    Returns
    -------
    partitions : Partitions
        Always the same for the same arguments.

    Examples
    --------
    >>> from shoal._bounds import public_box
    >>> from shoal.partitions import box_axes, default_partitions
    >>> default_partitions(box_axes(public_box((0.0, 1.0), 2)), epsilon=2.0, n_clusters=15)
    Partitions(256 partitions with 8 colors, 2 columns)
    """
    colors = default_colors(epsilon) if n_colors is None else n_colors
    k = CLUSTERS if n_clusters is None else n_clusters
    if one_grid_divides(axes):
        return Partitions([_grids(axes, k, colors, seed)])
    columns = column_partitions(axes, colors, n_partitions=COLUMN_PARTITIONS, seed=seed)
    pool = spread_over_axes(axes, POOL, seed=seed)
    return columns + seed_partitions(axes, pool, colors, n_partitions=SEED_PARTITIONS, seed=seed)


def _grids(axes: tuple[Axis, ...], k: int, colors: int, seed: int) -> AxisGrids:
    size = len(axes)
    cells = max(MIN_CELLS, round(2 * k ** (1 / size)), math.floor(colors ** (1 / size)))
    wanted = max(MIN_PARTITIONS, 4 * cells**size // colors)
    return AxisGrids(axes, 1 << (wanted - 1).bit_length(), colors, cells, size, seed)
