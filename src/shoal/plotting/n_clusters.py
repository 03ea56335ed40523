"""Elbow, silhouette and gap against the number of clusters, with what each would choose."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shoal.exceptions import ParameterError
from shoal.plotting._layout import words
from shoal.plotting._save import check_path, save
from shoal.plotting.style import COLOURS, panels

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
        PNG, PDF or SVG file to write.
    choices : sequence, or a single one
        Each with ``method``, ``n_clusters``, ``candidates`` and ``scores``, as
        :func:`shoal.reports.select_n_clusters` returns them.
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
    with panels(len(several), width=4.0 * len(several), height=3.7) as (drawing, every):
        for axes, choice in zip(every, several, strict=True):
            _panel(axes, choice)
        if title is not None:
            drawing.suptitle(words(title), fontsize="large", x=0.02, ha="left")
        return save(drawing, path)


def _check(choice: Any) -> None:
    for needed in ("method", "n_clusters", "candidates", "scores"):
        if not hasattr(choice, needed):
            raise ParameterError(f"choices must have {needed}, got a {type(choice).__name__}")
    if len(choice.candidates) != len(choice.scores):
        raise ParameterError(
            f"choices must have one score a candidate, got {len(choice.scores)} scores for "
            f"{len(choice.candidates)} candidates"
        )


def _panel(axes: Any, choice: Any) -> None:
    heading, name = SCORES.get(choice.method, (words(choice.method), "score"))
    axes.set_title(heading)
    if len(choice.candidates) == 0:  # too few reports for any candidate
        axes.set_axis_off()
        axes.text(0.5, 0.5, f"nothing to compare: k = {choice.n_clusters}", ha="center")
        return
    tried = np.asarray(choice.candidates)
    scores = np.asarray(choice.scores, dtype=np.float64)
    axes.plot(tried, scores, color=COLOURS["central"], marker="o", markersize=4.5)
    at = tried == choice.n_clusters
    words_of_choice = f"chosen: k = {choice.n_clusters}"
    axes.axvline(choice.n_clusters, color="0.6", linestyle=":", linewidth=1.2, zorder=1)
    ring = {"facecolors": "none", "edgecolors": COLOURS["local"], "linewidths": 2.2}
    axes.scatter(tried[at], scores[at], s=130, label=words_of_choice, zorder=3, **ring)
    axes.set(xlabel="number of clusters k", ylabel=name)
    axes.margins(x=0.06, y=0.1)
    if len(tried) <= FEW:
        axes.set_xticks(tried)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2))
