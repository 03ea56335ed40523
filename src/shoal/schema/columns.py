"""Columns of any table in one plain form, so that a record is encoded the same wherever it lies.

A column of pandas, polars, Arrow, numpy or a list becomes a :class:`Column`. No type is guessed
from other records: what the table's own types do not tell is taken one value at a time.
"""

import dataclasses
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._frames import is_frame, is_pandas_series, is_series, narwhals, to_native
from shoal._numbers import raise_alone
from shoal._optional import require
from shoal.exceptions import DataError, DataTypeError
from shoal.schema.values import MAX_EXACT, MISSING_NUMBERS, Column, exact_below, is_missing

__all__ = ["named_columns", "plain_column", "raw_columns", "refuse_missing_ids"]

TABLE = 2  # dimensions of one
TWICE = "X must have different names for all columns: rename repeated ones"


def plain_column(values: Any) -> Column:
    """Convert a column of a data frame, an array or a list to a :class:`Column`.

    Examples
    --------
    >>> from shoal.schema import plain_column
    >>> plain_column([1, 2.5]).kind, plain_column(["A", None]).kind
    ('object', 'text')
    """
    if not isinstance(values, list | tuple | np.ndarray):  # asking takes longer than one record
        if _is_arrow(values, "Array"):
            values = require("pyarrow", extra="arrow").chunked_array([values])
        if is_series(values):
            try:
                return _from_series(narwhals().from_native(values, series_only=True))
            except UnicodeDecodeError:  # of a column of a damaged file
                raise_alone(DataTypeError("X must hold text in UTF-8, got other bytes"))
    array = values if isinstance(values, np.ndarray) else _object_array(values)
    if isinstance(array, np.ma.MaskedArray):
        raise DataTypeError("X must be a plain array, got a masked one: drop or fill its gaps")
    if array.ndim != 1:
        raise DataError(
            f"X must have columns of one value a row, got one with {array.ndim} dimensions",
            code="shape",
        )
    kind = array.dtype.kind
    if kind in "iu" and _beyond_doubles(array):
        return Column("object", array.tolist())
    if kind == "c":
        raise DataTypeError("X must hold numbers, text or times, got complex numbers")
    if kind in "iuf":
        return _numbers(array)
    if kind == "b":
        return Column("boolean", array.astype(np.float64))
    if kind == "M":
        return Column("time", array.astype("datetime64[us]"))
    listed = array.tolist()
    text = all(value is None or type(value) is str for value in listed)
    return Column("text" if text else "object", listed)


def named_columns(
    X: Any, names: Sequence[str], *, others: Sequence[str] = (), whole: bool = False
) -> dict[str, Column]:
    """Return named columns of a table in memory.

    Parameters
    ----------
    X : data frame, mapping of columns, list of mappings, or array or list of rows without names
        The table. Rows without names hold the columns `names` in this order, or all columns of
        `others` in that order.
    names : sequence of str
        Names of the columns to return.
    others : sequence of str, default=()
        Names of all columns that rows without names may hold.
    whole : bool, default=False
        Whether rows without names must hold all of `others`.

    Returns
    -------
    columns : dict of Column
        Columns by name, all of the same length.

    Raises
    ------
    DataError
        If a column is missing, or the columns have different lengths.

    Examples
    --------
    >>> from shoal.schema import named_columns
    >>> columns = named_columns([{"age": 30, "city": "A"}, {"age": 41, "city": "B"}], ["city"])
    >>> list(columns), list(columns["city"].values)
    (['city'], ['A', 'B'])
    """
    raw = raw_columns(X, names, others=others, whole=whole)
    columns = {name: plain_column(values) for name, values in raw.items()}
    if len({len(column.values) for column in columns.values()}) > 1:
        raise DataError("X must have columns of one length, got several lengths", code="shape")
    return columns


def raw_columns(
    X: Any, names: Sequence[str], *, others: Sequence[str] = (), whole: bool = False
) -> dict[str, Any]:
    """Return columns of a table in memory by their names, as the table has them."""
    X = to_native(X)
    if isinstance(X, Mapping):
        found = {str(name): values for name, values in X.items()}
        _check_same_rows(found.values())
    elif is_frame(X) or _is_arrow_batch(X):
        found = _from_frame(X)
    elif isinstance(X, list | tuple) and X and all(isinstance(row, Mapping) for row in X):
        found = {name: [row[name] for row in X] for name in names if all(name in row for row in X)}
    else:
        found = _from_rows(X, others if whole else names, others)
    absent = [name for name in names if name not in found]
    if absent:
        raise DataError(
            f"X must have a column for every field of the schema, got none named {absent[0]!r}",
            code="columns",
            in_python="rename the column, or give the field another role",
        )
    return {name: to_native(found[name]) for name in names}


def _check_same_rows(columns: Iterable[Any]) -> None:
    """Refuse columns of pandas that name their rows differently: one was sorted or filtered."""
    indexes = [one.index for one in columns if is_pandas_series(one)]
    if any(not index.equals(indexes[0]) for index in indexes[1:]):
        raise DataError(
            "X must have columns with one index, got columns of pandas with several: take them "
            "from one frame, or pass arrays",
            code="conflict",
        )


def refuse_missing_ids(ids: Any, name: str, missing: Collection[str]) -> None:
    """Refuse ids of users with text that means missing: it would be one user, and is many people.

    Where one of them leaves, the row of another takes the place of theirs.
    """
    words = {word.strip().lower() for word in (*missing, *MISSING_NUMBERS)}
    column = plain_column(ids)
    listed = column.values if column.kind in ("text", "object") else ()
    if any(isinstance(one, str) and one.strip().lower() in words for one in listed):
        raise DataError(
            f"column {name!r} must say whose record each row is, got rows without: fill them in or "
            "drop those rows"
        )


