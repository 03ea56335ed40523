"""Noise for pure epsilon."""

import math
from dataclasses import dataclass

import numpy as np

from shoal._typing import Floats, Ints
from shoal.cluster._budget import CountSum, Split, split_pure
from shoal.cluster._noise.bodies import (
    Body,
    NoisyParts,
    PartDeviations,
    PartTable,
    least_squares,
    spread_columns,
)
from shoal.cluster._noise.budgeted import (
    NoisyPairs,
    NoisyWindows,
    WindowDeviations,
    WindowWeights,
    round_up,
    window_table,
)
from shoal.engines import MOMENT_UNIT, NearestStatistics, WindowStatistics
from shoal.noise import (
    MAX_COLUMNS,
    BoxNoise,
    EllipticNoise,
    LaplaceNoise,
    RandomSource,
    privatize,
)
from shoal.privacy import Event, PureEvent

__all__ = ["PureNoise"]


@dataclass(frozen=True)
class PureNoise:
    """Noise for pure epsilon: discrete Laplace, the box norm for pairs, elliptic for windows.

    Parts: the box norm for counts and intervals, discrete Laplace for the levels of each simplex.

    A record changes a row of pairs by at most (1, clip_radius, ..., clip_radius): a box. Noise of
    the box's own norm hides all of it at once and needs no division between counts and sums
    (``split="joint"``); the published divisions use Laplace noise. Windows are balls: from two
    columns on, noise of the Euclidean norm of a weighted row is smaller than any box around it.
    """

    total_budget: float
    split: Split = "joint"

    @property
    def shape(self) -> str:
        """How offsets should be clipped for this noise: to a cube or to a ball."""
        return "cube"

    @property
    def approximate(self) -> bool:
        """Return whether the promise needs a delta."""
        return False

    @property
    def mu(self) -> None:
        """Return the mu of Gaussian differential privacy of the whole budget, where it has one."""
        return None

    def event(self, purpose: str) -> Event:
        """Return the event that spends the whole budget."""
        return PureEvent(epsilon=self.total_budget, purpose=purpose)

    def scales(
        self, budget: float, *, columns: int, clip_radius: int, contribution: int
    ) -> CountSum:
        """L1 sensitivity over its part of the budget, or the sides of the box over all of it."""
        if self.split == "joint":
            blocks = _blocks(columns)
            return CountSum(
                round_up(blocks * contribution / budget),
                round_up(blocks * contribution * clip_radius / budget),
            )
        budgets = split_pure(budget, columns, self.split)
        return CountSum(
            round_up(contribution / budgets.counts),
            round_up(columns * contribution * clip_radius / budgets.sums),
        )

    def count_deviation(self, budget: float, *, contribution: int) -> float:
        """Return the standard deviation of the noise of counts that cost ``budget``."""
        return math.sqrt(2) * contribution / budget

    def log_kernel(self, gaps: Floats, budget: float, *, contribution: int) -> Floats:
        """Return the log density, up to a constant, of noise of counts that cost ``budget``."""
        return -np.abs(gaps) * (budget / contribution)

    def count_tail(self, budget: float, probability: float, *, contribution: int) -> float:
        """Return the upper quantile of the count noise: exceeded with at most this probability."""
        return 1.0 + contribution / budget * math.log(1 / (2 * probability))

    def count_tails(self, noisy: Ints, budget: float, *, contribution: int) -> Floats:
        """Bound the probability that an exact count of 0 shows as at least each noisy count."""
        return LaplaceNoise(round_up(contribution / budget)).upper_tail(noisy)

    def pair_deviations(
        self, budget: float, *, columns: int, clip_radius: int, contribution: int
    ) -> CountSum:
        """Return the standard deviations of the noise of pairs that cost ``budget``."""
        scales = self.scales(
            budget, columns=columns, clip_radius=clip_radius, contribution=contribution
        )
        if self.split == "joint":
            width = math.ceil((columns + 1) / _blocks(columns))
            factor = math.sqrt((width + 1) * (width + 2) / 3)
        else:
            factor = math.sqrt(2)
        return CountSum(factor * scales.counts, factor * scales.sums)

    def counts(
        self, values: Ints, budget: float, *, contribution: int, source: RandomSource
    ) -> Ints:
        """Return counts with noise on every entry, at the cost of ``budget``."""
        return privatize(
            values, LaplaceNoise(round_up(contribution / budget)), cost=budget, source=source
        )

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
        sizes = {"columns": columns, "clip_radius": clip_radius, "contribution": contribution}
        scales = self.scales(budget, **sizes)
        if self.split == "joint":
            counts, sums, tails = self._joint(exact, budget, scales, source=source)
        else:
            budgets = split_pure(budget, columns, self.split)
            noises = LaplaceNoise(scales.counts), LaplaceNoise(scales.sums)
            counts = privatize(exact.counts, noises[0], cost=budgets.counts, source=source)
            sums = privatize(exact.sums, noises[1], cost=budgets.sums, source=source)
            tails = noises[0].upper_tail(counts)
        return NoisyPairs(counts, sums, self.pair_deviations(budget, **sizes), tails)

    def window_deviations(
        self, budget: float, *, columns: int, radii: Ints, contribution: int
    ) -> WindowDeviations:
        """Return the standard deviations of the noise of windows that cost ``budget``."""
        scales = self._window_scales(budget, columns, radii, contribution)
        factor = math.sqrt(columns + 3)  # a row has columns + 2 entries
        return WindowDeviations(
            factor * scales.counts, factor * scales.sums, factor * scales.moments
        )

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
        scales = self._window_scales(budget, columns, radii, contribution)
        noise = EllipticNoise(scales.table(columns))
        noisy = privatize(window_table(exact), noise, cost=budget, source=source)
        deviations = self.window_deviations(
            budget, columns=columns, radii=radii, contribution=contribution
        )
        tails = noise.upper_tail(noisy[:, 0])
        return NoisyWindows(noisy[:, 0], noisy[:, 1:-1], noisy[:, -1], deviations, tails)

    def part_deviations(self, budget: float, body: Body, *, contribution: int) -> PartDeviations:
        """Return the standard deviations of the noise of parts that cost ``budget``."""
        boxes, levels = _part_noises(budget, body, contribution)
        rows = [
            math.sqrt((len(box.scales) + 1) * (len(box.scales) + 2) / 3) * scale
            for box in boxes
            for scale in box.scales
        ]
        ends = [2.0 * body.reaches[simplex.start] for simplex in body.simplices]
        widths = [math.sqrt(2) * end * noise.scale for end, noise in zip(ends, levels, strict=True)]
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
        boxes, laplaces = _part_noises(budget, body, contribution)
        costs = iter(_part_budgets(budget, body))
        rows = [
            privatize(table.rows[:, columns], noise, cost=next(costs), source=source)
            for columns, noise in zip(body.boxes, boxes, strict=True)
        ]
        levels = [
            privatize(counts, noise, cost=next(costs), source=source)
            for counts, noise in zip(table.levels, laplaces, strict=True)
        ]
        deviations = self.part_deviations(budget, body, contribution=contribution)
        tails = boxes[0].upper_tail(rows[0][:, 0])
        return least_squares(body, PartTable(np.column_stack(rows), levels), deviations, tails)

    @staticmethod
    def _window_scales(
        budget: float, columns: int, radii: Ints, contribution: int
    ) -> WindowDeviations:
        """Scales whose ellipsoid, budget times as large, holds all that a person adds to a row."""
        weights = WindowWeights.of(columns)
        scale = round_up(round_up(round_up(contribution * weights.length / budget)))
        return WindowDeviations(
            counts=round_up(scale / weights.counts),
            sums=np.array([round_up(scale * int(radius)) for radius in radii]),
            moments=round_up(scale * MOMENT_UNIT / weights.moments),
        )

    def _joint(
        self, exact: NearestStatistics, budget: float, scales: CountSum, *, source: RandomSource
    ) -> tuple[Ints, Ints, Floats]:
        """Privatize each row, its count first, in boxes of as many columns as the sampler takes."""
        table = np.column_stack([exact.counts, exact.sums])
        blocks = _blocks(exact.sums.shape[1])
        sides = np.array([scales.counts, *([scales.sums] * exact.sums.shape[1])])
        noises = [BoxNoise(tuple(side.tolist())) for side in np.array_split(sides, blocks)]
        parts = np.array_split(table, blocks, axis=1)
        noisy = [
            privatize(part, noise, cost=budget / blocks, source=source)
            for part, noise in zip(parts, noises, strict=True)
        ]
        rows = np.column_stack(noisy)
        return rows[:, 0], rows[:, 1:], noises[0].upper_tail(rows[:, 0])


def _part_budgets(budget: float, body: Body) -> list[float]:
    """Divide a budget among the boxes and simplices of a body, all of it and no more."""
    budgets = (budget * body.split(root=3)).tolist()
    return [*budgets[:-1], budget - sum(budgets[:-1])]


def _part_noises(
    budget: float, body: Body, contribution: int
) -> tuple[list[BoxNoise], list[LaplaceNoise]]:
    """Return the noise of each box and of each simplex."""
    budgets = _part_budgets(budget, body)
    moves = np.array([1, *body.reaches[body.intervals]]) * contribution
    boxes = [
        BoxNoise(tuple(round_up(int(move) / cost) for move in moves[box]))
        for box, cost in zip(body.boxes, budgets, strict=False)
    ]
    levels = [LaplaceNoise(round_up(contribution / cost)) for cost in budgets[len(boxes) :]]
    return boxes, levels


def _blocks(columns: int) -> int:
    # The sampler's widest box; blocks budget epsilon, at hardly more noise than one wide box.
    return math.ceil((columns + 1) / MAX_COLUMNS)
