"""One look for all figures: one color per model and mechanism, readable in gray."""

import itertools
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from shoal._optional import require

__all__ = ["COLORS", "LOOKS", "MARKERS", "Look", "looks", "panels"]


class Look(NamedTuple):
    """How a group is drawn; its marker, dash and hatch tell it apart in a gray print.

    Parameters
    ----------
    color, marker : str
        Of matplotlib.
    dash : tuple of float
        Strokes and gaps of its lines, in widths of the line; () = full.
    hatch : str
        Of its bars.
    """

    color: str
    marker: str
    dash: tuple[float, ...]
    hatch: str


FULL: tuple[float, ...] = ()
DASH, DOTS, MIXED, LONG = (4.0, 2.0), (1.0, 1.3), (5.0, 1.5, 1.0, 1.5), (8.0, 2.0)
FINE = (1.0, 1.65)  # of thin lines, where DOTS would look full
SPARSE = (1.0, 3.0)  # of what holds without privacy
GREY, DARK_GREY, GRID = "#999999", "#4d4d4d", "#ebebeb"
RED = "#b3261e"  # of claims

# By name in small letters. Those of one source differ in lightness as well as in hue; the markers,
# dashes and hatches of all that are drawn together differ too.
LOOKS = {
    "central": Look("#0b3c5d", "o", FULL, ""),
    "local": Look("#e07a1f", "s", DASH, "//"),
    # Mechanisms; the names of the sources stand for the same noise.
    "dpkmeans": Look("#0b3c5d", "o", FULL, ""),
    "dpwavecluster": Look("#5b2a4e", "h", LONG, "||"),
    "sphericallaplace": Look("#1a5490", "s", DASH, "//"),
    "nd-laplace": Look("#1a5490", "s", DASH, "//"),
    "grid-nd-laplace": Look("#38b2a3", "^", MIXED, "\\\\"),
    "density-nd-laplace": Look("#a9cc3f", "D", DOTS, "xx"),
    "piecewise": Look("#c1443c", "v", LONG, ".."),
    "laplace": Look("#6b7280", "P", MIXED, "--"),
    "planarlaplace": Look("#6a4c93", "X", DASH, "++"),
    "duchi": Look("#d98cc4", "<", DOTS, "oo"),
    "hybrid": Look("#d9b310", ">", FULL, "///"),
    "squarewave": Look("#7a4e2d", "p", DOTS, "OO"),
    # Techniques of WaveCluster.
    "thr": Look("#0b3c5d", "o", FULL, ""),
    "thr-em": Look("#2a9d8f", "s", DASH, "//"),
    "qt": Look("#e9a23b", "^", MIXED, "\\\\"),
    "baseline": Look("#b9b9b9", "D", DOTS, "xx"),
    "oneshot": Look("#b3202c", "v", LONG, ".."),
    # Methods as `shoal compare` names them.
    "dpkmeans-grid": Look("#0b3c5d", "o", FULL, ""),
    "dpkmeans-lsh": Look("#56a3d9", "s", DASH, "//"),
    "dpkmeans-lloyd": Look("#2e8b57", "^", MIXED, "\\\\"),
    "dpkmeans-kccm": Look("#8e5aa8", "D", DOTS, "xx"),
    "dpwavecluster-oneshot": Look("#b3202c", "v", LONG, ".."),
    "dpwavecluster-thr": Look("#1b4965", "h", LONG, "||"),
    "dpwavecluster-thr-em": Look("#2a9d8f", "<", DASH, "--"),
    "dpwavecluster-qt": Look("#e9a23b", ">", MIXED, "++"),
    "dpwavecluster-baseline": Look("#b9b9b9", "p", DOTS, "oo"),
    "dpwavecluster-density": Look("#5b2a4e", "P", FULL, "OO"),
    "kdlaplace-grid": Look("#38b2a3", "^", MIXED, "\\\\"),
    "kdlaplace-bayes": Look("#a9cc3f", "D", DOTS, "xx"),
    # Variants of DP-KCCM: a color a noise, light without merging; and what they are held against.
    "average k": Look("#8fb8de", "o", FULL, ""),
    "average nk": Look("#1a5490", "s", DASH, "//"),
    "allocation k": Look("#f0b27a", "^", MIXED, "\\\\"),
    "allocation nk": Look("#b9770e", "D", DOTS, "xx"),
    "gaussian k": Look("#8fd0bd", "v", LONG, ".."),
    "gaussian nk": Look("#1e7b63", "P", DASH, "++"),
    "auto": Look("#b3202c", "X", FULL, "--"),
    "k-means without privacy": Look("#4a4a4a", "h", DOTS, "oo"),
}

