"""Records of a user, from files and to files; which table it is, from its type.

No message names a row or a value: files hold raw records.
"""

import csv
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt

from shoal._files import atomic_write, hidden_sibling
from shoal._lists import array_of_lists, is_arrow_list
from shoal._numbers import FINITE, raise_alone
from shoal._optional import require
from shoal._typing import Records
from shoal.exceptions import DataError, DataTypeError, ParameterError
from shoal.schema import Schema
from shoal.tables._csv import first_row, is_missing, parse_numbers, read_csv, unreadable
from shoal.tables.array_table import ArrayTable
from shoal.tables.arrow_table import ArrowTable
from shoal.tables.columns import check_names, locate_columns
from shoal.tables.sources import MemoryFile, Source, as_source, check_unpacked, open_source, suffix
from shoal.tables.spark_table import SparkTable

__all__ = [
    "check_table_path",
    "open_table",
    "read_columns",
    "read_first_line",
    "read_table",
    "table_csv",
    "write_table",
]

PARQUET = (".parquet", ".pq")
CSV = (".csv",)
NUMBER_BYTES = 8


def open_table(
    X: Any, *, columns: Sequence[str] | None = None, schema: Schema | None = None
) -> ArrowTable | SparkTable | None:
    """Open a table of records that are not in memory.

    Parameters
    ----------
    X : object
        A path, an Arrow dataset or a Spark DataFrame; an ``ArrowTable`` or ``SparkTable`` is
        returned unchanged.
    columns : sequence of str, default=None
        Names of the columns to read, in this order; required for a path, and None takes all columns
        of anything else. Not for an ``ArrowTable`` or ``SparkTable``, which has its own.
    schema : Schema, default=None
        Public description of the columns, in place of `columns`; it encodes the records.

    Returns
    -------
    table : ArrowTable, SparkTable or None
        None for anything else, such as arrays and data frames in memory.

    Examples
    --------
    >>> open_table([[1.0, 2.0]]) is None
    True
    """
    if isinstance(X, ArrowTable | SparkTable):
        return X
    if isinstance(X, str | os.PathLike) or _is_one("pyarrow.dataset", "Dataset", X):
        return ArrowTable(X, columns=columns, schema=schema)
    if _is_one("pyspark.sql", "DataFrame", X):
        return SparkTable(X, columns=columns, schema=schema)
    return None


def read_table(
    path: str | os.PathLike[str] | MemoryFile,
    *,
    columns: Sequence[str] | None = None,
    label: str | None = None,
    user: str | None = None,
    names: Sequence[str] | None = None,
    schema: Schema | None = None,
) -> ArrayTable:
    r"""Read columns of numbers, or of a schema, from a CSV or Parquet file.

    The caller must name every column to read: the first line of a file may be a record instead of
    a header, so no name is taken from it, and messages contain only names that the caller gave.

    Parameters
    ----------
    path : path-like or MemoryFile
        A Parquet file if the name ends in ``.parquet``, else CSV with a header line, possibly
        compressed (``.gz``); on disk or in memory.
    columns : sequence of str, default=None
        Names of the columns to read, in this order. In a Parquet file, a single column may hold
        lists of numbers, all of the same length: each position becomes a column without a name.
        Not with a schema.
    label : str, default=None
        Name of a column of known classes, numbers or text, which becomes ``labels``.
    user : str, default=None
        Name of a column that identifies the user of each row by text or integers, none missing. It
        becomes ``user_ids`` and is never converted to float, which would merge long numbers.
    names : sequence of str, default=None
        Names of all columns, in order, for a CSV file without a header line.
    schema : Schema, default=None
        Public description of the columns, which may hold text, dates and missing values; it
        encodes the records. Its columns of users and weights are read too.

    Returns
    -------
    table : ArrayTable
        Finite numbers, with the labels and users if these were requested.

    Raises
    ------
    DataError
        If the file cannot be read, or a column is missing or does not hold numbers.
    ParameterError
        If names are given for a file that has a header, or not for all of its columns.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "people.csv"
    >>> _ = path.write_text("height,weight,name\n1.7,64,x\n1.8,80,y\n")
    >>> read_table(path, columns=["weight"], label="name").X.tolist()
    [[64.0], [80.0]]
    >>> folder.cleanup()
    """
    file = as_source(path)
    if schema is not None:
        return _read_described(file, schema, label=label, user=user, names=names)
    if columns is None:
        raise ParameterError(
            "columns must be given for a table without a schema, got none",
            parameter="columns",
            code="missing",
        )
    wanted = check_names(columns)
    apart = [name for name in (label, user) if name is not None]
    read = _read_parquet if suffix(file) in PARQUET else read_csv
    values = read(file, [*wanted, *apart], names)
    lists = _lists(wanted, values)
    if lists is None:
        X: Records = np.column_stack([parse_numbers(name, values[name]) for name in wanted])
    else:
        X, wanted = lists, ()
    if not len(X):
        raise DataError(f"{str(path)!r} must hold at least one record, got none", code="empty")
    return ArrayTable(
        X,
        wanted,
        None if label is None else np.asarray(values[label]),
        None if user is None else _user_ids(user, values[user]),
    )


