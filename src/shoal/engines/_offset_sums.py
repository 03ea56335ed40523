"""Sums of clipped offsets around public anchors, in doubles that are exact.

Blocks of records are held as columns, ``(d + 1, rows)`` with a last row of ones, which lets one
matrix product add a constant and whose group sums are the counts. In memory few columns lie one
after the other, so that inner loops run over many records; many columns lie record by record, as
they came, since turning them around would take longer than it saves.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.engines._checks import whole
from shoal.engines.engine import Part
from shoal.exceptions import ParameterError

__all__ = ["MOST_REACH", "block_rows", "check_clip", "columns_of", "offset_sums", "part_rows"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

SHAPES = ("cube", "ball")
MOST_REACH = 2**27  # above the longest offset, 2^26.5
BLOCK_VALUES = 1 << 17  # doubles of one block: they stay in cache
PART_VALUES = 1 << 21  # doubles of one part: work of about a millisecond
WIDE = 16  # columns from which blocks are held record by record
# Up to so many groups a product with 0s and 1s is faster than counting: measured.
FEW_GROUPS, FEW_GROUPS_WIDE = 8, 32
# Square root, quotient and two products err by 2^-53 each; this makes up for all of them.
INWARD = 1.0 - 2.0**-50


def part_rows(width: int) -> int:
    """Give the rows of a part that takes ``width`` doubles for each."""
    return min(max(PART_VALUES // width, 64), 1 << 17)


def block_rows(width: int) -> int:
    """Give the rows of a block that takes ``width`` doubles for each."""
    return min(max(BLOCK_VALUES // width, 64), 1 << 13)


def columns_of(records: npt.NDArray[np.int32]) -> Floats:
    """Turn records into columns of doubles above a row of ones."""
    rows, d = records.shape
    columns = np.empty((d + 1, rows)) if d < WIDE else np.empty((rows, d + 1)).T
    columns[:d] = records.T
    columns[d] = 1.0
    return columns


def check_clip(reach: Any, shape: Any) -> int | None:
    """Return ``reach`` as an int or None, if it and ``shape`` are allowed."""
    if shape not in SHAPES:
        raise ParameterError(f"shape must be one of {SHAPES}, got {shape!r}")
    return None if reach is None else whole("reach", reach, MOST_REACH)


def offset_sums(
    part: Part,
    assign: Callable[[Floats], npt.NDArray[np.intp]],
    anchors: Integers,
    *,
    reach: int | None,
    shape: str,
    rows: int,
) -> tuple[Integers, Integers]:
    """Count the records of each anchor and add up their offsets.

    Parameters
    ----------
    part : Part
        Records.
    assign : callable
        From columns of records to the index of each one's anchor.
    anchors : ndarray of int64, shape (m, d)
        Public points.
    reach : int or None
        Largest offset; None adds up the records themselves.
    shape : {"cube", "ball"}
        Whether ``reach`` bounds each column or the Euclidean length.
    rows : int
        Rows of a block.

    Returns
    -------
    counts : ndarray of int64, shape (m,)
        Weights of the records of each anchor.
    sums : ndarray of int64, shape (m, d)
        Sums of weight times clipped offset.
    """
    groups, d = anchors.shape
    wide = d >= WIDE
    places = np.zeros((groups, d + 1)) if wide else np.zeros((d + 1, groups)).T
    places[:, :d] = anchors
    totals = np.zeros((d + 1, groups))
    for block in part.blocks(rows):
        columns = columns_of(block.records)
        labels = assign(columns)
        if reach is not None:
            # All rows at once, as a block without its last is not contiguous if it is wide.
            columns -= places.take(labels, axis=0).T if wide else places.T.take(labels, axis=1)
            _clip(columns, reach, shape)
            columns[d] = 1.0
        if block.weights is not None:
            columns *= block.weights
        totals += _group_sums(labels, columns, groups)
    exact = totals.astype(np.int64)
    return exact[d].copy(), np.ascontiguousarray(exact[:d].T)


def _clip(columns: Floats, reach: int, shape: str) -> None:
    """Clip each offset in place, by itself alone and by correctly rounded operations only."""
    if shape == "cube":
        np.clip(columns, -reach, reach, out=columns)
        return
    offsets = columns[:-1]
    squares = np.einsum("ij,ij->j", offsets, offsets)
    # Squares are at most 2^53: a larger reach clips nothing, and would not be exact squared.
    inside = squares <= min(reach * reach, 2**53)
    squares[inside] = 1.0
    factors = np.sqrt(squares, out=squares)
    np.divide(reach * INWARD, factors, out=factors)
    factors[inside] = 1.0
    # No column ends up further out than exact arithmetic would put it, so neither does the length.
    columns *= factors
    np.trunc(columns, out=columns)


def _group_sums(labels: npt.NDArray[np.intp], columns: Floats, groups: int) -> Floats:
    wide = len(columns) > WIDE
    if groups <= (FEW_GROUPS_WIDE if wide else FEW_GROUPS):
        members = labels == np.arange(groups)[:, np.newaxis]
        product: Floats = columns @ members.astype(np.float64).T
        return product
    sums = np.empty((len(columns), groups))
    for total, column in zip(sums, columns, strict=True):
        total[:] = np.bincount(labels, weights=column, minlength=groups)
    return sums
