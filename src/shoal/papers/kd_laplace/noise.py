"""Radius and direction of the published noise, for 2, 3 and more columns.

The radius is right everywhere: Gamma(d, 1/epsilon). The direction is uniform only for d = 2.

* d = 3, thesis (equations 3.8): polar angle theta uniform in [0, pi], psi uniform in [0, 2 pi). The
  density of a report is e^(-epsilon r)/sin(theta) up to a constant: unbounded at the poles.
* d = 3, code: theta uniform in [0, 2 pi), psi = arccos(2u - 1), so the poles are as crowded, and
  directions with sin(psi) = 0 get no density at all.
* d >= 4 (both): a point of the unit sphere is used as if its coordinates were angles. They lie in
  [-1, 1], so the first coordinate of the direction is at least cos(1) = 0.54.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import lambertw

from shoal._typing import Floats
from shoal.papers.kd_laplace._as_published import Source

__all__ = ["Noise", "nd_noise", "to_cartesian"]


class Noise(NamedTuple):
    """Polar parts of the noise."""

    radius: Floats
    direction: Floats

    @property
    def vectors(self) -> Floats:
        """Noise to add, one row a record."""
        product: Floats = self.radius[:, None] * self.direction
        return product


def nd_noise(
    rows: int, columns: int, *, epsilon: float, source: Source, generator: np.random.Generator
) -> Noise:
    """Draw the published noise.

    Parameters
    ----------
    rows, columns : int
        Number of records and of columns, at least 2 of these.
    epsilon : float
        The published epsilon.
    source : {"thesis", "code"}
        Whose angles; they differ for three columns.
    generator : Generator
        Source of randomness.

    Returns
    -------
    noise : Noise
        Radius of shape (rows,), direction of shape (rows, columns): of length 1, or a little less
        for four columns and more.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> noise = nd_noise(1000, 5, epsilon=1.0, source="code", generator=generator)
    >>> bool(noise.direction[:, 0].min() >= np.cos(1.0))  # never negative: no guarantee
    True
    """
    if columns == 2:
        # Inverse of the distribution function of the radius, as Andres et al. (2013) give it.
        uniform = generator.random(rows)
        branch: Floats = lambertw((uniform - 1) / np.e, k=-1).real
        angle = generator.uniform(0.0, 2 * np.pi, rows)
        return Noise(-(branch + 1) / epsilon, np.column_stack([np.cos(angle), np.sin(angle)]))
    radius = generator.gamma(columns, 1 / epsilon, rows)
    if columns == 3:
        return Noise(radius, _published_sphere(rows, source, generator))
    normal = generator.normal(size=(rows, columns))
    unit = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    return Noise(radius, to_cartesian(unit))


def to_cartesian(angles: Floats) -> Floats:
    """Turn rows into directions the way the published code does.

    Parameters
    ----------
    angles : ndarray of shape (n, d)
        Rows taken as angles; the first entry only scales the last coordinate, by its cosine, where
        it should be absent.

    Returns
    -------
    directions : ndarray of shape (n, d)
        Coordinates (cos a2, sin a2 cos a3, ..., sin a2 ... sin ad cos a1).
    """
    sines = np.sin(angles)
    sines[:, 0] = 1.0
    products = np.multiply.accumulate(sines, axis=1)
    directions: Floats = products * np.roll(np.cos(angles), -1, axis=1)
    return directions


def _published_sphere(rows: int, source: Source, generator: np.random.Generator) -> Floats:
    theta: Floats
    psi: Floats
    if source == "thesis":
        theta = generator.uniform(0.0, np.pi, rows)
        psi = generator.uniform(0.0, 2 * np.pi, rows)
    else:
        theta = generator.uniform(0.0, 2 * np.pi, rows)
        psi = np.arccos(2 * generator.random(rows) - 1)
    flat = np.sin(theta)
    return np.column_stack([flat * np.sin(psi), flat * np.cos(psi), np.cos(theta)])
