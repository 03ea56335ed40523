"""The method that a fit takes by itself: from public numbers, and a number of records paid for.

Which noise is smaller follows from the number of columns, epsilon and delta, all public. Which
method is better follows from these, the number of clusters, and the number of records, declared or
noisy; nothing else is looked at.
"""

from typing import NamedTuple

from shoal.cluster._noise import BudgetedNoise, PureNoise, noise_for
from shoal.cluster.kmeans._grid import WIDEST_GRID, GridMethod
from shoal.cluster.kmeans._lsh import LSHMethod
from shoal.cluster.kmeans._problem import KMeansMethod, KMeansResult, MethodChoice, Problem
from shoal.cluster.kmeans._synopsis import SMALLEST_PART, SynopsisMethod

__all__ = ["AutoMethod", "NoiseChoice", "choose_method", "choose_noise", "synopsis_method"]


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
        which = choose_noise(problem.columns, float(self.model.epsilon), float(self.model.delta))
        return MethodChoice(method(self.model), f"{why}; {which.reason}")

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
    if method is GridMethod:
        return method, f"a grid in {columns} columns has few enough cells for exact seeding"
    return method, f"a grid in {columns} columns would have too many cells"


def synopsis_method(columns: int) -> type[SynopsisMethod]:
    """Return the method whose synopsis suits so many columns."""
    return GridMethod if columns <= WIDEST_GRID else LSHMethod
