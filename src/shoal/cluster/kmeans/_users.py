"""Whose row a row is, from that row's id alone.

Ids are never brought to a common type: numpy would turn all of a list into floats because of one
float, or into text because of one text, and so let one user merge the others. What cannot be told
apart safely is refused by its type. Two ids are one user if both are the same whole number, the
same text (code point by code point), the same bytes or the same UUID; ``1`` and ``"1"`` are two.
"""

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

import narwhals as nw
import numpy as np
import numpy.typing as npt

from shoal.exceptions import DataError, DataTypeError

__all__ = ["Users", "check_same_rows", "read_users"]

Codes = npt.NDArray[np.integer[Any]]

RULE = "user_ids must be whole numbers, text, bytes or UUIDs, none of them missing"
COLUMN = "user_ids must be one column with one entry for each row of X"
PLAIN = {int, str, bytes, UUID}
MISSING = {"NoneType", "NAType", "NaTType"}  # of Python and pandas


class Users(NamedTuple):
    """A number for each row, the same for the same user, and the name of the column of ids."""

    codes: Codes
    column: str


def read_users(user_ids: Any, n: int) -> Users:
    """Find out which rows are the same user's.

    Parameters
    ----------
    user_ids : list, tuple, ndarray, or pandas, polars or Arrow column
        An id for each row.
    n : int
        Number of rows.

    Returns
    -------
    users : Users
        Whether two rows have the same code depends on their two ids alone.

    Raises
    ------
    DataError
        If it is not one column with an entry for each row.
    DataTypeError
        If an id is missing, or of a type whose values cannot be told apart safely.
    """
    if type(user_ids).__module__.startswith("pyspark"):
        raise DataTypeError("user_ids must be in memory, got a column of Spark: collect it")
    native = _native(user_ids)
    series = nw.from_native(native, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        try:
            codes = _codes_of_series(series)
        except UnicodeDecodeError:  # it holds the text
            raise _refused("text that is not UTF-8") from None
        column = series.name if isinstance(series.name, str) else ""
    else:
        codes, column = _codes_of_array(native), ""
    if len(codes) != n:
        raise DataError(COLUMN)
    return Users(codes, column)


def check_same_rows(X: Any, user_ids: Any) -> None:
    """Refuse ids of pandas whose rows have other labels than those of X.

    Ids are taken row by row, as scikit-learn takes weights. A frame that was shuffled or sorted
    after its ids were taken would give rows to the wrong users, and users a promise for others'
    rows.

    Parameters
    ----------
    X : object
        Records as they were given.
    user_ids : object
        Ids as they were given.

    Raises
    ------
    DataError
        If both have an index, and not the same.
    """
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(X, pandas.DataFrame):
        return
    if isinstance(user_ids, pandas.Series) and not X.index.equals(user_ids.index):
        raise DataError(
            "user_ids must have the index of X, got another",
            parameter="user_ids",
            in_python="take both from one frame, or pass user_ids.to_numpy() if their rows are in "
            "the same order",
        )


def _native(user_ids: Any) -> Any:
    """Turn indexes and arrays of pandas and Arrow, which narwhals does not know, into columns."""
    pandas, arrow = sys.modules.get("pandas"), sys.modules.get("pyarrow")
    if pandas is not None:
        if isinstance(user_ids, pandas.Index):
            return user_ids.to_series()
        if isinstance(user_ids, pandas.api.extensions.ExtensionArray):
            return pandas.Series(user_ids)
    if arrow is not None and isinstance(user_ids, arrow.Array):
        return arrow.chunked_array([user_ids])
    return user_ids


def _codes_of_series(series: nw.Series[Any]) -> Codes:
    native, dtype = series.to_native(), series.dtype
    if dtype.is_integer() and dtype not in (nw.Int128, nw.UInt128) and not series.null_count():
        return series.to_numpy()
    if series.implementation.is_pyarrow():
        return _codes_of_arrow(native)
    if series.implementation.is_pandas() and hasattr(native.dtype, "categories"):
        if series.null_count():
            raise _refused("NoneType")
        return _spread(native.cat.categories.to_list(), native.cat.codes.to_numpy())
    return _codes(series.to_list())


def _codes_of_arrow(column: Any) -> Codes:
    """Look at each different id once where Arrow can say which are the same."""
    types = sys.modules["pyarrow"].types
    if types.is_dictionary(column.type):  # chunks, and even one, may hold the same id twice
        column = column.cast(column.type.value_type)
    if not (types.is_string(column.type) or types.is_binary(column.type)) or column.null_count:
        return _codes(column.to_pylist())
    encoded = column.dictionary_encode().combine_chunks()
    return _spread(encoded.dictionary.to_pylist(), encoded.indices.to_numpy())


def _spread(ids: Sequence[Any], places: npt.NDArray[np.integer[Any]]) -> Codes:
    """Return the codes of rows from those of their different ids."""
    codes: Codes = _codes(ids)[places]
    return codes


def _codes_of_array(user_ids: Any) -> Codes:
    """Take lists one by one, and arrays by their type."""
    if isinstance(user_ids, Sequence) and not isinstance(user_ids, str | bytes | bytearray):
        return _codes(user_ids)
    if not hasattr(user_ids, "__array__"):
        raise DataTypeError(f"{COLUMN}, got {type(user_ids).__name__}: pass a list or an array")
    array = np.asanyarray(user_ids)
    if array.ndim != 1:
        raise DataError(COLUMN)
    if array.dtype.kind not in "iuOSTU":
        raise _refused(array.dtype.name)
    if array.dtype.kind in "iu" and not np.ma.is_masked(array):
        return np.asarray(array)
    return _codes(array.tolist())  # masked entries are None


def _codes(ids: Sequence[Any]) -> Codes:
    """Return each id the number of the first row with the same one, or its own if all are whole."""
    kinds = set(map(type, ids))
    refused = sorted(kind.__name__ for kind in kinds if not _allowed(kind))
    if refused:
        raise _refused(next((name for name in refused if name in MISSING), refused[0]))
    if kinds == {int}:
        try:
            return np.array(ids, dtype=np.int64)  # quicker, and exact or an error
        except OverflowError:
            pass
    if not kinds <= PLAIN:
        ids = [_plain(one) for one in ids]
    if bytes in map(type, ids):
        # The hash of bytes is that of the same letters, and Python may warn of comparing the two.
        ids = [(bytes, one) if type(one) is bytes else one for one in ids]
    first: dict[Any, int] = {}
    return np.fromiter(map(first.setdefault, ids, range(len(ids))), np.int64, len(ids))


def _allowed(kind: type) -> bool:
    if kind in PLAIN or kind in (np.str_, np.bytes_):
        return True
    # numpy counts spans of time among the whole numbers.
    return issubclass(kind, np.integer) and not issubclass(kind, np.timedelta64)


def _plain(one: Any) -> Any:
    """Turn a scalar of numpy into the same number, text or bytes of Python."""
    if isinstance(one, np.integer):
        return int(one)
    if isinstance(one, np.str_):
        return str.__str__(one)  # str() would strip zeros at its end
    return bytes(one) if isinstance(one, np.bytes_) else one


def _refused(kind: str) -> DataTypeError:
    if kind in MISSING:
        return DataTypeError(f"{RULE}, got missing ones: drop those rows, or give each its own id")
    if kind.startswith("float"):
        return DataTypeError(
            f"{RULE}, got {kind}, which whole numbers become where some are missing: give whole "
            "numbers or text"
        )
    return DataTypeError(f"{RULE}, got {kind}: give whole numbers or text")
