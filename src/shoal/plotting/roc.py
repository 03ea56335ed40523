"""Share of members found against share of others accused, for several attacks."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shoal.plotting._save import save
from shoal.plotting.style import panels

__all__ = ["draw_rates"]

# Dark to light, and each with a dash of its own, so that a grey print tells them apart.
LINES = (
    ("#0b3c5d", "-"),
    ("#e07a1f", "--"),
    ("#2e8b57", "-."),
    ("#8e5aa8", ":"),
)
LEAST = 1e-3  # of the logarithmic panel


def draw_rates(rows: Sequence[Any], path: Path) -> Path:
    """Draw the rates of attacks, plain and with logarithmic axes.

    Parameters
    ----------
    rows : sequence
        Each with ``result``, ``control`` and ``ceiling``; the first two with ``attack``, ``roc``,
        ``tpr`` and ``fpr``.
    path : Path
        PNG, PDF or SVG file to write.

    Returns
    -------
    path : Path
        The file written.
    """
    with panels(2, width=11.0, height=5.0) as (drawing, (left, right)):
        for axes in (left, right):
            _ceiling(axes, rows)
            for row, (colour, dash) in zip(rows, LINES, strict=False):
                _curve(axes, row, colour, dash)
            axes.plot([0, 1], [0, 1], color="0.6", linewidth=1, label="guessing")
            axes.set(xlabel="share of others accused", ylabel="share of members found")
        left.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        left.set_title("Dots: where the attacker decides")
        right.set(xscale="log", yscale="log", xlim=(LEAST, 1), ylim=(LEAST, 1), aspect="equal")
        right.set_title("The same, for attackers who must be sure")
        handles, labels = left.get_legend_handles_labels()
        drawing.legend(handles, labels, loc="outside lower center", ncols=3)
        save(drawing, path)
    return path


def _curve(axes: Any, row: Any, colour: str, dash: str) -> None:
    for found, width, alpha, words in (
        (row.result, 2.0, 1.0, row.result.attack),
        (row.control, 1.2, 0.45, f"{row.result.attack}, without privacy"),
    ):
        curve = found.roc
        # Steps, not lines between cuts: rates in between can only be had by tossing a coin.
        axes.step(
            np.maximum(curve.fpr, LEAST / 10),
            np.maximum(curve.tpr, LEAST / 10),
            where="post",
            color=colour,
            linestyle=dash,
            linewidth=width,
            alpha=alpha,
            label=words,
        )
    axes.plot([row.result.fpr], [row.result.tpr], "o", color=colour, markersize=7)


def _ceiling(axes: Any, rows: Sequence[Any]) -> None:
    ceilings = [row.ceiling for row in rows if row.ceiling is not None]
    if not ceilings:
        return
    at = np.geomspace(LEAST / 10, 1, 200)
    # The largest advantage c of a pure promise is (e^epsilon - 1)/(e^epsilon + 1).
    ratio = (1 + ceilings[0]) / (1 - ceilings[0]) if ceilings[0] < 1 else np.inf
    bound = np.minimum.reduce([np.ones_like(at), ratio * at, 1 - (1 - at) / ratio])
    axes.fill_between(at, bound, 1, color="0.9", linewidth=0, label="ruled out for the release")
