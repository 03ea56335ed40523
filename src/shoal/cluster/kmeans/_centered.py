"""k-means around the noisy mean, for tables whose box is mostly empty or whose records are few.

A grid over the whole box of 13 columns has 8,192 cells of noise for 178 records, and real tables
are skewed: most columns lie at one end of their bounds. So this method first learns where the
records are, each step for its part of the budget:

1. the level, the mean of all columns together: one number, so its noise is the least of all;
2. the mean and how far records are from it, in a window around the level;
3. a grid around the mean, in as many columns (or public random directions, if these are fewer) as
   its counts can tell apart; it is clustered with restarts, which costs nothing;
4. rounds of counts, offsets and squared lengths in windows around the centers, shrunk by their
   known noise. Normal noise adds up so slowly over rounds that they need no grid to start from.

Where noise would drown k centers, the mean is all that can be had, and it alone is published.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from shoal._typing import Floats, Ints
from shoal.cluster._noise import Body, BudgetedNoise, NoisyWindows, PureNoise, noise_for
from shoal.cluster.kmeans._ball import ball_noise
from shoal.cluster.kmeans._grid import (
    GridCounts,
    cells_per_column,
    cluster_cells,
    count_cells,
    judge_cells,
    release_cells,
)
from shoal.cluster.kmeans._place import Place, locate, public_directions, spread_centers
from shoal.cluster.kmeans._problem import (
    KMeansMethod,
    KMeansResult,
    Problem,
    confidence_radii,
    farthest_corners,
    noise_probabilities,
    shrunken_moves,
)
from shoal.engines import (
    DIRECTION_UNIT,
    HALF,
    MOMENT_UNIT,
    project,
    total_weight,
    window_statistics,
)

__all__ = [
    "MIN_COLUMNS",
    "ONE_MEAN",
    "CenteredMethod",
    "CenteredPlan",
    "plan_centered",
    "smaller_noise",
    "suits_centered",
]

MIN_COLUMNS = 5  # in fewer columns a grid over the whole box is fine enough
MAX_COLUMNS = 32  # in more, directions must be learned
ONE_MEAN = 0.6  # noise of the mean, in its window's radius, above which it is all there is
NO_ROUNDS = 0.45  # noise of a center, likewise, above which no round is worth its price
NO_MEAN = 0.15  # and above which the grid stands around the level, not the mean
DOUBT = 0.2  # noise of the mean above which a grid must show that there is more than the mean:
UNEVEN = 1.0  # deviations by which its counts must differ more than noise makes them
TWO_ROUNDS = 0.06  # below, the second round is worth its price
FEW_RECORDS = 1500  # taken for their number where noise must be chosen before it is known
FEW_CLUSTERS = 4  # to plan for where their number is chosen later
CERTAIN = 4.0  # deviations of its noise: a smaller number of records is counted again,
COUNT_PART = 0.1  # for this part of the budget
FINE = 0.08  # of normal noise: below, rounds start from a grid, and a ball finds more yet,
PURE_FINE = 0.012  # as it does below this of pure noise
NORMAL_GAIN = 1.2  # normal noise is worth taking where a release of it is up to so much noisier
SMALLEST_PART = 0.02  # of the budget, for the level
GROWTH = 1.3  # of the budget from round to round
GRID_WIDTH = 1.6  # half width of two cells, in deviations of a column; of more, its square
MAX_DIRECTIONS = 12
FAR = 2**27  # lattice steps of a grid around the mean: no record is further out
ROUND_WINDOW = 1.15  # of the records' distance from the mean, for rounds that no grid started
NEXT_WINDOW = 1.25  # of the records' distance from their center
WINDOW_PRIOR = 0.02  # variance of the squared distances of clusters, in squares of their window


class CenteredMethod(KMeansMethod):
    """Learn where the records are, then look for clusters there."""

    name = "centered"
    releases_synopsis = True

    def make_noise(self, body: Body) -> BudgetedNoise:
        """Return the noise that the estimator's epsilon and delta buy for records of this body."""
        k = FEW_CLUSTERS if isinstance(self.model.n_clusters, str) else int(self.model.n_clusters)
        n = float(self.model.n_public or FEW_RECORDS)
        epsilon, delta = float(self.model.epsilon), float(self.model.delta)
        return smaller_noise(n, body.columns, k, epsilon, delta)

    @property
    def needs_n(self) -> bool:
        """Return whether the method must know the number of records, public or noisy."""
        return True

    def smallest_budget(self, budget: float) -> float:
        """Return the least that a single release gets of the method's budget."""
        return SMALLEST_PART * (1 - COUNT_PART) * budget

    def run(self, problem: Problem) -> KMeansResult:
        """Learn level and mean, find centers around it, and move them."""
        problem = _counted_again(problem)
        plan = self._plan(problem)
        total = max(problem.n, problem.n_deviation, 1.0) * problem.contribution
        place = locate(
            problem,
            total,
            level_budget=plan.level * problem.budget,
            mean_budget=plan.mean * problem.budget,
        )
        result = None
        if plan.rounds:
            result = _run_rounds(problem, plan, place, total)
        elif plan.grid:
            result = _cluster_grid(problem, plan, place)
        return result or self._one_mean(problem, place, total)

    def _one_mean(self, problem: Problem, place: Place, total: float) -> KMeansResult:
        """Publish the mean alone, and how many times the records would allow the clusters."""
        details: dict[str, float] = {}
        if problem.n_clusters != 1:
            sizes = (self._careful_n(problem), problem.columns, 1)
            single = ball_noise(*sizes, noise=problem.noise, budget=problem.budget)
            details["clusters_asked"] = problem.n_clusters or 0
            details["records_short"] = math.ceil(10 * single / _doubt(problem.columns)) / 10
        center, nowhere = place.mean[None], np.array([np.inf])
        return KMeansResult(center, np.array([total]), nowhere, np.ones(1), 1, details)

    def _plan(self, problem: Problem) -> "CenteredPlan":
        return plan_centered(
            self._careful_n(problem),
            problem.columns,
            _planned_clusters(problem),
            noise=problem.noise,
            budget=problem.budget,
            counted=problem.n_clusters is None,
        )

    def _careful_n(self, problem: Problem) -> float:
        return max(problem.n - problem.n_deviation, 1.0)


