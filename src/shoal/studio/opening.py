"""Ways to open a table: a file, bytes that were sent, a data set, or a schema without records.

Bytes are read in memory, and dropped once their columns are read. Columns of a text file have
numbers until the curator, who is shown its first line, has said whether that holds their names.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from shoal import datasets
from shoal.datasets import Dataset
from shoal.exceptions import DataError, ParameterError
from shoal.schema import Schema
from shoal.schema.questions import split_names
from shoal.studio.workspace import StudioTable, Workspace
from shoal.tables import MemoryFile, read_columns, read_first_line

__all__ = [
    "GENERATED",
    "first_line",
    "name_columns",
    "open_bytes",
    "open_dataset",
    "open_file",
    "open_schema",
]

SEED = 0  # of generated data sets: the same records each time
MAX_GENERATED = 200_000
USUAL_ROWS = 5_000
LEFT_OUT = "-"  # in place of a name: the column is not read
# Generated sets, by their names on the page.
GENERATED = {
    "customers": "Customers of a shop: age, income, visits, city, date of joining, comments; with "
    "gaps and several rows per person",
    "gaussians": "Five round clusters",
    "circle": "A ring around a disk",
    "line": "Clusters along a line",
    "skewed": "Two clusters with long tails",
    "spirals": "Two spirals",
}


def open_file(
    workspace: Workspace,
    path: str | os.PathLike[str],
    schema: Schema | str | os.PathLike[str] | None = None,
) -> StudioTable:
    r"""Open a CSV or Parquet file on this machine in the studio.

    Parameters
    ----------
    workspace : Workspace
        Workspace that keeps the table.
    path : path-like
        The file; it is read at once and not changed.
    schema : Schema or path-like, default=None
        Public description of the table, or a file with it; with None, the page asks for it.

    Returns
    -------
    table : StudioTable
        The table; with a schema, only its columns are read.

    Raises
    ------
    DataError
        If the file cannot be read, or lacks a column of the schema.
    ParameterError
        If the schema cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from shoal.schema import Number, Schema
    >>> from shoal.studio import StudioSettings, Workspace, open_file
    >>> workspace = Workspace(StudioSettings())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "people.csv"
    ...     _ = file.write_text("age\n30\n41\n")
    ...     table = open_file(workspace, file, Schema([Number("age", minimum=0, maximum=120)]))
    >>> table.name
    'people.csv'
    >>> workspace.close()
    """
    file = Path(path)
    if schema is None:
        return _open(workspace, file.name, "file", file)
    known = schema if isinstance(schema, Schema) else Schema.load(schema)
    columns = read_columns(file, known.all_columns)
    _refuse_empty(file.name, columns)
    table = workspace.add(file.name, "file", columns, known)
    table.schema_from = "file"
    return table


def open_bytes(workspace: Workspace, name: str, content: bytes) -> StudioTable:
    """Open the bytes of a CSV or Parquet file, which are in memory alone.

    Parameters
    ----------
    workspace : Workspace
        Which keeps the table.
    name : str
        File name; its ending says what the bytes are.
    content : bytes
        All of it.

    Returns
    -------
    table : StudioTable
        Its columns have numbers until :func:`name_columns`, unless the file is Parquet.
    """
    most = workspace.settings.max_body_bytes  # packed bytes get no more room than others
    return _open(workspace, name, "upload", MemoryFile(name, content, most))


def open_dataset(workspace: Workspace, name: str, n: int | None = None) -> StudioTable:
    """Open a data set with the public schema that comes with it.

    Parameters
    ----------
    workspace : Workspace
        Which keeps the table.
    name : str
        Of a generated set (``GENERATED``), or of :func:`shoal.datasets.load`.
    n : int, default=None
        Records of a generated set.

    Returns
    -------
    table : StudioTable
        Described.
    """
    known: Dataset
    if name in GENERATED:
        rows = USUAL_ROWS if n is None else n
        if not 1 <= rows <= MAX_GENERATED:
            raise ParameterError(f"n must be between 1 and {MAX_GENERATED:,}, got {rows}")
        known = getattr(datasets, f"make_{name}")(rows, random_state=SEED)
    elif n is not None:
        raise ParameterError(f"n must be left out for {name!r}, which is not generated, got {n}")
    else:
        known = datasets.load(name)
    table = workspace.add(name, "dataset", dict(known.table), known.schema)
    table.schema_from = "dataset"
    if name in GENERATED:
        table.n_guess = rows  # the user's own number
    return table


def open_schema(
    workspace: Workspace, name: str, schema: Schema, *, by: Literal["file", "curator"] = "curator"
) -> StudioTable:
    """Open a schema alone: there are no records, and nothing can be bought.

    Parameters
    ----------
    workspace : Workspace
        Which keeps the table.
    name : str
        For the reader.
    schema : Schema
        Perhaps not complete yet.
    by : {"file", "curator"}, default="curator"
        Where it comes from.

    Returns
    -------
    table : StudioTable
        Without columns.
    """
    table = workspace.add(name, "made-up", {}, schema)
    table.schema_from = by
    return table


def first_line(table: StudioTable) -> list[str]:
    """Return the first line of a file whose columns have no names yet: for the curator's eyes.

    Parameters
    ----------
    table : StudioTable
        Just opened.

    Returns
    -------
    values : list of str
        Names, or a record.
    """
    if not table.unnamed:
        raise ParameterError("the columns of the table have names: its first line is a record")
    return [values[0].strip() for values in table.columns.values()]


def name_columns(table: StudioTable, names: str | None) -> None:
    """Give the columns of a text file their names.

    Parameters
    ----------
    table : StudioTable
        Just opened.
    names : str or None
        Names of all columns by commas, - for those to leave out; None where the first line holds
        them.
    """
    with table.lock:
        first = first_line(table)
        if names is None:
            given, start = first, 1
        else:
            given, start = _split(names), 0
            if len(given) != len(first):
                raise ParameterError(
                    f"there must be a name for each of {len(first)} columns, got {len(given)}: "
                    f"write {LEFT_OUT} for columns to leave out"
                )
        kept = [name for name in given if names is None or name != LEFT_OUT]
        schema = _template(kept)
        columns = {
            name: values[start:]
            for name, values in zip(given, table.columns.values(), strict=True)
            if name in schema.all_columns
        }
        _refuse_empty(table.name, columns)
        table.columns, table.schema, table.unnamed = columns, schema, False


def _open(
    workspace: Workspace, name: str, source: Literal["file", "upload"], file: Path | MemoryFile
) -> StudioTable:
    first = read_first_line(file)
    if Path(name).suffix.lower() in (".parquet", ".pq"):
        schema = _template(first)
        columns = read_columns(file, first)
        _refuse_empty(name, columns)
        return workspace.add(name, source, columns, schema)
    numbered = [f"column {number}" for number in range(1, len(first) + 1)]
    # Every line is read now, so that a file which cannot be read is refused before any question.
    table = workspace.add(name, source, read_columns(file, numbered, names=numbered))
    table.unnamed = True
    return table


def _template(names: Sequence[str]) -> Schema:
    """Return a schema of names alone; the message shows none, because they may be a record."""
    if not names or not all(names) or len(set(names)) < len(names):
        raise ParameterError(
            "the columns must have different names, none of them empty: rename them in the file"
        )
    return Schema.from_names(names)


def _refuse_empty(name: str, columns: Mapping[str, Any]) -> None:
    if not len(next(iter(columns.values()))):
        raise DataError(f"{name!r} must hold at least one record, got none")


def _split(names: str) -> list[str]:
    try:
        return split_names(names)
    except ValueError as wrong:
        raise ParameterError(f"the columns must have {wrong}") from None
