"""The records that a command is given: small files are read at once, all others are streamed."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.exceptions import ParameterError

if TYPE_CHECKING:
    from shoal.datasets import Table
    from shoal.tables import ArrowTable

__all__ = ["check_outside", "opened_records"]

STREAMED_BYTES = 1 << 26  # from this size on, a CSV or Parquet file is read some records at a time
STREAMED = (".feather", ".arrow", ".ipc")
READ_AT_ONCE = (".csv", ".parquet", ".pq", ".csv.gz")


def opened_records(
    path: Path, *, columns: Sequence[str] | None = None
) -> "tuple[tuple[str, ...], Table | ArrowTable]":
    """Open a file or a folder of raw records.

    Parameters
    ----------
    path : Path
        A CSV, Parquet or Feather file, or a folder of files of one kind.
    columns : sequence of str, default=None
        Which columns, in this order; all by default.

    Returns
    -------
    names : tuple of str
        Names of the columns.
    records : Table or ArrowTable
        In memory, checked; or streamed, with the same numbers, of which only names and types have
        been looked at.

    Raises
    ------
    DataError
        If they cannot be read, or a column is not there or does not hold numbers.
    """
    from shoal.datasets import read_table  # noqa: PLC0415

    if not _is_streamed(path):
        table = read_table(path, columns=columns)
        return table.names, table
    from shoal.tables import ArrowTable  # noqa: PLC0415

    records = ArrowTable(path, columns=columns)
    return records.names, records


def check_outside(option: str, path: Path, data: Path) -> None:
    """Refuse to write into the folder that the records are read from.

    Parameters
    ----------
    option : str
        Which option named the place.
    path : Path
        The place.
    data : Path
        The records.

    Raises
    ------
    ParameterError
        If what is written there would be read as records.
    """
    if data.is_dir() and path.resolve().is_relative_to(data.resolve()):
        raise ParameterError(
            f"{option} must lie outside the folder of the records {str(data)!r}, got {str(path)!r}"
        )


def _is_streamed(path: Path) -> bool:
    name = path.name.lower()
    if path.is_dir() or name.endswith(STREAMED):
        return True
    return path.is_file() and name.endswith(READ_AT_ONCE) and path.stat().st_size > STREAMED_BYTES