class CenteredPlan(NamedTuple):
    """Parts of the budget: level, mean, grid, and each round; neither of these for the mean alone.

    ``doubtful``: the mean is all, too, where the grid shows nothing more.
    """

    level: float
    mean: float
    grid: float
    rounds: tuple[float, ...]
    doubtful: bool = False


def smaller_noise(
    n: float, columns: int, n_clusters: int, epsilon: float, delta: float
) -> BudgetedNoise:
    """Return the noise that leaves the clusters the most exact, from public numbers."""
    pure = PureNoise(epsilon)
    if delta == 0.0:
        return pure
    gaussian = noise_for(epsilon, delta)
    sizes = (n, columns, n_clusters)
    normal, other = (
        ball_noise(*sizes, noise=noise, budget=noise.total_budget) for noise in (gaussian, pure)
    )
    # Rounds of normal noise cost less together, but counts of grids have the smaller noise pure.
    return gaussian if normal < min(NORMAL_GAIN * other, ONE_MEAN) else pure


def _counted_again(problem: Problem) -> Problem:
    """Count the records again where their number is mostly noise: all else follows from it."""
    if problem.n >= CERTAIN * problem.n_deviation:
        return problem
    budget, contribution = COUNT_PART * problem.budget, problem.contribution
    exact = np.array([total_weight(problem.engine)])
    noisy = problem.noise.counts(exact, budget, contribution=contribution, source=problem.source)
    deviations = (problem.n_deviation, problem.noise.count_deviation(budget, contribution=1))
    sure = np.array(deviations) ** -2.0
    return replace(
        problem,
        n=float(sure @ [problem.n, noisy[0] / contribution] / sure.sum()),
        n_deviation=float(sure.sum() ** -0.5),
        budget=problem.budget - budget,
    )


def suits_centered(
    n: float, columns: int, n_clusters: int, *, noise: BudgetedNoise, budget: float
) -> bool:
    """Return whether to look around the mean, rather than in the box or among many columns.

    All numbers are public or noisy; ``n`` is in contributions of one person.
    """
    if not MIN_COLUMNS <= columns <= MAX_COLUMNS:
        return False
    # Where noise is small, too many centers that are merged find more.
    blur = ball_noise(n, columns, n_clusters, noise=noise, budget=budget)
    return blur >= (FINE if noise.approximate else PURE_FINE)


