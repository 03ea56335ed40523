"""Columns: their names, their types, and their values as blocks of finite doubles.

A table has columns of numbers, or one column of lists, as embeddings are kept: its lists are all of
one length, and each of their numbers is a column without a name.

The first line of a CSV file may be a record, and a schema may have been made of one. So no name is
taken from a file, and no message shows one that the caller did not know already, a row or a value:
the names that were given are used, printed and written, and no others.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal._lists import arrow_lists, is_arrow_list
from shoal._numbers import BY_SCHEMA, FINITE
from shoal._optional import require
from shoal._typing import Floats
from shoal.exceptions import DataError, DataTypeError, ParameterError
from shoal.schema import Schema, plain_column

__all__ = [
    "CHANGED",
    "NO_RECORD",
    "BlockReader",
    "check_columns",
    "check_header",
    "check_names",
    "locate_columns",
    "refuse_infinite",
]


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """Check that there is a name, and none twice."""
    if not names or len(set(names)) < len(names):
        raise DataError(
            "columns must be one or more, all different, got none or one twice",
            parameter="columns",
            code="duplicate",
        )
    return tuple(names)


def locate_columns(found: Sequence[str], wanted: Sequence[str], where: str) -> list[int]:
    """Return the indices of columns, by their names.

    >>> locate_columns(["height", " weight", "id", "id"], ["weight", "height"], "the file")
    [1, 0]
    """
    indices = []
    for name in wanted:
        same = [index for index, other in enumerate(found) if name in (other, other.strip())]
        if len(same) > 1:
            raise DataError(
                f"{where} must have one column {name!r}, got several: rename or drop the others",
                code="duplicate",
            )
        if not same:
            raise DataError(
                f"{where} must have one column {name!r}, got none of that name among its "
                f"{len(found)}",
                parameter="names",
                code="columns",
                in_python="look them up in the file, or pass names= if it has no header line",
            )
        indices.append(same[0])
    return indices


def check_header(names: Sequence[str], columns: int, where: str) -> None:
    """Check that the names for a file without a header line are those of all its columns."""
    if len(names) != columns or len(set(names)) < len(names):
        raise ParameterError(
            f"the columns of {where}, which has no header line, must be named one after the "
            f"other, all {columns} and different, got {len(names)} names"
        )


NO_RECORD = "X must hold at least one record, got none"
#: Message of the error if files changed between two passes over them.
CHANGED = "X must stay as it is while it is read: its files have changed"


def check_columns(schema: Any, names: Sequence[str], where: str) -> bool:
    """Check that a schema has columns of numbers, once each, or one of lists; say whether lists."""
    types = require("pyarrow.types", extra="arrow")
    lists = False
    for name, index in zip(names, locate_columns(schema.names, names, where), strict=True):
        kind = schema.field(index).type
        if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
            continue
        lists = is_arrow_list(kind)
        if lists and len(names) == 1:
            continue
        # Its first word alone: the rest may list names of fields, which were not given.
        got = str(kind).partition("<")[0]
        way = f"choose columns without it, or {'it alone' if lists else BY_SCHEMA}"
        raise DataTypeError(f"column {name!r} must hold numbers, got {got} in {where}: {way}")
    return lists


@dataclass(frozen=True)
class BlockReader:
    """How a batch of records becomes a block of doubles; it travels to Spark's workers.

    Parameters
    ----------
    names : tuple of str
        Columns of a batch that are read, in this order.
    width : int, default=None
        Numbers of each list, where the one column is of lists: each of them is a column.
    schema : Schema, default=None
        By which records are encoded; its columns are those of ``names``, in order.
    """

    names: tuple[str, ...]
    width: int | None = None
    schema: Schema | None = None

    @property
    def block_names(self) -> tuple[str, ...]:
        """Names of the columns of a block; numbers of a list have none."""
        if self.schema is not None:
            return self.schema.space.names
        return self.names if self.width is None else ()

    @property
    def columns(self) -> int:
        """Number of columns of a block."""
        return self.width or len(self.block_names)

    def check(self, arrow_schema: Any, where: str) -> bool:
        """Check that a file has these columns, with types that can be read; say whether lists."""
        if self.schema is not None:
            locate_columns(arrow_schema.names, self.names, where)
            return False
        return check_columns(arrow_schema, self.names, where)

    def read(self, batch: Any, *, look: bool = True) -> list[Floats]:
        """Return the columns of a batch as doubles, and refuse those that are not finite.

        Without a copy where they are doubles already; encoded ones are finite by themselves.
        """
        if self.schema is None:
            return _numbers_of(batch, self.names, width=self.width, look=look)
        raw = {
            name: plain_column(batch.column(field))
            for name, field in zip(self.schema.columns, self.names, strict=True)
        }
        return self.schema.encode_columns(raw)


def _numbers_of(batch: Any, names: Sequence[str], *, width: int | None, look: bool) -> list[Floats]:
    arrow = require("pyarrow", extra="arrow")
    if width is not None:
        numbers = arrow_lists(batch.column(names[0]), width)
        rows = list(np.array(numbers.T, dtype=np.float64, order="C"))
        for values in rows if look else ():
            refuse_infinite(values)
        return rows
    block = []
    for name in names:
        column = batch.column(name)
        if column.null_count:
            raise DataError(FINITE, code="finite")
        if column.type != arrow.float64():
            column = column.cast(arrow.float64(), safe=False)  # as numpy rounds large integers
        values = column.to_numpy(zero_copy_only=True)
        if look:
            refuse_infinite(values)
        block.append(values)
    return block


def refuse_infinite(values: Floats) -> None:
    """Raise an error if any value is infinite or NaN.

    Parameters
    ----------
    values : ndarray of float64
        Values of one column.

    Raises
    ------
    DataError
        If any value is infinite or NaN; the message contains no value.

    Examples
    --------
    >>> refuse_infinite(np.array([1.0, 2.0]))
    """
    # A sum tells nearly always, in a fifth of the time; it may overflow where no value does.
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(np.add.reduce(values))
    if not math.isfinite(total) and not np.isfinite(values).all():
        raise DataError(FINITE, code="finite")
