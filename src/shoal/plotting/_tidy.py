"""Columns of tidy records: one row a measurement, one column for what it is of."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats
from shoal.exceptions import ParameterError

__all__ = ["Columns", "distinct", "finite", "read_columns"]

Columns = dict[str, npt.NDArray[Any]]

SHOWN = 8  # names of columns in a message


def read_columns(
    records: Any, *, keys: Mapping[str, str | None], numbers: Mapping[str, str | None]
) -> Columns:
    """Take the named columns out of a list of dicts, a dict of columns or a data frame.

    Parameters
    ----------
    records : list of dict, dict of columns, or data frame
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
    columns = _columns(records)
    found: Columns = {}
    for parameter, name in {**keys, **numbers}.items():
        if name is None:
            continue
        if name not in columns:
            raise ParameterError(f"{parameter} must be {_among(columns)}, got {name!r}")
        values = _objects(name, columns[name])
        found[name] = _floats(name, values) if parameter in numbers else _keys(name, values)
    if len({len(values) for values in found.values()}) > 1:
        raise ParameterError("records must have columns of one length, got several lengths")
    if not all(len(values) for values in found.values()):
        raise ParameterError("records must hold at least one row, got none")
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


def _columns(records: Any) -> dict[str, Sequence[Any]]:
    if isinstance(records, Mapping):
        return dict(records)
    if hasattr(records, "columns"):  # pandas and polars
        return {name: records[name] for name in records.columns}
    if not isinstance(records, list | tuple) or not all(isinstance(r, Mapping) for r in records):
        kind = type(records).__name__
        raise ParameterError(
            f"records must be a list of dicts, a dict of columns or a data frame, got a {kind}"
        )
    if not records:
        raise ParameterError("records must hold at least one row, got none")
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


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
    for place, value in enumerate(listed):
        values[place] = value.item() if isinstance(value, np.generic) else value
    return values


def _keys(name: str, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    for place, value in enumerate(values):
        if not isinstance(value, str | int | float | None):
            raise ParameterError(f"column {name!r} must hold names or numbers, got other objects")
        # Data frames have NaN for what is missing, which equals nothing, not even itself.
        if isinstance(value, float) and math.isnan(value):
            values[place] = None
    return values


def _floats(name: str, values: npt.NDArray[Any]) -> Floats:
    if any(isinstance(value, str | bytes) for value in values):
        raise ParameterError(f"column {name!r} must hold numbers, got text")
    try:
        return values.astype(np.float64)  # None becomes NaN
    except (TypeError, ValueError):
        raise ParameterError(f"column {name!r} must hold numbers, got other objects") from None
