"""From records wherever they are to a table: for code that may read records, and no other.

Remaps and clusterers of reports take what is in memory, through ``shoal._records``; an import
contract keeps them away from this module.
"""

from typing import Any

import numpy as np

from shoal._records import validate_floats
from shoal.exceptions import DataError, ParameterError
from shoal.tables import (
    ArrayTable,
    ArrowTable,
    SparkTable,
    is_array_path,
    open_array,
    open_table,
)

__all__ = ["validate_table"]


def validate_table(
    X: Any, *, estimator: Any, reset: bool = True, user_ids: Any = None
) -> ArrayTable | ArrowTable | SparkTable:
    """Open records wherever they are, and check what can be known without reading them all.

    Parameters
    ----------
    X : array-like, data frame, path, Arrow dataset, Spark DataFrame, or one of our tables
        Records, one a row. The path of a ``.npy`` or ``.npz`` file is that of an array.
    estimator : estimator
        Whose ``n_features_in_`` and ``feature_names_in_`` are set or compared with.
    reset : bool, default=True
        True in ``fit``: set the attributes; False: compare, and choose the columns of ``fit`` among
        those of a file or a Spark DataFrame.
    user_ids : object, default=None
        Whose record each row is, as given to ``fit``.

    Returns
    -------
    table : ArrayTable, ArrowTable or SparkTable
        Columns are numbers, in their own precision where they are in memory. Those are finite;
        others are looked at by ``table.check``.

    Raises
    ------
    DataError
        If they are not, or columns are not those of ``fit``.
    ParameterError
        If the table says whose record each row is, and ``fit`` was not told.
    """
    if reset and user_ids is None and isinstance(X, ArrayTable) and X.user_ids is not None:
        # The promise would be made to rows, of which one user may have many.
        raise ParameterError(
            "user_ids must be given to fit with a table that says whose record each row is: pass "
            "user_ids=table.user_ids, or read the table without them for a promise to records"
        )
    if is_array_path(X):
        X = open_array(X)
    fitted = None if reset else getattr(estimator, "feature_names_in_", None)
    table: ArrayTable | ArrowTable | SparkTable | None = open_table(
        X, columns=None if fitted is None else [str(name) for name in fitted]
    )
    if table is None:
        records = X.X if isinstance(X, ArrayTable) else X
        if not (isinstance(X, ArrayTable) and X.names):
            return ArrayTable(validate_floats(records, estimator=estimator, reset=reset))
        table = ArrayTable(validate_floats(records), X.names)
    if reset:
        estimator.n_features_in_ = table.columns
        if table.names:
            estimator.feature_names_in_ = np.array(table.names, dtype=object)
        else:
            vars(estimator).pop("feature_names_in_", None)
    elif table.columns != estimator.n_features_in_ or (
        fitted is not None and tuple(fitted) != table.names
    ):
        known = estimator.n_features_in_ if fitted is None else list(fitted)
        raise DataError(
            f"X must have the columns of fit, {known}, in this order, got {table.columns} columns "
            "that are not these"
        )
    return table
