"""Mechanisms that report a cell near the record with higher probability: Piecewise, square wave.

Reports are cells -max_index .. max_index, M of them. The record is one of N + 1 positions, and a
window of W = M - N cells is centered on it, which never sticks out. Every cell of the window has
e^epsilon times the probability of every other cell. The window always has exactly W cells, so the
distribution is epsilon locally private whatever W and N are and however the record was rounded
(proofs/piecewise.md). The two differ in W / N and in the length of a cell.

Piecewise (Wang et al. 2019): a column t in [-1, 1] becomes, with C = (s + 1)/(s - 1) and
s = e^(epsilon/2), uniform on a window of length C - 1 around it with probability s/(s + 1), else
uniform on the rest of [-C, C]; reports are unbiased.

Square wave (Li et al. 2020): a column t in [0, 1] is reported in [-b, 1 + b] with e^epsilon times
the density within b of t as elsewhere, b = (epsilon e^epsilon - e^epsilon + 1) / (2 e^epsilon
(e^epsilon - 1 - epsilon)). Reports lean to the middle: they are for estimating distributions (by EM
or iterative Bayesian update), not means.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Self

import numpy as np

from shoal._docs import shared_docs
from shoal._typing import Bounds, Floats, Ints, RandomState
from shoal.mechanisms._local import ColumnMechanism
from shoal.noise import RandomSource, odds_between, two_level, uniform_integers
from shoal.privacy import Ledger
from shoal.schema import Schema

__all__ = ["Piecewise", "SquareWave", "Window", "piecewise_distribution"]

WIDTH = 2**22 + 1  # cells of the window: the published ratio W / N is met to 2^-23
MAX_RATIO = 2.0**24  # positions over width; at epsilon where it matters, noise is 10^-7 of the box


@dataclass(frozen=True)
class Window:
    """A distribution of cells given a position.

    Parameters
    ----------
    epsilon : Fraction
        Logarithm of the ratio between the two levels.
    positions : int
        N, even: records are -N/2 .. N/2.
    step : float
        Length of a cell, in units where the records are [-1, 1].
    width : int
        W, odd.
    """

    epsilon: Fraction
    positions: int
    step: float
    width: int = WIDTH

    @classmethod
    def unbiased(cls, epsilon: Fraction, ratio: Fraction) -> Self:
        """Make the distribution whose reports have the record as their mean."""
        distribution = cls(epsilon, _even(ratio), 1.0)
        return cls(
            epsilon, distribution.positions, 2.0 / (distribution.positions * distribution.weight)
        )

    @classmethod
    def around(cls, epsilon: Fraction, ratio: float) -> Self:
        """Make the distribution whose windows lie around the record itself."""
        positions = _even(ratio)
        return cls(epsilon, positions, 2.0 / positions)

    @property
    def cells(self) -> int:
        """M, the number of possible reports."""
        return self.positions + self.width

    @property
    def max_index(self) -> int:
        """Largest cell."""
        return (self.cells - 1) // 2

    @cached_property
    def weight(self) -> float:
        """Probability that a report is drawn from the window as such, not from all cells."""
        odds = math.exp(-float(self.epsilon))
        return -math.expm1(-float(self.epsilon)) / (1 + self.positions / self.width * odds)

    def draw(self, positions: Ints, source: RandomSource) -> Ints:
        """Draw one cell for each position."""
        cells = uniform_integers(positions.shape, below=self.cells, source=source)
        cells -= self.max_index
        rest = Fraction(self.positions, self.width)
        high = two_level(positions.shape, epsilon=self.epsilon, rest=rest, source=source)
        offsets = uniform_integers(int(high.sum()), below=self.width, source=source)
        cells[high] = positions[high] + offsets - self.width // 2
        return cells

    def log_mass(self, cells: Ints, positions: Ints) -> Floats:
        """Log-probability of cells."""
        epsilon = float(self.epsilon)
        low = -epsilon - math.log(self.width + self.positions * math.exp(-epsilon))
        inside = np.abs(cells - positions) <= self.width // 2
        masses = np.where(inside, low + epsilon, low)
        masses[np.abs(cells) > self.max_index] = -np.inf
        return masses

    @property
    def points(self) -> tuple[int, ...]:
        """Cells that have a probability of their own: none."""
        return ()

    def cdf(self, cells: Floats, positions: Floats) -> Floats:
        """Probability of a report up to each place between cells."""
        odds = math.exp(-float(self.epsilon))
        high = 1.0 / (self.width + self.positions * odds)
        below = np.clip(cells + self.max_index + 0.5, 0.0, self.cells)
        inside = np.clip(cells - positions + self.width / 2, 0.0, self.width)
        chances: Floats = high * (odds * below + (1.0 - odds) * inside)
        return chances

    def variance(self, units: Floats) -> Floats:
        """Variance of reports, in units where the records are [-1, 1]."""
        odds = math.exp(-float(self.epsilon))
        ratio = self.positions / self.width
        missed = odds * (1 + ratio) / (1 + ratio * odds)  # 1 - weight, without cancellation
        across = missed * (self.cells**2 - 1) + self.weight * (self.width**2 - 1)
        centers = units * (self.positions * self.step / 2)
        spread: Floats = self.step**2 * across / 12 + self.weight * missed * centers**2
        return spread


def _even(ratio: float | Fraction) -> int:
    return 2 * max(1, round(WIDTH * min(ratio, MAX_RATIO) / 2))


@shared_docs
class Piecewise(ColumnMechanism):
    """Perturb records on the device with the piecewise mechanism, which has local privacy.

    Each column is reported from a window around its value with higher probability, else from the
    rest of a wider range (Wang et al. 2019). Reports are unbiased.

    Parameters
    ----------
    {local_epsilon}
    {bounds}
        Reports lie in a wider box with the same center: C times as wide, where C = (s + 1) /
        (s - 1) and s = exp(epsilon / (2 d)); with ``columns="sample"``, C d / k times, where
        s = exp(epsilon / (2 k)).
    {report_schema}
    {columns}
    {ledger_of_reports}
    {random_state}

    Attributes
    ----------
    {local_guarantee_}
    {features_in_}

    See Also
    --------
    Laplace : Metric privacy, for records that need to be hidden among near ones most of all.
    Hybrid : Less noise at small epsilon.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.mechanisms import Piecewise
    >>> mechanism = Piecewise(epsilon=4.0, bounds=(0.0, 10.0))
    >>> reports = mechanism.fit_transform(np.full((10_000, 2), 7.0))
    >>> bool(abs(reports.mean() - 7.0) < 0.5)
    True
    >>> print(mechanism.guarantee_)  # doctest: +NORMALIZE_WHITESPACE
    local differential privacy with epsilon = 4: exchanging a record given to the mechanism for
    any other changes the probability of any report by a factor of at most e^4 = 54.6
    """

    noise_kind = "unbiased"
    has_density = True

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        bounds: Bounds | None = None,
        schema: Schema | None = None,
        columns: str = "all",
        ledger: Ledger | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.schema = schema
        self.columns = columns
        self.ledger = ledger
        self.random_state = random_state

    def _distribution(self, epsilon: Fraction) -> Window:
        return piecewise_distribution(epsilon)


def piecewise_distribution(epsilon: Fraction) -> Window:
    """Return the piecewise distribution of one column."""
    odds, _ = odds_between(epsilon / 2)
    return Window.unbiased(epsilon, 1 / odds)


SERIES = 1e-3  # epsilon below which b is taken from its series
LARGEST = 40.0  # epsilon above which b is below 2^-24 and the window stops shrinking


@shared_docs
class SquareWave(ColumnMechanism):
    """Perturb records on the device with the square wave mechanism, which has local privacy.

    Each column is reported within a window around its value with higher probability than elsewhere
    (Li et al. 2020). Reports are biased toward the middle of the box: use them to estimate
    distributions, as :class:`shoal.NoiseAwareKMeans` does, not means.

    Parameters
    ----------
    {local_epsilon}
    {bounds}
        Reports lie in a box at most twice as wide.
    {report_schema}
    {ledger_of_reports}
    {random_state}

    Attributes
    ----------
    {local_guarantee_}
    {features_in_}

    See Also
    --------
    Piecewise : Unbiased reports.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.mechanisms import SquareWave
    >>> mechanism = SquareWave(epsilon=1.0, bounds=(0.0, 1.0))
    >>> reports = mechanism.fit_transform(np.full((1000, 1), 0.3))
    >>> bool((np.abs(reports - 0.5) < 1.0).all())
    True
    """

    has_density = True

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        bounds: Bounds | None = None,
        schema: Schema | None = None,
        ledger: Ledger | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state

    def _distribution(self, epsilon: Fraction) -> Window:
        return Window.around(epsilon, 1.0 / (2.0 * _half_width(float(epsilon))))


def _half_width(epsilon: float) -> float:
    """Half the window's length, b, for records in [0, 1]."""
    if epsilon > LARGEST:
        return 0.5 / MAX_RATIO
    if epsilon < SERIES:
        return 0.5 * (1 - epsilon / 3 + epsilon**2 / 12) / (1 + epsilon / 3 + epsilon**2 / 12)
    return (epsilon + math.expm1(-epsilon)) / (2 * (math.expm1(epsilon) - epsilon))
