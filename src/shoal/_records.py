"""From whatever table the user has to a float64 array.

Messages about records name no row and no value: scikit-learn's own do, so they are not passed on
unless they speak of shapes and types only.
"""

from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from shoal.exceptions import DataError, DataTypeError
from shoal.tables import ArrayTable, ArrowTable, SparkTable, open_table
from shoal.tables.blocks import FINITE

__all__ = ["validate_records", "validate_table"]

Floats = npt.NDArray[np.float64]

# First words of scikit-learn's and numpy's messages that hold no value of a record.
HARMLESS = ("X has", "The feature names", "Sparse data", "Complex data")
# What a message of scikit-learn or numpy is about, and the same without the record's values.
TABLE = (
    "X must be a table with two dimensions, one record a row: Reshape your data, with "
    "X.reshape(-1, 1) for one column or X.reshape(1, -1) for one record"
)
PLAIN = {
    "NaN": FINITE,
    "infinity": FINITE,
    "Reshape your data": TABLE,
    "Expected 2D": TABLE,
    "too large": "X must hold numbers that fit a float64, got larger ones: rescale those columns",
}
TEXT = "X must be a table of numbers, got text or other objects: encode or drop those columns"


def validate_records(X: Any, *, estimator: Any = None, reset: bool = True) -> Floats:
    """Check a table of records and return it as float64.

    Parameters
    ----------
    X : array-like, or pandas, polars or Arrow table
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
    try:
        _refuse_text(X)
        records: Floats = validate_data(
            BaseEstimator() if estimator is None else estimator, X, reset=reset, dtype=np.float64
        )
    except DataError:
        raise
    except (ValueError, TypeError, OverflowError) as error:
        message = _plain(str(error))
        kind = DataTypeError if isinstance(error, TypeError) or message == TEXT else DataError
        raise kind(message) from None
    return records


def validate_table(
    X: Any, *, estimator: Any, reset: bool = True
) -> ArrayTable | ArrowTable | SparkTable:
    """Open records wherever they are, and check what can be known without reading them all.

    Parameters
    ----------
    X : array-like, data frame, path, Arrow dataset, Spark DataFrame, or one of our tables
        Records, one a row.
    estimator : estimator
        Whose ``n_features_in_`` and ``feature_names_in_`` are set or compared with.
    reset : bool, default=True
        True in ``fit``: set the attributes; False: compare, and choose the columns of ``fit`` among
        those of a file or a Spark DataFrame.

    Returns
    -------
    table : ArrayTable, ArrowTable or SparkTable
        Columns are numbers. Records in memory are finite; others are looked at by ``table.check``.

    Raises
    ------
    DataError
        If they are not, or columns are not those of ``fit``.
    """
    fitted = None if reset else getattr(estimator, "feature_names_in_", None)
    table = open_table(X, columns=None if fitted is None else [str(name) for name in fitted])
    if table is None:
        return ArrayTable(validate_records(X, estimator=estimator, reset=reset))
    if reset:
        estimator.n_features_in_ = table.columns
        estimator.feature_names_in_ = np.array(table.names, dtype=object)
    elif table.columns != estimator.n_features_in_ or (
        fitted is not None and tuple(fitted) != table.names
    ):
        known = estimator.n_features_in_ if fitted is None else list(fitted)
        raise DataError(
            f"X must have the columns of fit, {known}, in this order, got {table.columns} columns "
            "that are not these"
        )
    return table


def _refuse_text(X: Any) -> None:
    """Refuse tables with repeated column names, and text that numpy would turn into numbers."""
    if nw.dependencies.is_into_dataframe(X):
        names = list(getattr(X, "column_names", X.columns))
        if len(set(names)) < len(names):
            raise DataError("X must have different names for all columns: rename repeated ones")
        for name, kind in nw.from_native(X, eager_only=True).schema.items():
            if not (kind.is_numeric() or kind == nw.Boolean):
                raise DataTypeError(
                    f"X must hold numbers only, got {kind} in column {name!r}: encode or drop it"
                )
        return
    values = np.array(X, dtype=object) if isinstance(X, list | tuple) else X
    kind = getattr(getattr(values, "dtype", None), "kind", "")
    if kind in ("S", "U") or (kind == "O" and any(isinstance(v, str | bytes) for v in values.flat)):
        raise DataTypeError(TEXT)


def _plain(message: str) -> str:
    for sign, words in PLAIN.items():
        if sign in message:
            return words
    first = message.splitlines()[0]
    if "argument must be" in first:
        return f"X must hold numbers only: {first}"
    if first.startswith("Found array with"):
        return f"X must be a table: {first.removesuffix(' by BaseEstimator.')}"
    return first if first.startswith(HARMLESS) else TEXT
