"""Curves that parameters are read from: the number of clusters, and the radius of DBSCAN."""

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from shoal._numbers import readable
from shoal.exceptions import ParameterError
from shoal.plotting._canvas import Axis, Canvas, Key, around, panel, table
from shoal.plotting._data import text
from shoal.plotting._picture import Picture
from shoal.plotting._theme import COLORS, DARK_GRAY, DASHES, DOTS, RING, line_glyph

__all__ = ["draw_k_distance", "draw_n_clusters"]

SCORES = {
    "elbow": ("Elbow: the knee of the curve", "distortion (mean squared distance)"),
    "silhouette": ("Silhouette: the largest", "silhouette (-1 to 1)"),
    "gap": ("Gap: the first near the next one's", "gap (natural logarithm)"),
}
FRAME: dict[str, Any] = {"width": 270, "height": 200}
FIRST, SECOND, THIRD = 1, 2, 3
TEENS = (11, 12, 13)
KNEE: dict[str, Any] = {
    "shape": "circle",
    "size": 170,
    "filled": False,
    "strokeWidth": 2.4,
    "opacity": 1,
}


def draw_n_clusters(
    choices: Any, *, title: str | None = None, path: str | os.PathLike[str] | None = None
) -> Picture:
    """Draw the curves from which numbers of clusters were chosen, one panel for each method.

    Parameters
    ----------
    choices : sequence, or a single one
        Results of :func:`shoal.reports.select_n_clusters`, each with ``method``, ``n_clusters``,
        ``candidates`` and ``scores``.
    title : str, default=None
        Title of the whole chart.
    path : path, default=None
        File to write as well: PNG, SVG, PDF, HTML or JSON.

    Returns
    -------
    picture : Picture
        The chart.

    Raises
    ------
    ParameterError
        If a choice has no curve, or the file cannot be written.
    MissingPackageError
        If the extra ``plot`` is not installed.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> choice = SimpleNamespace(
    ...     method="elbow", n_clusters=3, candidates=[1, 2, 3, 4, 5], scores=[9, 5, 1, 0.8, 0.7]
    ... )
    >>> draw_n_clusters([choice])
    Picture(panels=1, records=False)
    """
    canvas = Canvas(path, title=title)
    several = choices if isinstance(choices, Sequence) else [choices]
    if not several:
        raise ParameterError("choices must hold at least one choice, got none")
    for choice in several:
        _check(choice)
    return canvas.finish((_scores(canvas, choice) for choice in several), columns=len(several))


def _check(choice: Any) -> None:
    for needed in ("method", "n_clusters", "candidates", "scores"):
        if not hasattr(choice, needed):
            raise ParameterError(f"choices must have {needed}, got a {type(choice).__name__}")
    if len(choice.candidates) != len(choice.scores):
        raise ParameterError(
            f"choices must have one score a candidate, got {len(choice.scores)} scores for "
            f"{len(choice.candidates)} candidates"
        )


def _scores(canvas: Canvas, choice: Any) -> Any:
    heading, name = SCORES.get(choice.method, (text(choice.method), "score"))
    if len(choice.candidates) == 0:  # too few reports for any candidate
        words = table(words=f"nothing to compare: k = {choice.n_clusters}")
        return panel(canvas.layer(words, "text", fontSize=12), **FRAME, title=heading)
    tried = np.asarray(choice.candidates, dtype=np.float64)
    scores = np.asarray(choice.scores, dtype=np.float64)
    key = Key()
    chosen = key.add(f"chosen: k = {choice.n_clusters}", COLORS["local"], RING)
    layer = partial(
        canvas.layer,
        x=Axis("number of clusters k", around(tried), ticks=tried),
        y=Axis(name, around(scores, 0.08), grid=True),
    )
    curve = table(x=tried, y=scores)
    at = tried == choice.n_clusters
    ring = table(name=[chosen] * int(at.sum()), x=tried[at], y=scores[at])
    color = COLORS["central"]
    return panel(
        layer(table(x=choice.n_clusters), "rule", y=None, color=DARK_GRAY, strokeDash=DOTS),
        layer(curve, "line", color=color, strokeWidth=1.8),
        layer(curve, "circle", told={"x": "k", "y": name}, color=color, size=45, opacity=1),
        layer(ring, "point", key=key, **KNEE),
        canvas.legend(key),
        **FRAME,
        title=heading,
    )


def draw_k_distance(
    choice: Any, *, title: str | None = None, path: str | os.PathLike[str] | None = None
) -> Picture:
    """Draw the curve from which a radius for DBSCAN was chosen, with its knee.

    Parameters
    ----------
    choice : object
        Result of :func:`shoal.reports.select_dbscan_eps`, with ``eps``, ``neighbor`` and
        ``distances`` (sorted from small to large).
    title : str, default=None
        Title of the chart; None describes what it shows.
    path : path, default=None
        File to write as well: PNG, SVG, PDF, HTML or JSON.

    Returns
    -------
    picture : Picture
        The chart.

    Raises
    ------
    ParameterError
        If the choice has no curve, or the file cannot be written.
    MissingPackageError
        If the extra ``plot`` is not installed.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> choice = SimpleNamespace(eps=0.3, neighbor=3, distances=[0.1, 0.2, 0.3, 1.5])
    >>> draw_k_distance(choice)
    Picture(panels=1, records=False)
    """
    canvas = Canvas(path)
    for needed in ("eps", "neighbor", "distances"):
        if not hasattr(choice, needed):
            raise ParameterError(f"choice must have {needed}, got a {type(choice).__name__}")
    distances = np.asarray(choice.distances, dtype=np.float64)
    if distances.ndim != 1 or not len(distances) or (np.diff(distances) < 0).any():
        raise ParameterError("distances of the choice must be a sorted curve, got something else")
    below = int((distances <= choice.eps).sum())
    key = Key()
    curve = key.add("distance", COLORS["central"], line_glyph())
    within = f"eps = {readable(choice.eps)} ({below / len(distances):.0%} within)"
    level = key.add(within, COLORS["local"], line_glyph(DASHES[1]))
    knee = key.add("knee", COLORS["local"], RING)
    ranks = np.arange(1, len(distances) + 1)
    label = f"distance to the {ordinal(choice.neighbor)} neighbor (records' unit)"
    layer = partial(
        canvas.layer,
        x=Axis("reports, sorted (rank)", around(ranks)),
        y=Axis(label, around([*distances, choice.eps], zero=True), grid=True),
        key=key,
    )
    eps = float(choice.eps)
    spot = table(name=knee, x=max(below, 1), y=eps)
    drawn = panel(
        layer(table(name=curve, x=ranks, y=distances), "line", strokeWidth=1.8),
        layer(table(name=level, y=eps), "rule", x=None, strokeDash=DASHES[1], strokeWidth=1.4),
        layer(spot, "point", told={"name": " ", "x": "rank", "y": "eps"}, **KNEE),
        canvas.legend(key),
        width=380,
        height=250,
        title="Radius for DBSCAN" if title is None else text(title),
    )
    return canvas.finish([drawn], key=key)


def ordinal(number: int) -> str:
    """Return 1st, 2nd, 3rd and so on."""
    ending = {FIRST: "st", SECOND: "nd", THIRD: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in TEENS else ending}"
