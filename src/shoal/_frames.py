"""Data frames and their columns, of any library, through narwhals.

It is loaded when it is first needed: lists, arrays and dictionaries, which are all that a device
has, need none of it.
"""

import numbers
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from shoal._optional import require

__all__ = ["is_frame", "is_pandas_series", "is_series", "narwhals", "to_native"]

# What can be no frame and no column of one.
PLAIN = (np.ndarray, list, tuple, Mapping, str, bytes, numbers.Number, type(None))


def narwhals() -> Any:
    """Return narwhals, for what is a frame or a column of one."""
    return require("narwhals", extra="")


def to_native(X: Any) -> Any:
    """Return a frame or a column without its wrapper of narwhals; all else as it is."""
    return X if isinstance(X, PLAIN) else narwhals().to_native(X, pass_through=True)


def is_frame(X: Any) -> bool:
    """Return whether it is a data frame in memory."""
    return not isinstance(X, PLAIN) and narwhals().dependencies.is_into_dataframe(X)


def is_series(X: Any) -> bool:
    """Return whether it is a column of a data frame."""
    if isinstance(X, PLAIN):
        return False
    nw = narwhals()
    return nw.dependencies.is_into_series(X) or isinstance(X, nw.Series)


def is_pandas_series(X: Any) -> bool:
    """Return whether it is a column or a row of pandas, which need not be loaded."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(X, pandas.Series)
