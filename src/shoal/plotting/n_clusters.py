"""Elbow, silhouette and gap against the number of clusters, with what each would choose."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shoal.exceptions import ParameterError
from shoal.plotting._layout import words
from shoal.plotting.chart import Axis, Chart, Panel
from shoal.plotting.marks import Level, Line, Points, Texts
from shoal.plotting.save import check_path, save
from shoal.plotting.style import COLORS, FINE, GREY

__all__ = ["draw_n_clusters"]

SCORES = {
    "elbow": ("Elbow: the knee of the curve", "distortion (mean squared distance)"),
    "silhouette": ("Silhouette: the largest", "silhouette (-1 to 1)"),
    "gap": ("Gap: the first near the next one's", "gap (natural logarithm)"),
}
FEW = 12  # numbers of clusters that are all written below the axis


def draw_n_clusters(path: Path, choices: Any, *, title: str | None = None) -> Path:
    """Draw the curves that numbers of clusters were read from, one panel a method.

    Parameters
    ----------
    path : Path
        File to write: PNG, SVG, PDF, HTML or JSON.
    choices : sequence, or a single one
        Each with ``method``, ``n_clusters``, ``candidates`` and ``scores``, as
        :func:`shoal.reports.selection` returns them.
    title : str, default=None
        Of the whole figure.

    Returns
    -------
    path : Path
        The file written.

    Raises
    ------
    ParameterError
        If a choice lacks its curve, or the file cannot be written.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from types import SimpleNamespace
    >>> choice = SimpleNamespace(
    ...     method="elbow", n_clusters=3, candidates=[1, 2, 3, 4, 5], scores=[9, 5, 1, 0.8, 0.7]
    ... )
    >>> draw_n_clusters(Path(mkdtemp()) / "k.svg", [choice]).name
    'k.svg'
    """
    check_path(path)
    several = choices if isinstance(choices, Sequence) else [choices]
    if not several:
        raise ParameterError("choices must hold at least one choice, got none")
    for choice in several:
        _check(choice)
    chart = Chart(
        panels=tuple(_panel(choice) for choice in several),
        columns=len(several),
        width=4.0 * len(several),
        height=3.7,
        title=words(title) if title is not None else "",
        legend="panels",
    )
    return save(chart, path)


def _check(choice: Any) -> None:
    for needed in ("method", "n_clusters", "candidates", "scores"):
        if not hasattr(choice, needed):
            raise ParameterError(f"choices must have {needed}, got a {type(choice).__name__}")
    if len(choice.candidates) != len(choice.scores):
        raise ParameterError(
            f"choices must have one score a candidate, got {len(choice.scores)} scores for "
            f"{len(choice.candidates)} candidates"
        )


def _panel(choice: Any) -> Panel:
    heading, name = SCORES.get(choice.method, (words(choice.method), "score"))
    if len(choice.candidates) == 0:  # too few reports for any candidate
        nothing = (f"nothing to compare: k = {choice.n_clusters}",)
        text = Texts(at=np.array([[0.5, 0.5]]), words=nothing, size=10.0)
        side = Axis(limits=(0.0, 1.0))
        return Panel(marks=(text,), x=side, y=side, title=heading, frame="none")
    tried = np.asarray(choice.candidates, dtype=np.float64)
    scores = np.asarray(choice.scores, dtype=np.float64)
    at = tried == choice.n_clusters
    return Panel(
        marks=(
            Level(at=float(choice.n_clusters), upright=True, color=GREY, dash=FINE, width=1.2),
            Line(x=tried, y=scores, color=COLORS["central"], marker="o", says=words(name)),
            Points(
                at=np.column_stack([tried[at], scores[at]]),
                color=COLORS["local"],
                name=f"chosen: k = {choice.n_clusters}",
                area=130.0,
                hollow=True,
                edge_width=2.2,
            ),
        ),
        x=Axis(
            label="number of clusters k",
            ticks=tuple(tried.tolist()) if len(tried) <= FEW else None,
        ),
        y=Axis(label=name),
        title=heading,
    )
