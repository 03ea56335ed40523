"""Which claims of the source's section 7 hold, as published and corrected.

A claim is about means over runs, as the source's own figures are: every mean that it speaks of has
to lie in its range, or below that of its rivals on the same set at the same epsilon. What decides
is the interval of 95%, which all means of a claim share (Bonferroni): one that contains a limit
leaves the claim undecided.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shoal.papers.judgment import Judgment, all_hold, judge_interval
from shoal.papers.wavecluster.claim import CLAIMS, Claim
from shoal.papers.wavecluster.mean_measure import ERROR, Mean, mean_measure
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
    judgment : {"holds", "does not hold", "undecided"}
        Of all means together.
    held, means : int
        How many of the means surely do what is claimed, of how many.
    worst : str
        The mean that does it least, with its interval.
    datasets : tuple of str
        The sets of the claim that were measured.
    breaking : tuple of str
        The techniques with a mean that surely does not do what is claimed.
    """

    claim: Claim
    source: str
    judgment: Judgment
    held: int
    means: int
    worst: str
    datasets: tuple[str, ...]
    breaking: tuple[str, ...] = ()

    def __str__(self) -> str:
        return (
            f"{self.source}, {' and '.join(self.claim.techniques)}, on "
            f"{', '.join(self.datasets)}: {self.claim.text}: {self.judgment}, {self.held} of "
            f"{self.means} means; worst: {self.worst}"
        )


class _Judged(NamedTuple):
    """How far the interval of a mean is from a limit of the claim: below 0 it is not shown."""

    margin: float
    words: str
    dataset: str
    technique: str
    judgment: Judgment


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
    >>> verdict.judgment, verdict.worst  # a single run decides nothing
    ('undecided', 'thr on ds2 at 1: 0.050')
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
                judged = [mean.judgment for mean in means]
                found.append(
                    Verdict(
                        claim,
                        source,
                        all_hold(judged),
                        judged.count("holds"),
                        len(means),
                        min(means).words,
                        tuple(dict.fromkeys(mean.dataset for mean in means)),
                        tuple(
                            dict.fromkeys(
                                mean.technique for mean in means if mean.judgment == "does not hold"
                            )
                        ),
                    )
                )
    return tuple(found)


class _Asked(NamedTuple):
    """The runs of one mean that a claim speaks of, by epsilon, and those of its rivals."""

    dataset: str
    technique: str
    epsilons: dict[float, list[Measurement]]
    rivals: list[list[Measurement]]


def _means(claim: Claim, source: str, runs: Runs) -> Iterator[_Judged]:
    asked = list(_asked(claim, source, runs))
    error = ERROR / max(1, len(asked))
    for dataset, technique, epsilons, rivals in asked:
        means = [mean_measure(some, claim.measure, error=error) for some in epsilons.values()]
        where = f"{technique} on {dataset}"
        if not claim.averaged:
            where += f" at {next(iter(epsilons)):g}"
        others = [mean_measure(some, claim.measure, error=error) for some in rivals]
        words, margin, judgment = _judged(claim, _average(means), others)
        yield _Judged(margin, f"{where}: {words}", dataset, technique, judgment)


def _asked(claim: Claim, source: str, runs: Runs) -> Iterator[_Asked]:
    for dataset in claim.datasets:
        for technique in claim.techniques:
            found = {
                epsilon: some
                for (whose, where, which, epsilon), some in runs.items()
                if (whose, where, which) == (source, dataset, technique)
                and claim.lowest <= epsilon <= claim.highest
            }
            if claim.averaged and found:
                yield _Asked(dataset, technique, found, [])
                continue
            for epsilon, some in found.items():
                keys = [(source, dataset, rival, epsilon) for rival in claim.rivals]
                rivals = [runs[key] for key in keys if key in runs]
                yield _Asked(dataset, technique, {epsilon: some}, rivals)


def _judged(claim: Claim, mean: Mean, rivals: list[Mean]) -> tuple[str, float, Judgment]:
    """Write a mean beside its best rival, and say how surely it does what is claimed."""
    written = WRITTEN.get(claim.measure, ".3f")
    low, high = (mean.value if math.isnan(one) else one for one in mean[1:])
    margin = min(low - claim.above, claim.below - high)
    judged = [judge_interval(mean.low, mean.high, above=claim.above, below=claim.below)]
    against = ""
    if rivals:
        best = min(rivals, key=lambda rival: _gap(rival, mean)[0])
        margin = min(margin, _gap(best, mean)[0])
        against = f" against {best:{written}}"
        judged += [judge_interval(*_gap(rival, mean), above=0.0) for rival in rivals]
    return f"{mean:{written}}{against}", margin, all_hold(judged)


def _gap(larger: Mean, smaller: Mean) -> tuple[float, float]:
    """Return the interval of the difference of two means of independent runs."""
    gap = larger.value - smaller.value
    return (
        gap - math.hypot(larger.value - larger.low, smaller.high - smaller.value),
        gap + math.hypot(larger.high - larger.value, smaller.value - smaller.low),
    )


def _average(means: Sequence[Mean]) -> Mean:
    """Average means of independent runs; their intervals add up like standard errors."""
    if len(means) == 1:
        return means[0]
    values, low, high = np.array(means).T
    value = float(values.mean())
    reach = float(np.hypot.reduce((high - low) / 2)) / len(values)
    return Mean(value, max(value - reach, 0.0) if math.isfinite(reach) else math.nan, value + reach)
