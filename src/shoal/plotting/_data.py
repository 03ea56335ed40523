"""Tidy tables: one row a measurement, one column for what it is of; and means of them."""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal._numbers import readable
from shoal._statistics import mean_interval
from shoal._typing import Bools, Floats, Ints
from shoal.exceptions import ParameterError
from shoal.plotting._theme import AXES

__all__ = [
    "Columns",
    "Interval",
    "axis_title",
    "check_ends",
    "check_logarithm",
    "check_reference",
    "column_names",
    "distinct",
    "evenly",
    "finite",
    "interval",
    "panel_title",
    "read_columns",
    "text",
]

Columns = dict[str, npt.NDArray[Any]]

SHOWN = 8  # names of columns in a message
CONFIDENCE = 0.95


class Interval(NamedTuple):
    """A mean with the ends of its interval; both are the mean where nothing is known of it."""

    mean: float
    low: float
    high: float


def read_columns(
    data: Any, *, keys: Mapping[str, str | None], numbers: Mapping[str, str | None]
) -> Columns:
    """Return the named columns of a list of dicts, a dict of columns or a data frame.

    Parameters
    ----------
    data : list of dict, dict of columns, or data frame
        Measurements. A key that a dict lacks is missing there.
    keys, numbers : mapping of str to str or None
        Column for each parameter, which messages name; None = not wanted.

    Returns
    -------
    columns : dict of str to ndarray
        By name of the column; numbers as float64, with NaN where one is missing.

    Examples
    --------
    >>> found = read_columns(
    ...     [{"a": "x", "b": 1}, {"a": "y"}], keys={"group": "a"}, numbers={"y": "b"}
    ... )
    >>> found["a"].tolist(), found["b"].tolist()
    (['x', 'y'], [1.0, nan])
    """
    columns = _columns(data)
    found: Columns = {}
    for parameter, name in {**keys, **numbers}.items():
        if name is None:
            continue
        if name not in columns:
            raise ParameterError(f"{parameter} must be {_among(columns)}, got {name!r}")
        values = _objects(name, columns[name])
        found[name] = _floats(name, values) if parameter in numbers else _keys(name, values)
    if len({len(values) for values in found.values()}) > 1:
        raise ParameterError("data must have columns of one length, got several lengths")
    if not all(len(values) for values in found.values()):
        raise ParameterError("data must hold at least one row, got none")
    return found


def finite(columns: Columns, name: str) -> Columns:
    """Keep rows whose number in that column is finite; at least one must be."""
    kept = np.isfinite(columns[name])
    if not kept.any():
        raise ParameterError(f"column {name!r} must hold a finite number, got none")
    return {key: values[kept] for key, values in columns.items()}


def distinct(values: npt.NDArray[Any]) -> list[Any]:
    """List what a column holds: numbers sorted, anything else in order of appearance."""
    found = list(dict.fromkeys(values.tolist()))
    if all(isinstance(value, int | float) for value in found):
        return sorted(found)
    return found


def interval(
    columns: Columns,
    kept: Bools,
    *,
    value: str,
    low: str | None = None,
    high: str | None = None,
) -> Interval:
    """Return the mean of some rows and its interval of 95 %, by Student's t where none is given.

    Examples
    --------
    >>> ends = interval({"ami": np.array([0.4, 0.5, 0.6])}, np.full(3, True), value="ami")
    >>> [round(float(end), 3) for end in ends]
    [0.5, 0.252, 0.748]
    """
    values = columns[value][kept]
    mean = float(values.mean())
    if low is not None and high is not None:
        ends = [float(columns[end][kept].mean()) for end in (low, high)]
        return Interval(mean, *(end if np.isfinite(end) else mean for end in ends))
    if len(values) == 1:
        return Interval(mean, mean, mean)
    return Interval(mean, *mean_interval(values, error=1 - CONFIDENCE))


def evenly(length: int, most: int) -> Ints:
    """Return the indices of at most so many rows, spread evenly over all of them."""
    return np.unique(np.linspace(0, length - 1, min(most, length)).astype(np.int64))


