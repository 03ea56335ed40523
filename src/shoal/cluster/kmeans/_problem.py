"""What every k-means method is, what it is given and what it gives back.

A method releases noisy counts and sums through its problem's noise; centers follow from them, with
a radius that says how far off they may be and the probability that they are noise alone.
"""

import functools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats, Ints
from shoal.cluster._noise import Body, BudgetedNoise, NoisyPairs, NoisyWindows
from shoal.engines import MAX_COLUMNS, Engine
from shoal.noise import RandomSource

if TYPE_CHECKING:
    from shoal.cluster.kmeans.dp_kmeans import DPKMeans

__all__ = [
    "KMeansMethod",
    "KMeansResult",
    "MethodChoice",
    "Problem",
    "confidence_radii",
    "farthest_corners",
    "noise_probabilities",
    "norm_quantile",
    "shrunken_moves",
]

COVERAGE = 0.95
DRAWS = 1 << 17  # random numbers behind one quantile


@dataclass(frozen=True, eq=False)
class Problem:
    """The records behind their engine, and all that is public or already noisy."""

    engine: Engine  # exact statistics of the lattice records
    half: int  # records and centers lie in -half .. half
    radius: int  # of the public ball around 0 that holds the records: of a box, to its corners
    n_clusters: int | None  # how many centers to find; None: the method chooses from its releases
    max_clusters: int  # how many at most where the method chooses
    n: float  # number of records, declared or noisy, in contributions of one person
    n_deviation: float  # standard deviation of its noise; 0 where it is declared
    contribution: int  # the most that one person can add to a count
    noise: BudgetedNoise
    budget: float  # what the method may spend, all of it
    source: RandomSource
    body: Body  # where records lie in the box

    @property
    def columns(self) -> int:
        """Number of columns."""
        return self.engine.columns

    @property
    def expected_clusters(self) -> int:
        """How many clusters to plan for before they are counted."""
        return self.n_clusters or self.max_clusters

    def with_budget(self, budget: float) -> Self:
        """Return the same problem with another budget."""
        return replace(self, budget=budget)

    def with_n_clusters(self, n_clusters: int) -> Self:
        """Return the same problem with the number of clusters settled."""
        return replace(self, n_clusters=n_clusters)


@dataclass(frozen=True, eq=False)
class KMeansResult:
    """What a method released, all of it noisy or post-processing."""

    centers: Ints  # shape (k, d), on the lattice
    counts: Floats  # shape (k,): noisy sizes, in units of a record's weight
    radii: Floats  # shape (k,): 95% confidence radii in lattice steps; infinite for the whole box
    # shape (k,): a bound of the probability that any one of the clusters that hold nobody shows a
    # count so unlikely under the noise (proofs/kmeans.md)
    noise_probability: Floats
    rounds: int  # passes over the records whose centers were released
    details: dict[str, Any] = field(default_factory=dict)  # what else may be published
    ran: str = ""  # the method that ran, where the one that was chosen handed over to it


class KMeansMethod(ABC):
    """One way to find private centers: its noise, what it spends, and how it runs.

    A method is a class in a file of its own, listed in ``_methods.py`` and in
    ``shoal/_registry.py``; it is made from an estimator whose parameters have been checked.
    """

    name: ClassVar[str]
    max_columns: ClassVar[int] = MAX_COLUMNS
    releases_synopsis: ClassVar[bool] = False  # so that n_clusters="private" costs nothing more

    def __init__(self, model: "DPKMeans") -> None:
        self.model = model

    @abstractmethod
    def make_noise(self, body: Body) -> BudgetedNoise:
        """Return the noise that the estimator's epsilon and delta buy for records of this body."""

    @property
    @abstractmethod
    def needs_n(self) -> bool:
        """Return whether the method must know the number of records, public or noisy."""

    @abstractmethod
    def smallest_budget(self, budget: float) -> float:
        """Return the least that a single release gets of the method's budget."""

    def settle(self, problem: Problem) -> "MethodChoice":
        """Return the method that will run, from public and noisy values alone, and why."""
        return MethodChoice(self, "asked for")

    @abstractmethod
    def run(self, problem: Problem) -> KMeansResult:
        """Spend the problem's budget and find its centers."""


