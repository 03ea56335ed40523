"""The sets of `shapes.py`: clusters of odd shapes, some among noise, some crowded in a small place.

Records come from files of $SHOAL_DATA, from scikit-learn, or from a generator with a fixed seed.
The bounds of a set are its own minimum and maximum, taken as public. True noise has the label -1.

Some sets have no true clusters. Those of the WaveCluster figures are compared with WaveCluster
without privacy, at the grid and threshold of the figures; places with HDBSCAN at its coarsest
parameters, which is a comparison and no truth. FINAL sets are for one run after the last choice was
made on the others.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.datasets import make_circles, make_moons

from shoal.cluster import DPWaveCluster
from shoal.datasets import load
from shoal.papers.wavecluster import load_figure_set

NOISE = 0.05  # of the records of a generated set, uniform in its box


@dataclass(frozen=True)
class Shapes:
    """Records and their clusters; labels are None where nobody knows them."""

    X: np.ndarray
    labels: np.ndarray | None

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest value of each column."""
        return self.X.min(axis=0), self.X.max(axis=0)


def file_set(name: str, noise: int | None = None) -> Shapes:
    """Load a known set; `noise` is the label of its noise."""
    found = load(name)
    X = np.asarray(found.X, dtype=float)
    if found.y is None:
        return Shapes(X, None)
    return Shapes(X, np.where(found.y == noise, -1, found.y))


def figure_set(name: str) -> Shapes:
    """Load a set of the WaveCluster figures, with the clusters of WaveCluster without privacy."""
    found = load_figure_set(name)
    plain = DPWaveCluster(
        epsilon=float("inf"), bounds=found.bounds, grid=found.grid, threshold=found.threshold
    )
    return Shapes(found.X, plain.fit(found.X).labels_)


def moons(n: int) -> Shapes:
    """Draw two moons."""
    return Shapes(*make_moons(n, noise=0.05, random_state=0))


def circles(n: int) -> Shapes:
    """Draw a circle in a circle."""
    return Shapes(*make_circles(n, noise=0.05, factor=0.5, random_state=0))


def linked_rings(n: int = 30_000, seed: int = 2027) -> Shapes:
    """Draw a chain of three rings in 3 columns, each through the next."""
    rng = np.random.default_rng(seed)
    shapes = []
    for ring in range(3):
        angle = rng.uniform(0, 2 * np.pi, _part(n, 3))
        points = np.zeros((len(angle), 3))
        points[:, 0] = np.cos(angle) + 1.4 * ring
        points[:, 1 + ring % 2] = np.sin(angle)
        shapes.append(points + 0.08 * rng.standard_normal(points.shape))
    return _among_noise(shapes, (-1.5, -1.5, -1.5), (4.3, 1.5, 1.5), n, rng)


def city_shapes(n: int = 50_000, seed: int = 2028) -> Shapes:
    """Draw five shapes of a city that fills a 200th of its country."""
    rng = np.random.default_rng(seed)
    m, side, corner = _part(n, 5), 200**-0.5, np.array([0.61, 0.23])
    turn, half, along = rng.uniform(0, 2 * np.pi, m), rng.uniform(0, np.pi, m), rng.random(m)
    city = [
        (0.3 + 0.22 * np.cos(turn), 0.7 + 0.22 * np.sin(turn), 0.015),  # a ring
        (np.full(m, 0.3), np.full(m, 0.7), 0.035),  # a disk in it
        (0.08 + 0.84 * along, np.full(m, 0.1), 0.02),  # a bar
        (0.3 + 0.2 * np.cos(half), 0.22 + 0.15 * np.sin(half), 0.015),  # an arc above it
        (0.75 + 0.12 * np.sin(2 * np.pi * along), 0.25 + 0.65 * along, 0.02),  # a wave
    ]
    shapes = [
        corner + side * (np.column_stack([x, y]) + spread * rng.standard_normal((m, 2)))
        for x, y, spread in city
    ]
    return _among_noise(shapes, (0.0, 0.0), (1.0, 1.0), n, rng)


def curves(n: int = 40_000, seed: int = 2029) -> Shapes:
    """Draw four arcs in 4 columns, each in a plane of its own."""
    rng = np.random.default_rng(seed)
    middles = np.array([[3, 3, 3, 3], [7, 7, 3, 3], [3, 7, 7, 7], [7, 3, 7, 3]]) / 10
    shapes = []
    for middle in middles:
        plane = np.linalg.qr(rng.standard_normal((4, 2)))[0]
        angle = rng.uniform(0, 1.2 * np.pi, _part(n, 4))
        arc = middle + 0.18 * np.column_stack([np.cos(angle), np.sin(angle)]) @ plane.T
        shapes.append(arc + 0.025 * rng.standard_normal(arc.shape))
    return _among_noise(shapes, np.zeros(4), np.ones(4), n, rng)


def _part(n: int, shapes: int) -> int:
    return round((1 - NOISE) * n) // shapes


def _among_noise(
    shapes: list[np.ndarray],
    low: np.ndarray | tuple[float, ...],
    high: np.ndarray | tuple[float, ...],
    n: int,
    rng: np.random.Generator,
) -> Shapes:
    """Fill up with uniform noise, clip to the box and shuffle."""
    clustered = sum(map(len, shapes))
    noise = rng.uniform(low, high, (n - clustered, len(low)))
    X = np.clip(np.concatenate([*shapes, noise]), low, high)
    labels = np.repeat([*range(len(shapes)), -1], [*map(len, shapes), len(noise)])
    order = rng.permutation(n)
    return Shapes(X[order], labels[order])


DESIGN: dict[str, Callable[[], Shapes]] = {
    "cdc_ds1": partial(file_set, "cdc_ds1_30k"),
    "cdc_ds3": partial(file_set, "cdc_ds3_30k"),
    "chameleon_t7": partial(file_set, "chameleon_t7_10k", noise=0),
    "worms_2": partial(file_set, "worms_2"),
    "moons": partial(moons, 20_000),
    "circles": partial(circles, 20_000),
    "moons_2000": partial(moons, 2_000),
    "aggregation": partial(file_set, "aggregation"),
    "spiral": partial(file_set, "spiral"),
    "lsun": partial(file_set, "lsun"),
    "pathbased": partial(file_set, "pathbased"),
    "ds1": partial(figure_set, "ds1"),
    "ds2": partial(figure_set, "ds2"),
    "ds3": partial(figure_set, "ds3"),
    "gowalla_nyc": partial(file_set, "gowalla_nyc"),
}
FINAL: dict[str, Callable[[], Shapes]] = {
    "cdc_ds2": partial(file_set, "cdc_ds2_30k"),
    "s2": partial(file_set, "s2"),
    "a3": partial(file_set, "a3"),
    "r15": partial(file_set, "r15"),
    "birch2": partial(file_set, "birch2"),
    "unbalance": partial(file_set, "unbalance"),
    "mopsi_finland": partial(file_set, "mopsi_finland"),
    "linked_rings": linked_rings,
    "city_shapes": city_shapes,
    "curves": curves,
}
