"""From a batch of Arrow columns to blocks of finite doubles, the same on every machine.

No message names a row or a value: batches hold raw records.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._numbers import FINITE
from shoal._optional import require
from shoal.exceptions import DataError, DataTypeError
from shoal.tables.column_names import locate_columns
from shoal.tables.table import Block

__all__ = ["CHANGED", "block_of", "check_columns", "refuse_infinite"]

CHANGED = "X must stay as it is while it is read: its files have changed"


def check_columns(schema: Any, names: Sequence[str], where: str) -> None:
    """See that a schema has the columns, once each, and that they are numbers.

    Parameters
    ----------
    schema : pyarrow.Schema
        Of a file or a frame.
    names : sequence of str
        Columns that are to be read.
    where : str
        What has this schema, for messages.

    Raises
    ------
    DataError
        If a column is not there, or there twice.
    DataTypeError
        If it does not hold numbers.
    """
    types = require("pyarrow.types", extra="arrow")
    for name, index in zip(names, locate_columns(schema.names, names, where), strict=True):
        kind = schema.field(index).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            # Its first word alone: the rest may list names of fields, which were not given.
            got = str(kind).partition("<")[0]
            raise DataTypeError(
                f"column {name!r} must hold numbers, got {got} in {where}: choose columns "
                "without it"
            )


def block_of(batch: Any, names: Sequence[str], *, look: bool = True) -> Block:
    """Return the columns of a batch as doubles, without a copy where they are doubles already.

    Parameters
    ----------
    batch : pyarrow.RecordBatch
        Some records.
    names : sequence of str
        Columns, in the order in which they are wanted.
    look : bool, default=True
        Whether to look for NaN and inf; if not, only missing values are refused.

    Returns
    -------
    block : list of ndarray of float64
        All finite, if they were looked at.

    Raises
    ------
    DataError
        If a value is missing, infinite or NaN.
    """
    arrow = require("pyarrow", extra="arrow")
    block = []
    for name in names:
        column = batch.column(name)
        if column.null_count:
            raise DataError(FINITE)
        if column.type != arrow.float64():
            column = column.cast(arrow.float64(), safe=False)  # as numpy rounds large integers
        values = column.to_numpy(zero_copy_only=True)
        if look:
            refuse_infinite(values)
        block.append(values)
    return block


def refuse_infinite(values: npt.NDArray[np.float64]) -> None:
    """Refuse values that are infinite or NaN.

    Parameters
    ----------
    values : ndarray of float64
        Of one column.

    Raises
    ------
    DataError
        If one of them is.
    """
    # A sum tells nearly always, in a fifth of the time; it may overflow where no value does.
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(np.add.reduce(values))
    if not math.isfinite(total) and not np.isfinite(values).all():
        raise DataError(FINITE)
