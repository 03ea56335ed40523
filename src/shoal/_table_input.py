"""From records wherever they are to a table: for code that may read records, and no other.

Remaps and clusterers of reports take what is in memory, through ``shoal._records``; an import
contract keeps them away from this module.
"""

from typing import Any

import numpy as np

from shoal._records import validate_records
from shoal.exceptions import DataError
from shoal.tables import ArrayTable, ArrowTable, SparkTable, open_table

__all__ = ["validate_table"]


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
    table: ArrayTable | ArrowTable | SparkTable | None = open_table(
        X, columns=None if fitted is None else [str(name) for name in fitted]
    )
    if table is None:
        if not (isinstance(X, ArrayTable) and X.names):
            return ArrayTable(validate_records(X, estimator=estimator, reset=reset))
        table = ArrayTable(validate_records(X.X), X.names)
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
