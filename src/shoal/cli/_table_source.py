"""The records that a command is given: small files are read at once, all others are streamed."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from shoal.cli._arguments import parse_bounds_file
from shoal.exceptions import ParameterError

if TYPE_CHECKING:
    from shoal.tables import ArrayTable
    from shoal.tables import ArrowTable

__all__ = ["Columns", "check_outside", "given_columns", "opened_records"]

LEFT_OUT = "-"
NEEDED = (
    "--columns must name every column that is used, as in --columns age,height: names are not "
    "taken from the file, whose first line may be a record; look at it yourself"
)

STREAMED_BYTES = 1 << 26  # from this size on, a CSV or Parquet file is read some records at a time
STREAMED = (".feather", ".arrow", ".ipc")
READ_AT_ONCE = (".csv", ".parquet", ".pq", ".csv.gz")


class Columns(NamedTuple):
    """Which columns of a file are used; every name was given by the user.

    Parameters
    ----------
    used : tuple of str
        Columns of numbers, in this order.
    header : tuple of str or None
        Names of all columns, in order, of a CSV file without a header line.
    """

    used: tuple[str, ...]
    header: tuple[str, ...] | None = None


def given_columns(
    columns: str | None,
    *,
    bounds: str | None = None,
    no_header: bool = False,
    apart: Mapping[str, str | None] | None = None,
) -> Columns:
    """Read which columns are used; a name that is not given is not taken from the file.

    Parameters
    ----------
    columns : str or None
        As given by ``--columns``: names by commas, in quotes where a name has a comma itself.
    bounds : str or None
        As given by ``--bounds``: a JSON file names the columns too.
    no_header : bool, default=False
        As given by ``--no-header``: `columns` names all columns of the file, one after the other,
        ``-`` those that are left out.
    apart : mapping of str to str or None, default=None
        Options that name a column which is read apart, and what they were given.

    Returns
    -------
    columns : Columns
        At least one.

    Raises
    ------
    ParameterError
        If none is given, one twice, or one that another option reads apart.

    Examples
    --------
    >>> given_columns("age,height").used
    ('age', 'height')
    >>> given_columns("age,-,name", no_header=True, apart={"--label": "name"})
    Columns(used=('age',), header=('age', 'column 2', 'name'))
    """
    names = _split(columns)
    if columns is None and not no_header and bounds and bounds.lower().endswith(".json"):
        names = list(parse_bounds_file(Path(bounds)))
    others = {option: name for option, name in (apart or {}).items() if name is not None}
    header = None
    if no_header:
        header = tuple(
            f"column {number}" if name == LEFT_OUT else name for number, name in enumerate(names, 1)
        )
        for option, name in others.items():
            if name not in names:
                raise ParameterError(f"{option} must be one of --columns with --no-header")
        names = [name for name in names if name not in (LEFT_OUT, *others.values())]
    for option, name in others.items():
        if name in names:
            raise ParameterError(f"--columns must leave the column of {option} out, got it too")
    if not names:
        raise ParameterError(NEEDED)
    if len(set(names)) < len(names):
        raise ParameterError("--columns must be different names, got one twice")
    return Columns(tuple(names), header)


def opened_records(
    path: Path, columns: Columns, *, user: str | None = None
) -> "Table | ArrowTable":
    """Open a file or a folder of raw records.

    Parameters
    ----------
    path : Path
        A CSV, Parquet or Feather file, or a folder of files of one kind.
    columns : Columns
        From :func:`given_columns`.
    user : str, default=None
        A column that says whose record each row is; the file is then read at once.

    Returns
    -------
    records : Table or ArrowTable
        In memory, checked; or streamed, with the same numbers, of which only names and types have
        been looked at.

    Raises
    ------
    DataError
        If they cannot be read, or a column is not there or does not hold numbers.
    ParameterError
        If users are asked for in files that are only streamed.
    """
    from shoal.tables import read_table  # noqa: PLC0415

    used, header = columns
    if user is not None and (path.is_dir() or path.name.lower().endswith(STREAMED)):
        raise ParameterError(
            f"--user-column must come with one CSV or Parquet file, got {str(path)!r}: it is read "
            "at once, to count the rows of each user"
        )
    if user is not None or not _is_streamed(path):
        return read_table(path, columns=used, names=header, user=user)
    from shoal.tables import ArrowTable  # noqa: PLC0415

    return ArrowTable(path, columns=used, names=header)


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


def _split(columns: str | None) -> list[str]:
    if columns is None:
        return []
    try:
        rows = list(csv.reader([columns], skipinitialspace=True, strict=True))
    except csv.Error:
        raise ParameterError(f"--columns must be names by commas, got {columns!r}") from None
    return [name.strip() for row in rows for name in row if name.strip()]


def _is_streamed(path: Path) -> bool:
    name = path.name.lower()
    if path.is_dir() or name.endswith(STREAMED):
        return True
    return path.is_file() and name.endswith(READ_AT_ONCE) and path.stat().st_size > STREAMED_BYTES