def read_columns(
    path: str | os.PathLike[str] | MemoryFile,
    columns: Sequence[str],
    *,
    names: Sequence[str] | None = None,
) -> dict[str, Any]:
    r"""Read columns of a CSV or Parquet file without converting them; as private as the records.

    Parameters
    ----------
    path : path-like or MemoryFile
        As for :func:`read_table`.
    columns : sequence of str
        Names of the columns to read.
    names : sequence of str, default=None
        Names of all columns, in order, for a CSV file without a header line.

    Returns
    -------
    columns : dict
        Columns by name, each a list of text or an Arrow array.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "people.csv"
    >>> _ = path.write_text("age,city\n30,A\n,B\n")
    >>> read_columns(path, ["city", "age"])
    {'city': ['A', 'B'], 'age': ['30', '']}
    >>> folder.cleanup()
    """
    file = as_source(path)
    wanted = check_names(columns)
    if suffix(file) not in PARQUET:
        return read_csv(file, wanted, names)
    return _arrow_columns(file, wanted, names)


def read_first_line(path: str | os.PathLike[str] | MemoryFile) -> list[str]:
    r"""Return the first line of a CSV file, or the column names of a Parquet file.

    Only the curator may see it: the line of a CSV file may be a header or a record, which only a
    person who looks at it can tell.

    Parameters
    ----------
    path : path-like or MemoryFile
        As for :func:`read_table`.

    Returns
    -------
    values : list of str
        Values of the line, without blanks at the ends.

    Raises
    ------
    DataError
        If the file cannot be read, or is empty.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "people.csv"
    >>> _ = path.write_text("age,city\n30,A\n")
    >>> read_first_line(path)
    ['age', 'city']
    >>> folder.cleanup()
    """
    file = as_source(path)
    values = _parquet_names(file) if suffix(file) in PARQUET else first_row(file)
    if not values:
        raise DataError(f"{str(path)!r} must hold at least one record, got none", code="empty")
    return [value.strip() for value in values]


def _parquet_names(path: Source) -> list[str]:
    parquet = require("pyarrow.parquet", extra="arrow")
    arrow = require("pyarrow", extra="arrow")
    try:
        with open_source(path) as file:
            return list(parquet.read_schema(file).names)
    except OSError as error:
        raise_alone(unreadable(path, error.strerror or "it is not a Parquet file"))
    except (arrow.ArrowException, UnicodeDecodeError):
        raise_alone(unreadable(path, "it is not a Parquet file"))


def _read_described(
    file: Source,
    schema: Schema,
    *,
    label: str | None,
    user: str | None,
    names: Sequence[str] | None,
) -> ArrayTable:
    """Read and encode the features of a schema, and who and how much each row is."""
    schema.check_complete()
    users = user if schema.user is None else schema.user.name
    weight = schema.sample_weight
    apart = [name for name in (label, users, None if weight is None else weight.name) if name]
    values = read_columns(file, [*schema.columns, *apart], names=names)
    X = schema.encode({name: values[name] for name in schema.columns})
    schema.read_users(values)  # refuses rows of nobody
    if not len(X):
        raise DataError(f"{str(file)!r} must hold at least one record, got none", code="empty")
    return ArrayTable(
        X,
        schema.space.names,
        None if label is None else np.asarray(_listed(values[label])),
        None if users is None else _user_ids(users, _listed(values[users])),
        None if weight is None else schema.read(values, [weight.name])[weight.name],
        schema,
    )


