"""The file of the registry, made again from the files it was made from.

A recipe reads numbers, not their spelling, and writes them in one way: a column of whole numbers
without a point, any other as the shortest text that reads back the same. The digest of the registry
says whether the result is the file.
"""

import gzip
import io
import re
import zlib
from collections.abc import Callable, Sequence
from itertools import chain

from shoal.datasets.dataset import DatasetInfo
from shoal.exceptions import DataError

__all__ = ["LIMIT", "RECIPES", "rebuild"]

LIMIT = 32 * 2**20  # bytes of a file, packed or not; the largest we know has 4 million
GZIP = b"\x1f\x8b"
DEGREE = 10_000.0  # Mopsi gives coordinates in parts of a degree
CENSUS = (0, 2, 4, 10, 11, 12)  # the numbers among the fields of the census
FIELDS = 15
RICH = ">50K"

Rows = list[list[float]]


def rebuild(info: DatasetInfo, contents: Sequence[bytes]) -> bytes:
    r"""Return the file of a data set, made from what the addresses of its origin serve.

    >>> from shoal.datasets.registry import find
    >>> rebuild(find("house5"), [b" 24 0 40\n 24 0 48"])
    b'r,g,b\n24,0,40\n24,0,48\n'
    """
    recipe = "" if info.origin is None else info.origin.recipe or ""
    if recipe not in RECIPES:
        raise DataError(
            f"{info.name} must have a recipe to be made again, got none", parameter="", code="file"
        )
    names = (*info.columns, *([] if info.label is None else [info.label]))
    try:
        body = RECIPES[recipe](len(names), [_text(content) for content in contents])
    except (ValueError, IndexError, OSError, EOFError, zlib.error):
        raise DataError(
            f"{info.file} must be made from what {info.name} was made from, got something else",
            parameter="",
            code="file",
        ) from None
    return f"{','.join(names)}\n{body}".encode()


def _text(content: bytes) -> str:
    if content.startswith(GZIP):
        with gzip.open(io.BytesIO(content)) as file:
            content = file.read(LIMIT + 1)
        if len(content) > LIMIT:
            raise ValueError("larger than any file that we know")
    return content.decode("utf-8")


def _numbers(columns: int, texts: Sequence[str]) -> str:
    """Set the files side by side, and keep the first columns."""
    pasted = [list(chain(*parts)) for parts in zip(*map(_rows, texts), strict=True)]
    return _written([_first(row, columns) for row in pasted])


def _degrees(columns: int, texts: Sequence[str]) -> str:
    rows = _rows("\n".join(texts))
    return _written([[value / DEGREE for value in _first(row, columns)] for row in rows])


def _census(_: int, texts: Sequence[str]) -> str:
    """Keep the numbers, and whether the income is high; the files follow each other."""
    rows: Rows = []
    for line in "\n".join(texts).splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == FIELDS and fields[0].isdigit():
            numbers = [float(fields[place]) for place in CENSUS]
            rows.append([*numbers, float(fields[-1].startswith(RICH))])
    return _written(rows)


def _as_written(_: int, texts: Sequence[str]) -> str:
    """Keep every digit and line as it is, below a head of ours."""
    return texts[0].partition("\n")[2].replace(";", ",")


RECIPES: dict[str, Callable[[int, Sequence[str]], str]] = {
    "numbers": _numbers,
    "degrees": _degrees,
    "census": _census,
    "as written": _as_written,
}


def _rows(text: str) -> Rows:
    """Read the lines that hold numbers alone; the others are heads and notes."""
    rows = []
    for line in text.splitlines():
        try:
            rows.append([float(field) for field in re.split(r"[\s,;]+", line.strip())])
        except ValueError:
            continue
    return rows


def _first(row: list[float], columns: int) -> list[float]:
    if len(row) < columns:
        raise ValueError("a line is too short")
    return row[:columns]


def _written(rows: Rows) -> str:
    columns = [_spelled(column) for column in zip(*rows, strict=True)]
    return "".join(f"{','.join(row)}\n" for row in zip(*columns, strict=True))


def _spelled(column: Sequence[float]) -> list[str]:
    if all(value.is_integer() for value in column):
        return [str(int(value)) for value in column]
    return [repr(value) for value in column]
