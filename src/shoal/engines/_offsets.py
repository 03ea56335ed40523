"""Sums of clipped offsets around public anchors, in doubles that are exact.

Blocks of records are held as columns, ``(d + 1, rows)`` with a last row of ones, which lets one
matrix product add a constant and whose group sums are the counts. In memory few columns lie one
after the other, so that inner loops run over many records; many columns lie as they came, since
turning them around would take longer than it saves.

Which anchor a record belongs to is given as its index, or, where anchors are few, as a column of
zeros with one 1: matrix products then find the anchors or add up the groups.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array

from shoal import _numbers
from shoal._typing import Floats, Ints
from shoal.engines._parallel import Scratch, thread_scratch
from shoal.engines.engine import Part, check_integer

__all__ = [
    "INWARD",
    "MAX_CLIP_RADIUS",
    "Belonging",
    "block_rows",
    "check_clip",
    "columns_of",
    "few_groups",
    "group_sums",
    "lies_by_column",
    "offset_sums",
    "part_rows",
    "product_rows",
]

Belonging = npt.NDArray[Any]  # indices, or doubles that are 0 and 1

SHAPES = ("cube", "ball")
MAX_CLIP_RADIUS = 2**27  # above the longest offset, 2^26.5
# Doubles of one block: they stay in the last cache, and calls are long enough for threads that wait
# for the interpreter in between not to hinder each other. Measured.
BLOCK_VALUES = 1 << 20
PART_VALUES = 1 << 22  # doubles of one part: work of some milliseconds
# Up to so many multiplications OpenBLAS leaves out the copies that large products are worth, and
# thin products are two to four times as fast: measured.
SMALL_PRODUCT = 10**6
FEW_ROWS, LARGE_PRODUCT_ROWS = 512, 2048  # with fewer rows calls take longer than they save
WIDE = 16  # columns from which blocks are held as the records came
# Square root, quotient and two products err by 2^-53 each; this makes up for all of them.
INWARD = 1.0 - 2.0**-50


def part_rows(width: int) -> int:
    """Return the rows of a part that takes ``width`` doubles for each."""
    return min(max(PART_VALUES // width, 64), 1 << 18)


def block_rows(width: int) -> int:
    """Return the rows of a block that takes ``width`` doubles for each."""
    return _odd_lines(min(max(BLOCK_VALUES // width, 64), 1 << 16))


def product_rows(columns: int, groups: int) -> int:
    """Return the rows of records to compare with so many groups in one matrix product."""
    rows = SMALL_PRODUCT // ((columns + 1) * groups)
    return _odd_lines(min(rows, 1 << 16) if rows >= FEW_ROWS else LARGE_PRODUCT_ROWS)


def _odd_lines(rows: int) -> int:
    # Rows of a matrix that are a power of two apart share few places in cache.
    return (rows // 8 - 1 | 1) * 8


def few_groups(columns: int, by_column: bool) -> int:
    """Return the most groups whose sums are faster by products than by indices.

    Measured with two threads. One alone would be faster by indices from half as many on, but
    np.bincount lets no other thread run, and dot does.
    """
    return 24 if by_column and columns < WIDE else 32


def lies_by_column(records: npt.NDArray[np.int32]) -> bool:
    """Return whether blocks of these records are held one column after the other."""
    return records.shape[1] < WIDE or abs(records.strides[0]) < abs(records.strides[1])


def columns_of(records: npt.NDArray[np.int32], scratch: Scratch) -> Floats:
    """Turn records into columns of doubles above a row of ones."""
    rows, d = records.shape
    if lies_by_column(records):
        columns = scratch.take("columns", (d + 1, rows))
    else:
        columns = scratch.take("columns", (rows, d + 1)).T
    columns[:d] = records.T
    columns[d] = 1.0
    return columns


def check_clip(clip_radius: Any, shape: Any) -> int | None:
    """Return ``clip_radius`` as an int or None, if it and ``shape`` are allowed."""
    _numbers.choice("shape", shape, SHAPES)
    if clip_radius is None:
        return None
    return check_integer("clip_radius", clip_radius, MAX_CLIP_RADIUS)


def offset_sums(
    part: Part,
    assign: Callable[[Floats, Scratch], tuple[Belonging, Belonging]],
    anchors: Ints,
    *,
    clip_radius: int | None,
    shape: str,
    rows: int,
) -> tuple[Ints, Ints]:
    """Count the records of each anchor and add up their offsets, with weights.

    ``assign`` says which of the m ``anchors`` the records of a block belong to, once for finding
    the anchors and once for adding up: indices of shape (rows,), or 0s and 1s of shape (m, rows),
    which find anchors only where columns lie one after the other. ``rows`` are those of a block.
    """
    groups, d = anchors.shape
    by_column = lies_by_column(part.records)
    points = np.zeros((d + 1, groups)).T if by_column else np.zeros((groups, d + 1))
    points[:, :d] = anchors
    totals = np.zeros((d + 1, groups))
    scratch = thread_scratch()
    for block in part.blocks(rows):
        columns = columns_of(block.records, scratch)
        anchor_of, group_of = assign(columns, scratch)
        if clip_radius is not None:
            # A block that lies record by record has gaps without its last row: it takes part.
            offsets = columns[:d] if by_column else columns
            offsets -= _anchors(anchor_of, points[:, : len(offsets)], by_column, scratch)
            offsets[d:] = 0.0
            _clip(offsets, clip_radius, shape, scratch)
            columns[d] = 1.0
        if block.weights is not None:
            columns *= block.weights
        totals += _group_sums(group_of, columns, groups)
    exact = totals.astype(np.int64)
    return exact[d].copy(), np.ascontiguousarray(exact[:d].T)


def _anchors(anchor_of: Belonging, points: Floats, by_column: bool, scratch: Scratch) -> Floats:
    """Return the anchor of each record, as columns."""
    rows, width = anchor_of.shape[-1], points.shape[1]
    if anchor_of.ndim == 2:  # also of a single wide record, which lies both ways
        return np.matmul(points.T, anchor_of, out=scratch.take("anchors", (width, rows)))
    # Indices are right by construction; numpy would make a copy to look for ones that are not.
    if not by_column:
        anchors = scratch.take("anchors", (rows, width))
        points.take(anchor_of, axis=0, out=anchors, mode="clip")
        return anchors.T
    anchors = scratch.take("anchors", (width, rows))
    points.T.take(anchor_of, axis=1, out=anchors, mode="clip")
    return anchors


def _clip(offsets: Floats, clip_radius: int, shape: str, scratch: Scratch) -> None:
    """Clip each offset in place, by itself alone and by correctly rounded operations only."""
    by_column = offsets.flags.c_contiguous
    if shape == "cube":
        # In their order in memory, or the method would make a copy.
        inner = offsets if by_column else offsets.T
        inner.clip(-clip_radius, clip_radius, out=inner)
        return
    # In place of the anchors, which are not needed any more.
    products = scratch.take("anchors", offsets.shape if by_column else offsets.T.shape)
    products = products if by_column else products.T
    np.multiply(offsets, offsets, out=products)
    # Unlike einsum, dot lets other threads run.
    squares = scratch.take("squares", offsets.shape[1:])
    np.dot(np.ones(len(offsets)), products, out=squares)
    within = clip_radius * INWARD
    # Squares are at most 2^53: a larger radius clips nothing, and would not be exact squared. A
    # square root undoes a correctly rounded square, so factors inside are 1 and change nothing.
    np.putmask(squares, squares <= min(clip_radius * clip_radius, 2**53), within * within)
    factors = np.sqrt(squares, out=squares)
    np.divide(within, factors, out=factors)
    # No column ends up further out than exact arithmetic would put it, so neither does the length.
    offsets *= factors
    np.trunc(offsets, out=offsets)


def _group_sums(group_of: Belonging, columns: Floats, groups: int) -> Floats:
    """Add up the columns of each group's records."""
    if group_of.ndim == 2:
        # Unlike matmul, dot lets other threads run even where its result is small.
        product: Floats = np.dot(columns, group_of.T)
        return product
    if not columns.flags.c_contiguous:
        return group_sums(group_of, columns.T, None, groups).T
    sums = np.empty((len(columns), groups))
    for total, column in zip(sums, columns, strict=True):
        total[:] = np.bincount(group_of, weights=column, minlength=groups)
    return sums


def group_sums(
    labels: npt.NDArray[np.intp],
    rows: Floats,
    weights: npt.NDArray[np.int32] | None,
    groups: int,
) -> Floats:
    """Add up the rows of each group, each as often as its weight says.

    A product with a sparse matrix, of one entry for each row: it reads rows as they lie.
    """
    count = len(rows)
    times = np.ones(count) if weights is None else weights.astype(np.float64)
    starts = np.arange(count + 1, dtype=np.int32)
    members = csc_array((times, labels.astype(np.int32), starts), shape=(groups, count))
    sums: Floats = members @ rows
    return sums
