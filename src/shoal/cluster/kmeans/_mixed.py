"""k-means for tables of numbers and categories: noise in the shape of what a record can move.

A first release is the mean: the noisy share of every level and the noisy mean of every number. From
these alone, as if columns had nothing to do with each other, records are made up and clustered,
which costs nothing and spreads first centers as records spread. Rounds of noisy counts, sums and
levels follow, with several centers for each one wanted where noise allows it; merging these is
free, as are its restarts. Means are shrunk toward the mean of all by their known noise, simplex by
simplex, and shares are brought back to shares: none below 0, all together 1.

All budgets are parts of a fixed total, and every release goes through the problem's noise
(proofs/kmeans.md, "Mixed tables").
"""

import math
from typing import NamedTuple

import numpy as np

from shoal._typing import Floats, Ints
from shoal.cluster._budget import SPREAD
from shoal.cluster._centers import normals, uniforms
from shoal.cluster._noise import Body, BudgetedNoise, NoisyParts, noise_for
from shoal.cluster.kmeans._problem import (
    KMeansMethod,
    KMeansResult,
    Problem,
    noise_probabilities,
    norm_quantile,
)
from shoal.cluster.kmeans._synopsis import cluster_points, compress_points, count_clusters
from shoal.engines import nearest_statistics

__all__ = ["MixedMethod", "part_noise", "suits_mixed"]

MEAN_PART = 0.1  # of the budget, for the mean of all
FIRST_PART = 0.4  # of the rounds' budget, before cells are merged
GROWTH = 1.3  # of a round's budget over that of the round before
MADE_UP, EACH = 1000, 20  # made-up records at least, and for each first center
NUMBERS = 0.5  # spread of made-up numbers around their mean, of half their width
RESTARTS = 20  # of merging: one by one, cells of a category's levels end in poor clusters
EMPTY = 2.0  # deviations of a count's noise; a cell with fewer records holds nobody


class Schedule(NamedTuple):
    """Centers for each one wanted, and rounds before and after they are merged."""

    multiple: int
    before: int
    after: int


# Noise of a center below which a schedule pays, in radii of the body.
SCHEDULES = (
    (0.006, Schedule(6, 3, 2)),
    (0.012, Schedule(4, 2, 1)),
    (0.025, Schedule(4, 1, 1)),
    (0.07, Schedule(2, 1, 1)),
    (math.inf, Schedule(1, 0, 1)),
)


class _Round(NamedTuple):
    """What a round released around its centers, and the means that follow from it."""

    centers: Ints
    noisy: NoisyParts
    means: Floats


class MixedMethod(KMeansMethod):
    """Noisy rounds from centers that the noisy mean suggests, too many of them first."""

    name = "mixed"
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
        rounds = (1 - MEAN_PART) * min(FIRST_PART, 1 - FIRST_PART)
        longest = max(max(before, after) for _, (_, before, after) in SCHEDULES)
        parts = [rounds * part for part in _growing(1.0, longest)]
        return min(MEAN_PART, *parts) * budget

    def run(self, problem: Problem) -> KMeansResult:
        """Release the mean, find cells around it, merge them and settle."""
        middle = _middle(problem.body)
        mean = _take_round(problem, middle[None], MEAN_PART * problem.budget, middle).means[0]
        budget = (1 - MEAN_PART) * problem.budget
        multiple, before, after = _schedule(problem)
        k = problem.expected_clusters
        points = _first_points(problem, mean, multiple * k)
        if multiple > 1 or problem.n_clusters is None:
            before = max(before, 1)  # what is counted must be released
            budgets = _growing(FIRST_PART * budget, before)
            last = _settle(problem, points, mean, budgets)
            k = _count(problem, last) if problem.n_clusters is None else k
            points = _merge(problem, last, k)
            budget *= 1 - FIRST_PART
        last = _settle(problem, points, mean, _growing(budget, after))
        return _result(problem, last, before + after)


def suits_mixed(body: Body) -> bool:
    """Return whether records lie in a body that noise should know: one with categories."""
    return bool(body.simplices)


