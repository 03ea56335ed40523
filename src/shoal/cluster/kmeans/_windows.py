"""Rounds of noisy k-means in windows: where cells are, how full, how wide.

A round releases for each center the count, the sum of offsets and the squared length of those
records that are nearest to it, offsets clipped to the center's own window. Windows follow the
width of their cell as the round before released it, so noise shrinks with the cells. Everything
after the release is post-processing (proofs/kmeans.md, "The ball"): means are shrunk by their known
noise, toward the mean of all or toward where they were, and centers without records move to where
there are most.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import gammainccinv
from sklearn.metrics import pairwise_distances_argmin_min

from shoal._typing import Floats, Ints
from shoal.cluster._centers import normals
from shoal.cluster._noise import NoisyWindows
from shoal.cluster.kmeans._problem import Problem
from shoal.cluster.kmeans._synopsis import cluster_points, compress_points, one_thread
from shoal.engines import MOMENT_UNIT, Engine, window_statistics
from shoal.noise import RandomSource

__all__ = [
    "Round",
    "Space",
    "Windows",
    "decreasing",
    "first_windows",
    "merge_cells",
    "respawn",
    "shrink_to_last",
    "shrink_to_mean",
    "take_round",
]

FIRST_WINDOW = 1.0  # of the domain's radius
FIRST_LENGTH = 0.3  # of the domain's radius, where no direction is known
WINDOW = 0.95  # of the root of the mean squared distance in a cell
MERGED = 1.1  # a merged cell is wider than its parts say
SMALLEST, LARGEST = 0.02, 1.3  # windows, of the domain's radius
DEAD = 2.0  # deviations of a count's noise; a cell with fewer records holds none
FALSE_MOVE = 0.01  # probability that noise alone looks like a move of any center
BESIDE = 0.3  # of a cell's width: how far from its center another one starts
NARROWEST = 0.01  # part of its window's square that a cell's squared width has at least
DRAWS = 8  # made-up records for each first center
MIN_DRAWS = 1000


@dataclass(frozen=True, eq=False)
class Space:
    """Records in all columns or in fewer, and what is known of them."""

    engine: Engine
    center: Floats  # shape (p,): mean of the records
    radius: int  # around it, nearly all records
    axes: Floats | None  # shape (p, p): orthonormal directions in columns, most variance first
    variances: Floats | None  # shape (p,): along these directions

    @property
    def columns(self) -> int:
        """Number of columns."""
        return self.engine.columns

    def window(self, lengths: Floats) -> Ints:
        """Return lengths as windows: on the lattice, neither tiny nor beyond the domain."""
        clipped = np.clip(lengths, SMALLEST * self.radius, LARGEST * self.radius)
        windows: Ints = np.maximum(np.rint(clipped), 1.0).astype(np.int64)
        return windows


class Windows(NamedTuple):
    """Centers, and the radius of each one's window."""

    points: Floats  # shape (k, p)
    radii: Ints  # shape (k,)


@dataclass(frozen=True, eq=False)
class Round:
    """What a round released, and the estimates that follow."""

    centers: Ints  # shape (k, p): where records were counted, on the lattice
    noisy: NoisyWindows
    counts: Floats  # shape (k,): noisy counts, none below the deviation of their noise
    moves: Floats  # shape (k, p): from the centers to the noisy means
    variances: Floats  # shape (k,): of the noise of one column of a move
    spreads: Floats  # shape (k,): root of the mean squared distance from the center
    windows: Ints  # shape (k,): radii for the next round

    @property
    def dead(self) -> Ints:
        """Return indices of cells that may hold nobody."""
        return np.flatnonzero(self.noisy.counts < DEAD * self.noisy.deviations.counts)


def first_windows(space: Space, k: int, source: RandomSource) -> Windows:
    """Place k centers before anything is known of the clusters.

    Among made-up records with the variances that were released, or in random directions.
    """
    if space.axes is None or space.variances is None or not space.variances.any():
        points = space.center + FIRST_LENGTH * space.radius * _directions(k, space.columns, source)
    else:
        shape = (max(MIN_DRAWS, DRAWS * k), space.columns)
        drawn = normals(shape, source) * np.sqrt(space.variances)
        found, _, _ = compress_points(drawn, np.ones(len(drawn)), k, source)
        points = space.center + found @ space.axes.T
    return Windows(points, space.window(np.full(len(points), FIRST_WINDOW * space.radius)))


def take_round(problem: Problem, space: Space, windows: Windows, budget: float) -> Round:
    """Release counts, sums and moments of all windows."""
    centers = np.clip(np.rint(windows.points), -problem.half, problem.half).astype(np.int64)
    radii = windows.radii
    exact = window_statistics(space.engine, centers, radii)
    noisy = problem.noise.windows(
        exact, radii, budget, contribution=problem.contribution, source=problem.source
    )
    counts: Floats = np.maximum(noisy.counts, noisy.deviations.counts)
    moves: Floats = noisy.sums / counts[:, None]
    squares = np.clip(noisy.moments / MOMENT_UNIT / counts + 0.5, NARROWEST, 1.0)
    spreads = radii.astype(np.float64) * np.sqrt(squares)
    # A moment of which little is known asks for a wider window.
    doubt = 1.0 + noisy.deviations.moments / MOMENT_UNIT / counts
    return Round(
        centers,
        noisy,
        counts,
        moves,
        (noisy.deviations.sums / counts) ** 2,
        spreads,
        space.window(WINDOW * spreads * doubt),
    )


