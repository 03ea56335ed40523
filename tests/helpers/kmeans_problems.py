"""Tables and problems that several tests of the room share."""

import math

import numpy as np

from shoal.cluster._noise import Body, noise_for
from shoal.cluster.kmeans._problem import Problem
from shoal.engines import HALF, ArrayEngine
from shoal.noise import Lattice, SeededSource

FIVE = np.array([[-0.6, -0.5], [0.5, -0.4], [0.0, 0.6], [0.7, 0.7], [-0.7, 0.7]])


def blobs(n, centers=FIVE, *, spread=0.05, seed=0):
    """Round clusters of about equal size in the box of -1 to 1."""
    rng = np.random.default_rng(seed)
    places = centers[rng.integers(0, len(centers), n)]
    return np.clip(places + spread * rng.standard_normal(places.shape), -1.0, 1.0)


def corners(columns, k, *, seed=0):
    """Centers far apart in many columns."""
    return np.random.default_rng(seed).choice([-0.6, 0.6], (k, columns))


def problem(X, k, *, epsilon=1.0, delta=0.0, n=None, most=20, contribution=1, seed=0):
    """What a method is given for records in the box of -1 to 1."""
    columns = X.shape[1]
    lattice = Lattice.box(np.full(columns, -1.0), np.full(columns, 1.0), half=HALF)
    noise = noise_for(epsilon, delta)
    return Problem(
        ArrayEngine(lattice.encode(X)),
        HALF,
        math.ceil(HALF * math.sqrt(columns)),
        k,
        most,
        float(len(X) if n is None else n),
        0.0,
        contribution,
        noise,
        noise.total_budget,
        SeededSource(seed),
        Body.box(columns, HALF),
    )
