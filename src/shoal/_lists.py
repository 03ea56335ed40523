"""Columns of lists, as embeddings are kept: one list a record, all of one length.

Each number of a list is a column of the table, without a name. Numbers keep their precision.
"""

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._frames import is_frame, is_series, narwhals
from shoal._numbers import FINITE, raise_alone
from shoal.exceptions import DataError, DataTypeError

__all__ = ["UNEQUAL", "array_of_lists", "arrow_lists", "arrow_width", "is_arrow_list"]

UNEQUAL = "X must hold lists of one length, at least 1, got others: pad or drop those records"
NOT_NUMBERS = "X must hold lists of numbers, got text or other objects in them: encode or drop them"


def array_of_lists(X: Any) -> npt.NDArray[Any] | None:
    """Return a column of lists in memory as a table of numbers.

    Parameters
    ----------
    X : object
        A column of pandas, polars or Arrow, a frame that has no other, or an array of arrays.

    Returns
    -------
    table : ndarray of shape (n, length of the lists), or None
        None where X is something else.

    Raises
    ------
    DataError
        If the lists are not of one length, or do not hold numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> array_of_lists(pd.DataFrame({"vector": [[0.5, 1.0], [2.0, 3.0]]})).tolist()
    [[0.5, 1.0], [2.0, 3.0]]
    """
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(X, arrow.Array):
        X = arrow.chunked_array([X])
    if isinstance(X, np.ndarray):
        return _stacked(X) if X.dtype == object and X.ndim == 1 and _begins(X) else None
    if is_frame(X):
        if len(X.column_names if hasattr(X, "column_names") else X.columns) != 1:
            return None
        frame = narwhals().from_native(X, eager_only=True)
        series = frame.get_column(frame.columns[0])
    elif is_series(X):
        series = narwhals().from_native(X, series_only=True)
    else:
        return None
    return _of_series(series)


def _of_series(series: Any) -> npt.NDArray[Any] | None:
    nw, kind, native = narwhals(), series.dtype, series.to_native()
    if kind == nw.Object:
        return _stacked(native) if _begins(native) else None
    if kind not in (nw.List, nw.Array):
        return None
    if series.implementation.is_pyarrow():
        chunks = [chunk for chunk in native.chunks if len(chunk)]
        if not chunks:
            return np.empty((0, 1))
        width = arrow_width(chunks[0])
        parts = [arrow_lists(chunk, width) for chunk in chunks]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
    if series.implementation.is_polars():
        return _of_polars(native if kind == nw.List else native.arr.to_list())
    return _stacked(native)


def _of_polars(lists: Any) -> npt.NDArray[Any]:
    if not len(lists):
        return np.empty((0, 1))
    lengths = lists.list.len()
    if lists.null_count():
        raise DataError(FINITE, code="finite")
    if lengths[0] == 0 or (lengths != lengths[0]).any():
        raise DataError(UNEQUAL, code="shape")
    values = lists.explode()
    if values.null_count():
        raise DataError(FINITE, code="finite")
    return _numbers(values.to_numpy()).reshape(-1, int(lengths[0]))


def is_arrow_list(kind: Any) -> bool:
    """Return whether values of a type of Arrow are lists of numbers."""
    types = sys.modules["pyarrow"].types
    if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
        return False
    return bool(types.is_integer(kind.value_type) or types.is_floating(kind.value_type))


def arrow_width(lists: Any) -> int:
    """Return how many numbers the first list has, by which the others are measured."""
    if not lists[0].is_valid:
        raise DataError(FINITE, code="finite")
    if not len(lists[0]):
        raise DataError(UNEQUAL, code="shape")
    return len(lists[0])


def arrow_lists(lists: Any, width: int) -> npt.NDArray[Any]:
    """Return lists of Arrow as an array of shape (n, width), without a copy."""
    if not is_arrow_list(lists.type):
        raise DataTypeError(NOT_NUMBERS)
    if lists.null_count:
        raise DataError(FINITE, code="finite")
    fixed = sys.modules["pyarrow"].types.is_fixed_size_list(lists.type)
    lengths = [lists.type.list_size] if fixed else np.diff(lists.offsets.to_numpy())
    if (np.asarray(lengths) != width).any():
        raise DataError(UNEQUAL, code="shape")
    values = lists.flatten()
    if values.null_count:
        raise DataError(FINITE, code="finite")
    found: npt.NDArray[Any] = values.to_numpy(zero_copy_only=True).reshape(-1, width)
    return found


def _begins(cells: Any) -> bool:
    """Return whether a column of objects begins with a list or an array."""
    first = next(iter(cells), None)
    return isinstance(first, list | tuple | np.ndarray)


def _stacked(cells: Iterable[Any]) -> npt.NDArray[Any]:
    """Put lists and arrays that are objects below each other."""
    rows = []
    for cell in cells:
        if cell is None:
            raise DataError(FINITE, code="finite")
        try:
            row = np.asarray(cell)
        except ValueError:  # lists in lists; numpy's words may hold values
            raise_alone(DataTypeError(NOT_NUMBERS))
        if row.ndim != 1:
            raise DataTypeError(NOT_NUMBERS)
        rows.append(_numbers(row) if len(row) else row)
    if not rows:
        return np.empty((0, 1))
    if len({len(row) for row in rows}) != 1 or not len(rows[0]):
        raise DataError(UNEQUAL, code="shape")
    return np.stack(rows)


def _numbers(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if values.dtype.kind not in "iuf":
        raise DataTypeError(NOT_NUMBERS)
    return values
