"""Two currencies for one estimator: pure epsilon, or rho of zero-concentrated privacy.

Both add up over releases, so a method divides ``budget`` into shares without knowing which it is.
A method releases two kinds of things: counts, where one record changes one entry, and pairs (count
and sum of offsets of each center), where one record changes one row. ``unit`` is what one person
can add to a count: 1, or more where records have weights or a person has several records
(proofs/kmeans.md).
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol

import numpy as np

from shoal._typing import Floats, Ints
from shoal.cluster._budget import CountSum, Split, split_pure, split_zcdp
from shoal.engines import NearestStatistics
from shoal.noise import BoxNoise, GaussianNoise, LaplaceNoise, RandomSource, privatize
from shoal.noise.box_norm import MAX_COLUMNS
from shoal.privacy import Event, PureEvent, ZCDPEvent, epsilon_to_zcdp

__all__ = ["Noise", "NoisyPairs", "PureNoise", "ZCDPNoise", "noise_for"]


@dataclass(frozen=True, eq=False)
class NoisyPairs:
    """Noisy counts and sums of offsets, and the standard deviation of their noise.

    Parameters
    ----------
    counts : ndarray of int64, shape (k,)
        Noisy counts.
    sums : ndarray of int64, shape (k, d)
        Noisy sums.
    deviations : CountSum
        Standard deviation of the noise of one count, and of one column of a sum.
    tails : ndarray of float64, shape (k,)
        Bound of the probability that an exact count of 0 shows as at least each noisy count.
    """

    counts: Ints
    sums: Ints
    deviations: CountSum
    tails: Floats


class Noise(Protocol):
    """What a method needs to know of its noise."""

    @property
    def budget(self) -> float:
        """Total to divide into shares."""

    @property
    def shape(self) -> str:
        """How offsets should be clipped for this noise: to a cube or to a ball."""

    @property
    def approximate(self) -> bool:
        """Return whether the promise needs a delta."""

    def event(self, purpose: str) -> Event:
        """Return the event that spends the whole budget."""

    def scales(self, share: float, *, columns: int, reach: int, unit: int) -> CountSum:
        """Scale of the noise of pairs that cost ``share``."""

    def count_deviation(self, share: float, *, unit: int) -> float:
        """Return the standard deviation of the noise of counts that cost ``share``."""

    def log_kernel(self, gaps: Floats, share: float, *, unit: int) -> Floats:
        """Return the log density, up to a constant, of noise of counts that cost ``share``."""

    def count_tail(self, share: float, probability: float, *, unit: int) -> float:
        """Return what the noise of a count exceeds with at most this probability."""

    def count_tails(self, noisy: Ints, share: float, *, unit: int) -> Floats:
        """Bound the probability that an exact count of 0 shows as at least each noisy count."""

    def pair_deviations(self, share: float, *, columns: int, reach: int, unit: int) -> CountSum:
        """Return the standard deviations of the noise of pairs that cost ``share``."""

    def counts(self, values: Ints, share: float, *, unit: int, source: RandomSource) -> Ints:
        """Return counts with noise on every entry, at the cost of ``share``."""

    def pairs(
        self, exact: NearestStatistics, share: float, *, reach: int, unit: int, source: RandomSource
    ) -> NoisyPairs:
        """Return counts and sums with noise on every entry, at the cost of ``share``."""


@dataclass(frozen=True)
class PureNoise:
    """Noise for pure epsilon: discrete Laplace, and the box norm for pairs.

    A record changes a row of pairs by at most (1, reach, ..., reach): a box. Noise of the box's own
    norm hides all of it at once and needs no division between counts and sums (``split="joint"``);
    the published divisions use Laplace noise.
    """

    budget: float
    split: Split = "joint"

    @property
    def shape(self) -> str:
        """How offsets should be clipped for this noise: to a cube or to a ball."""
        return "cube"

    @property
    def approximate(self) -> bool:
        """Return whether the promise needs a delta."""
        return False

    def event(self, purpose: str) -> Event:
        """Return the event that spends the whole budget."""
        return PureEvent(epsilon=self.budget, purpose=purpose)

    def scales(self, share: float, *, columns: int, reach: int, unit: int) -> CountSum:
        """L1 sensitivity over its part of the share, or the sides of the box over all of it."""
        if self.split == "joint":
            blocks = _blocks(columns)
            return CountSum(_up(blocks * unit / share), _up(blocks * unit * reach / share))
        shares = split_pure(share, columns, self.split)
        return CountSum(_up(unit / shares.counts), _up(columns * unit * reach / shares.sums))

    def count_deviation(self, share: float, *, unit: int) -> float:
        """Return the standard deviation of the noise of counts that cost ``share``."""
        return math.sqrt(2) * unit / share

    def log_kernel(self, gaps: Floats, share: float, *, unit: int) -> Floats:
        """Return the log density, up to a constant, of noise of counts that cost ``share``."""
        return -np.abs(gaps) * (share / unit)

    def count_tail(self, share: float, probability: float, *, unit: int) -> float:
        """Return what the noise of a count exceeds with at most this probability."""
        return 1.0 + unit / share * math.log(1 / (2 * probability))

    def count_tails(self, noisy: Ints, share: float, *, unit: int) -> Floats:
        """Bound the probability that an exact count of 0 shows as at least each noisy count."""
        return LaplaceNoise(_up(unit / share)).upper_tail(noisy)

    def pair_deviations(self, share: float, *, columns: int, reach: int, unit: int) -> CountSum:
        """Return the standard deviations of the noise of pairs that cost ``share``."""
        scales = self.scales(share, columns=columns, reach=reach, unit=unit)
        if self.split == "joint":
            width = math.ceil((columns + 1) / _blocks(columns))
            factor = math.sqrt((width + 1) * (width + 2) / 3)
        else:
            factor = math.sqrt(2)
        return CountSum(factor * scales.counts, factor * scales.sums)

    def counts(self, values: Ints, share: float, *, unit: int, source: RandomSource) -> Ints:
        """Return counts with noise on every entry, at the cost of ``share``."""
        return privatize(values, LaplaceNoise(_up(unit / share)), cost=share, source=source)

    def pairs(
        self, exact: NearestStatistics, share: float, *, reach: int, unit: int, source: RandomSource
    ) -> NoisyPairs:
        """Return counts and sums with noise on every entry, at the cost of ``share``."""
        columns = exact.sums.shape[1]
        sizes = {"columns": columns, "reach": reach, "unit": unit}
        scales = self.scales(share, **sizes)
        if self.split == "joint":
            counts, sums, tails = self._joint(exact, share, scales, source=source)
        else:
            shares = split_pure(share, columns, self.split)
            laws = LaplaceNoise(scales.counts), LaplaceNoise(scales.sums)
            counts = privatize(exact.counts, laws[0], cost=shares.counts, source=source)
            sums = privatize(exact.sums, laws[1], cost=shares.sums, source=source)
            tails = laws[0].upper_tail(counts)
        return NoisyPairs(counts, sums, self.pair_deviations(share, **sizes), tails)

    def _joint(
        self, exact: NearestStatistics, share: float, scales: CountSum, *, source: RandomSource
    ) -> tuple[Ints, Ints, Floats]:
        """Hide each row, its count first, in boxes of as many columns as the sampler takes."""
        table = np.column_stack([exact.counts, exact.sums])
        blocks = _blocks(exact.sums.shape[1])
        sides = np.array([scales.counts, *([scales.sums] * exact.sums.shape[1])])
        laws = [BoxNoise(tuple(side.tolist())) for side in np.array_split(sides, blocks)]
        parts = np.array_split(table, blocks, axis=1)
        noisy = [
            privatize(part, law, cost=share / blocks, source=source)
            for part, law in zip(parts, laws, strict=True)
        ]
        rows = np.column_stack(noisy)
        return rows[:, 0], rows[:, 1:], laws[0].upper_tail(rows[:, 0])


@dataclass(frozen=True)
class ZCDPNoise:
    """Discrete Gaussian noise; the privacy measure is rho of zero-concentrated privacy.

    ``reach`` is the radius of the ball that offsets are clipped to, except with ``cube=True``,
    where it is half the side of the cube that holds the records.
    """

    budget: float
    split: Split = "joint"
    cube: bool = False

    @property
    def shape(self) -> str:
        """How offsets should be clipped for this noise: to a cube or to a ball."""
        return "cube" if self.cube else "ball"

    @property
    def approximate(self) -> bool:
        """Return whether the promise needs a delta."""
        return True

    def event(self, purpose: str) -> Event:
        """Return the event that spends the whole budget."""
        return ZCDPEvent(rho=self.budget, purpose=purpose)

    def scales(self, share: float, *, columns: int, reach: int, unit: int) -> CountSum:
        """L2 sensitivity over the square root of twice its part of the share."""
        shares = split_zcdp(share, columns, self.split)
        length = math.sqrt(columns) * reach if self.cube else reach
        return CountSum(_sigma(unit, shares.counts), _sigma(unit * length, shares.sums))

    def count_deviation(self, share: float, *, unit: int) -> float:
        """Return the standard deviation of the noise of counts that cost ``share``."""
        return _sigma(unit, share)

    def log_kernel(self, gaps: Floats, share: float, *, unit: int) -> Floats:
        """Return the log density, up to a constant, of noise of counts that cost ``share``."""
        return -(gaps**2) * (share / unit**2)

    def count_tail(self, share: float, probability: float, *, unit: int) -> float:
        """Return what the noise of a count exceeds with at most this probability."""
        return 1.0 + _sigma(unit, share) * NormalDist().inv_cdf(1 - probability)

    def count_tails(self, noisy: Ints, share: float, *, unit: int) -> Floats:
        """Bound the probability that an exact count of 0 shows as at least each noisy count."""
        return GaussianNoise(_sigma(unit, share)).upper_tail(noisy)

    def pair_deviations(self, share: float, *, columns: int, reach: int, unit: int) -> CountSum:
        """Return the standard deviations of the noise of pairs that cost ``share``."""
        return self.scales(share, columns=columns, reach=reach, unit=unit)

    def counts(self, values: Ints, share: float, *, unit: int, source: RandomSource) -> Ints:
        """Return counts with noise on every entry, at the cost of ``share``."""
        return privatize(values, GaussianNoise(_sigma(unit, share)), cost=share, source=source)

    def pairs(
        self, exact: NearestStatistics, share: float, *, reach: int, unit: int, source: RandomSource
    ) -> NoisyPairs:
        """Return counts and sums with noise on every entry, at the cost of ``share``."""
        columns = exact.sums.shape[1]
        scales = self.scales(share, columns=columns, reach=reach, unit=unit)
        shares = split_zcdp(share, columns, self.split)
        laws = GaussianNoise(scales.counts), GaussianNoise(scales.sums)
        counts = privatize(exact.counts, laws[0], cost=shares.counts, source=source)
        sums = privatize(exact.sums, laws[1], cost=shares.sums, source=source)
        return NoisyPairs(counts, sums, scales, laws[0].upper_tail(counts))


def noise_for(epsilon: float, delta: float) -> Noise:
    """Choose the privacy measure of a promise.

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
        return ZCDPNoise(epsilon_to_zcdp(epsilon, delta))
    return PureNoise(float(epsilon))


def _blocks(columns: int) -> int:
    # The sampler's widest box; blocks share epsilon, at hardly more noise than one wide box.
    return math.ceil((columns + 1) / MAX_COLUMNS)


def _up(scale: float) -> float:
    # Products and quotients err by half an ulp each: two steps up keep the share an upper bound.
    return math.nextafter(math.nextafter(scale, math.inf), math.inf)


def _sigma(length: float, rho: float) -> float:
    return _up(_up(length / math.sqrt(2 * rho)))
