"""Rows of the report's tables, and points of its pictures."""

from collections.abc import Callable
from typing import Any

from shoal.experiments.compare.comparison import Comparison, MethodRow
from shoal.experiments.estimate import Estimate

__all__ = ["gain", "headings", "point", "shown", "table_rows"]

Read = Callable[[MethodRow], Estimate | None]


def headings(comparison: Comparison) -> list[str]:
    """Head a table with one column for each epsilon."""
    return ["method", *[f"epsilon {epsilon:g}" for epsilon in comparison.epsilons]]


def table_rows(comparison: Comparison, read: Read) -> list[list[str]]:
    """Write a measure of all methods that have it, one column for each epsilon."""
    rows = []
    for method in comparison.methods:
        found = [read(row) for row in comparison.rows if row.method == method]
        if any(found):
            rows.append([method, *(_text(one, comparison) for one in found)])
    return rows


def _text(found: Estimate | None, comparison: Comparison) -> str:
    """Write a measure, with its interval if there are runs enough, or nothing if there is none."""
    if found is None:
        return ""
    return found.brief if comparison.decides else Estimate(*[found.mean] * 3).brief


def gain(row: MethodRow) -> Estimate:
    """Read what an attacker gains."""
    return Estimate(*(float(row.attack[key]) for key in ("gain", "low", "high")))


def shown(comparison: Comparison) -> list[MethodRow]:
    """Of each mechanism, the clusterer that costs least at the middle epsilon."""
    best: dict[str, MethodRow] = {}
    for row in comparison.at(comparison.middle):
        kept = best.get(row.contender)
        if kept is None or (row.cost and kept.cost and row.cost.mean < kept.cost.mean):
            best[row.contender] = row
    methods = {row.method for row in best.values()}
    return [row for row in comparison.rows if row.method in methods]


def point(row: MethodRow, found: Estimate | None) -> dict[str, Any]:
    """Make a point of a picture."""
    assert found is not None
    return {
        "method": row.contender,
        "model": row.model,
        "family": "WaveCluster" if row.cost is None else f"{row.model}, k-means",
        "epsilon": row.epsilon,
        "mean": found.mean,
        # A cost is above 0, and so is the band on a logarithmic axis.
        "low": max(found.low, found.mean / 10) if row.cost is found else found.low,
        "high": found.high,
    }
