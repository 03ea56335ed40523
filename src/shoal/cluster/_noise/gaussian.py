"""Normal noise, rounded, whose privacy measure is mu^2 of Gaussian differential privacy.

Squares of mu add up over releases, also where earlier ones choose the later (proofs/gdp.md), so the
budgets of a fit's releases divide one total.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from shoal._typing import Floats, Ints
from shoal.cluster._budget import CountSum, Split, split_gaussian
from shoal.cluster._noise.bodies import (
    Body,
    NoisyParts,
    PartDeviations,
    PartTable,
    least_squares,
    spread_columns,
)
from shoal.cluster._noise.budgeted import (
    BudgetedNoise,
    NoisyPairs,
    NoisyWindows,
    WindowDeviations,
    WindowWeights,
    round_up,
    window_table,
)
from shoal.cluster._noise.pure import PureNoise
from shoal.engines import MOMENT_UNIT, NearestStatistics, WindowStatistics
from shoal.noise import RandomSource, RoundedGaussianNoise, privatize
from shoal.privacy import Event, GDPEvent, epsilon_to_gdp

__all__ = ["GDPNoise", "NoisyMatrix", "noise_for"]

INVERSE_ROOT = math.nextafter(math.sqrt(0.5), 1.0)  # 1/sqrt(2), rounded up


@dataclass(frozen=True, eq=False)
class NoisyMatrix:
    """A noisy symmetric matrix, and the standard deviation of the noise of its diagonal."""

    matrix: Ints  # shape (d, d)
    deviation: float  # beside the diagonal it is 1/sqrt(2) of this


@dataclass(frozen=True)
class GDPNoise:
    """Rounded normal noise; the privacy measure is mu^2 of Gaussian differential privacy.

    ``clip_radius`` is that of the ball that offsets are clipped to; with ``cube=True`` it is half
    the side of the cube that holds the records.
    """

    total_budget: float
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

    @property
    def mu(self) -> float:
        """Return the mu of Gaussian differential privacy of the whole budget, where it has one."""
        return math.sqrt(self.total_budget)

    def event(self, purpose: str) -> Event:
        """Return the event that spends the whole budget."""
        return GDPEvent(mu=self.mu, purpose=purpose)

    def scales(
        self, budget: float, *, columns: int, clip_radius: int, contribution: int
    ) -> CountSum:
        """L2 sensitivity over the square root of its part of the budget."""
        budgets = split_gaussian(budget, columns, self.split)
        length = math.sqrt(columns) * clip_radius if self.cube else clip_radius
        return CountSum(
            _sigma(contribution, budgets.counts), _sigma(contribution * length, budgets.sums)
        )

    def count_deviation(self, budget: float, *, contribution: int) -> float:
        """Return the standard deviation of the noise of counts that cost ``budget``."""
        return _sigma(contribution, budget)

    def log_kernel(self, gaps: Floats, budget: float, *, contribution: int) -> Floats:
        """Return the log density, up to a constant, of noise of counts that cost ``budget``."""
        return -(gaps**2) * (budget / (2 * contribution**2))

    def count_tail(self, budget: float, probability: float, *, contribution: int) -> float:
        """Return the upper quantile of the count noise: exceeded with at most this probability."""
        return 0.5 - _sigma(contribution, budget) * NormalDist().inv_cdf(probability)

    def count_tails(self, noisy: Ints, budget: float, *, contribution: int) -> Floats:
        """Bound the probability that an exact count of 0 shows as at least each noisy count."""
        return RoundedGaussianNoise(_sigma(contribution, budget)).upper_tail(noisy)

    def pair_deviations(
        self, budget: float, *, columns: int, clip_radius: int, contribution: int
    ) -> CountSum:
        """Return the standard deviations of the noise of pairs that cost ``budget``."""
        return self.scales(
            budget, columns=columns, clip_radius=clip_radius, contribution=contribution
        )

    def window_deviations(
        self, budget: float, *, columns: int, radii: Ints, contribution: int
    ) -> WindowDeviations:
        """Return the standard deviations of the noise of windows that cost ``budget``."""
        weights = WindowWeights.of(columns)
        length = contribution * weights.length
        return WindowDeviations(
            counts=_sigma(length / weights.counts, budget),
            sums=np.array([_sigma(length * int(radius), budget) for radius in radii]),
            moments=_sigma(length * MOMENT_UNIT / weights.moments, budget),
        )

    def counts(
        self, values: Ints, budget: float, *, contribution: int, source: RandomSource
    ) -> Ints:
        """Return counts with noise on every entry, at the cost of ``budget``."""
        noise = RoundedGaussianNoise(_sigma(contribution, budget))
        return privatize(values, noise, cost=budget, source=source)

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
        columns = exact.sums.shape[1]
        scales = self.scales(
            budget, columns=columns, clip_radius=clip_radius, contribution=contribution
        )
        noise = RoundedGaussianNoise(np.array([scales.counts, *[scales.sums] * columns]))
        table = np.column_stack([exact.counts, exact.sums])
        noisy = privatize(table, noise, cost=budget, source=source)
        tails = RoundedGaussianNoise(scales.counts).upper_tail(noisy[:, 0])
        return NoisyPairs(noisy[:, 0], noisy[:, 1:], scales, tails)

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
        columns = exact.sums.shape[1]
        deviations = self.window_deviations(
            budget, columns=columns, radii=radii, contribution=contribution
        )
        noise = RoundedGaussianNoise(deviations.table(columns))
        noisy = privatize(window_table(exact), noise, cost=budget, source=source)
        tails = RoundedGaussianNoise(deviations.counts).upper_tail(noisy[:, 0])
        return NoisyWindows(noisy[:, 0], noisy[:, 1:-1], noisy[:, -1], deviations, tails)

    def part_deviations(self, budget: float, body: Body, *, contribution: int) -> PartDeviations:
        """Return the standard deviations of the noise of parts that cost ``budget``."""
        rows, levels = _part_sigmas(budget, body, contribution)
        ends = [2.0 * body.reaches[simplex.start] for simplex in body.simplices]
        widths = [end * sigma for end, sigma in zip(ends, levels, strict=True)]
        return PartDeviations(rows[0], spread_columns(body, rows[1:], widths))

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
        table = body.table(exact)
        rows, levels = _part_sigmas(budget, body, contribution)
        sizes = [part.shape[1] for part in table.levels]
        noise = RoundedGaussianNoise(np.concatenate([rows, np.repeat(levels, sizes)]))
        whole = np.column_stack([table.rows, *table.levels])
        noisy = privatize(whole, noise, cost=budget, source=source)
        columns = np.cumsum([len(rows), *sizes])
        parts = np.split(noisy, columns[:-1], axis=1)
        deviations = self.part_deviations(budget, body, contribution=contribution)
        tails = RoundedGaussianNoise(rows[0]).upper_tail(noisy[:, 0])
        return least_squares(body, PartTable(parts[0], parts[1:]), deviations, tails)

    def second_moments(
        self,
        exact: Ints,
        budget: float,
        *,
        clip_radius: int,
        contribution: int,
        source: RandomSource,
    ) -> NoisyMatrix:
        """Return a symmetric matrix with noise on every entry, at the cost of ``budget``.

        It is a sum of y y^T with |y| <= ``clip_radius``, which one record moves by at most
        clip_radius^2 times its weight in the Frobenius norm. That norm counts an entry beside the
        diagonal twice, so the upper triangle is released, with noise 1/sqrt(2) as wide there.
        """
        deviation = _sigma(contribution * clip_radius**2, budget)
        rows, columns = np.triu_indices(len(exact))
        sigmas = np.where(rows == columns, deviation, deviation * INVERSE_ROOT)
        noise = RoundedGaussianNoise(sigmas)
        upper = privatize(exact[rows, columns], noise, cost=budget, source=source)
        matrix = np.empty_like(exact)
        matrix[rows, columns] = matrix[columns, rows] = upper
        return NoisyMatrix(matrix, deviation)


def noise_for(epsilon: float, delta: float) -> BudgetedNoise:
    """Choose the privacy measure of a promise."""
    if delta > 0:
        return GDPNoise(epsilon_to_gdp(epsilon, delta) ** 2)
    return PureNoise(float(epsilon))


def _part_sigmas(budget: float, body: Body, contribution: int) -> tuple[list[float], list[float]]:
    """Return sigma of the count and each interval, and of the levels of each simplex."""
    moves = [1, *body.reaches[body.intervals].tolist()]
    budgets = budget * body.split(root=2)
    sigmas = [
        _sigma(contribution * move, float(cost))
        for move, cost in zip([*moves, *[1] * len(body.simplices)], budgets, strict=True)
    ]
    return sigmas[: len(moves)], sigmas[len(moves) :]


def _sigma(length: float, budget: float) -> float:
    return round_up(round_up(round_up(length / math.sqrt(budget))))
