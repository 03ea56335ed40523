"""The verdict on RQ3: a kd-tree finds neighbors in O(log n), in any number of columns."""

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.experiments.estimate import Estimate
from shoal.papers.by_repeat import by_repeat, select
from shoal.papers.finding import Finding, outcome
from shoal.papers.judgment import all_hold, judge_interval

__all__ = ["search_claim"]

LARGEST = 2.0  # last step over first step: 1 for a logarithm, 4 for a square root


def search_claim(rows: Sequence[Mapping[str, Any]]) -> Finding:
    """Judge how the number of nodes grows with the number of points.

    Each number of points is four times the one before, so that a logarithm grows by equal steps.

    Parameters
    ----------
    rows : sequence of dict
        Records of the part "search".

    Returns
    -------
    finding : Finding
        It holds if the last step is surely below twice the first, in all widths.
    """
    points = sorted({row["points"] for row in rows})
    steps, most = {}, {}
    for columns in sorted({row["columns"] for row in rows}):
        nodes = [by_repeat(select(rows, columns=columns, points=size), "nodes") for size in points]
        steps[columns] = Estimate.of(
            (last - third) / (second - first)
            for first, second, *_, third, last in zip(*nodes, strict=True)
        )
        most[columns] = Estimate.of(nodes[-1])
    held = all_hold(judge_interval(one.low, one.high, below=LARGEST) for one in steps.values())
    growth = ", ".join(f"{columns}: {one}" for columns, one in steps.items())
    narrow, wide = min(most), max(most)
    evidence = (
        f"As published: from {points[0]:,} to {points[-1]:,} points, in steps of four times as "
        f"many, the last step adds so many times the nodes of the first, by number of columns: "
        f"{growth} (a logarithm: 1, a square root: 4); but a search looks at "
        f"{most[narrow].mean:.0f} nodes in {narrow} columns and {most[wide].mean:.0f} in {wide}. "
        "Corrected: a public grid needs no search (a report is rounded), in any number of columns."
    )
    return Finding(
        "RQ3",
        "a kd-tree makes remapping fast in any number of columns, with O(log n) a search",
        outcome(as_published=held, corrected="holds"),
        evidence,
    )
