"""Pairs of records whose reports an audit compares: positions and distances in a public box.

A metric promise depends on the distance, so each direction is tried at several; a report at a
corner or a border is where a box matters. A local promise holds for any two records, so pairs far
apart are tried, and a few that lie side by side.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from shoal._bounds import Box
from shoal._typing import Floats

__all__ = ["RecordPair"]


@dataclass(frozen=True, eq=False)
class RecordPair:
    """Two synthetic records whose reports an audit compares.

    Parameters
    ----------
    name : str
        Where they are, in a short phrase.
    first, second : array-like of shape (d,)
        The two records.

    Examples
    --------
    >>> RecordPair("opposite corners", [0.0, 0.0], [3.0, 4.0]).distance
    5.0
    """

    name: str
    first: Floats
    second: Floats

    def __post_init__(self) -> None:
        """Copy the records."""
        for name in ("first", "second"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=np.float64))

    @property
    def distance(self) -> float:
        """Euclidean distance between the two records."""
        return float(np.linalg.norm(self.second - self.first))


# Of epsilon times distance: near pairs show which reports are impossible, far ones the tails.
LEVELS = (0.25, 1.0, 2.0, 3.0)
SIDE_BY_SIDE = 2.0**-22  # of the box


class Lattice(NamedTuple):
    """Where a metric mechanism rounds records to, and how far apart its points are."""

    snap: Callable[[Floats], Floats]
    step: float


class _Ray(NamedTuple):
    name: str
    start: Floats
    direction: Floats


def metric_pairs(
    box: Box, distances: Sequence[float], *, lattice: Lattice | None
) -> list[RecordPair]:
    """Lay out pairs at given distances, as far as they fit into the box."""
    pairs: dict[bytes, RecordPair] = {}
    for ray in _rays(box):
        fits = _length(ray, box)
        wanted = [*distances, fits] if ray.name.startswith("corner") else list(distances)
        wanted = [lattice.step, *wanted] if lattice is not None else wanted
        for distance in wanted:
            ends = np.vstack([ray.start, ray.start + min(distance, fits) * ray.direction])
            first, second = ends if lattice is None else lattice.snap(ends)
            pair = RecordPair(ray.name, first, second)
            if pair.distance > 0:
                named = RecordPair(f"{ray.name}, {pair.distance:.4g} apart", first, second)
                pairs.setdefault(first.tobytes() + second.tobytes(), named)
    # Two pairs of one ray could differ by less than their names show.
    return list({pair.name: pair for pair in pairs.values()}.values())


def local_pairs(box: Box) -> list[RecordPair]:
    """Lay out pairs of points all over the box."""
    low, high = box
    middle = low / 2 + high / 2
    columns = np.arange(low.size)
    points = {
        "lowest corner": low,
        "highest corner": high,
        "middle": middle,
        "middle of a side": np.where(columns == 0, high, middle),
        "quarter of the diagonal": low + (high / 4 - low / 4),
        "corner across one column": np.where(columns == 0, low, high),
        "corner across every other column": np.where(columns % 2 == 0, low, high),
    }
    tiny = SIDE_BY_SIDE * (high / 2 - low / 2)
    pairs = [
        RecordPair(f"{one} and {other}", points[one], points[other])
        for one, other in combinations(points, 2)
    ]
    pairs += [
        RecordPair("two side by side in the middle", middle, middle + tiny),
        RecordPair("two side by side in the highest corner", high, high - tiny),
    ]
    different = {
        pair.first.tobytes() + pair.second.tobytes(): pair
        for pair in reversed(pairs)
        if pair.distance > 0
    }
    return list(reversed(different.values()))


def _rays(box: Box) -> Iterator[_Ray]:
    """Yield points of the box, each with a direction that leads into it."""
    low, high = box
    width = high - low
    middle = low / 2 + high / 2
    axes = np.eye(low.size)
    diagonal = width / np.linalg.norm(width)
    side = np.where(np.arange(low.size) == 0, low, middle)
    yield _Ray("corner, along a column", low, axes[0])
    yield _Ray("middle, along a column", middle, axes[0])
    if low.size == 1:
        yield _Ray("corner, from the other end", high, -axes[0])
        return
    yield _Ray("corner, along the diagonal", low, diagonal)
    yield _Ray("corner, from the opposite one", high, -diagonal)
    yield _Ray("middle, along the diagonal", middle, diagonal)
    yield _Ray("middle, along the last column", middle, axes[-1])
    yield _Ray("middle of a side, inwards", side, axes[0])
    yield _Ray("middle of a side, along it", side, axes[-1])


def _length(ray: _Ray, box: Box) -> float:
    """Return how far the ray stays in the box."""
    goal = np.where(ray.direction > 0, box.high, box.low)
    moved = ray.direction != 0
    return float(((goal - ray.start)[moved] / ray.direction[moved]).min())