# Different in lightness as well as in hue, so that a gray print still tells them apart.
COLORS = {
    **{name: look.color for name, look in LOOKS.items()},
    "records": "#9aa7b4",
    "reports": "#e9b98a",
    "remapped": "#7fb8a4",
}
MARKERS = {name: look.marker for name, look in LOOKS.items()}

# For names that are not in the table, in this order.
SPARE = (
    Look("#1b4965", "o", FULL, ""),
    Look("#e07a1f", "s", DASH, "//"),
    Look("#2e8b57", "^", MIXED, "\\\\"),
    Look("#8e5aa8", "D", DOTS, "xx"),
    Look("#b3261e", "v", LONG, ".."),
    Look("#56a3d9", "P", DASH, "--"),
    Look("#b8860b", "X", MIXED, "++"),
    Look("#3d3d3d", "<", DOTS, "oo"),
    Look("#e38fb1", ">", FULL, "///"),
    Look("#9a9a9a", "p", LONG, "OO"),
)

# Lightness grows with the value, so that it can be read in gray.
GROWING = (
    "#00224e", "#123570", "#3b496c", "#575d6d", "#707173",
    "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838",
)  # fmt: skip
# White in the middle; orange above, purple below.
DIVERGING = (
    "#2d004b", "#542788", "#8073ac", "#b2abd2", "#d8daeb", "#f7f7f7",
    "#fee0b6", "#fdb863", "#e08214", "#b35806", "#7f3b08",
)  # fmt: skip

SETTINGS = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": "medium",
    "axes.titlelocation": "left",
    "figure.dpi": 150,
    "font.size": 10,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "svg.hashsalt": "shoal",  # the same figure is the same file
}


def looks(names: Iterable[Hashable]) -> dict[Any, Look]:
    """Return each name its look: that of its mechanism, or a spare one in order of appearance.

    Parameters
    ----------
    names : iterable of str
        Names of groups; ``"Laplace(window=2)"`` looks like ``"Laplace"``. Where several have the
        same look, the first has it.

    Returns
    -------
    looks : dict of str to Look
        In the order of the names. All differ for up to thirty names.

    Examples
    --------
    >>> chosen = looks(["Piecewise", "mine"])
    >>> chosen["Piecewise"].color == looks(["mine", "piecewise"])["piecewise"].color
    True
    >>> chosen["mine"].color == chosen["Piecewise"].color
    False
    """
    wanted = list(dict.fromkeys(names))
    chosen: dict[Any, Look] = {}
    for name in wanted:
        look = LOOKS.get(str(name).split("(")[0].strip().lower())
        if look is not None and look not in chosen.values():
            chosen[name] = look
    # After one round of the spare looks, colors come again with other markers and dashes.
    spare = (
        Look(SPARE[place].color, *SPARE[(place + turn) % len(SPARE)][1:])
        for turn, place in itertools.product(range(len(SPARE)), range(len(SPARE)))
    )
    colors = {look.color for look in chosen.values()}
    markers = {look.marker for look in chosen.values()}
    free = [look for look in spare if look.color not in colors]
    left = itertools.cycle(sorted(free, key=lambda look: look.marker in markers))
    return {name: chosen[name] if name in chosen else next(left) for name in wanted}


@contextmanager
def panels(
    columns: int, *, width: float, height: float, rows: int = 1, **words: Any
) -> Iterator[tuple[Any, Any]]:
    """Open a figure in shoal's style, off screen, for as long as the block lasts.

    Parameters
    ----------
    columns : int
        Panels side by side.
    width, height : float
        Inches.
    rows : int, default=1
        Panels one above the other.
    **words
        More for ``subplots`` of matplotlib, such as ``sharey=True``.

    Yields
    ------
    figure, axes
        Of matplotlib, row after row; the style holds inside the block only.
    """
    matplotlib = require("matplotlib", extra="plot")
    # The object-oriented interface needs no display and leaves the user's own back end alone.
    canvas = require("matplotlib.figure", extra="plot")
    with matplotlib.rc_context(SETTINGS):
        drawing = canvas.Figure(figsize=(width, height), layout="constrained")
        yield drawing, drawing.subplots(rows, columns, squeeze=False, **words).ravel()
