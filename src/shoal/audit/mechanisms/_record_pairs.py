"""Pairs of records to search: positions, directions and distances in a public box.

A metric promise depends on the distance, so each direction is tried at several; a report at a
corner or a border is where a box matters. A local promise holds for any two records, so pairs of
places far apart are tried, and a few that lie side by side.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from shoal._bounds import Box
from shoal._typing import Floats
from shoal.audit.mechanisms.record_pair import RecordPair

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
    """Lay out pairs at given distances, as far as they fit into the box.

    Parameters
    ----------
    box : Box
        Public box.
    distances : sequence of float
        Distances to try; a longer one than fits becomes the longest that does.
    lattice : Lattice or None
        Records are moved to its points, where the mechanism has one: its distances are between
        those. Two neighboring points are tried as well.

    Returns
    -------
    pairs : list of RecordPair
        All different.
    """
    pairs: dict[bytes, RecordPair] = {}
    for ray in _rays(box):
        fits = _room(ray, box)
        wanted = [*distances, fits] if ray.name.startswith("corner") else list(distances)
        wanted = [lattice.step, *wanted] if lattice is not None else wanted
        for distance in wanted:
            ends = np.vstack([ray.start, ray.start + min(distance, fits) * ray.direction])
            first, second = ends if lattice is None else lattice.snap(ends)
            pair = RecordPair(ray.name, first, second)
            if pair.distance > 0:
                named = RecordPair(f"{ray.name}, {pair.distance:.4g} apart", first, second)
                pairs.setdefault(first.tobytes() + second.tobytes(), named)
    # Two pairs of one ray could differ by less than their names tell.
    return list({pair.name: pair for pair in pairs.values()}.values())


def local_pairs(box: Box) -> list[RecordPair]:
    """Lay out pairs of places all over the box.

    Parameters
    ----------
    box : Box
        Public box.

    Returns
    -------
    pairs : list of RecordPair
        All different.
    """
    low, high = box
    middle = low / 2 + high / 2
    columns = np.arange(low.size)
    places = {
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
        RecordPair(f"{one} and {other}", places[one], places[other])
        for one, other in combinations(places, 2)
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
    """Places in the box, each with a direction that leads into it."""
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


def _room(ray: _Ray, box: Box) -> float:
    """How far the ray stays in the box."""
    goal = np.where(ray.direction > 0, box.high, box.low)
    moved = ray.direction != 0
    return float(((goal - ray.start)[moved] / ray.direction[moved]).min())
