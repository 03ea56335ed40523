"""Which of the source's findings hold, as published and corrected.

A sentence is about means over runs, as the source's own figures are: every mean that it speaks of
has to lie in its range, or below that of its rivals on the same set at the same epsilon. What
decides is the interval of 95%, which all means of a sentence share (Bonferroni): one that contains
a limit leaves the sentence undecided. A finding holds where its main sentences do. Both are judged
on the three sets whose files and grids are the source's own.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from shoal.experiments import Estimate
from shoal.papers.claims import (
    Claim,
    Judgment,
    Outcome,
    Verdict,
    all_hold,
    decide_outcome,
    judge_interval,
)
from shoal.papers.measurements import Measurement, estimate_mean, mean_by_repeat, select
from shoal.papers.wavecluster.claims import CLAIMS, FINDINGS, FindingClaim, MeanClaim, Measure
from shoal.papers.wavecluster.figure_sets import FIGURE_SETS
from shoal.papers.wavecluster.techniques import CORRECTED, PUBLISHED, VERSIONS

__all__ = ["JudgedClaim", "judge_findings", "judge_means", "mean_measure"]

ERROR = 0.05  # of the intervals
SHARES = ("f_measure", "ocm", "two_ce", "ocm_with_noise")  # at most 1
FORMATS = {"k_error": ".1%", "clusters": ".1f"}  # of other measures three digits

TECHNIQUES = ("thr", "thr-em", "qt", "baseline", "oneshot")
LEAKY = "thr-em"
NOT_PRIVATE = "thr-em as published is private at no epsilon: its thresholds end at the true maximum"
BETTER = (
    "Discrete noise can cancel, so fewer empty cells pass for full than the half that the source "
    "reckons with: kept to its promise, qt is better than the source says"
)


class JudgedClaim(NamedTuple):
    """A sentence and what the measurements of one version say.

    Parameters
    ----------
    claim : MeanClaim
        The sentence.
    version : {"as published", "corrected"}
        Of the techniques.
    judgment : {"holds", "does not hold", "undecided"}
        Of all means together.
    held, means : int
        How many of the means surely do what is claimed, of how many.
    worst : str
        The mean that does it least, with its interval.
    breaking : tuple of str
        The techniques with a mean that surely does not do what is claimed.
    """

    claim: MeanClaim
    version: str
    judgment: Judgment
    held: int
    means: int
    worst: str
    breaking: tuple[str, ...]


class _JudgedMean(NamedTuple):
    """How far the interval of a mean is from a limit of the claim: below 0 it is not shown."""

    margin: float
    text: str
    technique: str
    judgment: Judgment


class _Asked(NamedTuple):
    """The runs of one mean that a claim speaks of, by epsilon, and those of its rivals."""

    dataset: str
    technique: str
    epsilons: dict[float, list[Measurement]]
    rivals: list[list[Measurement]]


Runs = dict[tuple[str, str, str, float], list[Measurement]]


def judge_findings(rows: Iterable[Measurement]) -> tuple[Verdict, ...]:
    """Judge the four findings and the sentences below each."""
    own = select(rows, dataset=tuple(FIGURE_SETS))
    verdicts: list[Verdict] = []
    for finding in FINDINGS:
        judged = {claim: judge_means(own, claims=[claim]) for claim in finding.sentences}
        main = [one for claim in finding.sentences if claim.main for one in judged[claim]]
        names = " and ".join(claim.name for claim in finding.sentences if claim.main)
        evidence = f"{_pooled(finding, own)} Judged by {names}: {_count_held(main)}."
        verdicts.append(Verdict(finding, _outcome(main), evidence))
        verdicts += [_sentence_verdict(claim, some) for claim, some in judged.items()]
    return tuple(verdicts)


def judge_means(
    rows: Iterable[Measurement], *, claims: Iterable[MeanClaim] = CLAIMS
) -> tuple[JudgedClaim, ...]:
    """Judge each sentence for the techniques as published, and corrected."""
    runs: Runs = {}
    for row in rows:
        key = (row["version"], row["dataset"], row["mechanism"], row["epsilon"])
        runs.setdefault(key, []).append(row)
    judged = []
    for claim in claims:
        for version in VERSIONS:
            means = list(_judged_means(claim, version, runs))
            if means:
                judgments = [mean.judgment for mean in means]
                breaking = [mean.technique for mean in means if mean.judgment == "does not hold"]
                judged.append(
                    JudgedClaim(
                        claim,
                        version,
                        all_hold(judgments),
                        judgments.count("holds"),
                        len(means),
                        min(means).text,
                        tuple(dict.fromkeys(breaking)),
                    )
                )
    return tuple(judged)


def mean_measure(
    rows: Iterable[Measurement], measure: Measure, *, error: float = ERROR
) -> Estimate:
    """Return the mean of a measure over runs of one method."""
    some = list(rows)
    if measure != "k_error":
        highest = 1.0 if measure in SHARES else math.inf
        values = (float(row[measure]) for row in some)
        return estimate_mean(values, lowest=0.0, highest=highest, error=error)
    off = estimate_mean(((row["k_private"] - row["k"]) / row["k"] for row in some), error=error)
    ends = sorted((abs(off.low), abs(off.high)))
    return Estimate(abs(off.mean), 0.0 if off.low <= 0 <= off.high else ends[0], ends[1])


def _judged_means(claim: MeanClaim, version: str, runs: Runs) -> Iterator[_JudgedMean]:
    asked = list(_asked(claim, version, runs))
    error = ERROR / max(1, len(asked))
    for dataset, technique, epsilons, rivals in asked:
        means = [mean_measure(some, claim.measure, error=error) for some in epsilons.values()]
        where = f"{technique} on {dataset}"
        if not claim.averaged:
            where += f" at {next(iter(epsilons)):g}"
        others = [mean_measure(some, claim.measure, error=error) for some in rivals]
        text, margin, judgment = _judge_mean(claim, _average(means), others)
        yield _JudgedMean(margin, f"{where}: {text}", technique, judgment)


def _asked(claim: MeanClaim, version: str, runs: Runs) -> Iterator[_Asked]:
    """List the means that a claim speaks of."""
    for dataset in claim.datasets:
        for technique in claim.techniques:
            epsilons = {
                key[-1]: some
                for key, some in runs.items()
                if key[:-1] == (version, dataset, technique)
                and claim.lowest <= key[-1] <= claim.highest
            }
            if claim.averaged and epsilons:
                yield _Asked(dataset, technique, epsilons, [])
                continue
            for epsilon, some in epsilons.items():
                keys = [(version, dataset, rival, epsilon) for rival in claim.rivals]
                rivals = [runs[key] for key in keys if key in runs]
                yield _Asked(dataset, technique, {epsilon: some}, rivals)


def _judge_mean(
    claim: MeanClaim, mean: Estimate, rivals: Sequence[Estimate]
) -> tuple[str, float, Judgment]:
    """Write a mean beside its best rival, and judge how surely it does what is claimed."""
    spec = FORMATS.get(claim.measure, ".3f")
    low, high = (mean.mean if math.isnan(end) else end for end in (mean.low, mean.high))
    margin = min(low - claim.above, claim.below - high)
    judgments = [judge_interval(mean.low, mean.high, above=claim.above, below=claim.below)]
    against = ""
    if rivals:
        best = min(rivals, key=lambda rival: _gap(rival, mean)[0])
        margin = min(margin, _gap(best, mean)[0])
        against = f" against {best:{spec}}"
        judgments += [judge_interval(*_gap(rival, mean), above=0.0) for rival in rivals]
    return f"{mean:{spec}}{against}", margin, all_hold(judgments)


def _gap(larger: Estimate, smaller: Estimate) -> tuple[float, float]:
    """Return the interval of the difference of two means of independent runs."""
    gap = larger.mean - smaller.mean
    return (
        gap - math.hypot(larger.mean - larger.low, smaller.high - smaller.mean),
        gap + math.hypot(larger.high - larger.mean, smaller.mean - smaller.low),
    )


def _average(means: Sequence[Estimate]) -> Estimate:
    """Average means of independent runs; their intervals add up like standard errors."""
    if len(means) == 1:
        return means[0]
    values, low, high = np.array([(one.mean, one.low, one.high) for one in means]).T
    mean = float(values.mean())
    margin = float(np.hypot.reduce((high - low) / 2)) / len(values)
    lowest = max(mean - margin, 0.0) if math.isfinite(margin) else math.nan
    return Estimate(mean, lowest, mean + margin)


def _outcome(judged: Sequence[JudgedClaim]) -> Outcome:
    return decide_outcome(
        as_published=all_hold(one.judgment for one in judged if one.version == PUBLISHED),
        corrected=all_hold(one.judgment for one in judged if one.version == CORRECTED),
        needs_leak=any(LEAKY in one.breaking for one in judged if one.version == CORRECTED),
    )


def _count_held(judged: Sequence[JudgedClaim]) -> str:
    """Count the means that do what is claimed."""
    counts = []
    for version in VERSIONS:
        some = [one for one in judged if one.version == version]
        held, means = sum(one.held for one in some), sum(one.means for one in some)
        counts.append(f"{held} of {means} means {version} surely do")
    return ", ".join(counts)


def _sentence_verdict(claim: MeanClaim, judged: Sequence[JudgedClaim]) -> Verdict:
    outcome = _outcome(judged)
    evidence = [
        f"{one.version.capitalize()}: {one.judgment}, {one.held} of {one.means} means "
        f"surely; the least clear: {one.worst}."
        for one in judged
    ]
    if outcome == "cannot be private":
        evidence.append(f"{NOT_PRIVATE}.")
    if outcome == "only as published" and claim.measure == "k_error" and "qt" in claim.techniques:
        evidence.append(f"{BETTER}.")
    where = ", ".join(name for name in claim.datasets if name in FIGURE_SETS)
    text = f"{', '.join(claim.techniques)} on {where}: {claim.text}"
    return Verdict(Claim(claim.name, text), outcome, " ".join(evidence) or "Nothing was measured.")


def _pooled(finding: FindingClaim, own: Sequence[Measurement]) -> str:
    """Write the means of all techniques over sets and epsilons, with intervals over the runs."""
    spec = FORMATS.get(finding.measure, ".3f")
    sentences = []
    for version in VERSIONS:
        means = []
        for technique in TECHNIQUES:
            some = [
                {"repeat": row["repeat"], "value": _value(row, finding.measure)}
                for row in select(own, version=version, mechanism=technique)
                if row["epsilon"] >= finding.lowest
            ]
            if some:
                mean = estimate_mean(mean_by_repeat(some, "value"), lowest=0.0)
                means.append(f"{technique} {mean:{spec}}")
        sentences.append(f"{version.capitalize()}: {'; '.join(means) or 'nothing was measured'}.")
    since = f" from epsilon {finding.lowest:g} on" if finding.lowest else ""
    over = f"{finding.unit}, mean over the sets and epsilons{since}."
    return " ".join((over, *sentences))


def _value(row: Measurement, measure: Measure) -> float:
    if measure == "k_error":
        return float(abs(row["k_private"] - row["k"]) / row["k"])
    return float(row[measure])
