"""How far the marks of panels reach along an axis."""

import math
from collections.abc import Iterable

import numpy as np

from shoal._typing import Floats
from shoal.plotting.chart import Axis, Panel
from shoal.plotting.marks import Band, Bars, Cells, Level, Line, Mark, Points, Texts

__all__ = ["limits"]


MARGIN = 0.05


def limits(axis: Axis, panels: Iterable[Panel], *, side: str) -> tuple[float, float]:
    """Return the ends of an axis: as it says, or what holds the marks with a margin.

    Parameters
    ----------
    axis : Axis
        Of the panels.
    panels : iterable of Panel
        Those that share it.
    side : {"x", "y", "second"}
        Which of their axes it is.

    Returns
    -------
    limits : tuple of float
        Both finite, and > 0 if the axis is logarithmic.

    Examples
    --------
    >>> line = Line(x=np.array([0.0, 10.0]), y=np.array([2.0, 2.0]), color="#000000")
    >>> panel = Panel(marks=(line, Level(at=4.0)), x=Axis(), y=Axis(limits=(0.0, None)))
    >>> limits(panel.x, [panel], side="x"), limits(panel.y, [panel], side="y")
    ((-0.5, 10.5), (0.0, 4.2))
    """
    low, high = axis.limits
    if low is not None and high is not None:
        return low, high
    marks = [mark for panel in panels for mark in panel.marks]
    values = np.concatenate([np.empty(0), *(_values(mark, side) for mark in marks)])
    values = values[np.isfinite(values) & ((values > 0) | (not axis.log))]
    if axis.log:
        values = np.log10(values)
    least, most = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    # A given end takes part, so that the margin is a share of what is seen.
    if low is not None:
        least = math.log10(low) if axis.log else low
    if high is not None:
        most = math.log10(high) if axis.log else high
    room = MARGIN * (most - least) if most > least else 0.5
    # Bars stand on the axis.
    stand = any(isinstance(mark, Bars) and mark.lying == (side == "x") for mark in marks)
    start = least if low is not None or (stand and least == 0 and not axis.log) else least - room
    end = most if high is not None else most + room
    return (10.0**start, 10.0**end) if axis.log else (start, end)


def _values(mark: Mark, side: str) -> Floats:  # noqa: PLR0911 - one line for each kind
    across = side == "x"
    match mark:
        case Line():
            if (side == "second") != mark.second and not across:
                return np.empty(0)
            return mark.x if across else mark.y
        case _ if side == "second":
            return np.empty(0)
        case Band():
            return mark.x if across else np.concatenate([mark.low, mark.high])
        case Points():
            ends = mark.x_ends if across else mark.y_ends
            at = mark.at[:, 0 if across else 1]
            return at if ends is None else np.concatenate([at, ends.ravel()])
        case Texts():
            return mark.at[:, 0 if across else 1]
        case Bars():
            return _bars(mark, along=mark.lying == across)
        case Cells():
            return np.array(mark.x if across else mark.y, dtype=np.float64)
        case Level():
            return np.array([mark.at] if mark.upright == across else [], dtype=np.float64)
        case _:
            raise TypeError(f"a chart cannot hold a {type(mark).__name__}")


def _bars(mark: Bars, *, along: bool) -> Floats:
    """Return where bars end along their length, or their sides."""
    if not along:
        return np.concatenate([mark.places - mark.thick / 2, mark.places + mark.thick / 2])
    ends = np.empty(0) if mark.ends is None else mark.ends.ravel()
    return np.concatenate([[0.0], mark.lengths, ends])
