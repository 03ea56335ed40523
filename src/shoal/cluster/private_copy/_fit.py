"""The three releases of a private copy: how many records, each column, and all cells."""

from typing import NamedTuple

import numpy as np

from shoal._typing import Floats, Ints
from shoal.cluster._noise import PureNoise
from shoal.cluster.kmeans._denoise import posterior_counts
from shoal.cluster.private_copy._plan import Plan, bins_of_columns, plan_cells
from shoal.cluster.private_copy._settings import CopyShares
from shoal.engines import Engine, column_counts, grouped_counts, total_weight
from shoal.noise import RandomSource

__all__ = ["Released", "release_copy"]


FAINT = 1e-9  # of the records: every bin may hold some, or nothing could be drawn from it


class Released(NamedTuple):
    """What was released, and the cells that it was planned into."""

    n: float
    columns: Ints
    shares: Floats
    plan: Plan
    counts: Ints
    estimate: Floats


def release_copy(
    engine: Engine,
    epsilon: float,
    shares: CopyShares,
    n_public: int | None,
    source: RandomSource,
) -> Released:
    """Make the releases, after the budget has been spent.

    Parameters
    ----------
    engine : Engine
        Lattice records.
    epsilon : float
        Budget.
    shares : CopyShares
        Its division.
    n_public : int or None
        Number of records, where it is public.
    source : RandomSource
        Where random words come from.

    Returns
    -------
    released : Released
        Noisy counts and what follows from them.
    """
    noise = PureNoise(epsilon)
    n = float(n_public or 0)
    if n_public is None:
        exact = np.array([total_weight(engine)])
        n = float(noise.counts(exact, shares.records, unit=1, source=source)[0])
    d = engine.columns
    bins = bins_of_columns(n, d, shares.columns)
    each = shares.columns / d
    # One record is in one bin of each column: the columns share, all bins of one do not.
    columns = np.stack(
        [noise.counts(row, each, unit=1, source=source) for row in column_counts(engine, bins)]
    )
    likely = np.stack([posterior_counts(row, noise, each, unit=1) for row in columns])
    likely += FAINT * max(n, 1.0)
    likely /= likely.sum(axis=1, keepdims=True)
    plan = plan_cells(likely, n, shares.cells)
    # Every cell gets noise, those without records too: which ones are empty is private.
    cells = grouped_counts(engine, plan.cell_of_bin, plan.sides)
    counts = noise.counts(cells, shares.cells, unit=1, source=source)
    estimate = posterior_counts(counts, noise, shares.cells, unit=1)
    return Released(n, columns, likely, plan, counts, estimate)
