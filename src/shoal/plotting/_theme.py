"""How all charts look: font, sizes, colors and markers; readable in gray and on a phone."""

import itertools
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

from shoal._registry import METHODS

__all__ = [
    "AXES",
    "CENTER",
    "COLORS",
    "CONFIG",
    "DARK_GRAY",
    "DASHES",
    "DIVERGING",
    "DOTS",
    "GRAY",
    "GROWING",
    "HOLLOW_DIAMOND",
    "INK",
    "LOOKS",
    "MAX_NAMED",
    "NOISE",
    "PALETTE",
    "RED",
    "RING",
    "SHADED",
    "SPARSE",
    "SQUARE",
    "Look",
    "cluster_look",
    "cluster_name",
    "line_glyph",
    "looks",
    "palette_look",
]

GRAY, DARK_GRAY, RED = "#999999", "#4d4d4d", "#b3261e"
INK, FRAME, GRID = "#1c2733", "#6b7280", "#e8ebee"

CONFIG: dict[str, Any] = {
    "background": "#ffffff",
    "font": "sans-serif",
    "padding": 6,
    "axis": {
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelColor": INK,
        "titleColor": INK,
        "domainColor": FRAME,
        "tickColor": FRAME,
        "gridColor": GRID,
        "titlePadding": 7,
        "labelLimit": 220,
    },
    "legend": {
        "orient": "bottom",
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "labelColor": INK,
        "titleColor": INK,
        "labelLimit": 0,
        "titleLimit": 0,
        "labelOffset": 7,
        "symbolSize": 70,
        "symbolStrokeWidth": 0,
        "symbolOpacity": 1,
        "columnPadding": 18,
        "rowPadding": 4,
    },
    "title": {"anchor": "start", "fontSize": 12, "fontWeight": 600, "color": INK, "offset": 8},
    "view": {"stroke": None},
    "concat": {"spacing": 26},
}

# What charts in Vega-Lite call a dash: strokes and gaps in pixels.
FULL: tuple[float, ...] = (1, 0)
DOTS, SPARSE = (2, 2.5), (1.5, 4.5)
DASHES = (FULL, (7, 3.5), (1.8, 2.4), (9, 3, 2, 3))

# Markers: shapes of Vega, and paths in the square from -1 to 1.
CENTER = "M-1,-.6L-.6,-1L0,-.4L.6,-1L1,-.6L.4,0L1,.6L.6,1L0,.4L-.6,1L-1,.6L-.4,0Z"
PENTAGON = "M0,-1L.95,-.31L.59,.81L-.59,.81L-.95,-.31Z"
HEXAGON = "M0,-1L.87,-.5L.87,.5L0,1L-.87,.5L-.87,-.5Z"
HOURGLASS = "M-.8,-1L.8,-1L-.8,1L.8,1Z"
STAR = "M0,-1L.26,-.36L1,-.34L.42,.14L.65,.89L0,.44L-.65,.89L-.42,.14L-1,-.34L-.26,-.36Z"
BAR = "M-.4,-1.1H.4V1.1H-.4Z"
RING = "M-1,0A1,1,0,1,1,1,0A1,1,0,1,1,-1,0ZM-.65,0A.65,.65,0,1,0,.65,0A.65,.65,0,1,0,-.65,0Z"
HOLLOW_DIAMOND = "M0,-1.1L.8,0L0,1.1L-.8,0ZM0,-.65L-.45,0L0,.65L.45,0Z"
# Squares that are full, outlined, half full, and almost empty.
SQUARE = "M-1,-1H1V1H-1Z"
SHADED = (
    SQUARE,
    SQUARE + "M-.75,-.75V.75H.75V-.75Z",
    SQUARE + "M-.75,-.75V0H.75V-.75Z",
    SQUARE + "M-.9,-.9V.9H.9V-.9Z",
)


class Look(NamedTuple):
    """Color and marker (a shape of Vega-Lite, or a path); markers differ in a gray print."""

    color: str
    marker: str


