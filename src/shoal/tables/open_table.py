"""Which table it is, from its type."""

import os
import sys
from collections.abc import Sequence
from typing import Any

from shoal.tables.arrow_table import ArrowTable
from shoal.tables.spark_table import SparkTable

__all__ = ["open_table"]


def open_table(X: Any, *, columns: Sequence[str] | None = None) -> ArrowTable | SparkTable | None:
    """Open records that are not in memory.

    Parameters
    ----------
    X : object
        A path, an Arrow dataset, a Spark DataFrame, or one of our tables, which stays as it is.
    columns : sequence of str, default=None
        Which columns, in this order; all by default, but for a path, which needs them. A table of
        ours has made that choice.

    Returns
    -------
    table : ArrowTable, SparkTable or None
        None for anything else: arrays and data frames in memory.

    Examples
    --------
    >>> open_table([[1.0, 2.0]]) is None
    True
    """
    if isinstance(X, ArrowTable | SparkTable):
        return X
    if isinstance(X, str | os.PathLike) or _is_one("pyarrow.dataset", "Dataset", X):
        return ArrowTable(X, columns=columns)
    if _is_one("pyspark.sql", "DataFrame", X):
        return SparkTable(X, columns=columns)
    return None


def _is_one(module: str, name: str, X: Any) -> bool:
    """Look whether it is one of a package's, without loading it for those who have none."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(X, getattr(loaded, name))
