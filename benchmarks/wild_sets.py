"""The tables of `wild_tables.py`: concentrated, wide and small ones, and those of today's figures.

Records come from files of $SHOAL_DATA, from scikit-learn, or from a generator with a fixed seed. A
table is scaled to [-1, 1] by its own minimum and maximum, which are taken as public; pixels by the
range of a pixel. FINAL sets are for one run after the last choice
was made on the others.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA

from shoal import Ball
from shoal._typing import Bounds
from shoal.datasets import load

BOX = (-1.0, 1.0)
BALL = Ball(0, 1)
DELTA = 1e-6


@dataclass(frozen=True)
class Table:
    """Records in the box (-1, 1), and how they are clustered."""

    records: Callable[[], np.ndarray]
    n_clusters: int
    delta: float = 0.0
    bounds: Bounds | Ball = BOX
    restarts: int = 10  # of the reference


def own_box(name: str) -> np.ndarray:
    """Load a known set, scaled by its minimum and maximum."""
    return _scaled(load(name).X)


def world() -> np.ndarray:
    """Return every fourth check-in, scaled by the range of latitude and longitude."""
    return load("gowalla").X[::4] / (90.0, 180.0)


def digits(components: int | None = None) -> np.ndarray:
    """Return the digits of scikit-learn, as 64 pixels or principal components of them."""
    X = load("digits").X
    if components is None:
        return X / 8.0 - 1.0
    return _scaled(PCA(components, random_state=0).fit_transform(X))


def mnist() -> np.ndarray:
    """Return 60,000 handwritten digits of 784 pixels, most of which are 0 at the border."""
    with np.load(_file("embeddings/mnist_60k.npz")) as file:
        return file["images"].astype(np.float32) / 127.5 - 1.0


def words() -> np.ndarray:
    """Return the embeddings of 50,000 words, each of length 1."""
    with np.load(_file("embeddings/glove_words_50k.npz")) as file:
        X = file["vectors"].astype(np.float64)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def mixture(n_columns: int, n_clusters: int, seed: int) -> np.ndarray:
    """Draw 100,000 records: centers uniform in a ball of radius 7/8, noise N(0, I / 6400)."""
    rng = np.random.default_rng(seed)
    centers = rng.standard_normal((n_clusters, n_columns))
    radius = 7 / 8 * rng.random((n_clusters, 1)) ** (1 / n_columns)
    centers *= radius / np.linalg.norm(centers, axis=1, keepdims=True)
    X = centers[rng.integers(n_clusters, size=100_000)]
    X += rng.standard_normal(X.shape) / 80
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0)


def city(seed: int = 2026) -> np.ndarray:
    """Draw 49,000 pick-ups of a city that fills a hundredth of its box: streets, hubs, strays."""
    rng = np.random.default_rng(seed)
    middle, size = np.array([0.15, -0.2]), 0.1
    ends = middle + size * rng.uniform(-1, 1, (30, 2, 2))
    streets = rng.choice(30, size=34_000, p=rng.dirichlet(np.full(30, 0.5)))
    along = rng.random((34_000, 1))
    on_streets = (1 - along) * ends[streets, 0] + along * ends[streets, 1]
    hubs = middle + size * np.concatenate([rng.uniform(-1, 1, (6, 2)), rng.uniform(-6, 6, (3, 2))])
    at_hubs = hubs[rng.choice(9, size=14_500, p=rng.dirichlet(np.ones(9)))]
    places = np.concatenate([on_streets, at_hubs])
    places += 0.01 * size * rng.standard_normal(places.shape)
    strays = rng.uniform(-1, 1, (500, 2))
    return rng.permutation(np.clip(np.concatenate([places, strays]), *BOX))


def _scaled(X: np.ndarray) -> np.ndarray:
    low, high = X.min(axis=0), X.max(axis=0)
    return 2 * (X - low) / (high - low) - 1


def _file(name: str) -> Path:
    folder = os.environ.get("SHOAL_DATA")
    if folder is None:
        raise SystemExit(f"{name} is a file of the data folder: set SHOAL_DATA to it")
    return Path(folder) / name


DESIGN = {
    "gowalla": Table(world, 20),
    "gowalla_nyc": Table(partial(own_box, "gowalla_nyc"), 20),
    "mopsi": Table(partial(own_box, "mopsi_finland"), 15),
    "words_32": Table(words, 32, DELTA, BALL, restarts=3),
    "words_100": Table(words, 100, DELTA, BALL, restarts=3),
    "words_32_box": Table(words, 32, DELTA, restarts=3),
    "mixture": Table(partial(mixture, 100, 64, 0), 64, DELTA, BALL, restarts=3),
    "mnist": Table(mnist, 10, DELTA, restarts=3),
    "digits64": Table(digits, 10, DELTA),
    "breast_cancer": Table(partial(own_box, "breast_cancer"), 2, DELTA),
    "wine": Table(partial(own_box, "wine"), 3),
    "digits8": Table(partial(digits, 8), 10),
    "adult": Table(partial(own_box, "adult"), 5),
    "S1": Table(partial(own_box, "s1"), 15),
    "transfusion": Table(partial(own_box, "transfusion"), 2),
    "iris": Table(partial(own_box, "iris"), 3),
    "birch2": Table(partial(own_box, "birch2"), 100),
    "a2": Table(partial(own_box, "a2"), 35),
    "unbalance": Table(partial(own_box, "unbalance"), 8),
}
FINAL = {
    "birch1": Table(partial(own_box, "birch1"), 100),
    "house5": Table(partial(own_box, "house5"), 5),
    "diamonds": Table(partial(own_box, "diamonds"), 8),
    "ctg": Table(partial(own_box, "heart"), 10),
    "fetal_health": Table(partial(own_box, "fetal_health"), 3),
    "a3": Table(partial(own_box, "a3"), 50),
    "cdc_ds2": Table(partial(own_box, "cdc_ds2_30k"), 6),
    "city": Table(city, 12),
    "mixture50": Table(partial(mixture, 50, 32, 1), 32, DELTA, BALL, restarts=3),
}
