"""The noise distributions of the central model, each with its privacy loss.

Every ``privacy_loss`` is computed from the two exact values alone, whatever the caller took their
sensitivity to be: it is what an audit adds up.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._optional import require
from shoal._typing import Floats, Ints
from shoal.exceptions import ParameterError
from shoal.noise.box_norm_sampler import box_norm
from shoal.noise.exponential_sampler import exponential_choice
from shoal.noise.laplace_sampler import discrete_laplace
from shoal.noise.noisy_cells import check_noisy_cells, noisy_cells_above
from shoal.noise.normal_sampler import rounded_gaussian
from shoal.noise.releases import PrivacyMeasure
from shoal.noise.source import RandomSource

__all__ = [
    "BoxNoise",
    "ExponentialMechanism",
    "LaplaceNoise",
    "RoundedGaussianNoise",
    "SparseCounts",
    "SparseLaplaceNoise",
]


@dataclass(frozen=True)
class LaplaceNoise:
    """Independent discrete Laplace (two-sided geometric) noise on every entry.

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
        """Return the privacy measure: epsilon."""
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
        """Return the L1 distance / scale; infinite if shapes differ, and for fractions."""
        gap = whole_gap(exact, other)
        return math.inf if gap is None else float(np.abs(gap).sum()) / self.scale


@dataclass(frozen=True)
class BoxNoise:
    """Box-shaped noise on whole rows: one record may move every column of a row at once.

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
        """Return the privacy measure: epsilon."""
        return "epsilon"

    def sample(self, exact: Ints, source: RandomSource) -> Ints:
        """Add the noise."""
        return whole(exact) + box_norm(len(exact), scales=self.scales, source=source)

    def upper_tail(self, values: Ints) -> Floats:
        """Return the probability that the noise of the first column is at least each value.

        The first of m columns is scale * G * U, rounded, with G of distribution Gamma(m + 1) and U
        uniform on [-1, 1]; so with t = (v - 1/2) / scale >= 0 the tail is E[(1 - t / G)+] / 2 =
        (Q(m + 1, t) - t Q(m, t) / m) / 2, Q the regularized upper incomplete Gamma function.
        """
        gammaincc = require("scipy.special", extra="").gammaincc
        m = len(self.scales)
        t = (np.asarray(values, dtype=np.float64) - 0.5) / self.scales[0]
        far = np.abs(t)
        tail = np.maximum(gammaincc(m + 1, far) - far / m * gammaincc(m, far), 0.0) / 2
        both: Floats = np.where(t >= 0, tail, 1.0 - tail)
        return both

    def privacy_loss(self, exact: Ints, other: Ints) -> float:
        """Return the sum over rows of the largest scaled difference."""
        gap = whole_gap(exact, other)
        if gap is None:
            return math.inf
        return float((np.abs(gap) / np.array(self.scales)).max(axis=1).sum())


@dataclass(frozen=True, eq=False)
class RoundedGaussianNoise:
    """Independent Gaussian noise on every entry, rounded to integers.

    Parameters
    ----------
    sigmas : float or ndarray
        Standard deviation of the noise of each entry, before rounding; an array is broadcast to the
        shape of the exact values.

    Examples
    --------
    >>> noise = RoundedGaussianNoise(sigmas=np.array([2.0, 10.0]))
    >>> noise.privacy_loss(np.array([7, 10]), np.array([8, 15]))
    0.5
    """

    sigmas: float | Floats

    def __post_init__(self) -> None:
        """Keep a copy of the deviations that nobody can change."""
        widths = np.array(self.sigmas, dtype=np.float64)
        widths.flags.writeable = False
        object.__setattr__(self, "sigmas", widths)

    def __str__(self) -> str:
        low, high = (f"{end:.4g}" for end in (np.min(self.sigmas), np.max(self.sigmas)))
        return f"rounded normal noise, sigma {low if low == high else f'{low} to {high}'}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RoundedGaussianNoise):
            return NotImplemented
        return np.array_equal(self.sigmas, other.sigmas)

    def __hash__(self) -> int:
        return hash(np.asarray(self.sigmas).tobytes())

    @property
    def privacy_measure(self) -> PrivacyMeasure:
        """Return the privacy measure: mu^2 of Gaussian differential privacy."""
        return "mu^2"

    def sample(self, exact: Ints, source: RandomSource) -> Ints:
        """Add the noise."""
        return whole(exact) + rounded_gaussian(exact.shape, sigmas=self.sigmas, source=source)

    def upper_tail(self, values: Ints) -> Floats:
        """Return the probability that the noise of an entry is at least each value."""
        tail: Floats = _normal_cdf((0.5 - np.asarray(values, dtype=np.float64)) / self.sigmas)
        return tail

    def privacy_loss(self, exact: Ints, other: Ints) -> float:
        """Return the sum of squared differences over sigma^2.

        Infinite if shapes differ, for fractions, and if an entry without noise differs.
        """
        gap = whole_gap(exact, other)
        if gap is None:
            return math.inf
        moved = np.nonzero(gap)
        widths = np.broadcast_to(self.sigmas, gap.shape)[moved]
        if (widths == 0).any():
            return math.inf
        return float(((gap[moved] / widths) ** 2).sum())


@dataclass(frozen=True)
class ExponentialMechanism:
    """The exponential mechanism: chooses a candidate, one with a small penalty most likely.

    Parameters
    ----------
    rate : float
        Rate at which the probability falls with the penalty: it is proportional to
        e^(-rate * penalty).

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
        """Return the privacy measure: epsilon."""
        return "epsilon"

    def sample(self, exact: Ints, source: RandomSource) -> int:
        """Choose a candidate by its penalty."""
        return exponential_choice(exact, rate=self.rate, source=source)

    def privacy_loss(self, exact: Ints, other: Ints) -> float:
        """Return the rate times the range of the differences of the penalties."""
        gap = _gap(exact, other)
        return math.inf if gap is None else float(np.ptp(gap)) * self.rate


