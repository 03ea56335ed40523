"""Sorted distances to the k-th neighbor, and the radius for DBSCAN that is read from them."""

from pathlib import Path
from typing import Any

import numpy as np

from shoal._numbers import readable
from shoal.exceptions import ParameterError
from shoal.plotting._layout import words
from shoal.plotting.chart import Axis, Chart, Panel
from shoal.plotting.marks import Level, Line, Points
from shoal.plotting.save import check_path, save
from shoal.plotting.style import COLORS, DASH

__all__ = ["draw_k_distance"]

FIRST, SECOND, THIRD = 1, 2, 3
TEENS = (11, 12, 13)


def draw_k_distance(path: Path, choice: Any, *, title: str | None = None) -> Path:
    """Draw the curve that a radius was read from, with its knee.

    Parameters
    ----------
    path : Path
        File to write: PNG, SVG, PDF, HTML or JSON.
    choice : object
        With ``eps``, ``neighbor`` and ``distances`` (sorted from small to large), as
        :func:`shoal.reports.selection` returns it.
    title : str, default=None
        None = what is shown.

    Returns
    -------
    path : Path
        The file written.

    Raises
    ------
    ParameterError
        If the choice lacks its curve, or the file cannot be written.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from types import SimpleNamespace
    >>> choice = SimpleNamespace(eps=0.3, neighbor=3, distances=[0.1, 0.2, 0.3, 1.5])
    >>> draw_k_distance(Path(mkdtemp()) / "eps.svg", choice).name
    'eps.svg'
    """
    check_path(path)
    for needed in ("eps", "neighbor", "distances"):
        if not hasattr(choice, needed):
            raise ParameterError(f"choice must have {needed}, got a {type(choice).__name__}")
    distances = np.asarray(choice.distances, dtype=np.float64)
    if distances.ndim != 1 or not len(distances) or (np.diff(distances) < 0).any():
        raise ParameterError("distances of the choice must be a sorted curve, got something else")
    below = int((distances <= choice.eps).sum())
    eps = f"eps = {readable(choice.eps)} ({below / len(distances):.0%} within)"
    orange = COLORS["local"]
    knee = np.array([[max(below, 1), choice.eps]], dtype=np.float64)
    panel = Panel(
        marks=(
            Line(
                x=np.arange(1.0, len(distances) + 1),
                y=distances,
                color=COLORS["central"],
                name="distance",
            ),
            Level(at=float(choice.eps), color=orange, dash=DASH, width=1.2, name=eps),
            Points(at=knee, color=orange, area=130.0, hollow=True, edge_width=2.2, name="knee"),
        ),
        x=Axis(label="reports, sorted (rank)"),
        y=Axis(
            label=f"distance to the {_ordinal(choice.neighbor)} neighbor (records' unit)",
            limits=(0.0, None),
        ),
        title="Radius for DBSCAN" if title is None else words(title),
    )
    return save(Chart(panels=(panel,), width=5.8, height=4.4), path)


def _ordinal(number: int) -> str:
    ending = {FIRST: "st", SECOND: "nd", THIRD: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in TEENS else ending}"