def _from_series(series: Any) -> Column:
    nw, kind = narwhals(), series.dtype
    if kind == nw.Boolean:
        truth = {True: 1.0, False: 0.0}
        listed = [truth[v] if type(v) is bool else math.nan for v in series.to_list()]
        return Column("boolean", np.array(listed, dtype=np.float64))
    if _is_untyped(series) or _holds_large(series):
        return _from_objects(series.to_list())
    if kind.is_numeric() and kind != nw.Decimal:
        values = _numbers(np.asarray(series.to_numpy()))
        # Whole numbers beside gaps are doubles here alone, and small enough for that.
        return values if kind.is_float() else dataclasses.replace(values, exact=math.inf)
    if kind == nw.String:
        listed = series.to_list()
        return Column("text", [value if isinstance(value, str) else None for value in listed])
    if kind in (nw.Date, nw.Datetime):
        if getattr(kind, "time_zone", None) is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        if kind == nw.Date:
            series = series.cast(nw.Datetime("us"))
        # Finer times are cut to microseconds by numpy, which cuts those of all tables alike.
        return Column("time", np.asarray(series.to_numpy()).astype("datetime64[us]"))
    native = series.to_native()
    categorical = series.implementation.is_pandas_like() and hasattr(native.dtype, "categories")
    return _from_categories(native) if categorical else _from_objects(series.to_list())


def _numbers(array: npt.NDArray[Any]) -> Column:
    """Convert numbers to doubles; those beyond are infinite."""
    exact = exact_below(array.dtype)
    with np.errstate(over="ignore"):
        return Column("number", array.astype(np.float64), exact)


def _from_categories(native: Any) -> Column:
    """Take each category by itself: pandas would turn whole ones into doubles because of a gap."""
    each = plain_column(native.cat.categories.to_series())
    codes = native.cat.codes.to_numpy()  # -1, which is the last one, where there is none
    if isinstance(each.values, list):
        listed = [*each.values, None]
        return dataclasses.replace(each, values=[listed[code] for code in codes])
    none = np.array(["NaT" if each.kind == "time" else math.nan], dtype=each.values.dtype)
    return dataclasses.replace(each, values=np.concatenate([each.values, none])[codes])


def _is_untyped(series: Any) -> bool:
    """Return whether a column holds objects: narwhals guesses their type from the first hundred."""
    return bool(series.implementation.is_pandas_like() and series.to_native().dtype == object)


def _holds_large(series: Any) -> bool:
    """Return whether there are whole numbers that doubles do not tell apart."""
    if not series.dtype.is_integer() or not series.len():
        return False
    nw = narwhals()
    wide = series.dtype in (nw.Int128, nw.UInt128)  # numpy has none
    return wide or _beyond_doubles(series.drop_nulls().to_numpy())


def _from_objects(values: Sequence[Any]) -> Column:
    """Take objects one by one; missing ones are None, so that text with gaps is text."""
    plain = [one if type(one) is str or not is_missing(one) else None for one in values]
    return plain_column(_object_array(plain))


def _beyond_doubles(values: Any) -> bool:
    """Return whether some whole number is too large for a double, which would be another one."""
    return len(values) > 0 and bool(values.max() >= MAX_EXACT or values.min() <= -MAX_EXACT)


def _from_frame(X: Any) -> dict[str, Any]:
    if _is_arrow_batch(X):
        X = _arrow_table(X)
    nw = narwhals()
    try:
        frame = nw.from_native(X, eager_only=True)
        names = [str(name) for name in frame.columns]
    except nw.exceptions.DuplicateError:
        raise_alone(DataError(TWICE, code="duplicate"))
    if len(set(names)) < len(names):
        raise DataError(TWICE, code="duplicate")
    return {name: frame[name] for name in names}


def _is_arrow_batch(X: Any) -> bool:
    return _is_arrow(X, "RecordBatch")


def _is_arrow(X: Any, name: str) -> bool:
    """Return whether it is of a class of pyarrow, or of one below, without loading pyarrow."""
    return any(
        base.__module__.startswith("pyarrow") and base.__name__ == name for base in type(X).__mro__
    )


def _arrow_table(batch: Any) -> Any:
    return require("pyarrow", extra="arrow").Table.from_batches([batch])


def _from_rows(X: Any, names: Sequence[str], others: Sequence[str]) -> dict[str, Any]:
    array = X if isinstance(X, np.ndarray) else _object_array(X, rows=True)
    if array.ndim != TABLE or array.shape[1] not in (len(names), len(others)):
        width = array.shape[1] if array.ndim == TABLE else "another number of"
        raise DataError(
            f"X must be a table with the {len(names)} columns of the schema in their order, got "
            f"{width} columns without names",
            code="columns",
            in_python="pass a data frame, or a dict of columns, whose names are those of the "
            "schema",
        )
    order = names if array.shape[1] == len(names) else others
    return {name: array[:, index] for index, name in enumerate(order)}


def _object_array(values: Any, *, rows: bool = False) -> npt.NDArray[Any]:
    """Keep every value as it is: numpy would make text of a number beside text."""
    if not rows:
        if isinstance(values, str) or not isinstance(values, Collection):
            raise DataTypeError(
                f"X must have columns that are lists or arrays, got {type(values).__name__}"
            )
        # One by one: a column of lists would be taken for a table.
        return np.fromiter(values, dtype=object, count=len(values))
    try:
        return np.array([list(row) for row in values], dtype=object)
    except (TypeError, ValueError):
        raise_alone(
            DataError("X must be a table, one record a row, all of one length", code="shape")
        )