def part_noise(
    n: float, body: Body, n_clusters: int, *, noise: BudgetedNoise, budget: float
) -> float:
    """Return how noisy a round would be that had the whole budget: what all choices go by.

    Length of the noise of a mean, in radii of the body, where n records fill their clusters alike;
    ``n`` is public or noisy, in contributions of one person.
    """
    deviations = noise.part_deviations(budget, body, contribution=1)
    length = float(np.linalg.norm(deviations.columns))
    return n_clusters * length / body.radius / max(n, 1.0)


def _schedule(problem: Problem) -> Schedule:
    level = part_noise(
        problem.n,
        problem.body,
        problem.expected_clusters,
        noise=problem.noise,
        budget=problem.budget,
    )
    return next(found for limit, found in SCHEDULES if level < limit or math.isinf(limit))


def _growing(budget: float, rounds: int) -> list[float]:
    """Divide a budget over rounds, a little more to each than to the one before."""
    weights = GROWTH ** np.arange(rounds)
    return [float(part) for part in budget * weights / weights.sum()]


def _first_points(problem: Problem, mean: Floats, k: int) -> Floats:
    """Find first centers: those of made-up records whose columns are independent."""
    body, source = problem.body, problem.source
    count = max(MADE_UP, EACH * k)
    made_up = np.empty((count, body.columns))
    spread = NUMBERS * body.reaches[body.intervals]
    drawn = mean[body.intervals] + spread * normals((count, len(body.intervals)), source)
    made_up[:, body.intervals] = drawn
    for simplex in body.simplices:
        reach = int(body.reaches[simplex.start])
        shares = np.cumsum((mean[simplex] + reach) / (2 * reach))
        chances = (uniforms((count, 1), source) + 1.0) / 2 * shares[-1]
        chosen = np.minimum((chances >= shares).sum(axis=1), len(shares) - 1)
        made_up[:, simplex] = -reach
        made_up[np.arange(count), simplex.start + chosen] = reach
    np.clip(made_up, -body.reaches, body.reaches, out=made_up)
    found, _, _ = compress_points(made_up, np.ones(count), k, source)
    if len(found) == k:
        return found
    again = np.arange(k - len(found)) % count
    return np.concatenate([found, made_up[again]])


def _middle(body: Body) -> Floats:
    """Return the middle of the body: of every interval, and as much of each level."""
    middle = np.zeros(body.columns)
    for simplex in body.simplices:
        middle[simplex] = body.reaches[simplex] * (2 / (simplex.stop - simplex.start) - 1)
    return middle


def _take_round(problem: Problem, points: Floats, budget: float, mean: Floats) -> _Round:
    """Release counts, sums and levels around centers, and the means shrunk toward that of all."""
    reaches = problem.body.reaches
    centers = np.clip(np.rint(points), -reaches, reaches).astype(np.int64)
    exact = nearest_statistics(problem.engine, centers)
    noisy = problem.noise.parts(
        exact,
        problem.body,
        budget,
        contribution=problem.contribution,
        source=problem.source,
    )
    return _Round(centers, noisy, _means(problem.body, noisy, mean))


def _settle(problem: Problem, points: Floats, mean: Floats, budgets: list[float]) -> _Round:
    """Move centers once for each budget."""
    last = _take_round(problem, points, budgets[0], mean)
    for budget in budgets[1:]:
        last = _take_round(problem, _respawn(problem, last, mean), budget, mean)
    return last


def _means(body: Body, noisy: NoisyParts, mean: Floats) -> Floats:
    """Return the noisy means, shrunk toward that of all, inside the body.

    The spread of true means is told from that of noisy ones, by their known noise (James & Stein
    1961): in all intervals together, and in each simplex.
    """
    counts = np.maximum(noisy.counts, max(EMPTY * noisy.deviations.counts, 1.0))
    means = noisy.sums / counts[:, None]
    for simplex in body.simplices:
        means[:, simplex] -= body.reaches[simplex]
    weights = counts / counts.sum()
    for group in body.groups:
        width = body.reaches[group]
        moves = (means[:, group] - mean[group]) / width
        noise = ((noisy.deviations.columns[group] / width) ** 2).mean() / counts**2
        spread = max(0.0, float(weights @ ((moves**2).mean(axis=1) - noise)))
        # At the largest epsilons the noise is too small for its square: nothing is shrunk.
        part = np.divide(spread, spread + noise, out=np.ones_like(noise), where=noise > 0)
        means[:, group] = mean[group] + part[:, None] * moves * width
    for simplex in body.simplices:
        reach = int(body.reaches[simplex.start])
        shares = _to_shares((means[:, simplex] + reach) / (2 * reach))
        means[:, simplex] = 2 * reach * shares - reach
    return np.clip(means, -body.reaches, body.reaches)


