"""CSV files: one set of rules, for files that are read at once and for those that are streamed.

* Text in UTF-8, with or without a byte order mark, perhaps packed (``.csv.gz``); values are
  separated by commas, and one in double quotes may hold commas, line breaks and doubled quotes.
* The first line names the columns, unless the caller names all of them. Blank lines do not count,
  and every line has as many values as the first.
* A number is written in ASCII digits, with a point and an exponent where it needs them; spaces and
  tabs around it do not matter. ``true``, ``1_000`` and ``0x10`` are text.
* Nothing at all and the words of ``MISSING_NUMBERS`` are missing values, in any capitals. They are
  refused, and so are infinite ones.

Python's own reader takes small files, so that these need no other package; pyarrow takes files of
any size, a batch at a time. ``tests/tables/test_csv.py`` holds both to the rules. They differ in
columns that are not read: in a stream no two may have one name; at once they must be UTF-8 as well,
and no value may be longer than 131,072 characters.
"""

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from shoal._numbers import BY_SCHEMA, raise_alone
from shoal._optional import require
from shoal._typing import Floats
from shoal.exceptions import DataError
from shoal.schema import MISSING_NUMBERS, Schema, plain_column, read_numbers
from shoal.tables.columns import check_header, locate_columns
from shoal.tables.sources import Source, check_unpacked, open_source, suffix

__all__ = ["arrow_csv", "first_row", "is_missing", "parse_numbers", "read_csv", "unreadable"]


def first_row(path: Source) -> list[str]:
    """Return the values of the first line that is not blank; none of an empty file."""
    with _opened(path) as file:
        return next((row for row in csv.reader(file) if row), [])


def read_csv(path: Source, wanted: Sequence[str], names: Sequence[str] | None) -> dict[str, Any]:
    """Return columns of a file as text, as it is written."""
    with _opened(path) as file:
        rows = [row for row in csv.reader(file) if row]
    if not rows:
        raise DataError(f"{str(path)!r} must hold at least one record, got none", code="empty")
    width = len(rows[0])
    if any(len(row) != width for row in rows):
        raise DataError(
            f"{str(path)!r} must have as many values in every line as in its first, separated by "
            "commas",
            code="shape",
        )
    if names is None:
        found, rows = rows[0], rows[1:]
    else:
        check_header(names, width, repr(str(path)))
        found = list(names)
    indices = locate_columns(found, wanted, repr(str(path)))
    return {name: [row[index] for row in rows] for name, index in zip(wanted, indices, strict=True)}


class _Unpacked(io.RawIOBase):
    """Bytes of a packed file, as many as it may have."""

    def __init__(self, path: Source, packed: gzip.GzipFile) -> None:
        self._path, self._packed, self._size = path, packed, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        got = self._packed.readinto(buffer)
        self._size += got
        check_unpacked(self._path, self._size)
        return got


@contextmanager
def _opened(path: Source) -> Iterator[Any]:
    try:
        with open_source(path) as raw:
            unpacked: Any = raw
            if suffix(path) == ".gz":
                unpacked = io.BufferedReader(_Unpacked(path, gzip.GzipFile(fileobj=raw)))
            yield io.TextIOWrapper(unpacked, newline="", encoding="utf-8-sig")
    except OSError as error:
        raise_alone(unreadable(path, error.strerror or "it is damaged"))
    except zlib.error:
        raise_alone(unreadable(path, "it is damaged"))
    except (UnicodeDecodeError, EOFError, csv.Error):
        raise_alone(unreadable(path, "it is not text separated by commas"))


def parse_numbers(name: str, values: Sequence[Any]) -> Floats:
    """Return the values of a column, text or numbers or None, as finite doubles."""
    numbers = read_numbers(plain_column(values))
    if numbers is None:
        raise DataError(
            f"column {name!r} must hold numbers, got text: choose columns without it, or "
            f"{BY_SCHEMA}"
        )
    if not np.isfinite(numbers).all():
        raise DataError(
            f"column {name!r} must hold finite numbers, got a missing, infinite or nan one: "
            f"drop those lines, or {BY_SCHEMA}",
            code="finite",
        )
    return numbers


def is_missing(value: Any) -> bool:
    """Return whether there is nothing, or a word for nothing."""
    return value is None or (isinstance(value, str) and value.strip().lower() in MISSING_NUMBERS)


def arrow_csv(path: Path, names: Sequence[str] | None, schema: Schema | None = None) -> Any:
    """Return pyarrow's format for CSV files by the rules.

    The schema tells the types of its columns, the first lines those of others.
    """
    arrow = require("pyarrow", extra="arrow")
    reader = require("pyarrow.csv", extra="arrow")
    datasets = require("pyarrow.dataset", extra="arrow")
    headless = reader.ReadOptions(autogenerate_column_names=names is not None)
    # Else a line break in quotes is refused or not by where blocks end: by other records' lengths.
    quoted = reader.ParseOptions(newlines_in_values=True)
    rules = {
        "null_values": sorted({word for one in MISSING_NUMBERS for word in _capitals(one)}),
        "true_values": [],
        "false_values": [],
    }
    looked = datasets.CsvFileFormat(
        read_options=headless,
        parse_options=quoted,
        convert_options=reader.ConvertOptions(**rules),
    )
    first = datasets.dataset(path, format=looked).schema
    if names is not None:
        check_header(names, len(first), repr(str(path)))
    types = arrow.types
    # First lines may look like whole numbers, or like nothing at all: numbers are doubles.
    column_types = {
        name: arrow.float64()
        for name, field in zip(names or first.names, first, strict=True)
        if types.is_integer(field.type)
        or types.is_floating(field.type)
        or types.is_null(field.type)
    }
    # What a schema describes is read as text, by its own words for what is missing.
    described = () if schema is None else schema.all_columns
    for name in names or first.names:
        if name in described or name.strip() in described:
            column_types[name] = arrow.string()
    return datasets.CsvFileFormat(
        parse_options=quoted,
        convert_options=reader.ConvertOptions(column_types=column_types, **rules),
        read_options=reader.ReadOptions(column_names=names),
    )


def unreadable(path: Source, why: str) -> DataError:
    """Return the error for a file that cannot be read at once."""
    return DataError(
        f"the data must be a CSV or Parquet file, got {str(path)!r}: {why}", code="file"
    )


def _capitals(word: str) -> set[str]:
    """Return the ways to write a word that are in use; pyarrow compares letter by letter."""
    return {word, word.upper(), word.capitalize(), word.replace("nan", "NaN")}
