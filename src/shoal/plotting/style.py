"""One look for all figures: one colour per model and mechanism, readable in grey."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from shoal._optional import require

__all__ = ["COLOURS", "MARKERS", "panels"]

# Different in lightness as well as in hue, so that a grey print still tells them apart.
COLOURS = {"central": "#0b3c5d", "local": "#e07a1f", "records": "#9aa7b4", "reports": "#e9b98a"}
MARKERS = {"central": "o", "local": "s"}

SETTINGS = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": "medium",
    "axes.titlelocation": "left",
    "figure.dpi": 150,
    "font.size": 10,
    "legend.frameon": False,
}


@contextmanager
def panels(columns: int, *, width: float, height: float) -> Iterator[tuple[Any, Any]]:
    """Open a figure in shoal's style, off screen, for as long as the block lasts.

    Parameters
    ----------
    columns : int
        Panels side by side.
    width, height : float
        Inches.

    Yields
    ------
    figure, axes
        Of matplotlib; the style holds inside the block only.
    """
    matplotlib = require("matplotlib", extra="plot")
    # The object-oriented interface needs no display and leaves the user's own back end alone.
    canvas = require("matplotlib.figure", extra="plot")
    with matplotlib.rc_context(SETTINGS):
        drawing = canvas.Figure(figsize=(width, height), layout="constrained")
        yield drawing, drawing.subplots(1, columns, squeeze=False)[0]
