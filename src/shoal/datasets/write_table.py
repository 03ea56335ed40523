"""A table of numbers, to a CSV or Parquet file that is there whole or not at all."""

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shoal._optional import require
from shoal._whole_file import beside, whole_file
from shoal.datasets.read_table import PARQUET
from shoal.exceptions import ParameterError

__all__ = ["check_table_path", "write_table"]

CSV = (".csv",)


def write_table(path: str | os.PathLike[str], names: Sequence[str], values: Any) -> Path:
    """Write columns of numbers to a CSV or Parquet file.

    The file gets its name when it is complete, so a crash leaves the old one, or none. What is
    written reads back with :func:`read_table` as the same names and the same numbers.

    Parameters
    ----------
    path : path-like
        A file that ends in ``.csv`` or ``.parquet``; one that exists is replaced.
    names : sequence of str
        Names of the columns, all different.
    values : array-like of shape (n, d)
        Their values.

    Returns
    -------
    path : Path
        The file.

    Raises
    ------
    ParameterError
        If the ending is another, names and values do not fit, or the file cannot be written.

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
    heads, table = list(names), np.asarray(values)
    if table.ndim != 2 or table.shape[1] != len(heads) or table.dtype.kind not in "iuf":
        raise ParameterError(
            f"values must be a table of numbers with one column for each of {len(heads)} names, "
            f"got shape {table.shape} of {table.dtype}"
        )
    writer = _parquet if file.suffix.lower() in PARQUET else _csv
    try:
        with whole_file(file) as part:
            writer(part, heads, table)
    except OSError as failure:
        raise _unwritable(file, failure) from None
    return file


def check_table_path(path: str | os.PathLike[str], names: Sequence[str]) -> Path:
    """See that a table can be written, before anything is spent on it.

    Parameters
    ----------
    path, names
        As for :func:`write_table`.

    Returns
    -------
    path : Path
        The same.

    Raises
    ------
    ParameterError
        If the ending or the names will not do, or no file can be made there.
    """
    file = _known(path, names)
    try:
        if file.is_dir():
            raise IsADirectoryError(None, "it is a folder")
        probe = beside(file)
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
        raise ParameterError("names must be different, got one twice")
    return file


def _csv(path: Path, names: Sequence[str], table: Any) -> None:
    with path.open("x", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(table.tolist())  # as the shortest text that reads back the same


def _parquet(path: Path, names: Sequence[str], table: Any) -> None:
    arrow = require("pyarrow", extra="arrow")
    parquet = require("pyarrow.parquet", extra="arrow")
    columns = [np.ascontiguousarray(column) for column in table.T]
    with path.open("xb") as file:
        parquet.write_table(arrow.table(columns, names=list(names)), file)


def _unwritable(file: Path, failure: OSError) -> ParameterError:
    return ParameterError(
        f"the table must go to a file that can be written, got {str(file)!r}: "
        f"{failure.strerror or 'it cannot be written'}"
    )
