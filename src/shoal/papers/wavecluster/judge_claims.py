"""Which claims of the source's section 7 hold, as published and corrected.

A claim is about means over runs, as the source's own figures are: every mean that it speaks of has
to lie in its range, or below that of its rivals on the same set at the same epsilon.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from shoal.papers.wavecluster.compare_techniques import Measurement

__all__ = ["CLAIMS", "PUBLISHED_K", "Claim", "Measure", "Verdict", "judge_claims", "mean_measure"]

Measure = Literal["k_error", "dsg", "f_measure", "ocm", "two_ce", "ocm_with_noise"]

# Mean k' on ds2, where k is 144, by epsilon (section 7.2).
PUBLISHED_K = {
    1.0: {"thr": 141.0, "thr-em": 142.8, "qt": 249.2, "baseline": 284.0},
    0.1: {"thr": 131.2, "thr-em": 82.8},
}
ALL = ("ds1", "ds2", "ds3")


@dataclass(frozen=True)
class Claim:
    """A published sentence, as limits of means.

    Parameters
    ----------
    text : str
        What the source says.
    measure : str
        Of which measure; ``"k_error"`` is the relative error of the mean k'.
    techniques : tuple of str
        Of which techniques.
    datasets : tuple of str, default=("ds1", "ds2", "ds3")
        On which sets; the source has a fourth.
    lowest, highest : float
        For which epsilons, both included.
    above, below : float
        What a mean has to exceed, and what it has to stay below.
    rivals : tuple of str, default=()
        Techniques whose means have to be larger.
    averaged : bool, default=False
        Whether the claim is about the average over the epsilons.
    """

    text: str
    measure: Measure
    techniques: tuple[str, ...]
    datasets: tuple[str, ...] = ALL
    lowest: float = 0.0
    highest: float = math.inf
    above: float = -math.inf
    below: float = math.inf
    rivals: tuple[str, ...] = ()
    averaged: bool = False


GOOD, BAD = ("thr", "thr-em"), ("qt", "baseline")
OVER = math.nextafter(0.5, 1.0)  # "greater than 0.5"

CLAIMS = (
    Claim("k' off by < 4.7% on average", "k_error", GOOD, lowest=0.5, below=0.047, averaged=True),
    Claim("k' off by > 32%", "k_error", BAD, lowest=0.5, above=0.32),
    Claim("at 0.1 k' of PrivTHR is nearer", "k_error", ("thr",), highest=0.1, rivals=("thr-em",)),
    Claim("smaller DSG_C, all epsilons", "dsg", GOOD, rivals=BAD),
    Claim("OCM < 0.15 above 0.5", "ocm", GOOD, ("ds1", "ds3"), lowest=OVER, below=0.15),
    Claim("OCM < 0.1 above 0.5", "ocm", ("thr-em",), ("ds2",), lowest=OVER, below=0.1),
    Claim("OCM 0.1 to 0.2 above 0.5", "ocm", ("thr",), ("ds2",), OVER, above=0.1, below=0.2),
    Claim("smaller OCM from 0.5", "ocm", GOOD, lowest=0.5, rivals=BAD),
    Claim("smaller 2CE from 0.5", "two_ce", GOOD, lowest=0.5, rivals=BAD),
    Claim("2CE < 0.1, all epsilons", "two_ce", (*GOOD, *BAD), ("ds1",), below=0.1),
    Claim("F > 0.8 for almost all epsilons", "f_measure", BAD, ("ds1",), above=0.8),
)


@dataclass(frozen=True)
class Verdict:
    """A claim and what the measurements say; prints as one line.

    Parameters
    ----------
    claim : Claim
        The claim.
    source : str
        Of the techniques as published, or corrected.
    held, means : int
        How many of the means do what is claimed, of how many.
    worst : str
        The mean that does it least.
    """

    claim: Claim
    source: str
    held: int
    means: int
    worst: str

    @property
    def holds(self) -> bool:
        """Whether all means do what is claimed."""
        return self.held == self.means

    def __str__(self) -> str:
        judgement = "holds" if self.holds else "does not hold"
        names = " and ".join(self.claim.techniques) if len(self.claim.techniques) < 3 else "all"
        where = ", ".join(self.claim.datasets)
        return (
            f"{self.source:<11}{names:<17}{self.claim.text:<33}{where:<15}{judgement:<14}"
            f"{self.held:>2} of {self.means:>2}; worst: {self.worst}"
        )


class _Mean(NamedTuple):
    """How far a mean is from breaking a claim: below 0 it breaks it."""

    margin: float
    words: str


Runs = dict[tuple[str, str, str, float], list[Measurement]]


def judge_claims(
    records: Iterable[Measurement], *, claims: Iterable[Claim] = CLAIMS
) -> tuple[Verdict, ...]:
    """Judge each claim for the techniques as published, and corrected.

    Parameters
    ----------
    records : iterable of Measurement
        What :func:`compare_techniques` returned; several results may be joined.
    claims : iterable of Claim
        By default those of the source.

    Returns
    -------
    verdicts : tuple of Verdict
        For each claim one as published and one corrected, where there are measurements.

    Examples
    --------
    >>> from shoal.papers.wavecluster import Claim, Measurement, Method
    >>> thr = Method("published", "thr")
    >>> one = Measurement("ds2", thr, 1.0, 0, 144, 141, 141, 3, 0.1, 0.9, 0.05, 0.05, 0.05)
    >>> claim = Claim("OCM 0.1 to 0.2", "ocm", ("thr",), ("ds2",), above=0.1, below=0.2)
    >>> [verdict] = judge_claims([one], claims=[claim])
    >>> verdict.holds, verdict.worst
    (False, 'thr on ds2 at 1: 0.050')
    """
    runs: Runs = {}
    for one in records:
        key = (one.method.source, one.dataset, one.method.technique, one.epsilon)
        runs.setdefault(key, []).append(one)
    found = []
    for claim in claims:
        for source in ("published", "corrected"):
            means = list(_means(claim, source, runs))
            if means:
                held = sum(mean.margin > 0 for mean in means)
                found.append(Verdict(claim, source, held, len(means), min(means).words))
    return tuple(found)


def mean_measure(runs: Iterable[Measurement], measure: Measure) -> float:
    """Give the mean of a measure over runs of one method.

    Parameters
    ----------
    runs : iterable of Measurement
        Of one set, method and epsilon.
    measure : str
        ``"k_error"`` is |mean k' - k| / k, as in the source's text (141.0 is 2.1% off 144).

    Returns
    -------
    mean : float
    """
    some = list(runs)
    if measure == "k_error":
        k = some[0].k
        return abs(float(np.mean([one.k_private for one in some])) - k) / k
    return float(np.mean([getattr(one, measure) for one in some]))


def _means(claim: Claim, source: str, runs: Runs) -> Iterator[_Mean]:
    for dataset in claim.datasets:
        for technique in claim.techniques:
            values = {
                epsilon: mean_measure(some, claim.measure)
                for (whose, where, which, epsilon), some in runs.items()
                if (whose, where, which) == (source, dataset, technique)
                and claim.lowest <= epsilon <= claim.highest
            }
            if claim.averaged and values:
                average = float(np.mean(list(values.values())))
                yield _judged(claim, average, math.inf, f"{technique} on {dataset}")
                continue
            for epsilon, value in values.items():
                rivals = [
                    mean_measure(runs[key], claim.measure)
                    for rival in claim.rivals
                    if (key := (source, dataset, rival, epsilon)) in runs
                ]
                words = f"{technique} on {dataset} at {epsilon:g}"
                yield _judged(claim, value, min(rivals, default=math.inf), words)


def _judged(claim: Claim, value: float, rival: float, words: str) -> _Mean:
    margin = min(value - claim.above, claim.below - value, rival - value)
    against = f" against {rival:.3f}" if math.isfinite(rival) else ""
    return _Mean(margin, f"{words}: {value:.3f}{against}")