def plan_centered(
    n: float,
    columns: int,
    n_clusters: int,
    *,
    noise: BudgetedNoise,
    budget: float,
    counted: bool = False,
) -> CenteredPlan:
    """Divide the budget by how large the noise of a center is.

    All numbers are public or noisy; ``n`` is in contributions of one person. ``counted``: the
    number of clusters will be chosen from the grid, so there must be one.
    """
    blur = ball_noise(n, columns, n_clusters, noise=noise, budget=budget)
    single = blur / n_clusters
    if single >= ONE_MEAN:
        return CenteredPlan(1.0, 0.0, 0.0, ())
    if n_clusters == 1:
        return _with_rounds(0.1, 0.3, 0.0, 1)
    if noise.approximate and FINE <= blur < ONE_MEAN and not counted:
        return _with_rounds(0.04, 0.1, 0.0, 6 if blur < NO_ROUNDS else 4)
    if blur >= NO_ROUNDS:
        return _without_rounds(single, columns)
    if noise.approximate:
        return _with_rounds(0.03, 0.07, 0.3, 3)
    level = min(max(2 * single, SMALLEST_PART), 0.1)
    mean = min(max(6 * single, 0.03), 0.15) if blur < NO_MEAN else 0.0
    grid = 0.45 * (1.0 - level - mean)
    return _with_rounds(level, mean, grid, 2 if blur < TWO_ROUNDS else 1)


def _without_rounds(single: float, columns: int) -> CenteredPlan:
    """Divide the budget between place and grid, by the noise of the mean."""
    if single >= _doubt(columns):
        return CenteredPlan(0.5, 0.0, 0.5, (), doubtful=True)
    mean = min(max(single * columns / 5, 0.05), 0.65)
    return CenteredPlan(0.1, mean, 0.9 - mean, ())


def _doubt(columns: int) -> float:
    # The more columns there are that a grid cannot see, the more the mean is worth.
    return max(DOUBT, columns / 100)


def _with_rounds(level: float, mean: float, grid: float, rounds: int) -> CenteredPlan:
    rest, weights = 1.0 - level - mean - grid, GROWTH ** np.arange(rounds)
    return CenteredPlan(level, mean, grid, tuple((rest * weights / weights.sum()).tolist()))


def _planned_clusters(problem: Problem) -> int:
    """Return for how many clusters to plan: where they are chosen, for few, lest there be none."""
    return problem.n_clusters or min(problem.max_clusters, FEW_CLUSTERS)


def _cluster_grid(problem: Problem, plan: CenteredPlan, place: Place) -> KMeansResult | None:
    """Cluster a grid around the mean where no round is worth its price; None if it shows nothing.

    It shows nothing where its counts differ no more than noise makes equal counts differ.
    """
    around = _grid_around(problem, place, plan.grid * problem.budget)
    if plan.doubtful and not _uneven(around.cells):
        return None
    # Records beyond the grid count in its outer cells, wherever they are.
    result = judge_cells(around.cells, around.centers, around.problem, around.details, reach=FAR)
    empty = result.noise_probability
    if around.clipped(problem):  # then records of a cell may be nearest to any center
        empty = np.ones(len(empty))
    # A cell says nothing of how far out its records are.
    radii = np.full(len(empty), np.inf)
    centers = around.lattice_centers(problem)
    return replace(result, centers=centers, radii=radii, noise_probability=empty)


def _uneven(cells: GridCounts) -> bool:
    """Return whether counts differ by more than noise, as their squares tell together."""
    noisy, variance = cells.noisy, cells.deviation**2
    # Laplace noise, which varies the most, has a fourth moment of 6 squared variances.
    by_noise = (len(noisy) - 1 + UNEVEN * math.sqrt(5 * len(noisy))) * variance
    return float(((noisy - noisy.mean()) ** 2).sum()) > by_noise


def _run_rounds(problem: Problem, plan: CenteredPlan, place: Place, total: float) -> KMeansResult:
    """Start from a grid around the mean, or from public places around it, and run the rounds."""
    details: dict[str, int] = {}
    if plan.grid:
        around = _grid_around(problem, place, plan.grid * problem.budget)
        centers, details = around.lattice_centers(problem), around.details
        window = len(centers) ** (-1 / problem.columns)
    else:
        centers, window = spread_centers(problem, place), ROUND_WINDOW
    radii = np.full(len(centers), max(1, round(window * place.length)))
    for part in plan.rounds:
        windows = problem.noise.windows(
            window_statistics(problem.engine, centers, radii),
            radii,
            part * problem.budget,
            contribution=problem.contribution,
            source=problem.source,
        )
        counts = _shrunken_counts(windows, total)
        moves = shrunken_moves(replace(windows, counts=counts), problem.half)
        moved = np.clip(np.rint(centers + moves), -problem.half, problem.half).astype(np.int64)
        steps, centers = (moved - centers).astype(np.float64), moved
        radii = _next_windows(windows, counts, radii)
    corners = farthest_corners(centers, problem.half)
    return KMeansResult(
        centers,
        windows.counts.astype(np.float64),
        confidence_radii(windows, steps, corners),
        noise_probabilities(windows.tails),
        len(plan.rounds),
        details,
    )