class MethodChoice(NamedTuple):
    """A method, and why it was chosen."""

    method: KMeansMethod
    reason: str


def shrunken_moves(pairs: NoisyPairs | NoisyWindows, clip_radius: int) -> Floats:
    """Estimate how far each center is from the mean of its records.

    The raw estimate is sum / count. Its noise is known, so the spread of the true moves can be told
    from the spread of the noisy ones, and each is shrunk toward no move by the part of its
    variance that is noise (James & Stein 1961): centers with few records trust their starting
    place.
    """
    counts = np.maximum(pairs.counts, pairs.deviations.counts)
    moves: Floats = pairs.sums / counts[:, None]
    noise = (pairs.deviations.sums / counts) ** 2
    weights = counts / counts.sum()
    spread = max(0.0, float(weights @ ((moves**2).mean(axis=1) - noise)))
    # At the largest epsilons the noise is too small for its square: then nothing is shrunk.
    part = np.divide(spread, spread + noise, out=np.ones_like(noise), where=noise > 0)
    moves *= part[:, None]
    return np.clip(moves, -clip_radius, clip_radius)


def farthest_corners(centers: npt.NDArray[np.int64 | np.float64], half: int) -> Floats:
    """Measure how far each center is from the farthest corner of the box."""
    distances: Floats = np.linalg.norm(np.abs(centers) + float(half), axis=1)
    return distances


def confidence_radii(pairs: NoisyPairs | NoisyWindows, moves: Floats, farthest: Floats) -> Floats:
    """Bound the distance between released centers and exact means, at 95% for each center."""
    # mean = (S - s) / (C - c) for noise s, c: half of the 5% is left to s, half to c.
    columns = pairs.sums.shape[1]
    long = _norm_quantile(columns) * pairs.deviations.sums
    many = _norm_quantile(1) * pairs.deviations.counts
    fewest = pairs.counts - many
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps = np.linalg.norm(pairs.sums - pairs.counts[:, None] * moves, axis=1)
        lengths = np.linalg.norm(moves, axis=1)
        radii = (gaps + long + many * lengths) / fewest
    return np.where((fewest > 0) & (radii < farthest), radii, np.inf)


def noise_probabilities(tails: Floats) -> Floats:
    """Correct the tails of all counts that were looked at for their number (Bonferroni)."""
    return np.minimum(len(tails) * tails, 1.0)


def norm_quantile(deviations: Floats) -> float:
    """Return the quantile of the norm of noise with these deviations, one for each column."""
    different, times = np.unique(deviations, return_counts=True)
    if len(different) == 1:
        return _norm_quantile(len(deviations)) * float(different[0])
    rng = np.random.default_rng(len(deviations))
    draws = max(1024, DRAWS // len(deviations))
    squares = np.zeros(draws)
    for deviation, columns in zip(different, times, strict=True):
        part = rng.laplace(0.0, deviation * math.sqrt(0.5), (draws, columns))
        squares += (part**2).sum(axis=1)
    return float(np.quantile(np.sqrt(squares), (1 + COVERAGE) / 2))


@functools.cache
def _norm_quantile(columns: int) -> float:
    """Quantile of the norm of noise, in standard deviations of one column.

    Independent Laplace noise has the heaviest tails of all laws here, so its quantile serves them
    all: for one column 2.61, where the box norm has 2.47 and the normal law 2.24.
    """
    rng = np.random.default_rng(columns)  # nothing to hide: a number of the law, not of the records
    draws = max(1024, DRAWS // columns)
    squares = np.zeros(draws)
    for start in range(0, columns, 64):
        part = rng.laplace(0.0, math.sqrt(0.5), (draws, min(64, columns - start)))
        squares += (part**2).sum(axis=1)
    return float(np.quantile(np.sqrt(squares), (1 + COVERAGE) / 2))
