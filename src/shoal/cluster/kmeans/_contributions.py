"""How much one person may add: weights up to a public limit, records up to a public number.

Both are bounded record by record or user by user, never by looking at others, so what one person
can add to a count is at most ``unit``, whatever the rest of the table holds.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.exceptions import DataError
from shoal.tables import ArrayTable, ArrowTable, SparkTable

__all__ = ["LEVELS", "Contributions", "bounded_contributions", "counted_rows"]

LEVELS = 2**8  # a weight is a whole number of limit / LEVELS


class Contributions(NamedTuple):
    """Which records count, how much, and the most that one person adds."""

    rows: npt.NDArray[np.intp] | None
    weights: npt.NDArray[np.int32] | None
    record: int  # what a record of full weight adds to a count
    unit: int  # what one person adds at most


def bounded_contributions(
    table: ArrayTable | ArrowTable | SparkTable,
    *,
    sample_weight: Any,
    weight_limit: float,
    user_ids: Any,
    records_per_user: int,
) -> Contributions:
    """Bound what each person adds.

    Parameters
    ----------
    table : ArrayTable, ArrowTable or SparkTable
        The records.
    sample_weight : array-like of shape (n,) or None
        Weights, at least 0; above ``weight_limit`` they count as that.
    weight_limit : float
        Public.
    user_ids : array-like of shape (n,) or None
        Whose record each row is; None: every row is a person's only one.
    records_per_user : int
        Public; the first so many rows of each user count.

    Returns
    -------
    contributions : Contributions
        Rows to keep (None: all) and integer weights (None: 1 each).

    Raises
    ------
    DataError
        If weights or user ids do not fit the table; the message names no value of them.
    """
    if not isinstance(table, ArrayTable):
        for name, values in (("sample_weight", sample_weight), ("user_ids", user_ids)):
            if values is not None:
                raise DataError(f"{name} must be None for records out of memory: pass arrays")
        return Contributions(None, None, 1, 1)
    n = table.rows
    rows = None
    people = 1
    if user_ids is not None:
        people = int(records_per_user)
        rows = _first_rows(_column("user_ids", user_ids, n), people)
    if sample_weight is None:
        return Contributions(rows, None, 1, people)
    weights = _weights(sample_weight, n, weight_limit)
    if rows is not None:
        weights = weights[rows]
    return Contributions(rows, weights, LEVELS, LEVELS * people)


def counted_rows(
    table: ArrayTable | ArrowTable | SparkTable, given: Contributions
) -> ArrayTable | ArrowTable | SparkTable:
    """Leave out the records that do not count.

    Parameters
    ----------
    table : ArrayTable, ArrowTable or SparkTable
        All records.
    given : Contributions
        What counts of them.

    Returns
    -------
    table : ArrayTable, ArrowTable or SparkTable
        The same table where all count.
    """
    if given.rows is None or not isinstance(table, ArrayTable):
        return table
    return ArrayTable(table.X[given.rows])


def _column(name: str, values: Any, n: int) -> npt.NDArray[Any]:
    try:
        column = np.asarray(values)
    except ValueError:  # rows of different lengths; numpy's words may hold values
        column = np.empty(())
    if column.ndim != 1 or len(column) != n:
        raise DataError(f"{name} must have one entry for each of the {n} rows of X")
    return column


def _weights(sample_weight: Any, n: int, limit: float) -> npt.NDArray[np.int32]:
    column = _column("sample_weight", sample_weight, n)
    if column.dtype.kind not in "biuf" or not np.isfinite(column).all() or (column < 0).any():
        raise DataError("sample_weight must hold finite numbers, none below 0")
    if not column.any():
        raise DataError("sample_weight must not be zero for every record: weight at least one")
    clipped = np.minimum(column.astype(np.float64), limit)
    return np.rint(clipped / limit * LEVELS).astype(np.int32)


def _first_rows(users: npt.NDArray[Any], most: int) -> npt.NDArray[np.intp]:
    try:
        # What is missing is not even equal to itself, and would make one user of many.
        known = bool(np.equal(users, users).all())
        _, inverse = np.unique(users, return_inverse=True)
    except TypeError:
        known = False
    if not known:
        raise DataError("user_ids must be all numbers or all text, none of them missing")
    order = np.argsort(inverse, kind="stable")
    grouped = inverse[order]
    starts = np.flatnonzero(np.concatenate([[True], grouped[1:] != grouped[:-1]]))
    rank = np.arange(len(grouped)) - np.repeat(starts, np.diff([*starts, len(grouped)]))
    return np.sort(order[rank < most])
