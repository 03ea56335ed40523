"""The circle sets of the kd-Laplace thesis: a ring around a ring, a shell around a ball."""

from typing import Any

import numpy as np

from shoal import _numbers
from shoal._typing import Floats, Ints
from shoal.datasets._parameters import check_columns, generator
from shoal.datasets.dataset import Dataset, generated

NOISE = 0.1
INNER_RING = 0.2
SHELL = 0.5


def make_circle(n_samples: int = 1000, *, n_features: int = 2, random_state: Any = None) -> Dataset:
    """Draw two round groups with one center.

    In the plane, two rings of radius 1 (label 0) and 0.2 (label 1) with normal noise of standard
    deviation 0.1, in the box [-1.5, 1.5]^2. In d > 2 columns, a ball of radius 1 with directions
    and radii uniform, in [-1, 1]^d; label 0 up to radius 0.5, label 1 beyond.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of records.
    n_features : int, default=2
        Number of columns, at least 2.
    random_state : None, int or numpy.random.Generator
        Seed; None draws fresh records each time.

    Returns
    -------
    dataset : Dataset
        Records in random order.

    Raises
    ------
    ParameterError
        If a parameter breaks its rule.

    Examples
    --------
    >>> ring = make_circle(random_state=0)
    >>> radius = (ring.X**2).sum(axis=1) ** 0.5
    >>> [round(float(radius[ring.y == label].mean()), 1) for label in (0, 1)]
    [1.0, 0.2]
    """
    n_samples = _numbers.count("n_samples", n_samples)
    n_features = check_columns(n_features)
    rng = generator(random_state)
    X, y = _rings(n_samples, rng) if n_features == 2 else _ball(n_samples, n_features, rng)
    side = 1.0 + 5.0 * NOISE if n_features == 2 else 1.0
    return generated(
        "circle",
        X,
        y,
        (np.full(n_features, -side), np.full(n_features, side)),
        source="shoal.datasets.make_circle, in the shape of the kd-Laplace thesis' circle set",
    )


def _rings(n_samples: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
    labels = rng.permutation(np.arange(n_samples) % 2)
    radius = np.where(labels == 0, 1.0, INNER_RING)
    angle = rng.uniform(0.0, 2.0 * np.pi, size=n_samples)
    ring = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return ring + rng.normal(scale=NOISE, size=ring.shape), labels.astype(np.int64)


def _ball(n_samples: int, n_features: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
    normal = rng.normal(size=(n_samples, n_features))
    direction = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    radius = rng.random(n_samples)
    return radius[:, None] * direction, (radius > SHELL).astype(np.int64)
