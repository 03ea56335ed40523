"""Blocks of records as rows of doubles: what statistics of whole records are made of.

One matrix product compares all records of a block with all centers, one more with itself gives
squared lengths, and a product with a sparse matrix of one entry for each record adds up groups. All
of them let other threads run, and none forms the offset of a record that is not to be clipped.
"""

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array

from shoal._typing import Floats, Ints
from shoal.engines._offsets import INWARD, lies_by_column
from shoal.engines._parallel import Scratch

__all__ = ["clip_lengths", "group_sums", "row_blocks", "rows_of", "squared_lengths"]

# Doubles of one block: they stay in the cache of one processor. Measured.
BLOCK_VALUES = 1 << 18
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


def squared_lengths(rows: Floats) -> Floats:
    """Return the squared length of each row, exact for whole numbers."""
    lengths: Floats = np.matmul(rows[:, None, :], rows[:, :, None])
    return lengths.reshape(len(rows))


def group_sums(
    labels: npt.NDArray[np.intp],
    rows: Floats,
    weights: npt.NDArray[np.int32] | None,
    groups: int,
) -> Floats:
    """Add up the rows of each group, each as often as its weight says."""
    count = len(rows)
    times = np.ones(count) if weights is None else weights.astype(np.float64)
    starts = np.arange(count + 1, dtype=np.int32)
    members = csc_array((times, labels.astype(np.int32), starts), shape=(groups, count))
    sums: Floats = members @ rows
    return sums


def clip_lengths(
    rows: Floats, anchors: Floats, labels: npt.NDArray[np.intp], squares: Floats, radii: Ints
) -> None:
    """Move rows in place that are further from their anchor than its radius: toward the anchor.

    ``squares`` are the squared distances. Offsets become whole and no longer than the radius: no
    column ends up further out than exact arithmetic would put it.
    """
    lengths = radii.astype(np.float64)
    (far,) = np.nonzero(squares > (lengths * lengths).take(labels))
    if not far.size:
        return
    groups = labels.take(far)
    factors = lengths.take(groups) * INWARD / np.sqrt(squares.take(far))
    origins = anchors.take(groups, axis=0)
    offsets = rows[far]
    offsets -= origins
    offsets *= factors[:, None]
    np.trunc(offsets, out=offsets)
    offsets += origins
    rows[far] = offsets
