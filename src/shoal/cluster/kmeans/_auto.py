"""The method that a fit takes by itself: from public numbers, and a number of records paid for.

Which noise is smaller follows from the number of columns, epsilon and delta, all public. Which
method is better follows from these, the number of clusters, and the number of records, declared or
noisy; nothing else is looked at.
"""

import math
from typing import NamedTuple

import numpy as np

from shoal.cluster._noise import BudgetedNoise, PureNoise, noise_for
from shoal.cluster.kmeans._grid import WIDEST_GRID, GridMethod
from shoal.cluster.kmeans._lsh import LSHMethod
from shoal.cluster.kmeans._problem import KMeansMethod, KMeansResult, MethodChoice, Problem
from shoal.cluster.kmeans._synopsis import SMALLEST_PART, SynopsisMethod
from shoal.cluster.kmeans._tree import TreeMethod
from shoal.engines import HALF

__all__ = [
    "AutoMethod",
    "NoiseChoice",
    "choose_method",
    "choose_noise",
    "delta_advice",
    "synopsis_method",
]

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

    def make_noise(self, columns: int) -> BudgetedNoise:
        """Return the noise that the estimator's epsilon and delta buy for so many columns."""
        return choose_noise(columns, float(self.model.epsilon), float(self.model.delta)).noise

    @property
    def needs_n(self) -> bool:
        """Return whether the method must know the number of records, public or noisy."""
        return True

    def smallest_budget(self, budget: float) -> float:
        """Return the least that a single release gets of the method's budget."""
        return SMALLEST_PART * budget

    def settle(self, problem: Problem) -> MethodChoice:
        """Return the method that will run, from public and noisy values alone, and why."""
        method, why = choose_method(
            problem.n, problem.columns, problem.expected_clusters, problem.noise, problem.budget
        )
        epsilon, delta = float(self.model.epsilon), float(self.model.delta)
        which = choose_noise(problem.columns, epsilon, delta)
        reasons = [why, which.reason]
        if delta == 0.0:
            clusters = problem.expected_clusters
            reasons += delta_advice(problem.n, problem.columns, clusters, epsilon)
        return MethodChoice(method(self.model), "; ".join(reasons))

    def run(self, problem: Problem) -> KMeansResult:
        """Spend the problem's budget by the method that suits it."""
        return self.settle(problem).method.run(problem)


def choose_noise(columns: int, epsilon: float, delta: float) -> NoiseChoice:
    """Choose the smaller noise."""
    pure = PureNoise(epsilon)
    if delta == 0.0:
        return NoiseChoice(pure, "delta is 0, so the noise is pure")
    gaussian = noise_for(epsilon, delta)
    level = synopsis_method(columns).noise_level
    if level(gaussian, columns) < level(pure, columns):
        return NoiseChoice(gaussian, "with delta Gaussian noise is the smaller one")
    return NoiseChoice(pure, "pure noise is the smaller one, so delta is not used")


def choose_method(
    n: float, columns: int, n_clusters: int, noise: BudgetedNoise, budget: float
) -> tuple[type[KMeansMethod], str]:
    """Choose a method; ``n`` is public or noisy, in contributions of one person."""
    method = synopsis_method(columns)
    if columns <= TreeMethod.max_columns and not noise.approximate:
        return TreeMethod, f"{columns} columns have few cells, or a tree where records crowd"
    if method is GridMethod:
        return method, f"a grid in {columns} columns has few enough cells for exact seeding"
    return method, f"a grid in {columns} columns would have too many cells"


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
    radii = np.array([HALF])
    pure, gaussian = (
        math.sqrt(columns)
        * noise.window_deviations(
            noise.total_budget / ROUNDS, columns=columns, radii=radii, contribution=1
        ).sums[0]
        / (HALF * max(n, 1.0) / n_clusters)
        for noise in noises
    )
    if pure < MIN_GAIN * gaussian:
        return []
    return [
        f"with delta = 1e-{digits} the noise of a center would be {pure / gaussian:.1f} times "
        f"smaller, {gaussian:.2g} in place of {pure:.2g} radii of a cluster"
    ]


def synopsis_method(columns: int) -> type[SynopsisMethod]:
    """Return the method whose synopsis suits so many columns."""
    return GridMethod if columns <= WIDEST_GRID else LSHMethod
