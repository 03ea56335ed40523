"""What an audit saw: the worst pair, the event that tells it apart, and the claim."""

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from shoal._typing import Floats
from shoal.plotting._layout import around
from shoal.plotting.chart import Axis, Chart, Panel
from shoal.plotting.marks import Bars, Level, Mark, Points, Texts
from shoal.plotting.save import check_path, save
from shoal.plotting.style import COLORS, DASH, RED

__all__ = ["draw_audit"]


BINS = 40
MAX_BARS = 10  # of the search; the rest showed less
FIRST, SECOND = COLORS["reports"], COLORS["central"]


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
        File to write: PNG, SVG, PDF, HTML or JSON.
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
    check_path(path)
    chart = Chart(
        panels=(
            _pair(points),
            _event(evidence, sides),
            _bounds(searched, measured, claimed, unit),
        ),
        columns=3,
        width=14.5,
        height=5.4,
        legend="panels",
    )
    return save(chart, path)


def _pair(points: Mapping[str, Floats]) -> Panel:
    """Show the first two columns; a single column lies on a line."""

    def plane(points: Floats) -> Floats:
        return points[:, :2] if points.shape[1] > 1 else np.column_stack([points, 0 * points])

    (name, first), (name_of_second, second) = points.items()
    flat = first.shape[1] == 1
    first, second = plane(first), plane(second)
    across, up = (around(np.append(first[:, at], second[:, at]), 0.25) for at in (0, 1))
    return Panel(
        marks=(
            Points(at=first, color=FIRST, name=name, area=60.0, edge="#666666", alpha=0.7),
            Points(at=second, color=SECOND, marker="X", area=140.0, name=name_of_second),
        ),
        x=Axis(label="column 1 (records' unit)", limits=across),
        y=Axis(ticks=(), limits=up) if flat else Axis(label="column 2 (records' unit)", limits=up),
        title="The worst pair found",
    )


def _event(evidence: Any, sides: tuple[str, str]) -> Panel:
    title = "The event that tells it apart"
    if evidence is None:
        side = Axis(limits=(0.0, 1.0))
        words = ("no event tells the two apart",)
        text = Texts(at=np.array([[0.5, 0.5]]), words=words, size=10.0)
        return Panel(marks=(text,), x=side, y=side, title=title, frame="none")
    # Single values far out would squeeze the rest into one bar.
    both = np.concatenate([evidence.first, evidence.second])
    finite = both[np.isfinite(both)]
    low, high = np.quantile(finite, [0.005, 0.995]) if finite.size else (0.0, 1.0)
    edges = np.linspace(low, high if high > low else low + 1.0, BINS + 1)
    marks: list[Mark] = []
    for values, color, side_name in zip(
        (evidence.first, evidence.second), (FIRST, SECOND), sides, strict=True
    ):
        inside = np.clip(np.nan_to_num(values, neginf=low, posinf=high), edges[0], edges[-1])
        marks.append(
            Bars(
                places=(edges[:-1] + edges[1:]) / 2,
                lengths=np.histogram(inside, edges)[0] / len(inside),
                name=side_name,
                color=color,
                thick=float(edges[1] - edges[0]),
                alpha=0.65,
            )
        )
    return Panel(
        marks=(
            *marks,
            Level(
                at=float(evidence.threshold),
                upright=True,
                color=RED,
                dash=DASH,
                width=1.2,
                name="cut",
            ),
        ),
        x=Axis(label=textwrap.fill(evidence.score, 44)),
        y=Axis(label="share of releases", limits=(0.0, None)),
        title=title,
    )


def _bounds(
    searched: Mapping[str, float], measured: float, claimed: float | None, unit: str
) -> Panel:
    ranked = sorted(searched.items(), key=lambda item: item[1])[-MAX_BARS:]
    names = (*(textwrap.fill(name, 30) for name, _ in ranked), "bound")
    lengths = np.array([max(value, 0.0) for _, value in ranked])
    places = np.arange(float(len(names)))
    bar: dict[str, Any] = {"thick": 0.8, "lying": True}
    marks: list[Mark] = [
        Bars(
            places=places[-1:],
            color=SECOND,
            lengths=np.array([measured]),
            name="lower bound, worst pair",
            **bar,
        )
    ]
    if ranked:
        marks.append(
            Bars(
                places=places[:-1],
                color=FIRST,
                lengths=lengths,
                name="estimate of the search",
                notes=names[:-1],
                **bar,
            )
        )
    if claimed is not None:
        marks.append(Level(at=float(claimed), upright=True, color=RED, width=1.5, name="claim"))
    return Panel(
        marks=tuple(marks),
        x=Axis(label=f"epsilon{unit}", limits=(0.0, None)),
        y=Axis(ticks=tuple(places.tolist()), names=names, small=True),
        title="Measured beside claimed",
    )