class AroundGrid(NamedTuple):
    """A released grid around the mean, and its clusters."""

    cells: GridCounts
    centers: Ints  # shape (k, p), on the lattice of the grid's directions
    problem: Problem  # of the records along those directions
    axes: Floats  # shape (p, d): the directions
    mean: Ints  # shape (d,): where they meet
    step: float  # of that lattice, in steps of the records' own
    details: dict[str, int]

    def lattice_centers(self, problem: Problem) -> Ints:
        """Return the centers among the records."""
        return np.clip(np.rint(self._places), -problem.half, problem.half).astype(np.int64)

    def clipped(self, problem: Problem) -> bool:
        """Return whether any of these centers was outside the box."""
        return bool((np.abs(self._places) > problem.half + 1.0).any())

    @property
    def _places(self) -> Floats:
        places: Floats = self.mean + (self.centers * self.step) @ self.axes
        return places


def _grid_around(problem: Problem, place: Place, budget: float) -> AroundGrid:
    """Release a grid around the mean and cluster its cells."""
    columns, noise = problem.columns, problem.noise
    signal = problem.n * math.sqrt(2) / noise.count_deviation(budget, contribution=1)
    # As many directions as the counts of two cells in each can tell apart.
    told = math.floor(math.log2(max(2 * signal, 4.0)))
    directions = min(told, columns, MAX_DIRECTIONS)
    cells, axes = 2, public_directions(directions, columns, problem.source)
    if directions == columns:
        k = problem.expected_clusters
        cells, axes = cells_per_column(problem.n, columns, k, noise, budget), np.eye(columns)
    width = GRID_WIDTH * place.length / math.sqrt(columns) * (1.0 if cells == 2 else GRID_WIDTH)
    radius = max(1, math.ceil(width * math.sqrt(directions)))
    lattice = np.rint(axes * DIRECTION_UNIT).astype(np.int64)
    around = replace(
        problem,
        engine=project(problem.engine, place.mean, lattice, radius),
        half=max(1, round(HALF / math.sqrt(directions))),
    )
    grid = release_cells(around, cells, budget)
    centers = cluster_cells(grid, problem.n_clusters or count_cells(grid, around), around)
    details = {"cells": cells, "directions": directions}
    return AroundGrid(grid, centers, around, axes, place.mean, radius / HALF, details)


def _shrunken_counts(windows: NoisyWindows, total: float) -> Ints:
    """Shrink noisy counts toward equal ones by the part of their spread that is noise."""
    equal, noise = total / len(windows.counts), windows.deviations.counts**2
    gaps = windows.counts - equal
    spread = max(0.0, float((gaps**2).mean()) - noise)
    part = spread / (spread + noise) if spread else 0.0
    counts: Ints = np.rint(equal + part * gaps).astype(np.int64)
    return counts


def _next_windows(windows: NoisyWindows, counts: Ints, radii: Ints) -> Ints:
    """Fit windows to the squared distances of records from their centers, as far as known."""
    sizes = np.maximum(counts, np.maximum(windows.deviations.counts, 1.0))
    moments = windows.moments / MOMENT_UNIT
    own = np.clip(moments / sizes + 0.5, 0.02, 1.0)
    pooled = min(max(float(moments.sum() / sizes.sum()) + 0.5, 0.05), 1.0)
    noise = (windows.deviations.moments / MOMENT_UNIT / sizes) ** 2
    trust = WINDOW_PRIOR / (WINDOW_PRIOR + noise)
    squares = trust * own + (1 - trust) * pooled
    wanted = np.clip(NEXT_WINDOW * np.sqrt(squares), 0.4, 1.1)
    fitted: Ints = np.maximum(np.rint(wanted * radii), 1).astype(np.int64)
    return fitted
