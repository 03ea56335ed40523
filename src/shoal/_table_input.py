"""From records wherever they are to a table: for code that may read records, and no other.

Remaps and clusterers of reports take what is in memory, through ``shoal._records``; an import
contract keeps them away from this module.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from shoal import tables
from shoal._bounds import bounds_names, refuse_other_indexes
from shoal._records import NO_RECORDS, frame_labels, validate_floats
from shoal.exceptions import DataError, ParameterError
from shoal.schema import Schema
from shoal.tables import ArrayTable

if TYPE_CHECKING:
    from shoal.tables import ArrowTable, SparkTable

__all__ = ["refuse_users", "validate_table"]

# What is in memory plainly: to find that out, no module that reads files need be loaded.
IN_MEMORY = (np.ndarray, list, tuple, dict, ArrayTable)


def validate_table(
    X: Any,
    *,
    estimator: Any,
    reset: bool = True,
    user_ids: Any = None,
    schema: Schema | None = None,
) -> "ArrayTable | ArrowTable | SparkTable":
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
    schema : Schema, default=None
        The public description of the columns: records are encoded, and what is noted of columns is
        that of its features. In ``fit``, the table then says whose record each row is, and how much
        it counts, where the schema does.

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
    ours = reset and user_ids is None and isinstance(X, ArrayTable) and X.user_ids is not None
    if ours and not (isinstance(schema, Schema) and schema.user is not None):
        # The promise would be made to rows, of which one user may have many.
        raise ParameterError(
            "user_ids must be given to fit with a table that says whose record each row is: pass "
            "user_ids=table.user_ids, or read the table without them for a promise to records",
            parameter="user_ids",
            code="type",
        )
    if schema is not None:
        return _encoded_table(X, schema, estimator=estimator, reset=reset)
    if not isinstance(X, IN_MEMORY) and tables.is_array_path(X):
        X = tables.open_array(X)
    bounds = getattr(estimator, "bounds", None)
    fitted = None if reset else getattr(estimator, "feature_names_in_", None)
    table: ArrayTable | ArrowTable | SparkTable | None = _opened(
        X, columns=None if fitted is None else [str(name) for name in fitted]
    )
    if table is None:
        records = X.X if isinstance(X, ArrayTable) else X
        refuse_other_indexes(bounds, frame_labels(records))
        if not (isinstance(X, ArrayTable) and X.names):
            plain = ArrayTable(validate_floats(records, estimator=estimator, reset=reset))
            _check_named(estimator)
            return plain
        table = ArrayTable(validate_floats(records), X.names)
    refuse_other_indexes(bounds, table.names or ())
    if reset:
        estimator.n_features_in_ = table.columns
        if table.names:
            estimator.feature_names_in_ = np.array(table.names, dtype=object)
        else:
            vars(estimator).pop("feature_names_in_", None)
        _check_named(estimator)
    elif table.columns != estimator.n_features_in_ or (
        fitted is not None and tuple(fitted) != table.names
    ):
        known = estimator.n_features_in_ if fitted is None else list(fitted)
        raise DataError(
            f"X must have the columns of fit, {known}, in this order, got {table.columns} columns "
            "that are not these",
            code="columns",
        )
    return table


def _check_named(estimator: Any) -> None:
    """Refuse bounds by name for columns that have none."""
    named = bounds_names(getattr(estimator, "bounds", None))
    if named and not hasattr(estimator, "feature_names_in_"):
        raise ParameterError(
            f"bounds must be of columns by their index where X has no names, got {named[0]!r}",
            parameter="bounds",
            code="columns",
            in_python="pass a data frame, or bounds={0: (low, high), ...}",
        )


def _opened(X: Any, **kwargs: Any) -> "ArrowTable | SparkTable | None":
    """Open records that are not in memory; None for those that are."""
    return None if isinstance(X, IN_MEMORY) else tables.open_table(X, **kwargs)


def refuse_users(schema: Schema | None) -> None:
    """Refuse a schema that says whose record each row is, for promises that are made to rows."""
    field = None if schema is None else (schema.user or schema.sample_weight)
    if field is not None:
        raise ParameterError(
            f"schema must have no field with the role {field.role!r} here, where the promise is to "
            f"rows and each counts once, got {field.name!r}: use DPKMeans, whose promise can be to "
            "users, or a table and a schema of one row for each user",
            code="unsupported",
        )


def _encoded_table(
    X: Any, schema: Schema, *, estimator: Any, reset: bool
) -> "ArrayTable | ArrowTable | SparkTable":
    """Open records by their schema, encoded as they are read."""
    if not isinstance(schema, Schema):
        raise ParameterError(
            f"schema must be a Schema, got {type(schema).__name__}",
            parameter="schema",
            code="type",
            in_python="pass Schema.load(path)",
        )
    schema.check_complete()
    table: ArrayTable | ArrowTable | SparkTable | None = _opened(X, schema=schema)
    if table is None:
        table = X if isinstance(X, ArrayTable) else _encoded_memory(X, schema, whole=reset)
    elif reset and (schema.user or schema.sample_weight):
        # The promise would be made to rows, of which one user may have many.
        raise DataError(
            "X must be in memory where the schema says whose record each row is, or how much it "
            "counts, got files or a Spark DataFrame",
            code="unsupported",
            in_python="read the table first",
        )
    ours = not isinstance(X, ArrayTable) or schema.space.holds(np.asarray(X.X, dtype=np.float64))
    if table.schema != schema or not ours:
        raise DataError(
            "X must be a table that was read with the schema of the estimator, got another one",
            code="conflict",
            in_python="pass schema= when it is read",
        )
    if reset and schema.user is not None and getattr(table, "user_ids", None) is None:
        raise DataError(
            "X must say whose record each row is, as the schema does, got a table without: read "
            "it with the schema",
            code="missing",
        )
    names = np.array(schema.columns, dtype=object)
    if reset:
        estimator.n_features_in_ = len(names)
        estimator.feature_names_in_ = names
    return table


def _encoded_memory(X: Any, schema: Schema, *, whole: bool) -> ArrayTable:
    """Encode records in memory; as a whole, with their users and weights."""
    encoded = schema.encode(X)
    if not len(encoded):
        raise DataError(NO_RECORDS, code="empty")
    users = schema.read_users(X) if whole else None
    weights = None
    if whole and schema.sample_weight is not None:
        name = schema.sample_weight.name
        weights = schema.read(X, [name])[name]
    return ArrayTable(encoded, schema.space.names, user_ids=users, weights=weights, schema=schema)