def _listed(values: Any) -> list[Any]:
    try:
        return values if isinstance(values, list) else list(values.to_pylist())
    except UnicodeDecodeError:
        raise_alone(DataTypeError("X must hold text in UTF-8, got other bytes"))


def _read_parquet(
    path: Source, wanted: Sequence[str], names: Sequence[str] | None
) -> dict[str, Any]:
    """Read columns as they are, lists as Arrow has them; None where there is nothing."""
    return {
        name: column if is_arrow_list(column.type) else _listed(column)
        for name, column in _arrow_columns(path, wanted, names).items()
    }


def _arrow_columns(
    path: Source, wanted: Sequence[str], names: Sequence[str] | None
) -> dict[str, Any]:
    if names is not None:
        raise ParameterError(
            f"a file without a header line must be a CSV file, got {str(path)!r}, whose schema has "
            "names"
        )
    parquet = require("pyarrow.parquet", extra="arrow")
    arrow = require("pyarrow", extra="arrow")
    try:
        with open_source(path) as file:
            opened = parquet.ParquetFile(file)
            found = opened.schema_arrow.names
            fields = [found[index] for index in locate_columns(found, wanted, repr(str(path)))]
            check_unpacked(path, _parquet_bytes(opened.metadata))
            table = opened.read(columns=fields)
    except OSError as error:
        raise_alone(unreadable(path, error.strerror or "it is not a Parquet file"))
    except (arrow.ArrowException, UnicodeDecodeError):
        raise_alone(unreadable(path, "it is not a Parquet file"))
    return {name: table.column(field) for name, field in zip(wanted, fields, strict=True)}


def _parquet_bytes(told: Any) -> int:
    """Return about how many bytes a file has in memory, by its own account."""
    pages = sum(told.row_group(group).total_byte_size for group in range(told.num_row_groups))
    return max(int(pages), NUMBER_BYTES * int(told.num_rows) * int(told.num_columns))


def _lists(wanted: Sequence[str], values: dict[str, Any]) -> Records | None:
    """Return the one column of lists as a table of finite numbers; None where there is none."""
    lists = [name for name in wanted if not isinstance(values[name], list)]
    if not lists:
        return None
    if len(wanted) > 1:
        raise DataTypeError(
            f"column {lists[0]!r} must hold numbers, got lists: choose columns without it, or it "
            "alone"
        )
    table: Records | None = array_of_lists(values[lists[0]])
    if table is not None and not np.isfinite(table).all():
        raise DataError(FINITE, code="finite")
    return table


def _user_ids(name: str, values: Sequence[Any]) -> list[str | int]:
    kinds = {type(value) for value in values}
    if any(map(is_missing, values)):
        # As one user they would lose most of their rows, and many people would share a promise:
        # where one of them leaves, rows of another take the place of theirs.
        raise DataError(
            f"column {name!r} must say whose record each row is, got rows without: fill them in or "
            "drop those rows"
        )
    if not (kinds <= {str} or kinds <= {int}):  # one, by the schema of the file
        raise DataError(
            f"column {name!r} must say in text or whole numbers whose record each row is, got "
            "something else: write it as text"
        )
    return list(values)


def write_table(path: str | os.PathLike[str], names: Sequence[str], values: Any) -> Path:
    """Write columns of numbers or text to a CSV or Parquet file.

    The file gets its name when it is complete, so a crash leaves the old file, or none.
    :func:`read_table` reads back the same names and the same numbers.

    Parameters
    ----------
    path : path-like
        A name that ends in ``.csv`` or ``.parquet``; an existing file is replaced.
    names : sequence of str
        Names of the columns, all different.
    values : array-like of shape (n, d)
        Values: numbers, or objects such as numbers, text and dates, with None for a missing one.

    Returns
    -------
    path : Path
        Path of the file.

    Raises
    ------
    ParameterError
        If the name ends otherwise, names and values do not match, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = write_table(Path(folder.name) / "reports.csv", ["age"], [[0.1], [2.5]])
    >>> path.read_text().split()
    ['age', '0.1', '2.5']
    >>> folder.cleanup()
    """
    file = _known(path, names)
    heads, table = _checked(names, values)
    writer = _write_parquet if file.suffix.lower() in PARQUET else _write_csv
    try:
        with atomic_write(file) as part:
            writer(part, heads, table)
    except OSError as failure:
        raise _unwritable(file, failure) from None
    return file


