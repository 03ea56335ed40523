"""k-means for many columns: noisy rounds in windows, inside a ball learned from the records.

A small part of the budget learns where the records are (``_domain.py``); where noise is large
beside the number of columns, another part the directions in which they spread (``_principal.py``),
and rounds run among these. Rounds start with several centers for each one wanted, in windows that
narrow as cells are found (``_windows.py``); merging these cells is free, as are its restarts, which
is DP-KCCM's idea where it pays. More rounds around the merged centers follow, the last one in all
columns.

All budgets are parts of a fixed total and every release goes through the problem's noise; radii,
windows, directions and numbers of rounds follow from released values (proofs/kmeans.md, "The
ball").
"""

import math
from typing import NamedTuple

import numpy as np

from shoal._typing import Floats
from shoal.cluster._noise import Body, BudgetedNoise, GDPNoise, noise_for
from shoal.cluster.kmeans._domain import Domain, DomainBudgets, learn_domain, noisy_radius
from shoal.cluster.kmeans._principal import (
    MAX_AXES_COLUMNS,
    Axes,
    Projected,
    project_records,
    release_axes,
)
from shoal.cluster.kmeans._problem import (
    KMeansMethod,
    KMeansResult,
    Problem,
    confidence_radii,
    farthest_corners,
    noise_probabilities,
)
from shoal.cluster.kmeans._synopsis import count_clusters
from shoal.cluster.kmeans._windows import (
    Round,
    Space,
    Windows,
    first_windows,
    merge_cells,
    respawn,
    shrink_to_last,
    shrink_to_mean,
    take_round,
)
from shoal.engines import HALF

__all__ = [
    "AXES_PARTS",
    "BallMethod",
    "BallPlan",
    "Schedule",
    "ball_noise",
    "plan_ball",
    "schedule",
]

# Parts of the budget: of a release that is clear enough, and of one that noise would drown.
HISTOGRAM_PARTS = (0.01, 0.03)  # each histogram of distances
MEAN_PARTS = (0.05, 0.15)  # mean of all records
AXES_PARTS = (0.12, 0.2)  # directions, where they are worth it
HISTOGRAM_NOISE = 0.1  # of the records; above, a histogram needs its larger part,
MEAN_NOISE = 0.1  # of the radius: the mean,
LARGE_NOISE = 0.2  # of a round: the directions
AXES_NOISE = 0.02  # from this noise of a round on directions are worth it,
PROJECT_NOISE = 0.05  # and from this on rounds run among them
FEW = 0.5  # of all columns: the most directions that are worth projecting to
FIRST_PART = 0.5  # of the rounds' budget, before cells are merged
GROWTH, PURE_GROWTH = 1.2, 1.4  # of a round's budget over that of the round before
PURE_MEAN_PARTS = (0.04, 0.3)  # the least and the most of a pure budget for the mean,
PURE_MEAN = 10.0  # in between so many times the noise of a mean that had the whole budget


class Schedule(NamedTuple):
    """Centers for each one wanted, and rounds before and after they are merged."""

    multiple: int
    before: int
    after: int


# Noise below which a schedule pays. Half of mu^2 is 1.4 times the noise and half of epsilon twice,
# so pure noise pays for fewer rounds.
SCHEDULES = (
    (0.01, Schedule(4, 8, 6)),
    (0.02, Schedule(4, 8, 4)),
    (0.06, Schedule(3, 6, 4)),
    (0.1, Schedule(2, 4, 2)),
    (0.2, Schedule(1, 2, 2)),
    (math.inf, Schedule(1, 1, 1)),
)
PURE_SCHEDULES = (
    (0.01, Schedule(4, 6, 4)),
    (0.02, Schedule(4, 4, 2)),
    (0.045, Schedule(2, 2, 2)),
    (0.11, Schedule(2, 1, 1)),
    (0.3, Schedule(1, 1, 1)),
    (math.inf, Schedule(1, 0, 1)),
)


class BallPlan(NamedTuple):
    """How the budget is divided; parts of what is not asked for are 0."""

    domain: DomainBudgets
    axes: float
    projected_radius: float
    rounds: float


class _Start(NamedTuple):
    """Centers that later rounds start from, the budgets of these rounds, and rounds in all."""

    windows: Windows
    budgets: list[float]
    rounds: int


