"""The axes that partitions cut: intervals of a box, and the levels of a schema's categories."""

import math
import sys
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

import numpy as np

from shoal import _numbers
from shoal._bounds import Box
from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.schema import EncodedSpace

__all__ = [
    "Axis",
    "axis_bounds",
    "box_axes",
    "checked_axes",
    "places",
    "position",
    "positions",
    "space_axes",
]


LARGEST = sys.float_info.max


class Axis(NamedTuple):
    """One dimension of the records: a column of numbers, or the one-hot columns of a category.

    Parameters
    ----------
    kind : {"interval", "levels"}
        An interval is one column of numbers. Levels are several columns, of which the one with the
        largest value gives the level.
    start, stop : int
        Index of the first column, and of the one after the last.
    low, high : float
        Ends of the interval, or of each column of the levels.

    Examples
    --------
    >>> from shoal.partitions import Axis
    >>> age = Axis("interval", start=0, stop=1, low=0.0, high=120.0)
    >>> age.high - age.low
    120.0
    """

    kind: Literal["interval", "levels"]
    start: int
    stop: int
    low: float
    high: float


def box_axes(box: Box) -> tuple[Axis, ...]:
    """Return an interval for each column of a box.

    Examples
    --------
    >>> from shoal._bounds import public_box
    >>> box_axes(public_box((0.0, 1.0), 2))[1].start
    1
    """
    ends = zip(box.low.tolist(), box.high.tolist(), strict=True)
    return tuple(Axis("interval", i, i + 1, low, high) for i, (low, high) in enumerate(ends))


def space_axes(space: EncodedSpace) -> tuple[Axis, ...]:
    """Return the axes of the encoded records of a schema: intervals, and levels of categories.

    Examples
    --------
    >>> from shoal.schema import Category, Number, Schema
    >>> schema = Schema([Number("age", minimum=0, maximum=120), Category("city", ["A", "B"])])
    >>> [axis.kind for axis in space_axes(schema.space)]
    ['interval', 'interval', 'levels']
    """
    kinds: dict[str, Literal["interval", "levels"]] = {"interval": "interval", "simplex": "levels"}
    return tuple(
        Axis(kinds[part.kind], part.start, part.stop, 0.0, float(part.width))
        for part in space.parts
    )


def checked_axes(axes: Sequence[Any]) -> tuple[Axis, ...]:
    """Return axes that divide columns one after the other; they may come from a file."""
    checked: list[Axis] = []
    for given in axes if isinstance(axes, Sequence) else ():
        values: Sequence[Any] = given if _is_axis(given) else ("", 0, 0, 0.0, 0.0)
        kind, start, stop, low, high = values
        first = checked[-1].stop if checked else 0
        whole = all(isinstance(end, Integral) for end in (start, stop))
        in_turn = start == first and (stop == start + 1 if kind == "interval" else stop > start)
        wide = math.isfinite(low) and math.isfinite(high) and high / 2 - low / 2 > 0
        if kind not in ("interval", "levels") or not (whole and in_turn and wide):
            raise ParameterError(
                "axes must be (kind, start, stop, low, high), one after the other, with finite low "
                f"below high, got {_numbers.shown(given)}",
                parameter="axes",
            )
        checked.append(Axis(kind, int(start), int(stop), float(low), float(high)))
    if not checked:
        raise ParameterError(
            "axes must hold at least one axis, got none", parameter="axes", code="empty"
        )
    return tuple(checked)


def _is_axis(given: Any) -> bool:
    if not isinstance(given, Sequence) or len(given) != len(Axis._fields):
        return False
    return all(map(_is_end, given[1:]))


def _is_end(end: Any) -> bool:
    number = isinstance(end, Real) and not isinstance(end, bool)
    return number and bool(np.abs(end) <= LARGEST)  # beyond it there is no double, and no column


def axis_bounds(axes: Sequence[Axis]) -> tuple[Floats, Floats]:
    """Return the bounds (low, high) of the box that axes span.

    Examples
    --------
    >>> from shoal.partitions import Axis, axis_bounds
    >>> axes = [Axis("interval", 0, 1, 0.0, 1.0), Axis("levels", 1, 3, 0.0, 0.5)]
    >>> [ends.tolist() for ends in axis_bounds(axes)]
    [[0.0, 0.0, 0.0], [1.0, 0.5, 0.5]]
    """
    columns = max(axis.stop for axis in axes)
    low, high = np.empty(columns), np.empty(columns)
    for axis in axes:
        low[axis.start : axis.stop], high[axis.start : axis.stop] = axis.low, axis.high
    return low, high


def places(along: Floats, axes: Sequence[Axis]) -> Floats:
    """Return points from their positions along each axis: from 0 to 1, or the index of a level.

    Examples
    --------
    >>> places(np.array([[0.5, 1.0]]), [Axis("interval", 0, 1, 2, 4), Axis("levels", 1, 4, 0, 1)])
    array([[3., 0., 1., 0.]])
    """
    low, high = axis_bounds(axes)
    points = np.tile(low, (len(along), 1))
    for axis, own in zip(axes, along.T, strict=True):
        if axis.kind == "levels":
            columns = axis.start + own.astype(np.int64)
            points[np.arange(len(points)), columns] = high[columns]
        else:
            points[:, axis.start] = (1.0 - own) * axis.low + own * axis.high
    return points


def positions(points: Floats, axes: Sequence[Axis]) -> Floats:
    """Return where points lie on each axis: from 0 to 1 in an interval, or the level's index."""
    along = np.empty((len(points), len(axes)))
    for i, axis in enumerate(axes):
        if axis.kind == "levels":
            along[:, i] = points[:, axis.start : axis.stop].argmax(axis=1)
        else:
            # Halving first keeps the width of a box as wide as the doubles themselves finite.
            half = axis.high / 2 - axis.low / 2
            with np.errstate(under="ignore"):  # of a record beside the lower end
                along[:, i] = np.clip((points[:, axis.start] / 2 - axis.low / 2) / half, 0.0, 1.0)
    return along


def position(point: Sequence[float], axis: Axis) -> float:
    """Return where one point lies on one axis, as :func:`positions` does."""
    if axis.kind == "levels":
        levels = point[axis.start : axis.stop]
        return levels.index(max(levels))
    half = axis.high / 2 - axis.low / 2
    return min(max((point[axis.start] / 2 - axis.low / 2) / half, 0.0), 1.0)