def table_csv(names: Sequence[str], values: Any) -> str:
    """Format columns of numbers or text as CSV, as :func:`write_table` does.

    Parameters
    ----------
    names, values
        As for :func:`write_table`.

    Returns
    -------
    text : str
        The CSV text, with a header line.

    Raises
    ------
    ParameterError
        If names and values do not match.

    Examples
    --------
    >>> table_csv(["age", "city"], [[30, "A"], [41, None]]).split()
    ['age,city', '30,A', '41,']
    """
    heads, table = _checked(names, values)
    text = io.StringIO()
    _write_lines(text, heads, table)
    return text.getvalue()


def _checked(names: Sequence[str], values: Any) -> tuple[list[str], npt.NDArray[Any]]:
    """Return names and values that fit."""
    heads, table = list(names), np.asarray(values)
    if table.ndim != 2 or table.shape[1] != len(heads) or table.dtype.kind not in "iufO":
        raise ParameterError(
            "values must be a table of numbers or objects with one column for each of "
            f"{len(heads)} names, got shape {table.shape} of {table.dtype}",
            parameter="values",
            code="shape",
        )
    return heads, table


def check_table_path(path: str | os.PathLike[str], names: Sequence[str]) -> Path:
    """Check that a table can be written, before any privacy budget is spent on it.

    Parameters
    ----------
    path, names
        As for :func:`write_table`.

    Returns
    -------
    path : Path
        The same path.

    Raises
    ------
    ParameterError
        If the ending or the names are not allowed, or no file can be created there.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from shoal.tables import check_table_path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(check_table_path(Path(folder) / "reports.csv", ["age"]).name)
    reports.csv
    """
    file = _known(path, names)
    try:
        if file.is_dir():
            raise IsADirectoryError(None, "it is a folder")
        probe = hidden_sibling(file)
        probe.touch(exist_ok=False)
        probe.unlink()
    except OSError as failure:
        raise _unwritable(file, failure) from None
    return file


def _known(path: str | os.PathLike[str], names: Sequence[str]) -> Path:
    file = Path(path)
    if file.suffix.lower() not in (*CSV, *PARQUET):
        raise ParameterError(
            f"a table must be written to a file that ends in .csv or .parquet, got {str(path)!r}"
        )
    if file.suffix.lower() in PARQUET:
        require("pyarrow.parquet", extra="arrow")
    if len(set(names)) < len(names):
        raise ParameterError(
            "names must be different, got one twice", parameter="names", code="duplicate"
        )
    return file


def _write_csv(path: Path, names: Sequence[str], table: Any) -> None:
    with path.open("x", newline="", encoding="utf-8") as file:
        _write_lines(file, names, table)


def _write_lines(file: TextIO, names: Sequence[str], table: Any) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(table.tolist())  # as the shortest text that reads back the same


def _write_parquet(path: Path, names: Sequence[str], table: Any) -> None:
    arrow = require("pyarrow", extra="arrow")
    parquet = require("pyarrow.parquet", extra="arrow")
    columns = [
        column.tolist() if table.dtype.kind == "O" else np.ascontiguousarray(column)
        for column in table.T
    ]
    with path.open("xb") as file:
        parquet.write_table(arrow.table(columns, names=list(names)), file)


def _unwritable(file: Path, failure: OSError) -> ParameterError:
    return ParameterError(
        f"the table must go to a file that can be written, got {str(file)!r}: "
        f"{failure.strerror or 'it cannot be written'}"
    )


def _is_one(module: str, name: str, X: Any) -> bool:
    """Return whether it is of a class, without loading its package for those who have none."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(X, getattr(loaded, name))
