"""Public bounds and grids of the records: given by the caller, never computed from records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from shoal import _numbers
from shoal._typing import Floats, Ints
from shoal.exceptions import MissingBoundsError, ParameterError

__all__ = [
    "Ball",
    "Box",
    "bounded_columns",
    "bounds_names",
    "cells_per_column",
    "given_bounds",
    "public_box",
    "refuse_other_indexes",
    "surrounding_box",
]

PAIR = 2
# Width of a column below which the finest lattice on it, 2^46 steps, has steps that are no normal
# doubles; 10^-289.
MIN_WIDTH = 2.0**-960


class Box(NamedTuple):
    """Two opposite corners of the public domain."""

    low: Floats
    high: Floats


@dataclass(frozen=True)
class Ball:
    """Public bounds in the shape of a ball, for tables whose columns share a unit.

    Embeddings of length 1 lie in ``Ball(0, 1)``, which is far smaller than the box around it: in
    100 columns the corners of the box are ten times as far from its center. Smaller bounds need
    less noise.

    Parameters
    ----------
    center : float or sequence of float, default=0.0
        Center of the ball: one number for all columns, or one for each.
    radius : float, default=1.0
        Radius of the ball, in the unit of the columns. Records further away are clipped.

    Examples
    --------
    >>> from shoal import Ball
    >>> Ball(0, 1).box(3).high.tolist()
    [1.0, 1.0, 1.0]
    """

    center: float | Sequence[float] | Floats = 0.0
    radius: float = 1.0

    def box(self, columns: int) -> Box:
        """Return the smallest box around the ball; it has the same width in every column.

        Parameters
        ----------
        columns : int
            Number of columns of the records.

        Returns
        -------
        box : Box
            Its low and its high corner.
        """
        radius = _numbers.positive("radius", self.radius)
        try:
            center = np.array(self.center, dtype=np.float64)
        except (TypeError, ValueError):
            raise ParameterError(
                f"center must be one number or one per column, got {_one_line(self.center)}",
                parameter="center",
                code="shape",
            ) from None
        if center.shape not in ((), (columns,)):
            raise ParameterError(
                f"center must have one value or {columns} values (one per column), got "
                f"{' x '.join(map(str, center.shape))}",
                parameter="center",
                code="shape",
            )
        if not np.isfinite(center).all():
            raise ParameterError(
                f"center must be finite, got {_one_line(self.center)}",
                parameter="center",
                code="finite",
            )
        with np.errstate(over="ignore"):  # an end beyond the doubles is refused as infinite
            ends = center - radius, center + radius
        return public_box(ends, columns)


def surrounding_box(bounds: Any, columns: int) -> Box:
    """Return the box of public bounds, or the one around a ball."""
    return bounds.box(columns) if isinstance(bounds, Ball) else public_box(bounds, columns)


def public_box(bounds: Any, columns: int) -> Box:
    """Check public bounds and spread them over the columns.

    Parameters
    ----------
    bounds : tuple (low, high), or dict
        Two numbers, or one value per column in each; or the pair of each column by its index.
    columns : int
        Number of columns of the records.

    Returns
    -------
    box : Box
        Low and high corner, each of shape (columns,).

    Raises
    ------
    MissingBoundsError
        If there are none.
    ParameterError
        If they are not finite, not in order, too close to each other for any lattice, or of
        another length.
    """
    if bounds is None:
        raise MissingBoundsError(
            "bounds must be given, got none",
            parameter="bounds",
            in_python="pass public bounds=(low, high), two numbers or one value per column, or "
            "bounds={column: (low, high)}, known without looking at the records",
        )
    if isinstance(bounds, Mapping):
        bounds = _by_column(bounds, None, columns)
    elif _is_unclear(bounds):
        raise ParameterError(
            "bounds must say which numbers are low, got two pairs, which may be one of each column "
            "or the low and the high ones",
            parameter="bounds",
            code="shape",
            in_python="pass {column: (low, high)}, or a tuple of two lists, (lows, highs)",
        )
    try:
        low, high = (np.array(corner, dtype=np.float64) for corner in bounds)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(
            "bounds must be a low and a high number, or one of each per column, got "
            f"{_one_line(bounds)}",
            parameter="bounds",
            code="shape",
            in_python="pass a pair (low, high), or {column: (low, high)}",
        ) from None
    for name, corner in (("low", low), ("high", high)):
        if corner.shape not in ((), (columns,)):
            raise ParameterError(
                f"bounds must have one value or {columns} values (one per column) in {name}, "
                f"got {' x '.join(map(str, corner.shape))}",
                parameter="bounds",
                code="shape",
            )
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise ParameterError(
            f"bounds must be finite, got {_one_line(bounds)}", parameter="bounds", code="finite"
        )
    if not (low < high).all():
        raise ParameterError(
            f"bounds must have low < high in every column, got {_one_line(bounds)}",
            parameter="bounds",
            code="order",
        )
    if not (high / 2 - low / 2 >= MIN_WIDTH / 2).all():
        raise ParameterError(
            "bounds must be at least 2^-960 (1e-289) apart in every column, got "
            f"{_one_line(bounds)}: rescale the narrowest column",
            parameter="bounds",
            code="resolution",
        )
    shape = (columns,)
    return Box(np.broadcast_to(low, shape).copy(), np.broadcast_to(high, shape).copy())


def given_bounds(estimator: Any) -> Any:
    """Return the bounds of an estimator; those of named columns as a pair, in the table's order.

    Parameters
    ----------
    estimator : estimator
        With ``bounds`` or without, and ``feature_names_in_`` where it has seen named columns;
        without, the names are taken in the order in which the bounds have them.

    Returns
    -------
    bounds : object
        For :func:`public_box`.

    Raises
    ------
    ParameterError
        If columns have no bounds, or bounds no column.
    """
    bounds = getattr(estimator, "bounds", None)
    if not isinstance(bounds, Mapping):
        return bounds
    names = bounds_names(bounds)
    known = names and getattr(estimator, "feature_names_in_", names)
    return _by_column(bounds, None if known is None else [*map(str, known)], len(bounds))


def refuse_other_indexes(bounds: Any, names: Sequence[Any]) -> None:
    """Refuse bounds by index where columns are named by numbers that are other ones.

    Parameters
    ----------
    bounds : object
        As given to an estimator.
    names : sequence
        Names of the columns of the table, in its order, of whatever type.

    Raises
    ------
    ParameterError
        If an index is also the name of another column, whose bounds these may be.
    """
    if not isinstance(bounds, Mapping) or bounds_names(bounds):
        return
    known = {str(name): index for index, name in enumerate(names)}
    for key in bounds:
        if known.get(str(key), key) != key:
            raise ParameterError(
                "bounds must be of columns by their index, which no other column has as its name, "
                f"got {_numbers.shown(key)}: rename the columns, or put them in order",
                parameter="bounds",
                code="columns",
            )


def bounds_names(bounds: Any) -> list[str] | None:
    """Return the names of the columns that have bounds by name; None where none are named."""
    if not isinstance(bounds, Mapping) or not all(isinstance(name, str) for name in bounds):
        return None
    return list(bounds) or None


def _by_column(bounds: Mapping[Any, Any], names: Sequence[str] | None, columns: int) -> Any:
    """Return the bounds of each column, by name or by index, as a pair."""
    keys: Sequence[Any] = range(columns) if names is None else names
    kind = "index" if names is None else "name"
    for key in keys:
        if key not in bounds:
            raise ParameterError(
                f"bounds must have every column by its {kind}, got none for {key!r}",
                parameter="bounds",
                code="columns",
            )
    for key, pair in bounds.items():
        if isinstance(key, bool) or key not in keys:
            raise ParameterError(
                f"bounds must be of columns of X by their {kind}, got {_numbers.shown(key)}",
                parameter="bounds",
                code="columns",
            )
        if not isinstance(pair, tuple | list) or np.shape(pair) != (PAIR,):
            raise ParameterError(
                f"bounds of column {key!r} must be two numbers (low, high), got {_one_line(pair)}",
                parameter="bounds",
                code="shape",
            )
    low, high = ([bounds[key][end] for key in keys] for end in range(PAIR))
    return low, high


def _is_unclear(bounds: Any) -> bool:
    """Return whether bounds are two pairs that may be (low, high) of two columns, or the reverse.

    A tuple of two lists or arrays is documented as lows and highs; pairs of columns come as lists
    or tuples of tuples.
    """
    stated = isinstance(bounds, tuple) and not any(isinstance(one, tuple) for one in bounds)
    if stated or isinstance(bounds, str):
        return False
    try:
        return bool(np.shape(bounds) == (PAIR, PAIR))
    except ValueError:  # rows of several lengths
        return False


def _one_line(bounds: Any) -> str:
    """Write bounds, which may be arrays, without line breaks."""
    return " ".join(_numbers.shown(bounds).split())


def cells_per_column(cells: Any, columns: int, *, name: str = "cells") -> Ints:
    """Check a number of cells and spread it over the columns.

    Parameters
    ----------
    cells : int or sequence of int
        One number, or one per column.
    columns : int
        Number of columns.
    name : str, default="cells"
        What the caller calls it.

    Returns
    -------
    cells : ndarray of int64, shape (columns,)
        Number of cells of each column.
    """
    if not isinstance(cells, list | tuple | np.ndarray):
        return np.full(columns, _numbers.count(name, cells), dtype=np.int64)
    if np.shape(cells) != (columns,):
        raise ParameterError(
            f"{name} must be one whole number or {columns} of them (one per column), got {cells!r}",
            parameter=name,
            code="shape",
        )
    return np.array([_numbers.count(name, number) for number in cells], dtype=np.int64)


def bounded_columns(bounds: Any, *, default: int) -> int:
    """Return how many columns public bounds are for.

    Parameters
    ----------
    bounds : tuple (low, high), dict or Ball
        Two numbers or one value per column in each, or a pair of each column.
    default : int
        What two numbers are taken for.

    Returns
    -------
    columns : int
        As many as they have values.

    Raises
    ------
    ParameterError
        If they are no pair.
    """
    if isinstance(bounds, Ball):
        return np.size(bounds.center) if np.ndim(bounds.center) else default
    if isinstance(bounds, Mapping):
        return len(bounds)
    if not isinstance(bounds, str):
        try:
            return max((len(corner) for corner in bounds if np.ndim(corner)), default=default)
        except (TypeError, ValueError):  # of numpy, about lists in a corner
            pass
    raise ParameterError(
        f"bounds must be a pair (low, high), got {_one_line(bounds)}",
        parameter="bounds",
        code="shape",
    )
