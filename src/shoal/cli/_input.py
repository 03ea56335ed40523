"""What a command is given: lists, public bounds, columns, and the records themselves.

Small files are read at once, all others are streamed.
"""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from shoal.exceptions import ParameterError

if TYPE_CHECKING:
    from shoal.schema import Schema
    from shoal.tables import ArrayTable, ArrowTable

__all__ = [
    "GivenColumns",
    "check_outside",
    "named_columns",
    "only_features",
    "open_records",
    "parse_bounds",
    "parse_bounds_file",
    "parse_columns",
    "parse_list",
    "read_schema",
    "with_user",
]

Pair = tuple[float, float] | tuple[list[float], list[float]]

BOUNDS_RULE = (
    "--bounds must be LOW,HIGH for all columns, LOW:HIGH,LOW:HIGH,... for one after the other, or "
    "a JSON file of column: [low, high]"
)

LEFT_OUT = "-"
COLUMNS_NEEDED = (
    "--columns must name every column that is used, as in --columns age,height: no name is read "
    "from the file, whose first line may be a record; check it yourself"
)

HEADER_NEEDED = (
    "--columns must come with --schema only if --no-header says that the file has no names: "
    "otherwise the schema names the columns"
)

STREAMED_BYTES = 1 << 26  # from this size on, a CSV or Parquet file is read some records at a time
STREAMED = (".feather", ".arrow", ".ipc")
READ_AT_ONCE = (".csv", ".parquet", ".pq", ".csv.gz")


def parse_bounds(text: str | None, names: Sequence[str] | None = None) -> Pair | None:
    """Parse public bounds.

    >>> parse_bounds("-1,1")
    (-1.0, 1.0)
    >>> parse_bounds("0:1,40:200")
    ([0.0, 40.0], [1.0, 200.0])
    """
    if text is None:
        return None
    if Path(text).suffix.lower() == ".json":
        return _from_file(Path(text), names)
    parts = text.split(",")
    try:
        if ":" in text:
            pairs = [tuple(map(float, part.split(":"))) for part in parts]
            return _by_column([(low, high) for low, high in pairs])
        low, high = map(float, parts)
    except ValueError:
        raise ParameterError(f"{BOUNDS_RULE}, got {text!r}") from None
    return low, high


def parse_bounds_file(path: Path) -> dict[str, tuple[float, float]]:
    """Parse a JSON file of column: [low, high]."""
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): (float(low), float(high)) for name, (low, high) in table.items()}
    except OSError as error:
        raise ParameterError(f"{BOUNDS_RULE}, got {str(path)!r}: {error.strerror}") from None
    except (AttributeError, TypeError, ValueError, OverflowError, RecursionError):
        raise ParameterError(f"{BOUNDS_RULE}, got {str(path)!r} with other content") from None


def parse_list(text: str | None) -> list[str] | None:
    """Split a list at its commas; None stays None."""
    return None if text is None else [item.strip() for item in text.split(",") if item.strip()]


class GivenColumns(NamedTuple):
    """Which columns of a file are used; every name was given by the user.

    Parameters
    ----------
    used : tuple of str
        Columns of numbers, in this order, or one of lists; none for an array without names.
    header : tuple of str or None
        Names of all columns, in order, of a CSV file without a header line.
    """

    used: tuple[str, ...]
    header: tuple[str, ...] | None = None


def read_schema(path: Path | None, *, user: str | None = None) -> "Schema | None":
    """Read the schema of ``--schema``, complete; a column of users gets that role in it."""
    from shoal.schema import Schema

    if path is None:
        return None
    schema = with_user(Schema.load(path), user)
    schema.check_complete()
    return schema


def with_user(schema: "Schema", user: str | None) -> "Schema":
    """Return the schema in which the column of ``--user-column`` says whose row each row is."""
    from shoal.schema import Field

    if user is None:
        return schema
    if schema.user is not None and schema.user.name != user:
        raise ParameterError(
            f"--user-column must be that of the schema, {schema.user.name!r}, or be left out, "
            f"got {user!r}"
        )
    column = Field(user, role="user")
    fields = [column if field.name == user else field for field in schema.fields]
    return replace(schema, fields=fields if column in fields else [*fields, column])


def only_features(schema: "Schema | None") -> "Schema | None":
    """Return a schema of the features alone: users and weights are not asked for."""
    return None if schema is None else replace(schema, fields=schema.features)