def whole(exact: npt.NDArray[Any]) -> Ints:
    """Return exact values as int64; noise on integers would reveal fractions."""
    if not is_whole(exact):
        raise ParameterError(
            f"exact must be integers of a type that int64 holds, got {exact.dtype}: noise on "
            "integers would reveal what lies between them; put values on a lattice first"
        )
    return exact.astype(np.int64, copy=False)


def is_whole(exact: npt.NDArray[Any]) -> bool:
    """Return whether values are of an integer type that int64 holds."""
    return exact.dtype.kind in "iu" and np.can_cast(exact.dtype, np.int64)


def whole_gap(exact: npt.NDArray[Any], other: npt.NDArray[Any]) -> Ints | None:
    """Return the differences; None where all is told, by the shape or by fractions."""
    if not (is_whole(exact) and is_whole(other)):
        return None
    return _gap(exact.astype(np.int64, copy=False), other.astype(np.int64, copy=False))


def _normal_cdf(values: Floats) -> Floats:
    tail: Floats = require("scipy.special", extra="").ndtr(values)
    return tail


def _gap(exact: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    gap: npt.NDArray[Any] | None = None if exact.shape != other.shape else other - exact
    return gap


@dataclass(frozen=True, eq=False)
class SparseCounts:
    """Cells with their values; cells that are not listed have value 0, or are not released.

    Parameters
    ----------
    codes : ndarray of int64, shape (m,)
        Numbers of the cells, ascending.
    values : ndarray of int64, shape (m,)
        Values of these cells.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.noise import SparseCounts
    >>> counts = SparseCounts(np.array([2, 5]), np.array([10, 3]))
    >>> dict(zip(counts.codes.tolist(), counts.values.tolist()))
    {2: 10, 5: 3}
    """

    codes: Ints
    values: Ints


@dataclass(frozen=True)
class SparseLaplaceNoise:
    """Discrete Laplace noise on all cells of a large grid; releases those above a threshold.

    Parameters
    ----------
    cells : int
        Number of cells.
    threshold : int
        Smallest value released, at least 1.
    scale : float
        Scale of the noise.

    Examples
    --------
    >>> from shoal.noise import SeededSource
    >>> distribution = SparseLaplaceNoise(cells=10**12, threshold=40, scale=1.0)
    >>> exact = SparseCounts(np.array([5, 7 * 10**11]), np.array([1, 600]))
    >>> distribution.sample(exact, SeededSource(1)).codes.tolist()
    [700000000000]
    >>> distribution.privacy_loss(exact, SparseCounts(np.array([7 * 10**11]), np.array([600])))
    1.0
    """

    cells: int
    threshold: int
    scale: float

    def __str__(self) -> str:
        return (
            f"discrete Laplace noise, scale {self.scale:.4g}, on {self.cells:,} cells, shown from "
            f"{self.threshold}"
        )

    @property
    def privacy_measure(self) -> PrivacyMeasure:
        """Return the privacy measure: epsilon."""
        return "epsilon"

    def sample(self, exact: SparseCounts, source: RandomSource) -> SparseCounts:
        """Draw the cells whose noisy values reach the threshold, with these values."""
        # By public numbers: how many cells are occupied must not decide whether this fails.
        check_noisy_cells(self.cells, self.threshold, self.scale)
        noise = discrete_laplace(exact.values.shape, scale=self.scale, source=source)
        noisy = whole(exact.values) + noise
        passed = noisy >= self.threshold
        rest = self.cells - len(exact.codes)
        empty = noisy_cells_above(rest, threshold=self.threshold, scale=self.scale, source=source)
        codes = np.concatenate([exact.codes[passed], free_codes(empty.positions, exact.codes)])
        order = np.argsort(codes, kind="stable")
        values = np.concatenate([noisy[passed], empty.values])
        return SparseCounts(codes[order], values[order])

    def privacy_loss(self, exact: SparseCounts, other: SparseCounts) -> float:
        """Return the L1 distance over all cells, divided by the scale.

        Infinite if a value is not an integer.
        """
        if not (is_whole(exact.values) and is_whole(other.values)):
            return math.inf
        codes, index = np.unique(np.concatenate([exact.codes, other.codes]), return_inverse=True)
        gap = np.zeros(len(codes), dtype=np.int64)
        np.add.at(gap, index, np.concatenate([exact.values, -other.values]))
        return float(np.abs(gap).sum()) / self.scale


def free_codes(positions: Ints, taken: Ints) -> Ints:
    """Turn positions among the cells that are not taken into codes."""
    # The j-th taken cell has taken[j] - j free ones before it.
    free_before = taken - np.arange(len(taken))
    codes: Ints = positions + np.searchsorted(free_before, positions, side="right")
    return codes
