"""What a profile costs and how noisy it will be, from public numbers alone.

A record is in one cluster and at one level of a field, so it adds 1 to one count of each field: all
clusters share the budget of a field, and the fields divide that of the profile. Noise of scale s on
each of m levels has a squared error of m s^2 in total, and s is 1 over the budget; the sum over
fields is least for budgets in proportion to m^(1/3) of pure noise, and to m^(1/2) of mu^2
(proofs/profile.md).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from shoal import _numbers
from shoal.cluster._budget import BudgetSplit, check_epsilon
from shoal.cluster._noise import BudgetedNoise, noise_for
from shoal.cluster.profile._coding import Histogram, histogram_of
from shoal.cluster.profile._estimates import Tail
from shoal.cluster.profile._words import WordPlan
from shoal.exceptions import ParameterError
from shoal.noise import MAX_SCALE
from shoal.schema import Schema, Text

__all__ = [
    "CONFIDENCE",
    "MAX_WORDS",
    "FieldNoise",
    "FieldPlan",
    "ProfileBudgets",
    "ProfilePlan",
    "plan_profile",
    "profile_noise",
]

CONFIDENCE = 0.95
MIN_BINS, MAX_BINS = 8, 64
MAX_WORDS = 3  # of a person, for keywords
TYPICAL_CLUSTER = 1000  # records, where a release says nothing of sizes


class FieldPlan(NamedTuple):
    """A field, its levels, its budget, and the standard deviation of the noise of its counts."""

    histogram: Histogram
    budget: float
    deviation: float


@dataclass(frozen=True)
class ProfileBudgets(BudgetSplit):
    """What counts by cluster may spend, all fields together."""

    counts: float
    fields: int
    texts: int = 0

    def __str__(self) -> str:
        """Format the budget as a ledger prints it."""
        words = f", keywords of {self.texts}" if self.texts else ""
        return f"counts of {self.fields} fields by cluster{words}"


class ProfilePlan(NamedTuple):
    """What a profile will release, settled before a record is read."""

    fields: tuple[FieldPlan, ...]
    texts: tuple[WordPlan, ...]
    noise: BudgetedNoise
    budgets: ProfileBudgets


def plan_profile(
    schema: Schema,
    *,
    epsilon: Any,
    delta: Any,
    contribution: int,
    cluster_size: float,
    max_words: int = MAX_WORDS,
) -> ProfilePlan:
    """Choose bins and divide the budget, by public numbers.

    ``contribution`` is the most that a person adds to the counts of a field, and ``cluster_size`` a
    typical noisy one, in the same unit.
    """
    check_epsilon(epsilon)
    allowed = _numbers.probability("delta", delta)
    written = [field for field in schema.described if isinstance(field, Text) and allowed]
    # Selections of words take half of the delta, and normal noise the other.
    keys_delta = allowed / 2 if written else 0.0
    noise = noise_for(float(epsilon), allowed - keys_delta)
    described = [field for field in schema.described if histogram_of(field, 1) is not None]
    if not described:
        raise ParameterError(
            "schema must have a field to describe, with the role 'feature' or 'describe', got none",
            parameter="schema",
            code="incomplete",
        )
    releases = len(described) + len(written)
    even = noise.count_deviation(noise.total_budget / releases, contribution=contribution)
    bins = number_of_bins(cluster_size, even)
    histograms = [one for field in described if (one := histogram_of(field, bins)) is not None]
    power = 1 / 2 if noise.approximate else 1 / 3
    weights = [len(histogram.levels) ** power for histogram in histograms]
    weights += [MAX_BINS**power] * len(written)  # words are many, as bins are
    budgets = [noise.total_budget * weight / math.fsum(weights) for weight in weights]
    fields = tuple(
        FieldPlan(one, budget, noise.count_deviation(budget, contribution=contribution))
        for one, budget in zip(histograms, budgets, strict=False)
    )
    texts = tuple(
        WordPlan(
            field.name, field.title or field.name, budget, keys_delta / len(written), max_words
        )
        for field, budget in zip(written, budgets[len(histograms) :], strict=True)
    )
    if max(field.deviation for field in fields) > MAX_SCALE:
        raise ParameterError(
            f"epsilon must be larger for {len(fields)} fields, got {epsilon!r}: its noise is "
            "larger than counts can hold",
            parameter="epsilon",
            code="resolution",
        )
    spent = ProfileBudgets(noise.total_budget, len(fields), len(texts))
    return ProfilePlan(fields, texts, noise, spent)


def number_of_bins(cluster_size: float, deviation: float) -> int:
    """Return how many bins numbers are counted in.

    The noise of the records below the median, about half the bins, should be as large as one bin's
    records: sqrt(b / 2) deviation = size / b.
    """
    size = cluster_size if cluster_size > 0 else TYPICAL_CLUSTER
    wanted = (math.sqrt(2) * size / deviation) ** (2 / 3)
    return int(min(max(wanted, MIN_BINS), MAX_BINS))


class FieldNoise(NamedTuple):
    """The expected noise in the profile of one field, in a cluster of a given size.

    Parameters
    ----------
    field : str
        Name of the field.
    levels : int
        Number of categories or bins, including the one for missing values.
    deviation : float
        Standard deviation of the noise of one count.
    share_error : float
        Half the width of the 95% interval of a share (the fraction of records at one level).
    """

    field: str
    levels: int
    deviation: float
    share_error: float


def profile_noise(
    schema: Schema,
    *,
    epsilon: float,
    cluster_size: float,
    delta: float = 0.0,
    records_per_user: int = 1,
) -> tuple[FieldNoise, ...]:
    """Predict the noise of a :class:`ClusterProfile` from public numbers; nothing is spent.

    Parameters
    ----------
    schema : Schema
        Public description of the table.
    epsilon : float
        Privacy budget of the profile.
    cluster_size : float
        Expected number of records in a cluster.
    delta : float, default=0.0
        0 for pure differential privacy, above 0 for Gaussian noise.
    records_per_user : int, default=1
        How many records of one user count, at most.

    Returns
    -------
    noise : tuple of FieldNoise
        One for each described field.

    Examples
    --------
    >>> from shoal.cluster import profile_noise
    >>> from shoal.schema import Flag, Number, Schema
    >>> schema = Schema([Number("age", minimum=0, maximum=120), Flag("member")])
    >>> for one in profile_noise(schema, epsilon=1.0, cluster_size=4000):
    ...     print(one.field, one.levels, f"{one.share_error:.2%}")
    age 65 0.10%
    member 3 0.28%
    """
    size = _numbers.positive("cluster_size", cluster_size)
    contribution = _numbers.count("records_per_user", records_per_user)
    plan = plan_profile(
        schema, epsilon=epsilon, delta=delta, contribution=contribution, cluster_size=size
    )
    factor = float(Tail(1 - CONFIDENCE, approximate=plan.noise.approximate).deviations())
    return tuple(
        FieldNoise(
            one.histogram.field.name,
            len(one.histogram.levels),
            one.deviation,
            min(1.0, factor * one.deviation / size),
        )
        for one in plan.fields
    )


def typical_size(sizes: Any) -> float:
    """Return the median of the published sizes of clusters; 0 where there are none."""
    known: Sequence[float] = np.ravel(sizes).tolist() if sizes is not None else []
    return float(np.median(known)) if known else 0.0
