"""The four findings of the source's section 7, each with the sentences that it is made of.

A sentence holds where every mean that it speaks of surely does what it says; a finding holds where
its main sentences do. Both are judged on the three sets whose files and grids are the source's own.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from shoal.papers.finding import Finding, Outcome, outcome
from shoal.papers.judgment import Judgment, all_hold
from shoal.papers.wavecluster import (
    CLAIMS,
    FIGURE_SETS,
    Claim,
    Mean,
    Measure,
    Measurement,
    Verdict,
    judge_claims,
)
from shoal.papers.wavecluster.versions import VERSIONS

__all__ = ["judge_findings"]

LETTERS = "abcdefgh"
TECHNIQUES = ("thr", "thr-em", "qt", "baseline", "oneshot")
LEAKY = "thr-em"
NOT_PRIVATE = "thr-em as published is private at no epsilon: its thresholds end at the true maximum"
BETTER = (
    "Discrete noise can cancel, so fewer empty cells pass for full than the half that the source "
    "reckons with: kept to its promise, qt is better than the source says"
)


class _Head(NamedTuple):
    """A finding: what it says, and the measure that shows it from some epsilon on."""

    words: str
    measure: Measure
    unit: str
    lowest: float = 0.0


HEADS = (
    _Head(
        "with PrivTHR and PrivTHR_EM (thr, thr-em) the number of significant cells k' is nearly "
        "right, with PrivQT and Baseline (qt, baseline) it is far off",
        "k_error",
        "Relative error of k' of a single run",
        0.5,
    ),
    _Head(
        "clusters of cells are nearer to the true ones with thr and thr-em than with qt and "
        "baseline on all sets at all epsilons, which DSG_C shows and the F-measure does not",
        "dsg",
        "DSG_C",
    ),
    _Head(
        "a classifier that learns the cells is nearer to the true one with thr and thr-em than "
        "with qt and baseline on all sets from epsilon 0.5 on, by OCM",
        "ocm",
        "OCM",
        0.5,
    ),
    _Head("the same holds for pairs of records, by 2CE", "two_ce", "2CE", 0.5),
)


def judge_findings(measurements: Iterable[Measurement]) -> tuple[Finding, ...]:
    """Judge the four findings and the sentences below each.

    Parameters
    ----------
    measurements : iterable of Measurement
        Of both versions of all techniques; sets other than the source's own are left out.

    Returns
    -------
    findings : tuple of Finding
        Each finding, then its sentences: ``"finding 1"``, ``"1a"``, ``"1b"`` and so on.
    """
    own = [one for one in measurements if one.dataset in FIGURE_SETS]
    found: list[Finding] = []
    for number, head in enumerate(HEADS, start=1):
        claims = [claim for claim in CLAIMS if claim.finding == number]
        names = {claim: f"{number}{letter}" for letter, claim in zip(LETTERS, claims, strict=False)}
        verdicts = {claim: judge_claims(own, claims=[claim]) for claim in claims}
        main = [one for claim in claims if claim.main for one in verdicts[claim]]
        by = " and ".join(name for claim, name in names.items() if claim.main)
        evidence = f"{_pooled(head, own)} Judged by {by}: {_held(main)}."
        found.append(Finding(f"finding {number}", head.words, _outcome(main), evidence))
        found += [_sentence(name, claim, verdicts[claim]) for claim, name in names.items()]
    return tuple(found)


def _outcome(verdicts: Sequence[Verdict]) -> Outcome:
    return outcome(
        as_published=_judged(verdicts, "published"),
        corrected=_judged(verdicts, "corrected"),
        needs_leak=any(LEAKY in one.breaking for one in verdicts if one.source == "corrected"),
    )


def _judged(verdicts: Sequence[Verdict], source: str) -> Judgment:
    return all_hold(one.judgment for one in verdicts if one.source == source)


def _held(verdicts: Sequence[Verdict]) -> str:
    """Count the means that do what is claimed."""
    counts = []
    for source, version in VERSIONS.items():
        some = [one for one in verdicts if one.source == source]
        held, means = sum(one.held for one in some), sum(one.means for one in some)
        counts.append(f"{held} of {means} means {version} surely do")
    return ", ".join(counts)


def _sentence(name: str, claim: Claim, verdicts: Sequence[Verdict]) -> Finding:
    judged = _outcome(verdicts)
    evidence = [
        f"{VERSIONS[one.source].capitalize()}: {one.judgment}, {one.held} of {one.means} means "
        f"surely; the least clear: {one.worst}."
        for one in verdicts
    ]
    if judged == "cannot be private":
        evidence.append(f"{NOT_PRIVATE}.")
    if judged == "only as published" and claim.measure == "k_error" and "qt" in claim.techniques:
        evidence.append(f"{BETTER}.")
    where = ", ".join(one for one in claim.datasets if one in FIGURE_SETS)
    return Finding(
        name,
        f"{', '.join(claim.techniques)} on {where}: {claim.text}",
        judged,
        " ".join(evidence) or "Nothing was measured.",
    )


def _pooled(head: _Head, own: Sequence[Measurement]) -> str:
    """Write the means of all techniques over sets and epsilons, with intervals over the runs."""
    written = ".1%" if head.measure == "k_error" else ".3f"
    sentences = []
    for source, version in VERSIONS.items():
        means = []
        for technique in TECHNIQUES:
            runs: dict[int, list[float]] = {}
            for one in own:
                if one.method == (source, technique) and one.epsilon >= head.lowest:
                    runs.setdefault(one.seed, []).append(_value(one, head.measure))
            if runs:
                mean = Mean.of((sum(some) / len(some) for some in runs.values()), lowest=0.0)
                means.append(f"{technique} {mean:{written}}")
        sentences.append(f"{version.capitalize()}: {'; '.join(means) or 'nothing was measured'}.")
    since = f" from epsilon {head.lowest:g} on" if head.lowest else ""
    over = f"{head.unit}, mean over the sets and epsilons{since}."
    return " ".join((over, *sentences))


def _value(one: Measurement, measure: Measure) -> float:
    if measure == "k_error":
        return abs(one.k_private - one.k) / one.k
    return float(getattr(one, measure))
