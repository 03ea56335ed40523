"""The laws under which the central model shows numbers, each with what it tells at most.

Every ``loss`` is computed from the two exact values alone, whatever the caller took their
sensitivity to be: it is what an audit adds up.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import gammaincc, ndtr

from shoal._typing import Floats, Ints
from shoal.exceptions import ParameterError
from shoal.noise._privatize import PrivacyMeasure
from shoal.noise.box_norm import box_norm
from shoal.noise.discrete_gaussian import discrete_gaussian
from shoal.noise.discrete_laplace import discrete_laplace
from shoal.noise.exponential_choice import exponential_choice
from shoal.noise.source import RandomSource

__all__ = ["BoxNoise", "ExponentialMechanism", "GaussianNoise", "LaplaceNoise"]


@dataclass(frozen=True)
class LaplaceNoise:
    """Discrete Laplace noise on every entry.

    Parameters
    ----------
    scale : float
        Scale of the noise.

    Examples
    --------
    >>> LaplaceNoise(scale=4.0).privacy_loss(np.array([7, 1]), np.array([8, 0]))
    0.5
    """

    scale: float

    def __str__(self) -> str:
        return f"discrete Laplace noise, scale {self.scale:.4g}"

    @property
    def privacy_measure(self) -> PrivacyMeasure:
        """Epsilon."""
        return "epsilon"

    def sample(self, exact: Ints, source: RandomSource) -> Ints:
        """Add the noise."""
        return whole(exact) + discrete_laplace(exact.shape, scale=self.scale, source=source)

    def upper_tail(self, values: Ints) -> Floats:
        """Return the probability that the noise of one entry is at least each value.

        With q = e^(-1/scale): q^v / (1 + q) for v >= 1, and by symmetry 1 - q^(1 - v) / (1 + q).
        """
        above = np.maximum(values, 1 - values).astype(np.float64)
        tail = np.exp(-above / self.scale) / (1.0 + math.exp(-1.0 / self.scale))
        return np.where(values >= 1, tail, 1.0 - tail)

    def privacy_loss(self, exact: Ints, other: Ints) -> float:
        """Sum of the differences over the scale; infinite between other shapes or fractions."""
        gap = _whole_gap(exact, other)
        return math.inf if gap is None else float(np.abs(gap).sum()) / self.scale


@dataclass(frozen=True)
class BoxNoise:
    """Noise in the shape of a box, on whole rows.

    Parameters
    ----------
    scales : tuple of float
        Half widths of the box, one for each column.

    Examples
    --------
    >>> BoxNoise(scales=(2.0, 200.0)).privacy_loss(np.array([[7, 50]]), np.array([[8, 150]]))
    0.5
    """

    scales: tuple[float, ...]

    def __str__(self) -> str:
        widths = f"{min(self.scales):.4g} to {max(self.scales):.4g}"
        return f"box noise in {len(self.scales)} columns, half widths {widths}"

    @property
    def privacy_measure(self) -> PrivacyMeasure:
        """Epsilon."""
        return "epsilon"

    def sample(self, exact: Ints, source: RandomSource) -> Ints:
        """Add the noise."""
        return whole(exact) + box_norm(len(exact), scales=self.scales, source=source)

    def upper_tail(self, values: Ints) -> Floats:
        """Return the probability that the noise of the first column is at least each value.

        The first of m columns is scale * G * U, rounded, with G of law Gamma(m + 1) and U uniform
        on [-1, 1]; so with t = (v - 1/2) / scale >= 0 the tail is E[(1 - t / G)+] / 2
        = (Q(m + 1, t) - t Q(m, t) / m) / 2, Q the regularized upper incomplete Gamma function.
        """
        m = len(self.scales)
        t = (np.asarray(values, dtype=np.float64) - 0.5) / self.scales[0]
        far = np.abs(t)
        tail = np.maximum(gammaincc(m + 1, far) - far / m * gammaincc(m, far), 0.0) / 2
        both: Floats = np.where(t >= 0, tail, 1.0 - tail)
        return both

    def privacy_loss(self, exact: Ints, other: Ints) -> float:
        """Largest difference of a row in the box's own unit, rows added up."""
        gap = _whole_gap(exact, other)
        if gap is None:
            return math.inf
        return float((np.abs(gap) / np.array(self.scales)).max(axis=1).sum())


