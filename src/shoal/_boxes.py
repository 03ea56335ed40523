"""Which boxes touch, and which box holds a point, in a partition into boxes of different sizes.

The boxes are made by halving, as the leaves of a tree: along each column a box is a power of two
times as wide as the narrowest one, and starts at a multiple of its own width. The shapes form a
chain: of two boxes, the larger is at least as wide in every column. That is so if the columns are
halved in a fixed order, one after another or all at once, whatever is halved how often. A uniform
grid is such a partition too.

Then the bits of a box's corner, counted in the narrowest widths, can be interleaved such that every
box is one interval of codes (Morton 1966), and the box of a point is found in a sorted list.
"""

import itertools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats, Ints
from shoal.exceptions import ParameterError

__all__ = ["check_boxes", "find_boxes", "touching_boxes"]

MAX_BITS = 62  # of a code
NEAR = 1e-3  # of the narrowest width: a corner is a multiple of it but for rounding
TABLE_BITS = 12  # of a coordinate that are interleaved at once


def touching_boxes(low: npt.ArrayLike, high: npt.ArrayLike) -> tuple[Ints, Ints]:
    """Return all pairs of boxes that touch at a side or a corner.

    Parameters
    ----------
    low, high : array-like of shape (m, d)
        Corners of boxes that result from repeated halving and do not overlap. Integers (lattice
        steps) must be exact; floats may be off by less than 1/1000 of the narrowest width.

    Returns
    -------
    first, second : ndarray of int64
        Indices of the two boxes of each pair, first < second, sorted.

    Raises
    ------
    ParameterError
        If the boxes do not result from halving in a fixed order.

    Examples
    --------
    >>> from shoal.density import touching_boxes
    >>> low, high = [[0, 0], [0, 2], [2, 0], [4, 0]], [[2, 2], [2, 4], [4, 4], [8, 4]]
    >>> first, second = touching_boxes(low, high)
    >>> list(zip(first.tolist(), second.tolist(), strict=True))
    [(0, 1), (0, 2), (1, 2), (2, 3)]
    """
    boxes = _Partition.of(*check_boxes(low, high))
    m, columns = boxes.low.shape
    keys = [np.empty(0, dtype=np.int64)]
    # A box that touches a smaller one, or one of its own size, holds one of the cells around it.
    for offset in itertools.product((-1, 0, 1), repeat=columns):
        if not any(offset):
            continue
        cells = boxes.low + np.array(offset, dtype=np.int64) * boxes.width
        inside = np.flatnonzero(((cells >= 0) & (cells < boxes.extent)).all(axis=1))
        found = boxes.locate(cells[inside])
        larger = (found >= 0) & (boxes.volume[found] >= boxes.volume[inside])
        one, other = inside[larger], found[larger]
        keys.append(np.minimum(one, other) * m + np.maximum(one, other))
    first, second = np.divmod(np.unique(np.concatenate(keys)), m)
    return first, second


def find_boxes(low: npt.ArrayLike, high: npt.ArrayLike, points: npt.ArrayLike) -> Ints:
    """Return the index of the box that holds each point.

    Parameters
    ----------
    low, high : array-like of shape (m, d)
        Corners of boxes, as for :func:`touching_boxes`, but those that touch must have exactly
        equal coordinates there.
    points : array-like of shape (n, d)
        Points in the same unit; they are compared with the corners without rounding.

    Returns
    -------
    index : ndarray of int64, shape (n,)
        Index of the box of each point, -1 if no box holds it. A box holds its lower sides but not
        its upper ones, except at the upper end of all boxes together.

    Raises
    ------
    ParameterError
        If the boxes do not result from halving in a fixed order, or points have other columns.

    Examples
    --------
    >>> from shoal.density import find_boxes
    >>> low, high = [[0, 0], [0, 2], [2, 0], [4, 0]], [[2, 2], [2, 4], [4, 4], [8, 4]]
    >>> find_boxes(low, high, [[1.0, 1.9], [1.0, 2.0], [8.0, 4.0], [8.1, 4.0]]).tolist()
    [0, 1, 3, -1]
    """
    corners = check_boxes(low, high)
    boxes = _Partition.of(*corners)
    values = np.asarray(points)
    if values.ndim != 2 or values.shape[1] != boxes.low.shape[1]:
        raise ParameterError(
            f"points must have the {boxes.low.shape[1]} columns of the boxes, got shape "
            f"{values.shape}",
            parameter="points",
            code="columns",
        )
    cells = np.empty(values.shape, dtype=np.int64)
    inside = np.ones(len(values), dtype=np.bool_)
    for column, value in enumerate(values.T):
        both = np.concatenate([corner[:, column] for corner in corners])
        edges, first = np.unique(both, return_index=True)
        counted = np.concatenate([boxes.low, boxes.low + boxes.width])[first, column]
        inside &= (value >= edges[0]) & (value <= edges[-1])
        # The nearest border below a point lies in the same box, and in the same gap.
        index = np.searchsorted(edges, value, side="right") - 1
        cells[:, column] = counted[np.clip(index, 0, len(edges) - 2)]
    index = boxes.locate(cells)
    index[~inside] = -1
    return index