def text(value: Hashable) -> str:
    """Return a name or number as people write it."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "∞" if value == math.inf else readable(value)
    return str(value)


def axis_title(column: str, given: str | None) -> str:
    """Return what an axis shows: as given, or what is known of the column."""
    return text(given) if given is not None else AXES.get(column.lower(), column)


def panel_title(column: str, value: Hashable) -> str:
    """Return the title of a panel; a number alone would not say what it is."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{'ε' if column == 'epsilon' else column} = {text(value)}"
    return text(value)


def column_names(columns: Sequence[str] | None, width: int) -> list[str]:
    """Return the names of columns of points, with units; None = their numbers."""
    if columns is None:
        return [f"column {number} (records' unit)" for number in range(1, width + 1)]
    if isinstance(columns, str) or len(columns) != width:
        raise ParameterError(f"columns must be {width} names, got {columns!r}")
    return [text(name) for name in columns]


def check_reference(reference: Any) -> dict[str, float]:
    """Return horizontal lines by name; None is none."""
    if reference is None:
        return {}
    if not isinstance(reference, Mapping) or not all(
        isinstance(at, int | float) and math.isfinite(at) for at in reference.values()
    ):
        raise ParameterError(
            f"reference must be a dict of names and finite numbers, got {reference!r}"
        )
    return {text(name): float(at) for name, at in reference.items()}


def check_ends(low: str | None, high: str | None) -> None:
    """Refuse one end of an interval without the other."""
    if (low is None) != (high is None):
        raise ParameterError(
            f"low and high must be given together, got {low!r} and {high!r}: name both or neither"
        )


def check_logarithm(parameter: str, column: str, values: npt.NDArray[Any]) -> None:
    """Refuse a logarithmic axis for numbers that it cannot show."""
    if (values <= 0).any():
        raise ParameterError(
            f"{parameter} must be False where column {column!r} holds a number <= 0"
        )


def _columns(data: Any) -> dict[str, Sequence[Any]]:
    if isinstance(data, Mapping):
        return dict(data)
    if hasattr(data, "columns"):  # pandas and polars
        return {name: data[name] for name in data.columns}
    if not isinstance(data, list | tuple) or not all(isinstance(row, Mapping) for row in data):
        kind = type(data).__name__
        raise ParameterError(
            f"data must be a list of dicts, a dict of columns or a data frame, got a {kind}"
        )
    if not data:
        raise ParameterError("data must hold at least one row, got none")
    names = dict.fromkeys(name for row in data for name in row)
    return {name: [row.get(name) for row in data] for name in names}


def _among(columns: Mapping[str, Any]) -> str:
    names = [str(name) for name in columns]
    more = ", ..." if len(names) > SHOWN else ""
    return f"one of the columns {', '.join(names[:SHOWN])}{more}"


def _objects(name: str, column: Any) -> npt.NDArray[Any]:
    try:
        listed = list(column)
    except TypeError:
        raise ParameterError(f"column {name!r} must be a list or array, got one value") from None
    values = np.empty(len(listed), dtype=object)
    for index, value in enumerate(listed):
        values[index] = value.item() if isinstance(value, np.generic) else value
    return values


def _keys(name: str, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    for index, value in enumerate(values):
        if not isinstance(value, str | int | float | None):
            raise ParameterError(f"column {name!r} must hold names or numbers, got other objects")
        # Data frames have NaN for what is missing, which equals nothing, not even itself.
        if isinstance(value, float) and math.isnan(value):
            values[index] = None
    return values


def _floats(name: str, values: npt.NDArray[Any]) -> Floats:
    if any(isinstance(value, str | bytes) for value in values):
        raise ParameterError(f"column {name!r} must hold numbers, got text")
    try:
        return values.astype(np.float64)  # None becomes NaN
    except (TypeError, ValueError):
        raise ParameterError(f"column {name!r} must hold numbers, got other objects") from None