class BallMethod(KMeansMethod):
    """Noisy rounds in windows, with too many centers first, inside a learned ball."""

    name = "ball"
    releases_synopsis = True

    def make_noise(self, body: Body) -> BudgetedNoise:
        """Return the noise that the estimator's epsilon and delta buy for records of this body."""
        return noise_for(float(self.model.epsilon), float(self.model.delta))

    @property
    def needs_n(self) -> bool:
        """Return whether the method must know the number of records, public or noisy."""
        return True

    def smallest_budget(self, budget: float) -> float:
        """Return the least that a single release gets of the method's budget."""
        return min(HISTOGRAM_PARTS) * budget

    def run(self, problem: Problem) -> KMeansResult:
        """Learn the ball, find cells in it, merge them and settle."""
        plan = plan_ball(problem)
        domain = learn_domain(problem, plan.domain)
        axes = None
        if plan.axes and isinstance(problem.noise, GDPNoise):
            axes = release_axes(problem, problem.noise, domain, plan.axes)
        if axes is not None and plan.projected_radius and _few(axes, problem.columns):
            return _run_projected(problem, plan, domain, axes)
        space = _whole_space(problem, domain, axes)
        start = _find_cells(problem, space, plan.rounds + plan.projected_radius)
        windows = _settle(problem, space, start.windows, start.budgets[:-1])
        last = take_round(problem, space, windows, start.budgets[-1])
        if problem.noise.approximate:
            moved = shrink_to_last(space, last, space.columns)
        else:  # after so few rounds the mean of all is surer than the centers of the last one
            moved = shrink_to_mean(space, last)
        return _result(problem, last, moved, start.rounds, {"components": 0})


def ball_noise(
    n: float, columns: int, n_clusters: int, *, noise: BudgetedNoise, budget: float
) -> float:
    """Return how noisy a round would be that had the whole budget: what all choices go by.

    Length of the noise of a cell's mean, in radii of its window, where n records fill their cells
    alike; ``n`` is public or noisy, in contributions of one person.
    """
    windows = noise.window_deviations(
        budget, columns=columns, radii=np.array([HALF]), contribution=1
    )
    deviation = float(windows.sums[0]) / HALF
    return n_clusters * math.sqrt(columns) * deviation / max(n, 1.0)


def plan_ball(problem: Problem) -> BallPlan:
    """Divide the budget, before anything is released."""
    budget, columns, noise = problem.budget, problem.columns, problem.noise
    n = max(problem.n, 1.0)
    counted = noise.count_deviation(HISTOGRAM_PARTS[0] * budget, contribution=1) / n
    histogram = HISTOGRAM_PARTS[counted > HISTOGRAM_NOISE] * budget
    mean = _mean_part(problem) * budget
    level = _noise(problem, columns)
    directed = isinstance(noise, GDPNoise) and 1 < columns <= MAX_AXES_COLUMNS
    axes = AXES_PARTS[level > LARGE_NOISE] * budget if directed and level > AXES_NOISE else 0.0
    projected = histogram if axes and level > PROJECT_NOISE else 0.0
    rounds = budget - 2 * histogram - mean - axes - projected
    return BallPlan(DomainBudgets(histogram, mean), axes, projected, rounds)


def schedule(level: float, *, pure: bool) -> Schedule:
    """Return how many centers and rounds pay at this noise."""
    table = PURE_SCHEDULES if pure else SCHEDULES
    return next(found for limit, found in table if level < limit or math.isinf(limit))


def _mean_part(problem: Problem) -> float:
    """Return the part of the budget that finds the mean: more where its noise is large."""
    sizes = (problem.n, problem.columns, 1)
    if problem.noise.approximate:
        small, large = MEAN_PARTS
        level = ball_noise(*sizes, noise=problem.noise, budget=small * problem.budget)
        return large if level > MEAN_NOISE else small
    least, most = PURE_MEAN_PARTS
    level = ball_noise(*sizes, noise=problem.noise, budget=problem.budget)
    return min(max(PURE_MEAN * level, least), most)


def _noise(problem: Problem, columns: int) -> float:
    return ball_noise(
        problem.n,
        columns,
        problem.expected_clusters,
        noise=problem.noise,
        budget=problem.budget,
    )


def _few(axes: Axes, columns: int) -> bool:
    return 1 <= axes.certain <= FEW * columns


