"""One look for all figures: one colour per model and mechanism, readable in grey."""

from typing import Any

from shoal._optional import require

__all__ = ["COLOURS", "MARKERS", "figure"]

# Different in lightness as well as in hue, so that a grey print still tells them apart.
COLOURS = {"central": "#0b3c5d", "local": "#e07a1f", "records": "#9aa7b4", "reports": "#e9b98a"}
MARKERS = {"central": "o", "local": "s"}

SETTINGS = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": "medium",
    "axes.titleweight": "bold",
    "figure.dpi": 150,
    "font.size": 10,
    "legend.frameon": False,
}


def figure(columns: int, *, width: float, height: float) -> tuple[Any, Any]:
    """Open a figure in shoal's style, off screen.

    Parameters
    ----------
    columns : int
        Panels side by side.
    width, height : float
        Inches.

    Returns
    -------
    figure, axes
        Of matplotlib.
    """
    matplotlib = require("matplotlib", extra="plot")
    # The object-oriented interface needs no display and leaves the user's own back end alone.
    canvas = require("matplotlib.figure", extra="plot")
    with matplotlib.rc_context(SETTINGS):
        drawing = canvas.Figure(figsize=(width, height), layout="constrained")
        return drawing, drawing.subplots(1, columns, squeeze=False)[0]
