"""Noise in doubles, as the sources draw it: the low bits of a sum tell tables apart.

These distributions go through :func:`shoal.noise.privatize`, so that a replay can count
what a published method would spend if its noise were exact.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from shoal._typing import Floats
from shoal.noise import PrivacyMeasure, RandomSource

__all__ = ["DoubleGaussianLaw", "DoubleLaplaceLaw"]


@dataclass(frozen=True)
class DoubleLaplaceLaw:
    """Laplace noise in doubles on every entry: no guarantee.

    Parameters
    ----------
    scale : float
        Scale of the noise.
    generator : numpy.random.Generator
        Where it comes from.

    Examples
    --------
    >>> law = DoubleLaplaceLaw(2.0, np.random.default_rng(0))
    >>> law.privacy_loss(np.array([7.0, 1.0]), np.array([8.0, 0.0]))
    1.0
    """

    scale: float
    generator: np.random.Generator = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"Laplace noise in doubles, scale {self.scale:.4g}"

    @property
    def privacy_measure(self) -> PrivacyMeasure:
        """Epsilon."""
        return "epsilon"

    def sample(self, exact: Floats, source: RandomSource) -> Floats:
        """Add the noise."""
        return exact + self.generator.laplace(0.0, self.scale, exact.shape)

    def privacy_loss(self, exact: Floats, other: Floats) -> float:
        """Sum of the differences over the scale, as if the noise were exact."""
        if exact.shape != other.shape:
            return math.inf
        return float(np.abs(exact - other).sum()) / self.scale


@dataclass(frozen=True)
class DoubleGaussianLaw:
    """Gaussian noise in doubles on every entry: no guarantee.

    Parameters
    ----------
    sigma : float
        Standard deviation.
    generator : numpy.random.Generator
        Where it comes from.

    Examples
    --------
    >>> law = DoubleGaussianLaw(2.0, np.random.default_rng(0))
    >>> law.privacy_loss(np.array([7.0, 1.0]), np.array([9.0, 1.0]))
    0.5
    """

    sigma: float
    generator: np.random.Generator = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"Gaussian noise in doubles, sigma {self.sigma:.4g}"

    @property
    def privacy_measure(self) -> PrivacyMeasure:
        """Rho of zero-concentrated privacy."""
        return "rho"

    def sample(self, exact: Floats, source: RandomSource) -> Floats:
        """Add the noise."""
        return exact + self.generator.normal(0.0, self.sigma, exact.shape)

    def privacy_loss(self, exact: Floats, other: Floats) -> float:
        """Squared distance over twice the variance, as if the noise were exact."""
        if exact.shape != other.shape:
            return math.inf
        return float(((exact - other) ** 2).sum()) / (2 * self.sigma**2)