def parse_columns(
    columns: str | None,
    *,
    bounds: str | None = None,
    no_header: bool = False,
    apart: Mapping[str, str | None] | None = None,
    array: bool = False,
    schema: "Schema | None" = None,
) -> GivenColumns:
    """Parse which columns are used; a name that is not given is not taken from the file.

    Those of an array of numpy are all used, and need no names. Those of a schema are named by it.
    """
    if schema is not None:
        return _columns_of_schema(columns, schema, no_header=no_header, array=array)
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
            raise ParameterError(f"--columns must not name the column of {option}, got it too")
    if array and (no_header or others):
        option = "--no-header" if no_header else next(iter(others))
        raise ParameterError(f"{option} must come with a CSV file or a Parquet file, got an array")
    if not names and not array:
        raise ParameterError(COLUMNS_NEEDED)
    if len(set(names)) < len(names):
        raise ParameterError("--columns must be different names, got one name twice")
    return GivenColumns(tuple(names), header)


def open_records(
    path: Path,
    columns: GivenColumns,
    *,
    user: str | None = None,
    schema: "Schema | None" = None,
) -> "ArrayTable | ArrowTable":
    """Open a file or a folder of raw records: in memory, or streamed; encoded by a schema if any.

    Both give the same numbers; of a stream only names and types have been looked at. With a column
    of users, or of weights, one file is read at once.
    """
    from shoal.tables import ArrayTable, ArrowTable, is_array_path, open_array, read_table

    used, header = columns
    if is_array_path(path):
        array = open_array(path)
        if used and len(used) != array.shape[1]:
            raise ParameterError(
                f"--columns must name all {array.shape[1]} columns of an array in order, or be "
                f"left out, got {len(used)} names"
            )
        return ArrayTable(array, used)
    apart = [] if schema is None else [schema.user, schema.sample_weight]
    for field in apart:
        if field is not None and (path.is_dir() or path.name.lower().endswith(STREAMED)):
            raise ParameterError(
                f"a schema with the role {field.role!r} must come with one CSV or Parquet file, "
                f"got {str(path)!r}: it is read at once to see the rows of each user; put the "
                "records into one file"
            )
    if schema is not None:
        if any(apart) or not _is_streamed(path):
            return read_table(path, schema=schema, names=header)
        return ArrowTable(path, schema=schema, names=header)
    if user is not None and (path.is_dir() or path.name.lower().endswith(STREAMED)):
        raise ParameterError(
            f"--user-column must come with one CSV or Parquet file, got {str(path)!r}: it is read "
            "at once to count the rows of each user"
        )
    if user is not None or not _is_streamed(path):
        return read_table(path, columns=used, names=header, user=user)
    return ArrowTable(path, columns=used, names=header)


def named_columns(used: Sequence[str], columns: int) -> tuple[str, ...]:
    """Return names to show: those that were given, or numbers of a list's or an array's columns.

    >>> named_columns(["vector"], 2), named_columns([], 2)
    (('vector 1', 'vector 2'), ('column 1', 'column 2'))
    """
    if len(used) == columns:
        return tuple(used)
    (name,) = used or ("column",)
    return tuple(f"{name} {number}" for number in range(1, columns + 1))


def check_outside(option: str, path: Path, data: Path) -> None:
    """Refuse to write into the folder that the records are read from."""
    if data.is_dir() and path.resolve().is_relative_to(data.resolve()):
        raise ParameterError(
            f"{option} must lie outside the folder of the records {str(data)!r}, got {str(path)!r}"
        )


def _columns_of_schema(
    columns: str | None, schema: "Schema", *, no_header: bool, array: bool
) -> GivenColumns:
    if array:
        raise ParameterError("--schema must come with a CSV file or a Parquet file, got an array")
    if not no_header:
        if columns is not None:
            raise ParameterError(f"{HEADER_NEEDED}, got {columns!r}")
        return GivenColumns(schema.columns)
    header = parse_columns(columns, no_header=True).header
    return GivenColumns(schema.columns, header)


def _from_file(path: Path, names: Sequence[str] | None) -> Pair:
    table = parse_bounds_file(path)
    try:
        return _by_column([table[name] for name in names or table])
    except KeyError as missing:
        raise ParameterError(f"{BOUNDS_RULE}, got {str(path)!r} without column {missing}") from None


def _by_column(pairs: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [low for low, _ in pairs], [high for _, high in pairs]


def _split(columns: str | None) -> list[str]:
    if columns is None:
        return []
    try:
        rows = list(csv.reader([columns], skipinitialspace=True, strict=True))
    except csv.Error:
        raise ParameterError(
            f"--columns must be names separated by commas, got {columns!r}"
        ) from None
    return [name.strip() for row in rows for name in row if name.strip()]


def _is_streamed(path: Path) -> bool:
    name = path.name.lower()
    if path.is_dir() or name.endswith(STREAMED):
        return True
    return path.is_file() and name.endswith(READ_AT_ONCE) and path.stat().st_size > STREAMED_BYTES
