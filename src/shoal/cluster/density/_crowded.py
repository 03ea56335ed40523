"""Cells where records crowd ("a city in a country"): grids within grids, as fine as a place needs.

A noisy tree (:mod:`shoal.cluster._leaves`) tells where records lie close together. From its leaves
alone windows are chosen: the box is one, with a grid, and where leaves ask for much smaller cells
is another window with a finer grid, and so on. All grids halve the box, so that the cells of a
window replace whole cells of the one around it. A record is in one cell, and every cell gets noise,
those without records too: one record more or less changes one count by one.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from shoal._typing import Bools, Ints
from shoal.cluster._leaves import PlannedLeaves, release_shape, shape_noise
from shoal.cluster._noise import PureNoise
from shoal.cluster.density._calibration import Chance, laplace_variance, simulate_chance
from shoal.cluster.density._plan import MAX_SIDES, wanted_count
from shoal.cluster.density._smoothing import smooth_counts
from shoal.density import BoxCells, CellGraph, DensityEstimate, Merges, find_boxes
from shoal.engines import HALF, Engine, Part, max_halvings
from shoal.noise import RandomSource

__all__ = ["CrowdedCells", "published_crowded", "release_crowded"]

SHAPE_PART = 0.08  # of the budget, for the shape of the tree
FILLED = 0.5  # of the records that would split it: those of a leaf that holds any
FINER = 3  # halvings of each column that leaves must want beyond a window's, to get another
MIN_LEAVES = 6  # leaves that want the same, and do: fewer may be chance
MARGIN = 2  # cells around them: as far as the narrowest kernel reaches
LEAD = 2  # halvings that most leaves want beyond a window, for it to lead to a smaller one only
STEP_SIDES = {1: 256, 2: 64, 3: 16, 4: 8}  # cells along each column of a window on the way
MAX_FILLED = 2**17  # cells that hold records, about
# When there are so many cells, no further window is made; the more columns, the more neighbors.
MAX_CELLS = {1: 2**20, 2: 2**20, 3: 2**17, 4: 2**15}
T = TypeVar("T", np.int64, np.float64)
LEVELS = HALF.bit_length()  # halvings of a column down to one lattice step


@dataclass(frozen=True, eq=False)
class Window:
    """A box with a grid, in cells of that grid."""

    level: int  # halvings of each column that make its cells
    start: Ints  # first cell along each column, shape (d,)
    stop: Ints
    parent: int  # index of the window around it, -1 for none

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells along each column."""
        return tuple((self.stop - self.start).tolist())

    def place(self, around: "Window") -> tuple[slice, ...]:
        """Return which cells of the window around it it replaces."""
        shift = self.level - around.level
        first, last = (self.start >> shift) - around.start, (self.stop >> shift) - around.start
        return tuple(map(slice, first.tolist(), last.tolist()))

    def corners(self, own: Bools) -> tuple[Ints, Ints]:
        """Return the corners of some of its cells, in lattice steps."""
        index = np.argwhere(own).astype(np.int64) + self.start
        shift = LEVELS - self.level
        return (index << shift) - HALF, ((index + 1) << shift) - HALF


WHOLE = Window(0, np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64), -1)  # the box itself


class WantedCells(NamedTuple):
    """Boxes where records may crowd, and how small their cells should be."""

    start: Ints  # in lattice steps from the lowest corner of the box, shape (m, d)
    stop: Ints
    level: Ints  # halvings of each column

    def at(self, level: int) -> tuple[Ints, Ints]:
        """Return the first cell of a level that each box touches, and the one after the last."""
        shift = LEVELS - level
        return self.start >> shift, ((self.stop - 1) >> shift) + 1

    def some(self, which: Bools) -> "WantedCells":
        """Return some of the boxes."""
        return WantedCells(self.start[which], self.stop[which], self.level[which])


