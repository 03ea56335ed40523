"""The method that a fit takes by itself: from public numbers, and a number of records paid for.

Which noise is smaller follows from the number of columns, epsilon and delta, all public. Which
method is better follows from these, the number of clusters, and the number of records, declared or
noisy; nothing else is looked at.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

from shoal.cluster._noise import Body, BudgetedNoise, PureNoise, noise_for
from shoal.cluster.kmeans._ball import BallMethod, ball_noise
from shoal.cluster.kmeans._centered import MIN_COLUMNS, CenteredMethod, suits_centered
from shoal.cluster.kmeans._grid import GRID_PART, WIDEST_GRID, GridMethod
from shoal.cluster.kmeans._mixed import MixedMethod, part_noise, suits_mixed
from shoal.cluster.kmeans._problem import KMeansMethod, KMeansResult, MethodChoice, Problem
from shoal.cluster.kmeans._tree import TreeMethod
from shoal.engines import HALF

if TYPE_CHECKING:
    from shoal.cluster.kmeans.dp_kmeans import DPKMeans

__all__ = [
    "AutoMethod",
    "NoiseChoice",
    "choose_method",
    "choose_n_clusters",
    "choose_noise",
    "delta_advice",
]

CANDIDATES: tuple[type[KMeansMethod], ...] = (
    TreeMethod,
    GridMethod,
    CenteredMethod,
    BallMethod,
    MixedMethod,
)

MIN_DIGITS = 6  # a delta is 1e-6, or at most a tenth of 1/n
ROUNDS = 4  # that divide the budget of a fit in many columns, more or less
MIN_GAIN = 1.5  # a delta that buys less is not worth mentioning


class NoiseChoice(NamedTuple):
    """The noise of a fit, and why it was chosen."""

    noise: BudgetedNoise
    reason: str


class AutoMethod(KMeansMethod):
    """Whichever method suits the table, with the smaller noise."""

    name = "auto"
    releases_synopsis = True

    def make_noise(self, body: Body) -> BudgetedNoise:
        """Return the noise that the estimator's epsilon and delta buy for records of this body."""
        return self._choose_noise(body).noise

    @property
    def needs_n(self) -> bool:
        """Return whether the method must know the number of records, public or noisy."""
        return True

    def smallest_budget(self, budget: float) -> float:
        """Return the least that a single release gets of the method's budget."""
        return min(method(self.model).smallest_budget(budget) for method in CANDIDATES)

    def settle(self, problem: Problem) -> MethodChoice:
        """Return the method that will run, from public and noisy values alone, and why."""
        which, body = self._choose_noise(problem.body), problem.body
        if suits_mixed(body):
            why = f"noise has the shape of {len(body.simplices)} categories"
            if len(body.intervals):
                why += f" and {len(body.intervals)} columns of numbers"
            return MethodChoice(MixedMethod(self.model), f"{why}; {which.reason}")
        method, why = choose_method(
            problem.n, problem.columns, problem.expected_clusters, problem.noise, problem.budget
        )
        reasons = [why, which.reason]
        if float(self.model.delta) == 0.0:
            clusters, epsilon = problem.expected_clusters, float(self.model.epsilon)
            reasons += delta_advice(problem.n, problem.columns, clusters, epsilon)
        return MethodChoice(method(self.model), "; ".join(reasons))

    def run(self, problem: Problem) -> KMeansResult:
        """Spend the problem's budget by the method that suits it."""
        return self.settle(problem).method.run(problem)

    def _choose_noise(self, body: Body) -> NoiseChoice:
        """Choose the smaller noise for records of this body."""
        epsilon, delta = float(self.model.epsilon), float(self.model.delta)
        return choose_noise(body.columns, epsilon, delta, body if suits_mixed(body) else None)


def choose_noise(
    columns: int, epsilon: float, delta: float, body: Body | None = None
) -> NoiseChoice:
    """Choose the smaller noise; of records in a box, or in a body."""
    pure = PureNoise(epsilon)
    if delta == 0.0:
        return NoiseChoice(pure, "delta is 0, so the noise is pure")
    gaussian = noise_for(epsilon, delta)
    if _noise_level(gaussian, columns, body) < _noise_level(pure, columns, body):
        return NoiseChoice(gaussian, "with delta Gaussian noise is the smaller one")
    return NoiseChoice(pure, "pure noise is the smaller one, so delta is not used")


def choose_method(
    n: float, columns: int, n_clusters: int, noise: BudgetedNoise, budget: float
) -> tuple[type[KMeansMethod], str]:
    """Choose a method; ``n`` is public or noisy, in contributions of one person."""
    if suits_centered(n, columns, n_clusters, noise=noise, budget=budget):
        return CenteredMethod, f"in {columns} columns clusters are looked for around the mean"
    if columns < MIN_COLUMNS and noise.approximate:
        return GridMethod, f"a grid in {columns} columns has few enough cells for exact seeding"
    if columns < MIN_COLUMNS:
        return TreeMethod, f"{columns} columns are few enough for cells, where records crowd too"
    return BallMethod, f"in {columns} columns a ball is learned and searched"


def choose_n_clusters(model: "DPKMeans", problem: Problem) -> int:
    """Spend the problem's budget on the number of clusters, for a method that cannot choose it."""
    if problem.columns <= WIDEST_GRID:
        return GridMethod.count_clusters(problem)
    return len(BallMethod(model).run(problem).centers)


def delta_advice(n: float, columns: int, n_clusters: int, epsilon: float) -> list[str]:
    """Say what a delta would buy in many columns, from public or noisy numbers; else say nothing.

    The length of the noise of a center, in radii of its window, where records fill all clusters
    alike and several rounds divide the budget: pure noise grows with the number of columns and of
    rounds, Gaussian noise with their roots.
    """
    if columns <= WIDEST_GRID:
        return []
    digits = max(MIN_DIGITS, math.ceil(math.log10(10 * max(n, 1.0))))
    noises = PureNoise(epsilon), noise_for(epsilon, 10.0**-digits)
    pure, gaussian = (
        ball_noise(n, columns, n_clusters, noise=noise, budget=noise.total_budget / ROUNDS)
        for noise in noises
    )
    if pure < MIN_GAIN * gaussian:
        return []
    return [
        f"with delta = 1e-{digits} the noise of a center would be {pure / gaussian:.1f} times "
        f"smaller, {gaussian:.2g} in place of {pure:.2g} radii of a cluster"
    ]


def _noise_level(noise: BudgetedNoise, columns: int, body: Body | None) -> float:
    """Return how large the noise is that the error of a fit in so many columns comes from."""
    if body is not None:
        return part_noise(1.0, body, 1, noise=noise, budget=noise.total_budget / ROUNDS)
    if columns >= MIN_COLUMNS:
        return ball_noise(1.0, columns, 1, noise=noise, budget=noise.total_budget / ROUNDS)
    # A grid needs sums and counts alike: the geometric mean of both.
    radius = round(HALF * (math.sqrt(columns) if noise.shape == "ball" else 1.0))
    budget = GRID_PART * noise.total_budget
    step = noise.pair_deviations(budget, columns=columns, clip_radius=radius, contribution=1)
    return float(step.sums**0.5 * noise.count_deviation(budget, contribution=1) ** 0.5)