def _to_shares(values: Floats) -> Floats:
    """Return the nearest points whose entries are at least 0 and add up to 1 (Held et al. 1974)."""
    falling = -np.sort(-values, axis=1)
    excess = (falling.cumsum(axis=1) - 1.0) / np.arange(1, values.shape[1] + 1)
    kept = (falling > excess).sum(axis=1)
    shares: Floats = np.maximum(values - excess[np.arange(len(values)), kept - 1][:, None], 0.0)
    return shares


def _dead(last: _Round) -> Ints:
    """Return indices of cells that may hold nobody."""
    return np.flatnonzero(last.noisy.counts < EMPTY * last.noisy.deviations.counts)


def _respawn(problem: Problem, last: _Round, mean: Floats) -> Floats:
    """Move centers that hold nobody halfway from the fullest cells to new first centers."""
    dead, points = _dead(last), last.means.copy()
    if len(dead) in (0, len(points)):
        return points
    fullest = np.argsort(-last.noisy.counts, kind="stable")[: len(points) - len(dead)]
    hosts = fullest[np.arange(len(dead)) % len(fullest)]
    points[dead] = (last.means[hosts] + _first_points(problem, mean, len(dead))) / 2
    return points


def _merge(problem: Problem, last: _Round, k: int) -> Floats:
    """Merge cells to k, by k-means on their means with their noisy counts as weights."""
    places, weights = _cells(last)
    return cluster_points(places, weights, k, problem.source, restarts=RESTARTS)


def _count(problem: Problem, last: _Round) -> int:
    """Choose the number of clusters from the cells of a round.

    How wide cells are follows from their shares; numbers are taken to spread as they usually do.
    """
    places, weights = _cells(last)
    body = problem.body
    blur = float(((SPREAD * body.reaches[body.intervals]) ** 2).sum())
    for simplex in body.simplices:
        reach = float(body.reaches[simplex.start])
        blur += float(np.average(reach**2 - places[:, simplex] ** 2, axis=0, weights=weights).sum())
    return count_clusters(
        places, weights, max_clusters=problem.max_clusters, blur=blur, source=problem.source
    )


def _cells(last: _Round) -> tuple[Floats, Floats]:
    """Return different means of cells that hold somebody, and how many; of all if none does."""
    alive = np.setdiff1d(np.arange(len(last.means)), _dead(last))
    if len(alive) == 0:
        alive = np.arange(len(last.means))
    counts = np.maximum(last.noisy.counts[alive], last.noisy.deviations.counts)
    places, index = np.unique(np.rint(last.means[alive]), axis=0, return_inverse=True)
    return places, np.bincount(index.ravel(), weights=counts).astype(np.float64)


def _result(problem: Problem, last: _Round, rounds: int) -> KMeansResult:
    """Say how full and how sure the clusters of the last round are."""
    centers = np.rint(last.means).astype(np.int64)
    radii = _radii(problem.body, last.noisy, centers)
    empty = noise_probabilities(last.noisy.tails)
    return KMeansResult(centers, last.noisy.counts, radii, empty, rounds)


def _radii(body: Body, noisy: NoisyParts, centers: Ints) -> Floats:
    """Bound the distance between released centers and exact means, at 95% for each center.

    For noise s, c of the sums S and counts C: (mean - z) (C - c) = S - z C - s + z c. Half of the
    5% is left to s, half to c. Levels are measured from their lower end.
    """
    points = centers.astype(np.float64)
    for simplex in body.simplices:
        points[:, simplex] += body.reaches[simplex]
    long = norm_quantile(noisy.deviations.columns)
    many = norm_quantile(np.array([noisy.deviations.counts]))
    fewest = noisy.counts - many
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps = np.linalg.norm(noisy.sums - noisy.counts[:, None] * points, axis=1)
        radii = (gaps + long + many * np.linalg.norm(points, axis=1)) / fewest
    farthest = np.linalg.norm(np.abs(centers) + body.reaches.astype(np.float64), axis=1)
    return np.where((fewest > 0) & (radii < farthest), radii, np.inf)