def _whole_space(problem: Problem, domain: Domain, axes: Axes | None) -> Space:
    return Space(
        problem.engine,
        domain.center.astype(np.float64),
        domain.radius,
        None if axes is None else axes.directions,
        None if axes is None else axes.variances,
    )


def _run_projected(problem: Problem, plan: BallPlan, domain: Domain, axes: Axes) -> KMeansResult:
    """Run all rounds but the last among the certain directions."""
    projected = project_records(problem, domain, axes)
    p = axes.certain
    origin = np.zeros(p, dtype=np.int64)
    widest = Domain(origin, HALF)
    radius = noisy_radius(problem, projected.engine, widest, plan.projected_radius)
    space = Space(
        projected.engine,
        np.zeros(p),
        radius,
        np.eye(p),
        axes.variances[:p] / projected.scale**2,
    )
    start = _find_cells(problem, space, plan.rounds)
    windows = _settle(problem, space, start.windows, start.budgets[:-1])
    whole = _whole_space(problem, domain, axes)
    last = take_round(problem, whole, _lifted(windows, projected, axes, whole), start.budgets[-1])
    moved = shrink_to_last(whole, last, p)
    return _result(problem, last, moved, start.rounds, {"components": p})


def _lifted(windows: Windows, projected: Projected, axes: Axes, whole: Space) -> Windows:
    """Bring windows back to all columns; they widen by the variance in the other directions."""
    points = whole.center + projected.scale * windows.points @ projected.axes.T
    others = float(axes.variances[axes.certain :].sum())
    return Windows(points, whole.window(np.sqrt((projected.scale * windows.radii) ** 2 + others)))


def _find_cells(problem: Problem, space: Space, budget: float) -> _Start:
    """Find more cells than wanted and merge them, where noise allows it."""
    pure = not problem.noise.approximate
    multiple, before, after = schedule(_noise(problem, space.columns), pure=pure)
    growth = PURE_GROWTH if pure else GROWTH
    k = problem.expected_clusters
    windows = first_windows(space, multiple * k, problem.source)
    if multiple == 1 and problem.n_clusters is not None:
        return _Start(windows, _growing(budget, before + after, growth), before + after)
    before = max(before, 1)  # what is counted must be released
    budgets = _growing(FIRST_PART * budget, before, growth)
    windows = _settle(problem, space, windows, budgets[:-1])
    last = take_round(problem, space, windows, budgets[-1])
    points = shrink_to_mean(space, last)
    if problem.n_clusters is None:
        k = _count(problem, last, points)
    merged = merge_cells(space, last, points, k, problem.source)
    return _Start(merged, _growing((1 - FIRST_PART) * budget, after, growth), before + after)


def _settle(problem: Problem, space: Space, windows: Windows, budgets: list[float]) -> Windows:
    """Move centers once for each budget."""
    for budget in budgets:
        last = take_round(problem, space, windows, budget)
        windows = respawn(space, last, shrink_to_mean(space, last), problem.source)
    return windows


def _growing(budget: float, rounds: int, growth: float) -> list[float]:
    """Divide a budget over rounds, a little more to each than to the one before."""
    weights = growth ** np.arange(rounds)
    parts = budget * weights / weights.sum()
    return [float(part) for part in parts]


def _count(problem: Problem, last: Round, points: Floats) -> int:
    """Choose the number of clusters from the cells of a round."""
    alive = np.setdiff1d(np.arange(len(points)), last.dead)
    if len(alive) < 2:
        return 1
    weights = last.counts[alive]
    return count_clusters(
        points[alive],
        weights,
        max_clusters=problem.max_clusters,
        blur=float(np.average(last.spreads[alive] ** 2, weights=weights)),
        source=problem.source,
    )


def _result(
    problem: Problem, last: Round, moved: Floats, rounds: int, details: dict[str, int]
) -> KMeansResult:
    """Say how full and how sure the clusters of the last round are."""
    half, noisy = problem.half, last.noisy
    centers = np.clip(np.rint(moved), -half, half).astype(np.int64)
    moves = (centers - last.centers).astype(np.float64)
    radii = confidence_radii(noisy, moves, farthest_corners(centers, half))
    empty = noise_probabilities(noisy.tails)
    return KMeansResult(centers, noisy.counts.astype(np.float64), radii, empty, rounds, details)
