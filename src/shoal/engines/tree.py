"""Codes of records by public hyperplanes: the levels of a tree, and statistics of its leaves.

Bit l of a record's code is set where ``planes[l] . x > cuts[l]``, in exact integers. The first l
bits are the record's node at depth l, so counts of all 2^L codes hold those of every node. A record
has one code and one leaf: one record more or less changes one count by its weight, and one leaf's
sums by at most weight * clip_radius, in each column (cube) or in Euclidean length (ball).
"""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats, Ints
from shoal.engines._offsets import (
    Belonging,
    block_rows,
    check_clip,
    columns_of,
    offset_sums,
    part_rows,
    product_rows,
)
from shoal.engines._parallel import Scratch, thread_scratch
from shoal.engines.array_engine import as_engine
from shoal.engines.engine import Engine, Part, lattice_points
from shoal.engines.grid import cell_counts
from shoal.engines.nearest import NearestStatistics
from shoal.exceptions import ParameterError

__all__ = ["LeafKernel", "TreeKernel", "leaf_statistics", "tree_counts"]


MAX_LEVELS = 20
MAX_CUT = 2**51  # no product of a plane and a record is larger


@dataclass(frozen=True, eq=False)
class TreeKernel:
    """Counts of all codes, for one part of the records."""

    planes: Ints  # shape (levels, d): normals of the hyperplanes, at most 2^19 in absolute value
    cuts: Ints  # shape (levels,): where they cut

    @property
    def rows(self) -> int:
        """Rows of a part above which it pays to split it."""
        # Each part adds a table of all codes, so it should not be much shorter than that.
        return max(part_rows(self.width), (1 << len(self.cuts)) // 4)

    def __call__(self, part: Part, /) -> tuple[Ints]:
        """Return the counts of one part."""
        codes = np.empty(len(part.records), dtype=np.intp)
        start = 0
        scratch = thread_scratch()
        for block in part.blocks(self.block_rows):
            stop = start + len(block.records)
            codes[start:stop] = self.codes(columns_of(block.records, scratch), scratch)
            start = stop
        return (cell_counts(codes, part.weights, 1 << len(self.cuts)),)

    @property
    def width(self) -> int:
        """Doubles that one record takes."""
        return sum(self.planes.shape) + 1

    @property
    def block_rows(self) -> int:
        """Rows of a block that fits in cache."""
        levels, d = self.planes.shape
        return min(product_rows(d, levels), block_rows(self.width))

    def codes(self, columns: Floats, scratch: Scratch) -> npt.NDArray[np.int32]:
        """Return the code of each record of a block."""
        sides = scratch.take("sides", (len(self.cuts), columns.shape[1]))
        above = np.matmul(self._form, columns, out=sides) > 0.0
        codes = np.zeros(columns.shape[1], dtype=np.int32)
        for first in range(0, len(above), 8):
            # Eight bits at a time in single bytes, of which a vector holds most.
            byte = above[first].view(np.uint8)
            for bit, level in enumerate(above[first + 1 : first + 8].view(np.uint8), start=1):
                byte |= np.left_shift(level, bit, out=level)
            codes |= np.left_shift(byte, first, dtype=np.int32)
        return codes

    @functools.cached_property
    def _form(self) -> Floats:
        return np.column_stack([self.planes, -self.cuts]).astype(np.float64)


@dataclass(frozen=True, eq=False)
class LeafKernel:
    """Counts and sums of the leaves of a tree, for one part of the records."""

    tree: TreeKernel  # the codes
    # shape (2^levels,): leaf of each code; the number of leaves stands for none
    leaf_of_code: npt.NDArray[np.int32]
    anchors: Ints  # shape (leaves, d): public point of each leaf
    clip_radius: int | None  # largest offset; None adds up the records themselves
    shape: str  # whether ``clip_radius`` bounds each column or the Euclidean length

    @property
    def rows(self) -> int:
        """Rows of a part above which it pays to split it."""
        return max(part_rows(self.tree.width), min(4 * len(self.anchors), 1 << 20))

    def __call__(self, part: Part, /) -> tuple[Ints, Ints]:
        """Return counts and sums of one part."""
        leaves, d = self.anchors.shape
        # Records of no leaf meet in one more, which is left out of the result.
        counts, sums = offset_sums(
            part,
            self._leaves,
            np.concatenate([self.anchors, np.zeros((1, d), dtype=np.int64)]),
            clip_radius=self.clip_radius,
            shape=self.shape,
            # Each block adds a table of all leaves, so it should hold about as many records.
            rows=max(self.tree.block_rows, min(leaves, 1 << 16)),
        )
        return counts[:leaves], sums[:leaves]

    def _leaves(self, columns: Floats, scratch: Scratch) -> tuple[Belonging, Belonging]:
        leaves = self.leaf_of_code.take(self.tree.codes(columns, scratch)).astype(np.intp)
        return leaves, leaves


def tree_counts(
    engine: Engine | npt.NDArray[Any], planes: npt.NDArray[Any], cuts: npt.NDArray[Any]
) -> Ints:
    """Count the records of each code.

    Parameters
    ----------
    engine : Engine, or ndarray of integers, shape (n, d)
        Lattice records.
    planes : ndarray of integers, shape (levels, d)
        Normals of 1 to 20 hyperplanes, at most 2^19 in absolute value.
    cuts : ndarray of integers, shape (levels,)
        Bit l of a code is set where ``planes[l] . x > cuts[l]``; at most 2^51 in absolute value.

    Returns
    -------
    counts : ndarray of int64, shape (2^levels,)
        Exact counts, with weights.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import tree_counts
    >>> records = np.array([[-3, 1], [2, 2], [5, -1]])
    >>> tree_counts(records, np.array([[1, 0], [0, 1]]), np.array([0, 0])).tolist()
    [0, 1, 1, 1]
    """
    held = as_engine(engine)
    (counts,) = held.add_up(_tree(planes, cuts, held.columns))
    return counts


def leaf_statistics(
    engine: Engine | npt.NDArray[Any],
    planes: npt.NDArray[Any],
    cuts: npt.NDArray[Any],
    leaf_of_code: npt.NDArray[Any],
    anchors: npt.NDArray[Any],
    *,
    clip_radius: int | None = None,
    shape: str = "cube",
) -> NearestStatistics:
    """Count and add up the records of each leaf of a tree.

    Parameters
    ----------
    engine : Engine, or ndarray of integers, shape (n, d)
        Lattice records.
    planes, cuts : ndarray of integers
        As in ``tree_counts``.
    leaf_of_code : ndarray of integers, shape (2^levels,)
        Leaf of each code, from 0; -1 leaves its records out.
    anchors : ndarray of integers, shape (leaves, d)
        A public lattice point for each leaf.
    clip_radius : int, default=None
        None adds up the records themselves; a number from 1 to 2^27 adds up clipped offsets from
        the anchor.
    shape : {"cube", "ball"}, default="cube"
        As in ``nearest_statistics``.

    Returns
    -------
    statistics : NearestStatistics
        Exact counts and sums of each leaf.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import leaf_statistics
    >>> records, planes = np.array([[-3, 1], [2, 2], [5, -1]]), np.array([[1, 0]])
    >>> leaf_of_code, anchors = np.array([-1, 0]), np.array([[4, 0]])
    >>> cuts = np.array([0])
    >>> leaves = leaf_statistics(records, planes, cuts, leaf_of_code, anchors, clip_radius=1)
    >>> leaves.counts.tolist(), leaves.sums.tolist()
    ([2], [[0, 0]])
    """
    held = as_engine(engine)
    tree = _tree(planes, cuts, held.columns)
    anchors = lattice_points("anchors", anchors, held.columns)
    leaves = len(anchors)
    if leaf_of_code.shape != (1 << len(cuts),) or leaf_of_code.dtype.kind not in "iu":
        raise ParameterError(f"leaf_of_code must be {1 << len(cuts)} integers, one for each code")
    if not (leaf_of_code.min() >= -1 and leaf_of_code.max() < leaves):
        raise ParameterError(f"leaf_of_code must lie between -1 and {leaves - 1}, as anchors has")
    leaf_or_none = np.where(leaf_of_code < 0, leaves, leaf_of_code).astype(np.int32)
    kernel = LeafKernel(tree, leaf_or_none, anchors, check_clip(clip_radius, shape), shape)
    return NearestStatistics(*held.add_up(kernel))


def _tree(planes: npt.NDArray[Any], cuts: npt.NDArray[Any], columns: int) -> TreeKernel:
    normals = lattice_points("planes", planes, columns)
    if len(normals) > MAX_LEVELS:
        raise ParameterError(f"planes must be at most {MAX_LEVELS}, got {len(normals)}")
    if cuts.shape != (len(normals),) or cuts.dtype.kind not in "iu":
        raise ParameterError(f"cuts must be {len(normals)} integers, one for each plane")
    if not (cuts.min() >= -MAX_CUT and cuts.max() <= MAX_CUT):
        raise ParameterError(f"cuts must lie between {-MAX_CUT} and {MAX_CUT}")
    return TreeKernel(normals, cuts.astype(np.int64))