# The first ten were chosen by eye. Each further one is the color, of those that can be seen on
# white, that is farthest from all before it (in OKLab), and differs from the last four in gray.
PALETTE = (
    "#1b4965", "#e07a1f", "#2e8b57", "#8e5aa8", "#b3261e", "#56a3d9", "#b8860b", "#3d3d3d",
    "#e38fb1", "#9a9a9a", "#3d006f", "#11c98b", "#cfc154", "#821865", "#046fc7", "#7d6255",
    "#ae84f2", "#760a03", "#0a5e14", "#d25577", "#523ba4", "#2fd4ec", "#b4b7f7", "#80a924",
    "#538296", "#540538", "#0a6c69", "#fda578", "#aa376f", "#1fa89c",
)  # fmt: skip
SHAPES = (
    *("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", CENTER),
    *("triangle-left", "triangle-right", PENTAGON, HEXAGON, HOURGLASS, STAR, BAR),
)


def palette_look(number: int) -> Look:
    """Return a look by its number: colors come again after all, with other markers then."""
    turn, index = divmod(number, len(PALETTE))
    return Look(PALETTE[index], SHAPES[(index + turn) % len(SHAPES)])


def _own_looks() -> dict[str, Look]:
    """Return the looks of trust models and methods, by name in small letters.

    A method has the look of its place in the registry, also by the name of its class and by the
    parameter that selects it, which the sources use.
    """
    found = {name: palette_look(at) for at, name in enumerate(("central", "local", "shuffled"))}
    for at, method in enumerate(METHODS):
        for name in (method.name, method.class_name, *method.kwargs.values()):
            found.setdefault(name.lower(), palette_look(at))
    return found | {
        "nd-laplace": found["sphericallaplace"],
        "grid-nd-laplace": found["kdlaplace-grid"],
        "density-nd-laplace": found["kdlaplace-bayes"],
    }


LOOKS = _own_looks()

COLORS = {
    **{name: look.color for name, look in LOOKS.items()},
    "records": "#9aa7b4",
    "reports": "#e9b98a",
    "remapped": "#7fb8a4",
}

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

# Columns of experiments, with what their numbers are in where that is known.
AXES = {
    "epsilon": "ε",
    "dimensions": "dimensions (columns)",
    "dimension": "dimensions (columns)",
    "columns": "dimensions (columns)",
    "ami": "AMI (1 = same clusters)",
    "ari": "ARI (1 = same clusters)",
    "sc": "silhouette (-1 to 1)",
    "ch": "Calinski-Harabasz index",
    "nicv": "NICV (squared distance a record)",
    "advantage": "advantage of the adversary (0 to 1)",
    "tpr": "true-positive rate (0 to 1)",
    "cost_ratio": "cost over k-means (ratio)",
    "seconds": "time (seconds)",
    "distance": "distance to the record (records' unit)",
}

NOISE = -1  # label of what is in no cluster
MAX_NAMED = 20  # clusters in a legend


def looks(names: Iterable[Hashable]) -> dict[Any, Look]:
    """Return the look of each name: that of its mechanism, or a spare one in order of appearance.

    Parameters
    ----------
    names : iterable of str
        Names of groups; ``"Laplace(window=2)"`` looks like ``"Laplace"``. Where several have the
        same look, the first has it.

    Returns
    -------
    looks : dict of str to Look
        In the order of the names. All differ for up to 300 names.

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
    colors = {look.color for look in chosen.values()}
    markers = {look.marker for look in chosen.values()}
    spare = (palette_look(number) for number in range(len(PALETTE) * len(SHAPES)))
    free = [look for look in spare if look not in chosen.values()]
    free.sort(key=lambda look: (look.color in colors, look.marker in markers))
    left = itertools.cycle(free)
    return {name: chosen[name] if name in chosen else next(left) for name in wanted}


def cluster_look(cluster: int) -> Look:
    """Return color and marker of a cluster, the same in all charts; noise is a light cross."""
    return Look("#bfbfbf", CENTER) if cluster == NOISE else palette_look(cluster)


def cluster_name(cluster: int) -> str:
    """Return the name of a cluster in a legend."""
    return "no cluster" if cluster == NOISE else f"cluster {cluster}"


def line_glyph(dash: Sequence[float] = FULL) -> str:
    """Return a short stroke with a dash as a path that a legend can fill."""
    end, half, pixel = 1.8, 0.22, 0.24
    if dash == FULL:
        return f"M{-end},{-half}H{end}V{half}H{-end}Z"
    strokes, at = "", -end
    for index in itertools.count():
        length = dash[index % len(dash)] * pixel
        if at >= end:
            return strokes
        if index % 2 == 0:
            strokes += f"M{at:.2f},{-half}H{min(at + length, end):.2f}V{half}H{at:.2f}Z"
        at += length
    raise AssertionError("unreachable")