def plan_windows(wanted: WantedCells) -> list[Window]:
    """Choose windows for the cells that are wanted; each comes after the one around it."""
    columns = wanted.start.shape[1]
    whole = np.zeros(columns, dtype=np.int64)
    windows: list[Window] = []
    waiting = [(wanted, whole, whole + 2 * HALF, -1)]
    cells = 0
    for boxes, start, stop, parent in waiting:
        above = windows[parent].level if parent >= 0 else -1
        level = _choose_level(boxes.level, int((stop - start).max()), columns, above)
        if level <= above or cells > MAX_CELLS[columns]:
            continue
        shift = LEVELS - level
        window = Window(level, start >> shift, stop >> shift, parent)
        windows.append(window)
        cells += math.prod(window.shape)
        gap = LEAD if np.median(boxes.level) >= level + LEAD else FINER
        finer = boxes.some(boxes.level >= level + gap)
        least = min(MIN_LEAVES, len(boxes.level) // 3)
        for held, first, last in _crowds(window, finer, least):
            waiting.append((held, first << shift, last << shift, len(windows) - 1))
    return windows


def _choose_level(levels: Ints, extent: int, columns: int, above: int) -> int:
    """Choose the level of a window: what most of its leaves want, if its grid may be so fine."""
    wanted = int(np.median(levels))
    finest, step = (
        LEVELS + math.floor(math.log2(sides[columns] / extent)) for sides in (MAX_SIDES, STEP_SIDES)
    )
    # Where they want much more, most leaves get a window within this one: it only leads there.
    return step if wanted >= step + LEAD and step > above else min(wanted, finest)


def _crowds(window: Window, finer: WantedCells, least: int) -> list[tuple[WantedCells, Ints, Ints]]:
    """Return boxes of cells, apart from each other, around the leaves that want finer cells."""
    first, last = finer.at(window.level)
    mask = np.zeros(window.shape, dtype=np.bool_)
    corners = np.unique(np.concatenate([first, last], axis=1), axis=0) - np.tile(window.start, 2)
    for corner in np.clip(corners, 0, None).tolist():
        mask[tuple(map(slice, corner[: len(corner) // 2], corner[len(corner) // 2 :]))] = True
    mask = ndimage.binary_dilation(mask, np.ones((2 * MARGIN + 1,) * mask.ndim))
    filled = -1
    while filled < mask.sum():  # until the boxes around connected cells do not touch
        filled = int(mask.sum())
        label, _ = ndimage.label(mask, np.ones((3,) * mask.ndim))
        boxes = ndimage.find_objects(label)
        for box in boxes:
            mask[box] = True
    found = []
    for box in boxes:
        low = window.start + [side.start for side in box]
        high = window.start + [side.stop for side in box]
        inside = ((first < high) & (last > low)).all(axis=1)
        if np.bincount(finer.level[inside]).max() >= least:
            found.append((finer.some(inside), low, high))
    return found


@dataclass(frozen=True, eq=False)
class BoxKernel:
    """Counts of the records in boxes that fill the whole box, for one part of the records."""

    low: Ints
    high: Ints

    @property
    def rows(self) -> int:
        """Rows of a part above which it pays to split it."""
        return max(4 * len(self.low), 1 << 20)

    def __call__(self, part: Part, /) -> tuple[Ints]:
        """Return the counts of one part; a part's weights add up exactly in doubles."""
        index = _find(self.low, self.high, part.records)
        counts = np.bincount(index, weights=part.weights, minlength=len(self.low))
        return (counts.astype(np.int64),)


def _find(low: Ints, high: Ints, records: npt.NDArray[np.int32]) -> Ints:
    """Return the box of each lattice record; those beyond the border are on it."""
    return find_boxes(low, high, np.clip(records, -HALF, HALF))


@dataclass(frozen=True, eq=False)
class CrowdedCells:
    """Noisy counts of the cells of windows."""

    windows: list[Window]
    own: list[Bools]  # cells of each window that no other one replaces
    low: Ints  # corners of all of these, in lattice steps, shape (m, d)
    high: Ints
    counts: Ints
    scale: float  # of their noise

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of an array over the cells."""
        return self.counts.shape

    @property
    def cells(self) -> BoxCells:
        """The cells."""
        return BoxCells(self.low, self.high)

    def estimate(self) -> DensityEstimate:
        """Estimate the density of each cell from all counts in its window."""
        variance = laplace_variance(self.scale)
        counts = [np.zeros(own.shape, dtype=np.int64) for own in self.own]
        noise = [np.full(own.shape, variance) for own in self.own]
        ends = np.cumsum([own.sum() for own in self.own])
        density, deviation = np.zeros(self.shape), np.zeros(self.shape)
        for index in range(len(self.windows) - 1, -1, -1):
            window, own = self.windows[index], self.own[index]
            mine = slice(ends[index] - int(own.sum()), ends[index])
            counts[index][own] = self.counts[mine]
            estimate = smooth_counts(counts[index], noise[index])
            volume = 0.5 ** (window.level * own.ndim)
            density[mine] = estimate.density[own.ravel()] / volume
            deviation[mine] = estimate.deviation[own.ravel()] / volume
            if window.parent >= 0:
                around = self.windows[window.parent]
                place = window.place(around)
                step = 1 << (window.level - around.level)
                counts[window.parent][place] = _add_blocks(counts[index], step)
                noise[window.parent][place] = _add_blocks(noise[index], step)
        return DensityEstimate(density, deviation)

    def chance(self, estimate: DensityEstimate, merges: Merges, cells: CellGraph) -> Chance:
        """Simulate how prominent peaks are by chance."""

        def again(counts: Ints) -> DensityEstimate:
            return replace(self, counts=counts).estimate()

        return simulate_chance(estimate, merges, cells, again, scale=self.scale)

    def find(self, records: npt.NDArray[np.int32]) -> Ints:
        """Return the index of each lattice record's cell."""
        return _find(self.low, self.high, records)

    def values(self) -> dict[str, Any]:
        """Return what is published."""
        return {
            "metric": "boxes",
            "counts": self.counts,
            "cell_low": self.low,
            "cell_high": self.high,
            "windows": {
                "level": np.array([window.level for window in self.windows]),
                "start": np.stack([window.start for window in self.windows]),
                "stop": np.stack([window.stop for window in self.windows]),
                "parent": np.array([window.parent for window in self.windows]),
            },
        }


def _add_blocks(values: npt.NDArray[T], step: int) -> npt.NDArray[T]:
    """Add up blocks of so many cells along each column."""
    shape = [size for side in values.shape for size in (side // step, step)]
    added: npt.NDArray[T] = values.reshape(shape).sum(axis=tuple(range(1, 2 * values.ndim, 2)))
    return added


def release_crowded(
    engine: Engine, records: float, noise: PureNoise, budget: float, *, source: RandomSource
) -> CrowdedCells:
    """Release the shape of a tree, then the counts of the cells that its leaves ask for.

    ``records``: their number, noisy.
    """
    shape, rest = _split(budget)
    leaves = release_shape(engine, records, shape, half=HALF, contribution=1, source=source)
    windows = plan_windows(_wanted(leaves, records, shape, rest))
    own = _own_cells(windows)
    low, high = _corners(windows, own)
    (exact,) = engine.add_up(BoxKernel(low, high))
    counts = noise.counts(exact, rest, contribution=1, source=source)
    return CrowdedCells(windows, own, low, high, counts, 1 / rest)


def published_crowded(values: Mapping[str, Any], budget: float) -> CrowdedCells:
    """Return the cells of a release, as they were when it was made."""
    given = values["windows"]
    columns = zip(given["level"], given["start"], given["stop"], given["parent"], strict=True)
    windows = [
        Window(int(level), np.asarray(start), np.asarray(stop), int(parent))
        for level, start, stop, parent in columns
    ]
    low, high, counts = (np.asarray(values[name]) for name in ("cell_low", "cell_high", "counts"))
    # Every window has more cells than it replaces: few boxes have few windows.
    if counts.shape != low.shape[:1] or not _are_nested(windows, 2 * len(low), low.shape[1]):
        raise ValueError("windows lie within each other")
    own = _own_cells(windows)
    if not all(map(np.array_equal, (low, high), _corners(windows, own))):
        raise ValueError("boxes are the cells of the windows")
    return CrowdedCells(windows, own, low, high, counts, 1 / _split(budget)[1])


def _are_nested(windows: list[Window], cells: int, columns: int) -> bool:
    """Return whether each window lies within an earlier one, and all hold so many cells at most."""
    for index, window in enumerate(windows):
        ends = (window.start, window.stop)
        if any(end.dtype.kind != "i" or end.shape != (columns,) for end in ends):
            return False
        first = index == 0 and window.parent == -1
        if not (0 <= window.level <= LEVELS and (first or 0 <= window.parent < index)):
            return False
        around = WHOLE if first else windows[window.parent]
        shift = window.level - around.level
        if shift < 0 or any((end & ((1 << shift) - 1)).any() for end in ends):
            return False
        low, high = (end << shift for end in (around.start, around.stop))
        held = (low <= window.start) & (window.start < window.stop) & (window.stop <= high)
        whole = (low == window.start) & (window.stop == high)
        if not (whole if first else held).all():
            return False
        cells -= math.prod(window.shape)
    return bool(windows) and cells >= 0


def _split(budget: float) -> tuple[float, float]:
    """Return the budgets of the tree's shape and of the counts."""
    shape = SHAPE_PART * budget
    return shape, budget - shape


def _corners(windows: list[Window], own: list[Bools]) -> tuple[Ints, Ints]:
    """Return the corners of the cells of all windows that no other one replaces."""
    corners = [window.corners(mine) for window, mine in zip(windows, own, strict=True)]
    low, high = (np.concatenate(ends) for ends in zip(*corners, strict=True))
    return low, high


def _own_cells(windows: list[Window]) -> list[Bools]:
    """Return the cells of each window that no other one replaces."""
    own = [np.ones(window.shape, dtype=np.bool_) for window in windows]
    for window in windows:
        if window.parent >= 0:
            own[window.parent][window.place(windows[window.parent])] = False
    return own


def _wanted(leaves: PlannedLeaves, records: float, shape: float, rest: float) -> WantedCells:
    """Return the cells that the leaves want: each with as few records as its noise allows."""
    columns = leaves.low.shape[1]
    shaping = shape_noise(records, shape, columns=columns, half=HALF, contribution=1)
    below = np.maximum(leaves.depths - shaping.roots, 1)
    held = FILLED * np.maximum(below * shaping.decay, shaping.scale)
    count = max(wanted_count(columns, 1 / rest), records / MAX_FILLED)
    halvings = leaves.depths + np.log2(np.maximum(held / count, 1.0))
    deepest = max_halvings(columns, HALF) // columns
    level = np.minimum(np.rint(halvings / columns).astype(np.int64), deepest)
    low, high = (corner.astype(np.int64) + HALF for corner in (leaves.low, leaves.high))
    # A leaf beside it that was just not split may hold as many records.
    width = high - low
    return WantedCells(np.maximum(low - width, 0), np.minimum(high + width, 2 * HALF), level)
