"""Share of members found against share of others accused, for several attacks."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shoal.plotting._rate_panels import on_panel, rate_panels, ruled_out
from shoal.plotting.chart import Chart
from shoal.plotting.marks import Line, Mark, Points
from shoal.plotting.save import check_path, save
from shoal.plotting.style import DASH, DOTS, FULL, MIXED

__all__ = ["draw_rates"]

# Dark to light, and each with a dash of its own, so that a gray print tells them apart.
LINES = (
    ("#0b3c5d", FULL),
    ("#e07a1f", DASH),
    ("#2e8b57", MIXED),
    ("#8e5aa8", DOTS),
)


def draw_rates(path: Path, rows: Sequence[Any]) -> Path:
    """Draw the rates of attacks, plain and with logarithmic axes.

    Parameters
    ----------
    path : Path
        File to write: PNG, SVG, PDF, HTML or JSON.
    rows : sequence
        Each with ``result``, ``control`` and ``ceiling``; the first two with ``attack``, ``roc``,
        ``tpr`` and ``fpr``.

    Returns
    -------
    path : Path
        The file written.
    """
    check_path(path)
    titles = "Dots: where the attacker decides", "The same, for attackers who must be sure"
    both = rate_panels([*_ceiling(rows), *_curves(rows)], titles=titles)
    return save(Chart(panels=both, columns=2, width=11.0, height=5.0), path)


def _curves(rows: Sequence[Any]) -> list[Mark]:
    marks: list[Mark] = []
    for row, (color, dash) in zip(rows, LINES, strict=False):
        name = row.result.attack
        for found, width, alpha, words in (
            (row.result, 2.0, 1.0, name),
            (row.control, 1.2, 0.45, f"{name}, without privacy"),
        ):
            # Steps, not lines between cuts: rates in between can only be had by tossing a coin.
            marks.append(
                Line(
                    x=on_panel(found.roc.fpr),
                    y=on_panel(found.roc.tpr),
                    step=True,
                    color=color,
                    dash=dash,
                    width=width,
                    alpha=alpha,
                    name=words,
                )
            )
        dot = on_panel([[row.result.fpr, row.result.tpr]])
        says = f"{name}: where the attacker decides"
        marks.append(Points(at=dot, color=color, area=49.0, name=name, listed=False, says=says))
    return marks


def _ceiling(rows: Sequence[Any]) -> list[Mark]:
    ceilings = [row.ceiling for row in rows if row.ceiling is not None]
    if not ceilings:
        return []
    # The largest advantage c of a pure promise is (e^epsilon - 1)/(e^epsilon + 1).
    ratio = (1 + ceilings[0]) / (1 - ceilings[0]) if ceilings[0] < 1 else np.inf
    return [ruled_out(ratio, name="ruled out for the release")]
