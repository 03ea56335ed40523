"""Noise that a budget buys: pure epsilon, or mu^2 of Gaussian differential privacy.

Both add up over releases, so a method divides ``total_budget`` without knowing which it is. A
method releases four kinds of things: counts, where one record changes one entry; pairs (count and
sum of offsets of each center), windows (pairs and a squared length) and parts (pairs of records in
a :class:`Body`), where one record changes one row. ``contribution`` is what one person can add to a
count: 1, or more where records have weights or a person has several records (proofs/kmeans.md).
"""

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self

import numpy as np

from shoal._typing import Floats, Ints
from shoal.cluster._budget import CountSum
from shoal.cluster._noise.bodies import Body, NoisyParts, PartDeviations
from shoal.engines import NearestStatistics, WindowStatistics
from shoal.noise import RandomSource
from shoal.privacy import Event

__all__ = [
    "BudgetedNoise",
    "NoisyPairs",
    "NoisyWindows",
    "WindowDeviations",
    "WindowWeights",
    "round_up",
    "window_table",
]


@dataclass(frozen=True, eq=False)
class NoisyPairs:
    """Noisy counts and sums of offsets, and the standard deviation of their noise."""

    counts: Ints  # shape (k,): noisy counts
    sums: Ints  # shape (k, d): noisy sums
    deviations: CountSum  # standard deviation of the noise of one count, and of one column of a sum
    # shape (k,): bound of the probability that an exact count of 0 shows as at least each
    # noisy count
    tails: Floats


class WindowWeights(NamedTuple):
    """How much counts and moments of windows weigh in their release, where a clipped sum weighs 1.

    Counts need less than sums the more columns share the noise; moments only steer the windows.
    """

    counts: float
    moments: float

    @classmethod
    def of(cls, columns: int) -> Self:
        """Return the weights for so many columns."""
        return cls(counts=0.75 * columns**-0.25, moments=0.3)

    @property
    def length(self) -> float:
        """How far one record of weight 1 moves a row of counts, sums and moments, weighted.

        With the weights a and b it moves (a count, sum / radius, b moment / MOMENT_UNIT) of its
        cell by at most (a, 1, b / 2).
        """
        return math.sqrt(1 + self.counts**2 + self.moments**2 / 4)


class WindowDeviations(NamedTuple):
    """Standard deviations, or scales, of the noise of windows."""

    counts: float
    sums: Floats  # shape (k,): of one column of the sums of each center
    moments: float  # in units of 1 / MOMENT_UNIT

    def table(self, columns: int) -> Floats:
        """Return those of every entry of :func:`window_table`."""
        entries = np.empty((len(self.sums), columns + 2))
        entries[:, 0] = self.counts
        entries[:, 1:-1] = self.sums[:, np.newaxis]
        entries[:, -1] = self.moments
        return entries


@dataclass(frozen=True, eq=False)
class NoisyWindows:
    """Noisy counts, sums of clipped offsets and moments, and how noisy they are."""

    counts: Ints  # shape (k,): noisy counts
    sums: Ints  # shape (k, d): noisy sums
    moments: Ints  # shape (k,): noisy sums of (|u|^2 / r^2 - 1/2), in units of 1 / MOMENT_UNIT
    deviations: WindowDeviations
    # shape (k,): bound of the probability that an exact count of 0 shows as at least each
    # noisy count
    tails: Floats


class BudgetedNoise(Protocol):
    """Noise of counts, pairs, windows and parts, as much as the budget of a release asks for."""

    @property
    def total_budget(self) -> float:
        """Epsilon or mu^2 that all releases may cost together."""

    @property
    def shape(self) -> str:
        """How offsets should be clipped for this noise: to a cube or to a ball."""

    @property
    def approximate(self) -> bool:
        """Return whether the promise needs a delta."""

    @property
    def mu(self) -> float | None:
        """Return the mu of Gaussian differential privacy of the whole budget, where it has one."""

    def event(self, purpose: str) -> Event:
        """Return the event that spends the whole budget."""

    def scales(
        self, budget: float, *, columns: int, clip_radius: int, contribution: int
    ) -> CountSum:
        """Scale of the noise of pairs that cost ``budget``."""

    def count_deviation(self, budget: float, *, contribution: int) -> float:
        """Return the standard deviation of the noise of counts that cost ``budget``."""

    def log_kernel(self, gaps: Floats, budget: float, *, contribution: int) -> Floats:
        """Return the log density, up to a constant, of noise of counts that cost ``budget``."""

    def count_tail(self, budget: float, probability: float, *, contribution: int) -> float:
        """Return the upper quantile of the count noise: exceeded with at most this probability."""

    def count_tails(self, noisy: Ints, budget: float, *, contribution: int) -> Floats:
        """Bound the probability that an exact count of 0 shows as at least each noisy count."""

    def pair_deviations(
        self, budget: float, *, columns: int, clip_radius: int, contribution: int
    ) -> CountSum:
        """Return the standard deviations of the noise of pairs that cost ``budget``."""

    def counts(
        self, values: Ints, budget: float, *, contribution: int, source: RandomSource
    ) -> Ints:
        """Return counts with noise on every entry, at the cost of ``budget``."""

    def pairs(
        self,
        exact: NearestStatistics,
        budget: float,
        *,
        clip_radius: int,
        contribution: int,
        source: RandomSource,
    ) -> NoisyPairs:
        """Return counts and sums with noise on every entry, at the cost of ``budget``."""

    def window_deviations(
        self, budget: float, *, columns: int, radii: Ints, contribution: int
    ) -> WindowDeviations:
        """Return the standard deviations of the noise of windows that cost ``budget``."""

    def windows(
        self,
        exact: WindowStatistics,
        radii: Ints,
        budget: float,
        *,
        contribution: int,
        source: RandomSource,
    ) -> NoisyWindows:
        """Return counts, sums and moments with noise on every entry, at the cost of ``budget``."""

    def part_deviations(self, budget: float, body: Body, *, contribution: int) -> PartDeviations:
        """Return the standard deviations of the noise of parts that cost ``budget``."""

    def parts(
        self,
        exact: NearestStatistics,
        body: Body,
        budget: float,
        *,
        contribution: int,
        source: RandomSource,
    ) -> NoisyParts:
        """Return counts and sums with noise of the body's shape, at the cost of ``budget``."""


def window_table(exact: WindowStatistics) -> Ints:
    """Return a row for each center: its count, the columns of its sum, its moment."""
    table: Ints = np.column_stack([exact.counts, exact.sums, exact.moments])
    return table


def round_up(scale: float) -> float:
    """Return a scale that rounding has not made smaller."""
    # Products and quotients err by half an ulp each: two steps up keep the budget an upper bound.
    return math.nextafter(math.nextafter(scale, math.inf), math.inf)
