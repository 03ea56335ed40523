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

from shoal._numbers import is_number
from shoal._optional import require
from shoal.exceptions import DataError

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
    """

    names: tuple[str, ...]
    X: npt.NDArray[np.float64]
    labels: npt.NDArray[Any] | None = None


def read_table(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    label: str | None = None,
) -> Table:
    r"""Read columns of numbers from a CSV or Parquet file.

    Parameters
    ----------
    path : path-like
        A file that ends in ``.parquet``, or else text separated by commas, perhaps in ``.gz``. A
        first line that holds a word names the columns; otherwise they are ``column 1`` and so on.
    columns : sequence of str, default=None
        Which columns, in this order; all but `label` by default.
    label : str, default=None
        A column of classes, numbers or words, read apart.

    Returns
    -------
    table : Table
        All finite numbers.

    Raises
    ------
    DataError
        If the file cannot be read, a column is not there, or does not hold numbers.

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
    raw = _parquet(file) if file.suffix.lower() in PARQUET else _csv(file)
    wanted = list(columns) if columns is not None else [name for name in raw if name != label]
    for name in [*wanted, *([label] if label is not None else [])]:
        if name not in raw:
            raise DataError(
                f"{str(path)!r} must have a column {name!r}: it has {', '.join(map(repr, raw))}"
            )
    if not wanted:
        raise DataError(f"{str(path)!r} must have a column of numbers to read, got none")
    if len(set(wanted)) < len(wanted):
        raise DataError("columns must be different, got one twice")
    X = np.column_stack([_numbers(name, raw[name]) for name in wanted])
    if not len(X):
        raise DataError(f"{str(path)!r} must hold at least one record, got none")
    return Table(tuple(wanted), X, None if label is None else np.asarray(raw[label]))


def _csv(path: Path) -> dict[str, Any]:
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
    if all(is_number(cell) for cell in rows[0]):
        names = [f"column {place}" for place in range(1, width + 1)]
    else:
        names, rows = [cell.strip() for cell in rows[0]], rows[1:]
    if len(set(names)) < width:
        raise DataError(f"{str(path)!r} must name its columns differently, got a name twice")
    values = list(zip(*rows, strict=True)) or [()] * width
    return dict(zip(names, values, strict=True))


def _parquet(path: Path) -> dict[str, Any]:
    parquet = require("pyarrow.parquet", extra="arrow")
    arrow = require("pyarrow", extra="arrow")
    try:
        with path.open("rb") as file:
            table = parquet.read_table(file)
    except OSError as error:
        raise _unreadable(path, error.strerror or "it is not a Parquet file") from None
    except arrow.ArrowException:
        raise _unreadable(path, "it is not a Parquet file") from None
    names = table.column_names
    if len(set(names)) < len(names):
        raise DataError(f"{str(path)!r} must name its columns differently, got a name twice")
    return {name: table.column(name).to_pylist() for name in names}


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