def shrink_to_mean(space: Space, last: Round) -> Floats:
    """Return the noisy means, shrunk toward the mean of all by their noise.

    Along each direction the spread of true means is told from the spread of noisy ones (Wiener
    1949); directions with less variance get no more of it.
    """
    offsets = last.centers + last.moves - space.center
    return space.center + _shrunk(offsets, last, space.axes, (space.columns,))


def shrink_to_last(space: Space, last: Round, known: int) -> Floats:
    """Return the noisy means, shrunk toward the centers they were counted around.

    In the first ``known`` directions these centers were already close; in the others they knew
    nothing, so each part is judged by itself. A center whose move no noise explains was not close
    and is judged by its own (limited translation, Efron & Morris 1972).
    """
    moves = last.moves if space.axes is None else last.moves @ space.axes[:, :known]
    squares = (moves**2).sum(axis=1)
    own = squares / known - last.variances
    # Upper quantile of the largest of so many squares of noise.
    noise = 2 * gammainccinv(known / 2, FALSE_MOVE / len(own)) * last.variances
    far = (squares > noise) & (own > 2 * np.average(own, weights=last.counts**2))
    least = np.zeros((len(own), space.columns))
    least[far, :known] = own[far, None]
    parts = (known, space.columns - known)
    return last.centers + _shrunk(last.moves, last, space.axes, parts, least)


def respawn(space: Space, last: Round, points: Floats, source: RandomSource) -> Windows:
    """Move centers that hold nobody beside those with the largest cost."""
    dead = last.dead
    moved, radii = points.copy(), last.windows.copy()
    if len(dead) in (0, len(points)):
        return Windows(moved, radii)
    loads = last.counts * last.spreads**2
    loads[dead] = 0.0
    steps = BESIDE * _directions(len(dead), space.columns, source)
    for j, step in zip(dead, steps, strict=True):
        host = int(loads.argmax())
        loads[host] /= 2
        moved[j] = points[host] + last.spreads[host] * step
        radii[j] = last.windows[host]
    return Windows(moved, radii)


def merge_cells(space: Space, last: Round, points: Floats, k: int, source: RandomSource) -> Windows:
    """Merge cells to k, by k-means on their means with their noisy counts as weights."""
    alive = np.setdiff1d(np.arange(len(points)), last.dead)
    if len(alive) == 0:
        alive = np.arange(len(points))
    # Cells whose offsets were all noise stand at one point: they are one point.
    places, index = np.unique(np.rint(points[alive]), axis=0, return_inverse=True)
    weights = last.counts[alive]
    heaps = np.bincount(index.ravel(), weights=weights).astype(np.float64)
    merged = cluster_points(places, heaps, k, source)
    labels, squares = pairwise_distances_argmin_min(points[alive], merged, metric="sqeuclidean")
    costs = np.bincount(labels, weights=weights * (last.spreads[alive] ** 2 + squares), minlength=k)
    masses = np.bincount(labels, weights=weights, minlength=k)
    spreads = np.sqrt(np.divide(costs, masses, out=np.zeros(k), where=masses > 0))
    spreads[masses == 0] = np.median(spreads[masses > 0])
    return Windows(merged, space.window(WINDOW * MERGED * spreads))


def decreasing(values: Floats) -> Floats:
    """Return the nearest sequence that never increases, by pooling neighbors that do."""
    means: list[float] = []
    sizes: list[int] = []
    for value in values:
        means.append(float(value))
        sizes.append(1)
        while len(means) > 1 and means[-2] < means[-1]:
            size = sizes[-2] + sizes[-1]
            means[-2:] = [(sizes[-2] * means[-2] + sizes[-1] * means[-1]) / size]
            sizes[-2:] = [size]
    return np.repeat(means, sizes)


def _shrunk(
    offsets: Floats,
    last: Round,
    axes: Floats | None,
    parts: tuple[int, ...],
    least: Floats | float = 0.0,
) -> Floats:
    """Shrink offsets by the part of their variance that is noise, direction by direction.

    ``least``: signal along each direction that a center has at least, whatever others have.
    """
    with one_thread():
        turned = offsets if axes is None else offsets @ axes
    sure = last.counts**2 / (last.counts**2).sum()
    signal = sure @ (turned**2 - last.variances[:, None])
    start = 0
    for size in parts:
        part = signal[start : start + size]
        signal[start : start + size] = part.mean() if axes is None and size else decreasing(part)
        start += size
    signal = np.maximum(signal, least)
    total = signal + last.variances[:, None]
    # At the largest epsilons the noise is too small for its square: then nothing is shrunk.
    shrunk: Floats = turned * np.divide(signal, total, out=np.ones_like(total), where=total > 0)
    with one_thread():
        return shrunk if axes is None else np.asarray(shrunk @ axes.T)


def _directions(count: int, columns: int, source: RandomSource) -> Floats:
    """Draw made-up unit vectors."""
    drawn = normals((count, columns), source)
    lengths = np.linalg.norm(drawn, axis=1, keepdims=True)
    drawn /= np.maximum(lengths, math.ulp(1.0))
    return drawn
