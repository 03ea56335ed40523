"""How much one person may add: weights up to a public limit, records up to a public number.

Both are bounded record by record or user by user, never by looking at others, so what one person
can add to a count is at most ``max_contribution``, whatever the rest of the table holds. No message
says how many rows there are.

Whose row a row is follows from that row's id alone. Ids are never brought to a common type: numpy
would turn all of a list into floats because of one float, or into text because of one text, and so
let one user merge the others. What cannot be told apart safely is refused by its type. Two ids are
one user if both are the same whole number, the same text (code point by code point), the same bytes
or the same UUID; ``1`` and ``"1"`` are two.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import narwhals as nw
import numpy as np
import numpy.typing as npt

from shoal._numbers import raise_alone
from shoal.exceptions import DataError, DataTypeError, ParameterError
from shoal.privacy import PrivacyUnit
from shoal.schema import Number, Schema
from shoal.tables import ArrayTable, ArrowTable, SparkTable

__all__ = [
    "LEVELS",
    "Contributions",
    "Users",
    "bounded_contributions",
    "check_same_rows",
    "counted_rows",
    "given_contributions",
    "read_users",
]

Codes = npt.NDArray[np.integer[Any]]

LEVELS = 2**8  # a weight is a whole number of limit / LEVELS
RULE = "user_ids must be whole numbers, text, bytes or UUIDs, none of them missing"
COLUMN = "user_ids must be one column with one entry for each row of X"
PLAIN = {int, str, bytes, UUID}
MISSING = {"NoneType", "NAType", "NaTType"}  # of Python and pandas


class Contributions(NamedTuple):
    """Which records count, how much, and the most that one person adds."""

    rows: npt.NDArray[np.intp] | None
    weights: npt.NDArray[np.int32] | None
    record: int  # what a record of full weight adds to a count
    max_contribution: int  # what one person adds at most
    privacy_unit: PrivacyUnit = PrivacyUnit()  # who that person is
    users: Codes | None = None  # whose each counted row is


def given_contributions(
    X: Any,
    table: ArrayTable | ArrowTable | SparkTable,
    schema: Schema | None,
    *,
    user_ids: Any,
    records_per_user: int,
    user_column: str,
    sample_weight: Any = None,
    weight_limit: float = 1.0,
) -> Contributions:
    """Bound what each person adds, by what ``fit`` was given or by the roles of a schema."""
    if schema is not None and isinstance(table, ArrayTable):
        if user_ids is None and table.user_ids is not None and schema.user is not None:
            user_ids, user_column = table.user_ids, user_column or schema.user.name
        field = schema.sample_weight
        if sample_weight is None and isinstance(field, Number) and field.maximum is not None:
            sample_weight, weight_limit = table.weights, float(field.maximum)
    check_same_rows(X, user_ids)
    return bounded_contributions(
        table,
        sample_weight=sample_weight,
        weight_limit=weight_limit,
        user_ids=user_ids,
        records_per_user=records_per_user,
        user_column=user_column,
    )


def bounded_contributions(
    table: ArrayTable | ArrowTable | SparkTable,
    *,
    sample_weight: Any,
    weight_limit: float,
    user_ids: Any,
    records_per_user: int,
    user_column: str = "",
) -> Contributions:
    """Bound what each person adds."""
    if user_ids is None and user_column:
        raise ParameterError(
            f"user_column must be '' without user_ids, got {user_column!r}: pass them to fit",
            parameter="user_column",
            code="unexpected",
        )
    if not isinstance(table, ArrayTable):
        return _out_of_memory(sample_weight, user_ids)
    rows, whose, people, protected = None, None, 1, PrivacyUnit()
    if user_ids is not None:
        users = read_users(user_ids, table.rows)
        people = int(records_per_user)
        protected = PrivacyUnit.user(_agreed(users.column, user_column), max_rows=people)
        rows = _first_rows(users.codes, people)
        whose = users.codes[rows]
    if sample_weight is None:
        return Contributions(rows, None, 1, people, protected, whose)
    weights = _weights(sample_weight, table.rows, weight_limit)
    if rows is not None:
        weights = weights[rows]
    return Contributions(rows, weights, LEVELS, LEVELS * people, protected, whose)


def counted_rows(
    table: ArrayTable | ArrowTable | SparkTable, given: Contributions
) -> ArrayTable | ArrowTable | SparkTable:
    """Leave out the records that do not count."""
    if given.rows is None or not isinstance(table, ArrayTable):
        return table
    return ArrayTable(table.X[given.rows])


def _out_of_memory(sample_weight: Any, user_ids: Any) -> Contributions:
    if sample_weight is not None:
        raise DataError(
            "sample_weight must be None for records out of memory",
            parameter="sample_weight",
            code="unsupported",
            in_python="pass arrays",
        )
    if user_ids is not None:
        raise DataError(
            "user_ids must be None for records out of memory, whose users no pass gathers",
            parameter="user_ids",
            code="unsupported",
            in_python="pass arrays, or keep at most m rows of each user and read "
            "guarantee_.for_group(m)",
        )
    return Contributions(None, None, 1, 1)


def _agreed(own: str, given: str) -> str:
    """Return the name of the column of ids, its own or the given one."""
    if own and given and own != given:
        raise ParameterError(
            f"user_column must be the name of the column of user_ids, {own!r}, got {given!r}: "
            "leave it out",
            parameter="user_column",
            code="conflict",
        )
    return own or given


def _weights(sample_weight: Any, n: int, limit: float) -> npt.NDArray[np.int32]:
    try:
        column = np.asarray(sample_weight)
    except ValueError:  # rows of different lengths; numpy's words may hold values
        column = np.empty(())
    if column.ndim != 1 or len(column) != n:
        raise DataError(
            "sample_weight must have one entry for each row of X",
            parameter="sample_weight",
            code="shape",
        )
    # What a mask hides is missing, and numpy would take the value under it.
    hidden = np.ma.is_masked(sample_weight) or column.dtype.kind not in "biuf"
    if hidden or not np.isfinite(column).all() or (column < 0).any():
        raise DataError(
            "sample_weight must hold finite numbers, none below 0",
            parameter="sample_weight",
            code="finite",
        )
    if not column.any():
        raise DataError(
            "sample_weight must not be zero for every record: weight at least one",
            parameter="sample_weight",
            code="empty",
        )
    # A weight beyond a double is infinite and clipped too; one that underflows is 0.
    with np.errstate(over="ignore", under="ignore"):
        clipped = np.minimum(column.astype(np.float64), limit)
        return np.rint(clipped / limit * LEVELS).astype(np.int32)


def _first_rows(users: npt.NDArray[Any], most: int) -> npt.NDArray[np.intp]:
    order = np.argsort(users, kind="stable")
    grouped = users[order]
    starts = np.flatnonzero(np.concatenate([[True], grouped[1:] != grouped[:-1]]))
    rank = np.arange(len(grouped)) - np.repeat(starts, np.diff([*starts, len(grouped)]))
    return np.sort(order[rank < most])


class Users(NamedTuple):
    """A number for each row, the same for the same user, and the name of the column of ids."""

    codes: Codes
    column: str


def read_users(user_ids: Any, n: int) -> Users:
    """Find out which rows are the same user's."""
    if type(user_ids).__module__.startswith("pyspark"):
        raise DataTypeError(
            "user_ids must be in memory, got a column of Spark: collect it",
            parameter="user_ids",
            code="unsupported",
        )
    native = _native(user_ids)
    series = nw.from_native(native, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        try:
            codes = _codes_of_series(series)
        except UnicodeDecodeError:  # it holds the text
            raise_alone(_refused("text that is not UTF-8"))
        column = series.name if isinstance(series.name, str) else ""
    else:
        codes, column = _codes_of_array(native), ""
    if len(codes) != n:
        raise DataError(COLUMN, parameter="user_ids", code="shape")
    return Users(codes, column)


def check_same_rows(X: Any, user_ids: Any) -> None:
    """Refuse ids of pandas whose rows have other labels than those of X.

    Ids are taken row by row, as scikit-learn takes weights. A frame that was shuffled or sorted
    after its ids were taken would give rows to the wrong users, and users a promise for others'
    rows.
    """
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(user_ids, pandas.Series):
        return
    parts = X.values() if isinstance(X, Mapping) else [X]
    named = [part for part in parts if isinstance(part, pandas.DataFrame | pandas.Series)]
    if any(not part.index.equals(user_ids.index) for part in named):
        raise DataError(
            "user_ids must have the index of X, got another",
            parameter="user_ids",
            code="conflict",
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


def _spread(ids: Sequence[Any], indices: npt.NDArray[np.integer[Any]]) -> Codes:
    """Return the codes of rows from those of their different ids."""
    codes: Codes = _codes(ids)[indices]
    return codes


def _codes_of_array(user_ids: Any) -> Codes:
    """Take lists one by one, and arrays by their type."""
    if isinstance(user_ids, Sequence) and not isinstance(user_ids, str | bytes | bytearray):
        return _codes(user_ids)
    if not hasattr(user_ids, "__array__"):
        raise DataTypeError(
            f"{COLUMN}, got {type(user_ids).__name__}: pass a list or an array",
            parameter="user_ids",
        )
    array = np.asanyarray(user_ids)
    if array.ndim != 1:
        raise DataError(COLUMN, parameter="user_ids", code="shape")
    if array.dtype.kind not in "iuOSTU":
        raise _refused(array.dtype.name)
    if array.dtype.kind in "iu" and not np.ma.is_masked(array):
        return np.asarray(array)
    return _codes(array.tolist())  # masked entries are None


def _codes(ids: Sequence[Any]) -> Codes:
    """Return for each id the first row with the same one, or the id itself if all are whole."""
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
        got = "missing ones: drop those rows, or give each its own id"
    elif kind.startswith("float"):
        got = (
            f"{kind}, which whole numbers become where some are missing: give whole numbers or text"
        )
    else:
        got = f"{kind}: give whole numbers or text"
    return DataTypeError(f"{RULE}, got {got}", parameter="user_ids")
