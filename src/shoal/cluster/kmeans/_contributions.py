"""How much one person may add: weights up to a public limit, records up to a public number.

Both are bounded record by record or user by user, never by looking at others, so what one person
can add to a count is at most ``unit``, whatever the rest of the table holds. No message says how
many rows there are.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.cluster.kmeans._users import read_users
from shoal.exceptions import DataError, ParameterError
from shoal.privacy import PrivacyUnit
from shoal.tables import ArrayTable, ArrowTable, SparkTable

__all__ = ["LEVELS", "Contributions", "bounded_contributions", "counted_rows"]

LEVELS = 2**8  # a weight is a whole number of limit / LEVELS


class Contributions(NamedTuple):
    """Which records count, how much, and the most that one person adds."""

    rows: npt.NDArray[np.intp] | None
    weights: npt.NDArray[np.int32] | None
    record: int  # what a record of full weight adds to a count
    unit: int  # what one person adds at most
    privacy_unit: PrivacyUnit = PrivacyUnit()  # who that person is


def bounded_contributions(
    table: ArrayTable | ArrowTable | SparkTable,
    *,
    sample_weight: Any,
    weight_limit: float,
    user_ids: Any,
    records_per_user: int,
    user_column: str = "",
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
    user_column : str, default=""
        Name of the column of ids, for one that has none.

    Returns
    -------
    contributions : Contributions
        Rows to keep (None: all) and integer weights (None: 1 each).

    Raises
    ------
    DataError
        If weights or user ids do not fit the table; the message names no value of them.
    ParameterError
        If ``user_column`` is not the name of the ids, or there are none.
    """
    if user_ids is None and user_column:
        raise ParameterError(
            f"user_column must be '' without user_ids, got {user_column!r}: pass them to fit"
        )
    if not isinstance(table, ArrayTable):
        return _out_of_memory(sample_weight, user_ids)
    rows, people, protected = None, 1, PrivacyUnit()
    if user_ids is not None:
        users = read_users(user_ids, table.rows)
        people = int(records_per_user)
        protected = PrivacyUnit.user(_agreed(users.column, user_column), max_rows=people)
        rows = _first_rows(users.codes, people)
    if sample_weight is None:
        return Contributions(rows, None, 1, people, protected)
    weights = _weights(sample_weight, table.rows, weight_limit)
    if rows is not None:
        weights = weights[rows]
    return Contributions(rows, weights, LEVELS, LEVELS * people, protected)


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


def _out_of_memory(sample_weight: Any, user_ids: Any) -> Contributions:
    if sample_weight is not None:
        raise DataError(
            "sample_weight must be None for records out of memory",
            parameter="out_of_memory",
            in_python="pass arrays",
        )
    if user_ids is not None:
        raise DataError(
            "user_ids must be None for records out of memory, whose users no pass gathers",
            parameter="out_of_memory",
            in_python="pass arrays, or keep at most m rows of each user and read "
            "guarantee_.for_group(m)",
        )
    return Contributions(None, None, 1, 1)


def _agreed(own: str, given: str) -> str:
    """Return the name of the column of ids, its own or the given one."""
    if own and given and own != given:
        raise ParameterError(
            f"user_column must be the name of the column of user_ids, {own!r}, got {given!r}: "
            "leave it out"
        )
    return own or given


def _weights(sample_weight: Any, n: int, limit: float) -> npt.NDArray[np.int32]:
    try:
        column = np.asarray(sample_weight)
    except ValueError:  # rows of different lengths; numpy's words may hold values
        column = np.empty(())
    if column.ndim != 1 or len(column) != n:
        raise DataError("sample_weight must have one entry for each row of X")
    if column.dtype.kind not in "biuf" or not np.isfinite(column).all() or (column < 0).any():
        raise DataError("sample_weight must hold finite numbers, none below 0")
    if not column.any():
        raise DataError("sample_weight must not be zero for every record: weight at least one")
    clipped = np.minimum(column.astype(np.float64), limit)
    return np.rint(clipped / limit * LEVELS).astype(np.int32)


def _first_rows(users: npt.NDArray[Any], most: int) -> npt.NDArray[np.intp]:
    order = np.argsort(users, kind="stable")
    grouped = users[order]
    starts = np.flatnonzero(np.concatenate([[True], grouped[1:] != grouped[:-1]]))
    rank = np.arange(len(grouped)) - np.repeat(starts, np.diff([*starts, len(grouped)]))
    return np.sort(order[rank < most])
