"""Which claims of the source's section 7 hold, as published and corrected.

A claim is about means over runs, as the source's own figures are: every mean that it speaks of has
to lie in its range, or below that of its rivals on the same set at the same epsilon.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shoal.papers.wavecluster.claim import CLAIMS, Claim
from shoal.papers.wavecluster.mean_measure import Mean, mean_measure
from shoal.papers.wavecluster.measurement import Measurement

__all__ = ["Verdict", "judge_claims"]

WRITTEN = {"k_error": ".1%", "clusters": ".1f"}  # of other measures three digits


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
        The mean that does it least, with its interval of 95%.
    datasets : tuple of str
        The sets of the claim that were measured.
    """

    claim: Claim
    source: str
    held: int
    means: int
    worst: str
    datasets: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether all means do what is claimed."""
        return self.held == self.means

    def __str__(self) -> str:
        judgement = "holds" if self.holds else "does not hold"
        return (
            f"{self.source}, {' and '.join(self.claim.techniques)}, on "
            f"{', '.join(self.datasets)}: {self.claim.text}: {judgement}, {self.held} of "
            f"{self.means} means; worst: {self.worst}"
        )


class _Judged(NamedTuple):
    """How far a mean is from breaking a claim: below 0 it breaks it."""

    margin: float
    words: str
    dataset: str


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
                where = tuple(dict.fromkeys(mean.dataset for mean in means))
                found.append(Verdict(claim, source, held, len(means), min(means).words, where))
    return tuple(found)


def _means(claim: Claim, source: str, runs: Runs) -> Iterator[_Judged]:
    for dataset in claim.datasets:
        for technique in claim.techniques:
            values = {
                epsilon: mean_measure(some, claim.measure)
                for (whose, where, which, epsilon), some in runs.items()
                if (whose, where, which) == (source, dataset, technique)
                and claim.lowest <= epsilon <= claim.highest
            }
            if claim.averaged and values:
                average = _average(values.values())
                yield _judged(claim, average, None, f"{technique} on {dataset}", dataset)
                continue
            for epsilon, value in values.items():
                rivals = [
                    mean_measure(runs[key], claim.measure)
                    for rival in claim.rivals
                    if (key := (source, dataset, rival, epsilon)) in runs
                ]
                words = f"{technique} on {dataset} at {epsilon:g}"
                yield _judged(claim, value, min(rivals, default=None), words, dataset)


def _judged(claim: Claim, mean: Mean, rival: Mean | None, words: str, dataset: str) -> _Judged:
    margin = min(mean.value - claim.above, claim.below - mean.value)
    written = WRITTEN.get(claim.measure, ".3f")
    against = ""
    if rival is not None:
        margin = min(margin, rival.value - mean.value)
        against = f" against {rival:{written}}"
    return _Judged(margin, f"{words}: {mean:{written}}{against}", dataset)


def _average(means: Iterable[Mean]) -> Mean:
    """Average means of independent runs; their intervals add up like standard errors."""
    values, low, high = np.array(list(means)).T
    value = float(values.mean())
    reach = float(np.hypot.reduce((high - low) / 2)) / len(values)
    return Mean(value, max(value - reach, 0.0) if math.isfinite(reach) else math.nan, value + reach)
