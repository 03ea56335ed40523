"""What a panel of a chart can hold, said without naming a drawing library.

Colors are hexadecimal, areas and widths are in points, and marks that come later lie in front.
Markers are ``o s ^ v < > D P X p h x``; a dash is lengths of strokes and gaps in widths of the
line, () a full line; a hatch is one of matplotlib's.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats

__all__ = [
    "Band",
    "Bars",
    "Cells",
    "Level",
    "Line",
    "Mark",
    "Points",
    "Scale",
    "Texts",
    "middles",
    "on_dark",
]

Dash = tuple[float, ...]

DARK = 0.5  # of a scale; words are white below it


@dataclass(frozen=True, eq=False, kw_only=True)
class Mark:
    """What all marks have.

    Parameters
    ----------
    name : str, default=""
        Group; those of one name are switched on and off together and share an entry in the legend.
    listed : bool, default=True
        Whether the mark may be that entry.
    says : str, default=""
        What a reader is told who points at it; the name if empty.
    alpha : float, default=1.0
        0 = cannot be seen, 1 = hides what is behind.
    """

    name: str = ""
    listed: bool = True
    says: str = ""
    alpha: float = 1.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Line(Mark):
    """Points joined by a line; NaN is a gap.

    Parameters
    ----------
    x, y : ndarray of shape (n,)
        Places.
    marker : str, default=""
        At each of them; "" = none.
    size : float, default=4.5
        Diameter of markers.
    hollow : bool, default=False
        Whether markers are white inside.
    step : bool, default=False
        Whether the line goes right first, then up or down.
    second : bool, default=False
        Whether y belongs to the panel's second axis.
    notes : tuple of str, default=()
        For each place, what else a reader is told who points at it.
    """

    x: Floats
    y: Floats
    color: str
    dash: Dash = ()
    width: float = 1.5
    marker: str = ""
    size: float = 4.5
    hollow: bool = False
    step: bool = False
    second: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Band(Mark):
    """The area between two curves."""

    x: Floats
    low: Floats
    high: Floats
    color: str
    alpha: float = 0.18


@dataclass(frozen=True, eq=False, kw_only=True)
class Points(Mark):
    """Markers that nothing joins.

    Parameters
    ----------
    at : ndarray of shape (n, 2) or (n, 3)
        Places.
    area : float or ndarray of shape (n,), default=20.0
        Square of the diameter.
    edge : str, default=""
        Color of the outline; "" = none.
    hollow : bool, default=False
        Whether the background is seen inside; the outline has ``color`` then.
    x_ends, y_ends : ndarray of shape (2, n), default=None
        Low and high ends of error bars.
    notes : tuple of str, default=()
        For each place, what else a reader is told who points at it.
    """

    at: Floats
    color: str
    marker: str = "o"
    area: float | Floats = 20.0
    edge: str = ""
    edge_width: float = 1.0
    hollow: bool = False
    x_ends: Floats | None = None
    y_ends: Floats | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Bars(Mark):
    """Bars from 0, upright or lying.

    Parameters
    ----------
    places, lengths : ndarray of shape (n,)
        Middle of each bar, and where it ends.
    thick : float
        Of a bar, in units of the places.
    ends : ndarray of shape (2, n), default=None
        Low and high ends of error bars.
    lying : bool, default=False
        Whether bars go to the right.
    notes : tuple of str, default=()
        For each bar, what else a reader is told who points at it.
    """

    places: Floats
    lengths: Floats
    thick: float
    color: str
    hatch: str = ""
    edge: str = ""
    ends: Floats | None = None
    lying: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scale:
    """Colors for numbers.

    Parameters
    ----------
    colors : tuple of str
        From low to high, evenly spread.
    limits : tuple of float
        Ends.
    label : str, default=""
        What the numbers are; "" = the scale is not drawn.
    steps : bool, default=False
        Whether nothing lies between two colors.
    """

    colors: tuple[str, ...]
    limits: tuple[float, float]
    label: str = ""
    steps: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Cells(Mark):
    """A table of colored cells; NaN is white.

    Parameters
    ----------
    values : ndarray of shape (rows, columns)
        Numbers; the first row lies where y is low.
    x, y : tuple of float
        Ends of the table.
    words : ndarray of str, default=None
        Written in the cells.
    notes : ndarray of str, default=None
        What a reader is told who points at a cell; None = its place and value.
    """

    values: Floats
    x: tuple[float, float]
    y: tuple[float, float]
    scale: Scale
    words: npt.NDArray[Any] | None = None
    notes: npt.NDArray[Any] | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Level(Mark):
    """A straight line through the whole panel: level, or upright."""

    at: float
    upright: bool = False
    color: str = "#404040"
    dash: Dash = ()
    width: float = 1.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Texts(Mark):
    """Words at places.

    Parameters
    ----------
    at : ndarray of shape (n, 2)
        Places.
    words : tuple of str
        One for each.
    beside : str, default=""
        "right" of the place, or in the "corner" above and right of it; "" = on it.
    """

    at: Floats
    words: tuple[str, ...]
    beside: str = ""
    size: float = 8.0
    color: str = "#000000"


def middles(ends: tuple[float, float], number: int) -> Floats:
    """Return the middles of so many cells between two ends."""
    edges = np.linspace(*ends, number + 1)
    return np.asarray((edges[:-1] + edges[1:]) / 2)


def on_dark(cells: Cells) -> npt.NDArray[np.bool_]:
    """Tell which cells are so dark that words in them must be light."""
    low, high = cells.scale.limits
    return np.asarray((cells.values - low) / (high - low) < DARK)
