"""Records drawn from released counts: post-processing, as often as anyone likes."""

from typing import NamedTuple

import numpy as np

from shoal._bounds import Box
from shoal._typing import Floats, Ints
from shoal.cluster.private_copy._plan import Plan

__all__ = ["Law", "draw_records", "raked"]


ROUNDS = 5  # of raking; the next one changes next to nothing
NOTHING = 1e-12


class Law(NamedTuple):
    """Shares of all cells, and of the bins of each column."""

    plan: Plan
    cells: Floats
    columns: Floats


def raked(estimate: Floats, shares: Floats, plan: Plan) -> Law:
    """Bring the cells in line with the columns, whose histograms are known better.

    Parameters
    ----------
    estimate : ndarray of float64, shape (cells,)
        Estimated counts of the cells, none below 0.
    shares : ndarray of float64, shape (d, bins)
        Estimated shares of each column's bins.
    plan : Plan
        The cells.

    Returns
    -------
    law : Law
        Shares of the cells, of sum 1 (iterative proportional fitting).
    """
    cut = plan.cut
    table = (estimate + NOTHING).reshape([plan.sides[j] for j in cut])
    for _ in range(ROUNDS):
        for axis, j in enumerate(cut):
            others = tuple(other for other in range(len(cut)) if other != axis)
            wanted = np.bincount(plan.cell_of_bin[j], weights=shares[j])
            factor = wanted / np.maximum(table.sum(axis=others), NOTHING)
            table = table * factor.reshape([-1 if a == axis else 1 for a in range(len(cut))])
    cells: Floats = table.ravel() / table.sum()
    return Law(plan, cells, shares)


def draw_records(law: Law, n: int, box: Box, rng: np.random.Generator) -> Floats:
    """Draw a cell for each record, and a place in it by the histograms of its columns.

    Parameters
    ----------
    law : Law
        Shares of cells and bins.
    n : int
        How many.
    box : Box
        The public box.
    rng : Generator
        Nothing private depends on it.

    Returns
    -------
    records : ndarray of float64, shape (n, d)
        Inside the box.
    """
    plan = law.plan
    codes = rng.choice(len(law.cells), size=n, p=law.cells)
    places = np.zeros((n, len(plan.sides)), dtype=np.int64)
    for j in plan.cut[::-1]:
        codes, places[:, j] = np.divmod(codes, plan.sides[j])
    records = np.empty((n, len(plan.sides)))
    for j, shares in enumerate(law.columns):
        even = _within(shares, plan.cell_of_bin[j], places[:, j], rng.random(n))
        records[:, j] = box.low[j] + even * (box.high[j] - box.low[j])
    inside: Floats = np.clip(records, box.low, box.high)
    return inside


def _within(shares: Floats, cell_of_bin: Ints, cells: Ints, even: Floats) -> Floats:
    """Turn even numbers into places in [0, 1] by a column's histogram inside the given cells."""
    before = np.concatenate([[0.0], np.cumsum(shares)])
    each = np.arange(cell_of_bin[-1] + 1)
    first = np.searchsorted(cell_of_bin, each, side="left")[cells]
    last = np.searchsorted(cell_of_bin, each, side="right")[cells]
    below = before[first] + even * (before[last] - before[first])
    found = np.clip(np.searchsorted(before, below, side="right") - 1, first, last - 1)
    part = (below - before[found]) / shares[found]
    places: Floats = (found + np.clip(part, 0.0, 1.0)) / len(shares)
    return places
