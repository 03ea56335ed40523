"""What an audit saw: the worst pair, the event that tells it apart, and the claim."""

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.plotting._save import save
from shoal.plotting.style import COLOURS, panels

__all__ = ["draw_audit"]

Floats = npt.NDArray[np.float64]

BINS = 40
MOST_BARS = 10  # of the search; the rest showed less
FIRST, SECOND, CLAIM = COLOURS["reports"], COLOURS["central"], "#b3261e"


def draw_audit(
    path: Path,
    *,
    points: Mapping[str, Floats],
    sides: tuple[str, str],
    evidence: Any,
    searched: Mapping[str, float],
    measured: float,
    claimed: float | None,
    unit: str = "",
) -> Path:
    """Draw the worst pair, its event, and what was measured beside the claim.

    Parameters
    ----------
    path : Path
        PNG, PDF or SVG file to write.
    points : mapping of str to ndarray of shape (n, d)
        Two sets of points, by what they are called; the second is what matters.
    sides : tuple of str
        What the two sides of the evidence are called.
    evidence : object or None
        With ``score``, ``relation``, ``threshold``, ``first`` and ``second``.
    searched : mapping of str to float
        Estimates on all pairs that were tried.
    measured : float
        The lower bound.
    claimed : float or None
        The promise.
    unit : str, default=""
        What epsilon is per, if anything.

    Returns
    -------
    path : Path
        The file written.
    """
    with panels(3, width=14.5, height=4.6) as (drawing, (left, middle, right)):
        _pair(left, points)
        _event(middle, evidence, sides)
        _bounds(right, searched, measured, claimed, unit)
        save(drawing, path)
    return path


def _pair(axes: Any, points: Mapping[str, Floats]) -> None:
    """Show the first two columns; a single column lies on a line."""

    def plane(points: Floats) -> Floats:
        return points[:, :2] if points.shape[1] > 1 else np.column_stack([points, 0 * points])

    (name, first), (name_of_second, second) = points.items()
    axes.scatter(*plane(first).T, s=60, color=FIRST, edgecolors="0.4", alpha=0.7, label=name)
    axes.scatter(*plane(second).T, s=140, marker="X", color=SECOND, label=name_of_second)
    axes.set_title("The worst pair found")
    axes.set(xlabel="column 1 (records' unit)", ylabel="column 2 (records' unit)")
    if first.shape[1] == 1:
        axes.set(ylabel="", yticks=[])
    axes.margins(0.25)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2)


def _event(axes: Any, evidence: Any, sides: tuple[str, str]) -> None:
    axes.set_title("The event that tells it apart")
    if evidence is None:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "no event tells the two apart", ha="center", va="center")
        return
    # Single values far out would squeeze the rest into one bar.
    both = np.concatenate([evidence.first, evidence.second])
    finite = both[np.isfinite(both)]
    low, high = np.quantile(finite, [0.005, 0.995]) if finite.size else (0.0, 1.0)
    edges = np.linspace(low, high if high > low else low + 1.0, BINS + 1)
    for values, colour, side in zip(
        (evidence.first, evidence.second), (FIRST, SECOND), sides, strict=True
    ):
        inside = np.clip(np.nan_to_num(values, neginf=low, posinf=high), edges[0], edges[-1])
        weights = np.full(len(inside), 1 / len(inside))
        axes.hist(inside, edges, weights=weights, color=colour, alpha=0.65, label=side)
    axes.axvline(evidence.threshold, color=CLAIM, linestyle="--", linewidth=1.2, label="cut")
    axes.set(xlabel=textwrap.fill(evidence.score, 44), ylabel="share of releases")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=3)


def _bounds(
    axes: Any, searched: Mapping[str, float], measured: float, claimed: float | None, unit: str
) -> None:
    ranked = sorted(searched.items(), key=lambda item: item[1])[-MOST_BARS:]
    names = [textwrap.fill(name, 30) for name, _ in ranked]
    values = [max(value, 0.0) for _, value in ranked]
    places = np.arange(len(names))
    axes.barh(places, values, color=FIRST, label="estimate of the search")
    axes.barh([len(names)], [measured], color=SECOND, label="lower bound, worst pair")
    axes.set_yticks([*places, len(names)], [*names, "bound"], fontsize=8)
    if claimed is not None:
        axes.axvline(claimed, color=CLAIM, linewidth=1.5, label="claim")
    axes.set(xlabel=f"epsilon{unit}")
    axes.set_title("Measured beside claimed")
    axes.legend(loc="upper center", bbox_to_anchor=(0.4, -0.14), ncols=3, fontsize=8)
