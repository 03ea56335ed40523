"""Blocks of records as rows of doubles: what statistics of whole records are made of.

One matrix product compares all records of a block with all centers, one more with itself gives
squared lengths, and no offset is formed of a record that is not to be clipped.
"""

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats
from shoal.engines._offsets import INWARD, lies_by_column
from shoal.engines._parallel import Scratch

__all__ = ["clip_lengths", "product", "row_blocks", "rows_of", "squared_lengths"]

# Doubles of one block: they stay close, and few calls are for little. Measured.
BLOCK_VALUES = 1 << 19
CLIP_VALUES = 1 << 16  # doubles clipped at a time, in several steps
TILE = 32  # columns at a time where records come column by column


def row_blocks(width: int) -> int:
    """Return the rows of a block that takes ``width`` doubles for each."""
    return min(max(BLOCK_VALUES // width, 64), 1 << 14)


def rows_of(records: npt.NDArray[np.int32], width: int, scratch: Scratch) -> Floats:
    """Turn records into rows of doubles, the first of ``width`` columns; the others are not set."""
    count, d = records.shape
    rows = scratch.take("rows", (count, width))
    tile = TILE if lies_by_column(records) else d
    for start in range(0, d, tile):
        stop = min(start + tile, d)
        rows[:, start:stop] = records[:, start:stop]
    return rows


def product(rows: Floats, form: Floats, scratch: Scratch) -> Floats:
    """Return the matrix product of rows and a form."""
    result = scratch.take("product", (len(rows), form.shape[1]))
    return np.matmul(rows, form, out=result)


def squared_lengths(rows: Floats) -> Floats:
    """Return the squared length of each row, exact for whole numbers."""
    lengths: Floats = np.matmul(rows[:, None, :], rows[:, :, None])
    return lengths.reshape(len(rows))


def clip_lengths(
    rows: Floats,
    anchors: Floats,
    labels: npt.NDArray[np.intp],
    *,
    squares: Floats,
    radii: Floats,
    scratch: Scratch,
) -> None:
    """Move rows in place that are further from their anchor than its radius: toward the anchor.

    ``squares`` are the squared distances. Offsets become whole and no longer than the radius: no
    column ends up further out than exact arithmetic would put it.
    """
    (far,) = np.nonzero(squares > (radii * radii).take(labels))
    if not far.size:
        return
    groups = labels.take(far)
    factors = radii.take(groups) * INWARD / np.sqrt(squares.take(far))
    most = 2 * len(far) > len(rows)
    if most:
        # Faster than picking them out: a factor of 1 moves no row.
        groups, factor_of = labels, np.ones(len(rows))
        factor_of[far] = factors
        factors = factor_of
    width = rows.shape[1]
    step = max(CLIP_VALUES // width, 1)
    for start in range(0, len(groups), step):
        some = slice(start, start + step)
        shape = len(groups[some]), width
        # Indices are right by construction; numpy would make a copy to look for ones that are not.
        origins = scratch.take("origins", shape)
        anchors.take(groups[some], axis=0, out=origins, mode="clip")
        if most:
            _shrink(rows[some], origins, factors[some])
        else:
            offsets = scratch.take("offsets", shape)
            rows.take(far[some], axis=0, out=offsets, mode="clip")
            _shrink(offsets, origins, factors[some])
            rows[far[some]] = offsets


def _shrink(rows: Floats, origins: Floats, factors: Floats) -> None:
    """Shrink offsets from the origins by a factor each, to whole steps."""
    rows -= origins
    rows *= factors[:, None]
    np.trunc(rows, out=rows)
    rows += origins