def check_boxes(low: npt.ArrayLike, high: npt.ArrayLike) -> tuple[Floats | Ints, Floats | Ints]:
    """Return the corners as arrays of one shape, or refuse them."""
    corners = np.asarray(low), np.asarray(high)
    shapes = corners[0].shape, corners[1].shape
    if shapes[0] != shapes[1] or len(shapes[0]) != 2 or 0 in shapes[0]:
        raise ParameterError(
            f"low and high must have one row a box and one column a column, got shapes "
            f"{shapes[0]} and {shapes[1]}"
        )
    if any(values.dtype.kind not in "iuf" for values in corners):
        raise ParameterError(
            f"low and high must be numbers, got {corners[0].dtype} and {corners[1].dtype}"
        )
    if not (np.isfinite(corners[0]) & np.isfinite(corners[1]) & (corners[0] < corners[1])).all():
        raise ParameterError("low and high must be finite with low < high, got an empty box")
    if all(values.dtype.kind in "iu" for values in corners):
        return corners[0].astype(np.int64), corners[1].astype(np.int64)
    return corners[0].astype(np.float64), corners[1].astype(np.float64)


class _Partition(NamedTuple):
    """Boxes in narrowest widths, and the intervals of codes that they are."""

    low: Ints
    width: Ints
    extent: Ints  # of all boxes together
    volume: Ints
    tables: list[list[Ints]]  # for each column: bits of a coordinate -> bits of the code
    order: Ints  # of the boxes by code
    starts: Ints  # codes in that order
    ends: Ints

    @classmethod
    def of(cls, low: Floats | Ints, high: Floats | Ints) -> "_Partition":
        """Count the corners in narrowest widths, and sort the boxes by code."""
        corner, width = _multiples(low, high)
        levels = np.log2(width).astype(np.int64)
        if (width != 1 << levels).any() or (corner & (width - 1)).any():
            raise ParameterError(
                "low and high must be boxes made by halving, got one that is not a power of two "
                "times as wide as the narrowest, or does not start at a multiple of its width"
            )
        extent = (corner + width).max(axis=0)
        tables = _tables(levels, extent)
        codes, volume = _encode(corner, tables), 1 << levels.sum(axis=1)
        order = np.argsort(codes)
        starts = codes[order]
        ends = starts + volume[order]
        if (ends[:-1] > starts[1:]).any():
            raise ParameterError("low and high must be boxes that do not overlap, got two that do")
        return cls(corner, width, extent, volume, tables, order, starts, ends)

    def locate(self, cells: Ints) -> Ints:
        """Return which box holds each cell of the narrowest widths, -1 = none."""
        codes = _encode(cells, self.tables)
        index = np.searchsorted(self.starts, codes, side="right") - 1
        # Before the first box, index is -1, and the code is before the end of the last box too.
        held = (index >= 0) & (codes < self.ends[index])
        return np.where(held, self.order[index], -1)


def _multiples(low: Floats | Ints, high: Floats | Ints) -> tuple[Ints, Ints]:
    """Return lower corners and widths of the boxes in narrowest widths, from the lowest corner."""
    lowest, unit = low.min(axis=0), (high - low).min(axis=0)
    corners = np.stack([low - lowest, high - lowest])
    if np.issubdtype(corners.dtype, np.integer):
        whole, rest = np.divmod(corners, unit)
        exact = not rest.any()
    else:
        # The extent is wide, so that rounding of its ends matters less than that of a width.
        extent = corners.max(axis=(0, 1))
        parts = corners / (extent / np.rint(extent / unit))
        whole = np.rint(parts)
        exact = bool((np.abs(parts - whole) < NEAR).all())
    if not exact:
        raise ParameterError(
            "low and high must be boxes made by halving, got a corner that is not at a multiple "
            "of the narrowest width"
        )
    counted = whole.astype(np.int64)
    return counted[0], counted[1] - counted[0]


def _tables(levels: Ints, extent: Ints) -> list[list[Ints]]:
    """Return which bits of the code each coordinate sets, such that each box is an interval."""
    bits = [int(size - 1).bit_length() for size in extent]
    if sum(bits) > MAX_BITS:
        raise ParameterError(
            f"low and high must be boxes halved at most {MAX_BITS} times, got {sum(bits)}"
        )
    shapes = np.unique(levels, axis=0)
    shapes = shapes[np.argsort(shapes.sum(axis=1))]
    if (np.diff(shapes, axis=0) < 0).any():
        raise ParameterError(
            "low and high must be boxes whose columns are halved in a fixed order, got two of "
            "which each is wider in one column"
        )
    places: list[list[int]] = [[] for _ in bits]
    free = itertools.count()
    # The lowest bits tell apart the cells within the smallest boxes, the next those within the
    # next larger ones, and so on.
    for shape in [*shapes.tolist(), bits]:
        for column, level in enumerate(shape):
            places[column] += [next(free) for _ in range(level - len(places[column]))]
    return [_column_tables(column) for column in places]


def _column_tables(places: list[int]) -> list[Ints]:
    """Return the codes of all values of each group of bits, lowest group first."""
    tables = []
    for start in range(0, len(places), TABLE_BITS):
        group = places[start : start + TABLE_BITS]
        values = np.arange(1 << len(group), dtype=np.int64)
        table = np.zeros_like(values)
        for bit, place in enumerate(group):
            table |= ((values >> bit) & 1) << place
        tables.append(table)
    return tables


def _encode(cells: Ints, tables: list[list[Ints]]) -> Ints:
    """Return the code of each cell of the narrowest widths."""
    codes = np.zeros(len(cells), dtype=np.int64)
    for column, groups in enumerate(tables):
        for group, table in enumerate(groups):
            codes |= table[(cells[:, column] >> (group * TABLE_BITS)) & (len(table) - 1)]
    return codes