@dataclass(frozen=True)
class GaussianNoise:
    """Discrete Gaussian noise on every entry.

    Parameters
    ----------
    sigma : float
        Parameter of the discrete Gaussian.

    Examples
    --------
    >>> GaussianNoise(sigma=2.0).privacy_loss(np.array([7, 1]), np.array([9, 1]))
    0.5
    """

    sigma: float

    def __str__(self) -> str:
        return f"discrete Gaussian noise, sigma {self.sigma:.4g}"

    @property
    def privacy_measure(self) -> PrivacyMeasure:
        """Rho of zero-concentrated privacy."""
        return "rho"

    def sample(self, exact: Ints, source: RandomSource) -> Ints:
        """Add the noise."""
        return whole(exact) + discrete_gaussian(exact.shape, sigma=self.sigma, source=source)

    def upper_tail(self, values: Ints) -> Floats:
        """Bound the probability that the noise of one entry is at least each value.

        By that of a normal variable to be at least the value less 1 (Canonne, Kamath & Steinke
        2020, proposition 25).
        """
        tail: Floats = ndtr((1.0 - np.asarray(values, dtype=np.float64)) / self.sigma)
        return tail

    def privacy_loss(self, exact: Ints, other: Ints) -> float:
        """Squared distance over twice the variance; infinite between other shapes or fractions."""
        gap = _whole_gap(exact, other)
        if gap is None:
            return math.inf
        return float((gap.astype(np.float64) ** 2).sum()) / (2 * self.sigma**2)


@dataclass(frozen=True)
class ExponentialMechanism:
    """The exponential mechanism: one of the candidates, those with small penalties most likely.

    Parameters
    ----------
    rate : float
        How fast probability falls with the penalty.

    Examples
    --------
    >>> ExponentialMechanism(rate=0.5).privacy_loss(np.array([3, 0]), np.array([2, 1]))
    1.0
    """

    rate: float

    def __str__(self) -> str:
        return f"exponential choice, rate {self.rate:.4g}"

    @property
    def privacy_measure(self) -> PrivacyMeasure:
        """Epsilon."""
        return "epsilon"

    def sample(self, exact: Ints, source: RandomSource) -> int:
        """Choose a candidate by its penalty."""
        return exponential_choice(exact, rate=self.rate, source=source)

    def privacy_loss(self, exact: Ints, other: Ints) -> float:
        """Rate times the range of the differences: what all penalties share changes nothing."""
        gap = _gap(exact, other)
        return math.inf if gap is None else float(np.ptp(gap)) * self.rate


def whole(exact: npt.NDArray[Any]) -> Ints:
    """Return exact values as int64; noise on integers would show fractions as they are.

    Raises
    ------
    ParameterError
        If they are not of an integer type that int64 holds.
    """
    if not is_whole(exact):
        raise ParameterError(
            f"exact must be integers of a type that int64 holds, got {exact.dtype}: noise on "
            "integers would show what lies between them; put values on a lattice first"
        )
    return exact.astype(np.int64, copy=False)


def is_whole(exact: npt.NDArray[Any]) -> bool:
    """Return whether values are of an integer type that int64 holds."""
    return exact.dtype.kind in "iu" and np.can_cast(exact.dtype, np.int64)


def _whole_gap(exact: npt.NDArray[Any], other: npt.NDArray[Any]) -> Ints | None:
    """Return the differences; None where all is told, by the shape or by fractions."""
    if not (is_whole(exact) and is_whole(other)):
        return None
    return _gap(exact.astype(np.int64, copy=False), other.astype(np.int64, copy=False))


def _gap(exact: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    gap: npt.NDArray[Any] | None = None if exact.shape != other.shape else other - exact
    return gap
