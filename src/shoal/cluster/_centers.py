"""Centers that come from the public box and from released values only, never from records."""

import math

import numpy as np
from scipy.special import ndtri

from shoal._typing import Floats
from shoal.noise import RandomSource

__all__ = ["normals", "pack_spheres", "uniforms"]


HALVINGS = 12  # of the search for the largest radius that fits
TRIES = 50  # random places for one sphere before its radius counts as too large


def pack_spheres(n_clusters: int, columns: int, source: RandomSource) -> Floats:
    """Place initial centers in [-1, 1]^d far from each other and from the sides of the box.

    Parameters
    ----------
    n_clusters : int
        Number of centers.
    columns : int
        Number of columns d.
    source : RandomSource
        Source of the random numbers.

    Returns
    -------
    centers : ndarray of shape (n_clusters, columns)
        Centers at least 2 a apart and at least a from the sides, for nearly the largest a that
        random placement achieves (Su et al. 2016).
    """
    if n_clusters == 1:
        return np.zeros((1, columns))
    low, high = 0.0, 1.0
    best = uniforms((n_clusters, columns), source)
    for _ in range(HALVINGS):
        radius = (low + high) / 2
        placed = _place(n_clusters, columns, radius, source)
        if placed is None:
            high = radius
        else:
            best, low = placed, radius
    return best


def uniforms(shape: tuple[int, ...], source: RandomSource) -> Floats:
    """Draw public uniform numbers in [-1, 1); they hide nothing, so doubles will do."""
    words = source.words(math.prod(shape)) >> np.uint64(11)
    numbers: Floats = words.astype(np.float64).reshape(shape) * 2.0**-52 - 1.0
    return numbers


def normals(shape: tuple[int, ...], source: RandomSource) -> Floats:
    """Draw public normal numbers; they hide nothing, so doubles will do."""
    # Uniforms are multiples of 2^-52 in [-1, 1): one that is -1 would be infinitely far out.
    drawn: Floats = ndtri(np.maximum((uniforms(shape, source) + 1.0) / 2, 2.0**-54))
    return drawn


def _place(n_clusters: int, columns: int, radius: float, source: RandomSource) -> Floats | None:
    centers = np.empty((n_clusters, columns))
    for i in range(n_clusters):
        candidates = uniforms((TRIES, columns), source) * (1.0 - radius)
        gaps = np.linalg.norm(candidates[:, None, :] - centers[None, :i, :], axis=2)
        free = np.flatnonzero((gaps >= 2 * radius).all(axis=1))
        if free.size == 0:
            return None
        centers[i] = candidates[free[0]]
    return centers
