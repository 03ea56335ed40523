"""A user's own table, from a CSV or Parquet file.

No message names a row or a value: the file holds raw records.
"""

import csv
import gzip
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._optional import require
from shoal.exceptions import DataError, ParameterError
from shoal.tables.column_names import check_header, check_names, locate_columns

__all__ = ["Table", "read_table"]

PARQUET = (".parquet", ".pq")


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns of raw records.

    Parameters
    ----------
    names : tuple of str
        Names of the columns.
    X : ndarray of float64, shape (n, d)
        Their values.
    labels : ndarray or None
        Values of the column that was asked for as the label, as text or numbers.
    user_ids : list or None
        Whose record each row is, where that was asked for: text or whole numbers as they are in the
        file.
    """

    names: tuple[str, ...]
    X: npt.NDArray[np.float64]
    labels: npt.NDArray[Any] | None = None
    user_ids: list[str | int] | None = None


def read_table(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str],
    label: str | None = None,
    user: str | None = None,
    names: Sequence[str] | None = None,
) -> Table:
    r"""Read columns of numbers from a CSV or Parquet file.

    Every column that is read must be named by the caller. The first line of a file may be a record,
    so no name is taken from it, and no message shows one that was not given.

    Parameters
    ----------
    path : path-like
        A file that ends in ``.parquet``, or else text separated by commas, perhaps in ``.gz``, with
        a header line.
    columns : sequence of str
        Which columns, in this order.
    label : str, default=None
        A column of classes, numbers or words, read apart.
    user : str, default=None
        A column that says whose record each row is, in text or whole numbers, none missing; read
        apart and never made a float, which would merge long numbers.
    names : sequence of str, default=None
        Names of all columns, in order, of a CSV file without a header line.

    Returns
    -------
    table : Table
        All finite numbers.

    Raises
    ------
    DataError
        If the file cannot be read, a column is not there, or does not hold numbers.
    ParameterError
        If names are given for a file that has some, or other than all.

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
    file = Path(path)
    wanted = check_names(columns)
    apart = [name for name in (label, user) if name is not None]
    read = _parquet if file.suffix.lower() in PARQUET else _csv
    values = read(file, [*wanted, *apart], names)
    X = np.column_stack([_numbers(name, values[name]) for name in wanted])
    if not len(X):
        raise DataError(f"{str(path)!r} must hold at least one record, got none")
    return Table(
        wanted,
        X,
        None if label is None else np.asarray(values[label]),
        None if user is None else _user_ids(user, values[user]),
    )


def _csv(path: Path, wanted: Sequence[str], names: Sequence[str] | None) -> dict[str, Any]:
    """Read columns as text, as it is written."""
    opener: Any = gzip.open if path.suffix.lower() == ".gz" else Path.open
    try:
        with opener(path, mode="rt", newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row]
    except OSError as error:
        raise _unreadable(path, error.strerror or "it is damaged") from None
    except (UnicodeDecodeError, EOFError, csv.Error):
        raise _unreadable(path, "it is not text separated by commas") from None
    if not rows:
        raise DataError(f"{str(path)!r} must hold at least one record, got none")
    width = len(rows[0])
    if any(len(row) != width for row in rows):
        raise DataError(f"{str(path)!r} must have as many values in every line as in its first")
    if names is None:
        found, rows = rows[0], rows[1:]
    else:
        check_header(names, width, repr(str(path)))
        found = list(names)
    indices = locate_columns(found, wanted, repr(str(path)))
    return {name: [row[index] for row in rows] for name, index in zip(wanted, indices, strict=True)}


def _parquet(path: Path, wanted: Sequence[str], names: Sequence[str] | None) -> dict[str, Any]:
    """Read columns as they are; None where there is nothing."""
    if names is not None:
        raise ParameterError(
            f"a file without a header line must be a CSV file, got {str(path)!r}, whose schema has "
            "names"
        )
    parquet = require("pyarrow.parquet", extra="arrow")
    arrow = require("pyarrow", extra="arrow")
    try:
        with path.open("rb") as file:
            opened = parquet.ParquetFile(file)
            found = opened.schema_arrow.names
            fields = [found[index] for index in locate_columns(found, wanted, repr(str(path)))]
            table = opened.read(columns=fields)
    except OSError as error:
        raise _unreadable(path, error.strerror or "it is not a Parquet file") from None
    except arrow.ArrowException:
        raise _unreadable(path, "it is not a Parquet file") from None
    return {
        name: table.column(field).to_pylist() for name, field in zip(wanted, fields, strict=True)
    }


def _user_ids(name: str, values: Sequence[Any]) -> list[str | int]:
    kinds = {type(value) for value in values}
    if type(None) in kinds or "" in values:
        # As one user they would lose most of their rows, and many people would share a promise.
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


def _numbers(name: str, values: Sequence[Any]) -> npt.NDArray[np.float64]:
    try:
        numbers = np.array([np.nan if value in (None, "") else value for value in values], float)
    except (TypeError, ValueError):
        raise DataError(
            f"column {name!r} must hold numbers, got text: choose columns without it"
        ) from None
    if not np.isfinite(numbers).all():
        raise DataError(
            f"column {name!r} must hold finite numbers, got a missing, infinite or nan one: "
            "fill or drop those lines"
        )
    return numbers


def _unreadable(path: Path, why: str) -> DataError:
    return DataError(f"the data must be a CSV or Parquet file, got {str(path)!r}: {why}")
