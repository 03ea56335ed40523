"""Two currencies for one estimator: pure epsilon with Laplace noise, rho with Gaussian noise.

Both add up over releases, so an estimator divides ``budget`` into shares without knowing which it
is. A statistic is described by how far one record (added or removed) can move it: by at most
``reach`` in each of ``columns`` entries.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from shoal.cluster._budget import CountSum, split_pure, split_zcdp
from shoal.noise import RandomSource, discrete_gaussian, discrete_laplace
from shoal.privacy import Event, PureEvent, ZCDPEvent, epsilon_to_zcdp

__all__ = ["GaussianNoise", "LaplaceNoise", "Noise", "noise_for"]

Integers = npt.NDArray[np.int64]


class Noise(Protocol):
    """What an estimator needs to know of its noise."""

    @property
    def budget(self) -> float:
        """Total to divide into shares."""

    def event(self, purpose: str) -> Event:
        """Return the event that spends the whole budget."""

    def split(self, share: float, columns: int) -> CountSum:
        """Divide the share of a round of Lloyd."""

    def scale(self, share: float, *, columns: int, reach: int) -> float:
        """Scale of the noise that costs ``share``."""

    def deviation(self, share: float, *, columns: int, reach: int) -> float:
        """Give the standard deviation of that noise in each entry, for post-processing."""

    def add(
        self, values: Integers, share: float, *, columns: int, reach: int, source: RandomSource
    ) -> Integers:
        """Return the values with noise that costs ``share`` on every entry."""


@dataclass(frozen=True)
class LaplaceNoise:
    """Discrete Laplace noise; the currency is pure epsilon."""

    budget: float

    def event(self, purpose: str) -> Event:
        """Return the event that spends the whole budget."""
        return PureEvent(epsilon=self.budget, purpose=purpose)

    def split(self, share: float, columns: int) -> CountSum:
        """Divide the share of a round of Lloyd."""
        return split_pure(share, columns)

    def scale(self, share: float, *, columns: int, reach: int) -> float:
        """L1 sensitivity over the share, rounded up so that the share stays an upper bound."""
        return math.nextafter(columns * reach / share, math.inf)

    def deviation(self, share: float, *, columns: int, reach: int) -> float:
        """Give the standard deviation of the noise in each entry."""
        return math.sqrt(2) * self.scale(share, columns=columns, reach=reach)

    def add(
        self, values: Integers, share: float, *, columns: int, reach: int, source: RandomSource
    ) -> Integers:
        """Return the values with noise that costs ``share`` on every entry."""
        scale = self.scale(share, columns=columns, reach=reach)
        return values + discrete_laplace(values.shape, scale=scale, source=source)


@dataclass(frozen=True)
class GaussianNoise:
    """Discrete Gaussian noise; the currency is rho of zero-concentrated privacy."""

    budget: float

    def event(self, purpose: str) -> Event:
        """Return the event that spends the whole budget."""
        return ZCDPEvent(rho=self.budget, purpose=purpose)

    def split(self, share: float, columns: int) -> CountSum:
        """Divide the share of a round of Lloyd."""
        return split_zcdp(share, columns)

    def scale(self, share: float, *, columns: int, reach: int) -> float:
        """L2 sensitivity over sqrt(2 share), rounded up so that the share stays an upper bound."""
        # Two roundings up cover the error of the square root.
        sigma = reach * math.sqrt(columns / (2 * share))
        return math.nextafter(math.nextafter(sigma, math.inf), math.inf)

    def deviation(self, share: float, *, columns: int, reach: int) -> float:
        """Give the largest standard deviation of the noise in each entry."""
        return self.scale(share, columns=columns, reach=reach)

    def add(
        self, values: Integers, share: float, *, columns: int, reach: int, source: RandomSource
    ) -> Integers:
        """Return the values with noise that costs ``share`` on every entry."""
        sigma = self.scale(share, columns=columns, reach=reach)
        return values + discrete_gaussian(values.shape, sigma=sigma, source=source)


def noise_for(epsilon: float, delta: float) -> Noise:
    """Choose the currency of a promise.

    Parameters
    ----------
    epsilon, delta : float
        The promise; delta above 0 asks for Gaussian noise.

    Returns
    -------
    noise : Noise
        With the whole budget of that promise.
    """
    if delta > 0:
        return GaussianNoise(epsilon_to_zcdp(epsilon, delta))
    return LaplaceNoise(float(epsilon))
