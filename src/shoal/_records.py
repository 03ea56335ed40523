"""From records or reports in memory to an array; no file or Spark frame is opened here.

Messages about records name no row and no value: scikit-learn's own do, so they are not passed on
unless they speak of shapes and types only.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shoal._bounds import bounds_names
from shoal._estimator_base import BaseEstimator, validate_data
from shoal._frames import is_frame, narwhals, to_native
from shoal._lists import array_of_lists
from shoal._numbers import BY_SCHEMA, FINITE, raise_alone
from shoal._typing import Floats, Records
from shoal.exceptions import Code, DataError, DataTypeError

__all__ = [
    "column_names",
    "fitted_names",
    "frame_labels",
    "validate_floats",
    "validate_records",
    "values_by_name",
]

# First words of scikit-learn's and numpy's messages that hold no value of a record.
OTHER_COLUMNS = ("X has", "The feature names")
HARMLESS = ("Feature names are only", "Sparse data", "Complex data", "np.matrix is not")
# What a message of scikit-learn or numpy is about, and the same without the record's values.
TABLE = (
    "X must be a table with two dimensions, one record a row: Reshape your data, with "
    "X.reshape(-1, 1) for one column or X.reshape(1, -1) for one record"
)
TOO_LARGE = "X must hold numbers that fit a float64, got larger ones: rescale those columns"
PLAIN: dict[str, tuple[str, Code]] = {
    "NaN": (FINITE, "finite"),
    "infinity": (FINITE, "finite"),
    "Reshape your data": (TABLE, "shape"),
    "Expected 2D": (TABLE, "shape"),
    "Expected a 2-dimensional": (TABLE, "shape"),
    "too large": (TOO_LARGE, "finite"),
}
NO_RECORDS = "X must hold at least one record, got none"
ONE_NUMBER_EACH = "x must have one number for each column, got lists among them"


# scikit-learn's checks ask for these words; the number of records is left out of them.
NO_COLUMNS = "X must be a table: 0 feature(s) (shape=(, 0)) while a minimum of 1 is required."
TEXT = (
    f"X must be a table of numbers, got text or other objects: drop those columns, or {BY_SCHEMA}"
)
PRECISIONS = [np.float64, np.float32, np.float16]  # the first is that of all other numbers
NOT_NUMBERS = (str, bytes, bytearray, np.datetime64, np.timedelta64)


def validate_records(X: Any, *, estimator: Any = None, reset: bool = True) -> Floats:
    """Check a table of records and return it as float64.

    Parameters
    ----------
    X : array-like, or pandas, polars or Arrow table or column of lists
        Records, one a row.
    estimator : estimator, default=None
        Whose ``n_features_in_`` and ``feature_names_in_`` are set or compared with.
    reset : bool, default=True
        True in ``fit``: set the attributes; False: compare.

    Returns
    -------
    X : ndarray of float64, shape (n, d)
        Finite numbers.

    Raises
    ------
    DataError
        If it is not a table of finite numbers, or its columns are not those of ``fit``.
    """
    return validate_floats(X, estimator=estimator, reset=reset).astype(np.float64, copy=False)


def validate_floats(X: Any, *, estimator: Any = None, reset: bool = True) -> Records:
    """Check a table of records and leave it in its precision: nothing of its size is made.

    Parameters
    ----------
    X, estimator, reset
        As for :func:`validate_records`.

    Returns
    -------
    X : ndarray of float16, float32 or float64, shape (n, d)
        Finite numbers; those of another type are doubles.

    Raises
    ------
    DataError
        If it is not a table of finite numbers, or its columns are not those of ``fit``.
    """
    X = _frame(X)
    try:
        _refuse_text(X)
        # scikit-learn adds all values up to see that they are finite. Whether that sum overflows,
        # and warns, depends on single records.
        with np.errstate(all="ignore"):
            records: Records = validate_data(
                BaseEstimator() if estimator is None else estimator,
                X,
                reset=reset,
                dtype=PRECISIONS,
            )
    except DataError:
        raise
    except (ValueError, TypeError, OverflowError) as error:
        message, code = _plain(str(error))
        kind = DataTypeError if isinstance(error, TypeError) or message == TEXT else DataError
        raise_alone(kind(message, code=code))
    return records


def column_names(X: Any) -> list[str] | None:
    """Return the names of the columns of a table in memory.

    Parameters
    ----------
    X : object
        Records.

    Returns
    -------
    names : list of str or None
        None for arrays, and for tables whose names are not text, as scikit-learn has it.

    Examples
    --------
    >>> import pandas as pd
    >>> column_names(pd.DataFrame({"age": [41.0], "income": [1.0]}))
    ['age', 'income']
    """
    names = frame_labels(X)
    return names if names and all(isinstance(name, str) for name in names) else None


def frame_labels(X: Any) -> list[Any]:
    """Return what the columns of a table in memory are called, be it text or not; none of arrays.

    Parameters
    ----------
    X : object
        Records.

    Returns
    -------
    labels : list
        In the order of the columns.

    Examples
    --------
    >>> import pandas as pd
    >>> frame_labels(pd.DataFrame({1: [41.0], 0: [1.0]}))
    [1, 0]
    """
    X = _frame(X)
    return list(getattr(X, "column_names", X.columns)) if is_frame(X) else []


def values_by_name(record: Mapping[str, Any], names: Sequence[str] | None) -> list[Any]:
    """Return the values of one record in the order of its columns.

    Parameters
    ----------
    record : mapping
        Values by the names of their columns.
    names : sequence of str or None
        Names of all columns; None where they have none.

    Returns
    -------
    values : list
        One for each name.

    Raises
    ------
    DataError
        If the names are not those of the columns.

    Examples
    --------
    >>> values_by_name({"north": 7.0, "east": 4.1}, ["east", "north"])
    [4.1, 7.0]
    """
    if names is None:
        raise DataError(
            "x must be a list of numbers, got a dict: its columns have no names here, pass values "
            "in their order",
            parameter="x",
            code="type",
        )
    if set(record) != set(names):
        raise DataError(
            f"x must have a value for each of {list(names)} and no other, got {len(record)} names "
            "that are not these",
            parameter="x",
            code="columns",
        )
    return [record[name] for name in names]


def fitted_names(estimator: Any) -> list[str] | None:
    """Return the names of the columns that an estimator was fitted to, or whose bounds it names.

    Parameters
    ----------
    estimator : estimator
        Fitted, or with bounds by name.

    Returns
    -------
    names : list of str or None
        None where the table had none.
    """
    named = bounds_names(getattr(estimator, "bounds", None))
    names = getattr(estimator, "feature_names_in_", named)
    return None if names is None else [str(name) for name in names]


def _frame(X: Any) -> Any:
    """Unwrap frames of narwhals and columns of lists; an Arrow batch alone would lose its names."""
    X = to_native(X)
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(X, arrow.RecordBatch):
        X = arrow.Table.from_batches([X])
    lists = array_of_lists(X)
    return X if lists is None else lists


def _refuse_text(X: Any) -> None:
    """Refuse repeated names, and text, dates and masks that numpy would turn into numbers."""
    if is_frame(X):
        nw = narwhals()
        names = list(getattr(X, "column_names", X.columns))
        if len(set(names)) < len(names):
            raise DataError(
                "X must have different names for all columns: rename repeated ones",
                code="duplicate",
            )
        for name, kind in nw.from_native(X, eager_only=True).schema.items():
            if not (kind.is_numeric() or kind == nw.Boolean):
                # The name alone: the text of an Enum lists its values.
                got = type(kind).__name__
                way = "pass it alone" if kind in (nw.List, nw.Array) else BY_SCHEMA
                raise DataTypeError(
                    f"X must hold numbers only, got {got} in column {name!r}: drop it, or {way}"
                )
        return
    listed = isinstance(X, list | tuple)
    parts = [X, *X] if listed else [X]  # a list may hold rows that are arrays
    if any(isinstance(part, np.ma.MaskedArray) for part in parts):
        # numpy would take what the mask hides for records
        raise DataTypeError("X must be a plain array, got a masked one: drop or fill its gaps")
    values = np.array(X, dtype=object) if listed else X
    if any(_kind(part) in ("S", "U", "T", "M", "m") for part in parts) or (
        _kind(values) == "O" and any(isinstance(v, NOT_NUMBERS) for v in np.asarray(values).flat)
    ):
        raise DataTypeError(TEXT)


def _kind(values: Any) -> str:
    return str(getattr(getattr(values, "dtype", None), "kind", ""))


def _plain(message: str) -> tuple[str, Code]:
    """Return a message without values of records, and the code of what it is about."""
    for sign, plain in PLAIN.items():
        if sign in message:
            return plain
    first = message.splitlines()[0]
    if "argument must be" in first:
        return f"X must hold numbers only: {first}", "type"
    if first.startswith("Found array with 0"):
        return (NO_RECORDS if "sample(s)" in first else NO_COLUMNS), "empty"
    if first.startswith("Found array with"):
        return f"X must be a table: {first.removesuffix(' by BaseEstimator.')}", "shape"
    if first.startswith(OTHER_COLUMNS):
        return first, "columns"
    return (first if first.startswith(HARMLESS) else TEXT), "type"
