"""A verdict on every claim of the thesis: research questions, hypotheses, open questions.

The thesis leaves its research questions partly unanswered ("in progress"); what is judged is the
answer that its chapters 3, 6 and 8 give. An open question is judged by what it takes for granted,
and answered. What decides is the interval of 95% over repeats.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from shoal.experiments.estimate import Estimate
from shoal.papers.by_repeat import by_repeat
from shoal.papers.finding import Finding, outcome
from shoal.papers.judgment import Judgment, all_hold, judge_interval
from shoal.papers.kd_laplace.questions import (
    LOW_WORDS,
    Measures,
    high_budget,
    low_budget,
    published_difference,
)
from shoal.papers.kd_laplace.search_claim import search_claim
from shoal.papers.kd_laplace.settings import REAL, SHAPES
from shoal.papers.study import Records

__all__ = ["judge"]

Answer = tuple[Judgment, str]

PLAIN, GRID, DENSITY, PIECEWISE = (
    "nd-Laplace",
    "grid-nd-Laplace",
    "density-nd-Laplace",
    "piecewise",
)
NONE = 0.001  # a share below is called none
UNHARMED = 0.02  # an advantage that grows by less sacrifices no privacy
APART = 0.2  # difference of AMI between tables that is called an impact


class _Claim(NamedTuple):
    """A claim, how it is judged, and whether what it praises may come from a leak."""

    name: str
    words: str
    answer: Callable[[Measures], Answer]
    needs_leak: bool = False


def judge(records: Records) -> tuple[Finding, ...]:
    """Judge the claims in the order of the thesis.

    Parameters
    ----------
    records : mapping of str to list of dict
        Records of all parts.

    Returns
    -------
    findings : tuple of Finding
        RQ1 to RQ4, H1 to H3, and the three questions of the discussion.
    """
    claims = (
        _Claim(
            "RQ1",
            "reports of nd-Laplace train any clusterer; on heart and seeds they do better than "
            "Piecewise in AMI and advantage at low budgets, and Piecewise does better in AMI from "
            "7 on",
            _against_piecewise,
            needs_leak=True,
        ),
        _Claim(
            "RQ2",
            "grid and density remapping bring reports from outside the data's box back inside",
            _inside,
            needs_leak=True,
        ),
        _Claim("RQ4", "which table it is decides how well nd-Laplace does", _tables),
        _Claim(
            "H1",
            "density remapping improves utility without sacrificing privacy",
            _density,
            needs_leak=True,
        ),
        _Claim(
            "H2",
            "utility and the adversary's advantage grow with the number of columns",
            _columns,
            needs_leak=True,
        ),
        _Claim(
            "H3",
            "the shape of the data harms nd-Laplace: lower AMI on the shapes than on heart and "
            "seeds, and a larger advantage than Piecewise there",
            _shapes,
        ),
        _Claim("question 1", "on the shapes nd-Laplace does poorly; why?", _why_shapes),
        _Claim("question 2", "OPTICS does poorly with both mechanisms; why?", _why_optics),
        _Claim("question 3", "heart does better than seeds; why?", _why_heart),
    )
    findings = [_finding(records, claim) for claim in claims]
    findings.insert(2, search_claim(records["search"]))
    return tuple(findings)


def _finding(records: Records, claim: _Claim) -> Finding:
    published, corrected = (
        claim.answer(Measures(records, version)) for version in ("as published", "corrected")
    )
    verdict = outcome(
        as_published=published[0], corrected=corrected[0], needs_leak=claim.needs_leak
    )
    evidence = f"As published: {published[1]}. Corrected: {corrected[1]}."
    return Finding(claim.name, claim.words, verdict, evidence)


def _above(found: Estimate, limit: float = 0.0) -> Judgment:
    return judge_interval(found.low, found.high, above=limit)


def _below(found: Estimate, limit: float = 0.0) -> Judgment:
    return judge_interval(found.low, found.high, below=limit)


def _against_piecewise(measures: Measures) -> Answer:
    ours, theirs = {"dataset": REAL, "mechanism": PLAIN}, {"dataset": REAL, "mechanism": PIECEWISE}
    means = {"clusterer": "KMeans"}
    low = measures.difference("utility", "ami", ours | means, theirs | means, low_budget)
    high = measures.difference("utility", "ami", ours | means, theirs | means, high_budget)
    leak = measures.difference("attack", "advantage", ours, theirs, low_budget)
    words = (
        f"AMI minus Piecewise's is {low} for {LOW_WORDS} and {high} from 7 on; advantage minus "
        f"Piecewise's is {leak} for {LOW_WORDS}"
    )
    printed = published_difference("advantage", PLAIN, PIECEWISE, low_budget)
    if measures.version == "as published" and printed is not None:
        words += f" (in the published figures {printed:.3f})"
    return all_hold((_above(low), _below(high), _below(leak))), words


def _inside(measures: Measures) -> Answer:
    plain, *remapped = (
        Estimate.of(by_repeat(measures.rows("utility", mechanism=name), "outside"))
        for name in (PLAIN, GRID, DENSITY)
    )
    words = (
        f"{plain.mean:.1%} of reports lie outside the public box, {remapped[0].mean:.1%} after "
        f"grid and {remapped[1].mean:.1%} after density remapping"
    )
    if measures.version == "as published":
        leaks = [row for row in measures.records["leak"] if row["mechanism"] in (GRID, DENSITY)]
        caught = sum(bool(row["caught"]) for row in leaks)
        words += (
            f"; they read raw records for that, and {caught} of {len(leaks)} audits find a loss "
            "above the claim"
        )
    else:
        words += "; they see reports and public bounds only"
    return all_hold((_above(plain, NONE), *(_below(one, NONE) for one in remapped))), words


def _tables(measures: Measures) -> Answer:
    names = (*REAL, *SHAPES)
    same: dict[str, Any] = {"columns": 2, "mechanism": PLAIN}
    found = {name: measures.ami(dataset=name, **same) for name in names}
    unit = {name: measures.ami(part="unit", dataset=name, **same) for name in names}
    best, worst = (pick(names, key=lambda name: found[name].mean) for pick in (max, min))
    sizes = [
        {row["dataset"]: row["spread"] for row in measures.rows("unit", dataset=name)}[name]
        for name in (best, worst)
    ]
    apart = max(one.mean for one in unit.values()) - min(one.mean for one in unit.values())
    words = (
        f"AMI from {found[worst]} ({worst}) to {found[best]} ({best}) at the same epsilons; their "
        f"records lie {sizes[1]:.2g} and {sizes[0]:.2g} units from the mean, and with epsilon for "
        f"one such spread tables differ by {apart:.2f} at most"
    )
    ahead = judge_interval(
        found[best].low - found[worst].high, found[best].high - found[worst].low, above=APART
    )
    return ahead, words


def _density(measures: Measures) -> Answer:
    means = {"clusterer": "KMeans"}
    gain = measures.difference(
        "utility", "ami", {"mechanism": DENSITY} | means, {"mechanism": PLAIN} | means
    )
    leak = measures.difference("attack", "advantage", {"mechanism": DENSITY}, {"mechanism": PLAIN})
    words = f"AMI changes by {gain}, advantage by {leak} (below {UNHARMED:g} is called no harm)"
    if measures.version == "as published":
        audits = [row for row in measures.records["leak"] if row["mechanism"] == DENSITY]
        worst = max(audits, key=lambda row: float(row["bound"] or 0) - float(row["claim"] or 0))
        words += (
            f"; but an audit finds a loss of at least {worst['bound']:.2f} where "
            f"{worst['claim']:.2f} is claimed"
        )
        return all_hold((_above(gain), _below(leak, UNHARMED))), words
    words += "; the remap sees reports only, so its promise is that of nd-Laplace"
    return _above(gain), words


def _columns(measures: Measures) -> Answer:
    chosen = {"dataset": REAL, "mechanism": PLAIN}
    utility = measures.slope("utility", "ami", clusterer="KMeans", **chosen)
    leak = measures.slope("attack", "advantage", **chosen)
    distance = measures.slope("utility", "distance", clusterer="KMeans", **chosen)
    words = (
        f"one more column changes AMI by {utility}, the advantage by {leak}, and the distance "
        f"between record and report by {distance}"
    )
    return all_hold((_above(utility), _above(leak))), words


def _shapes(measures: Measures) -> Answer:
    real = measures.real_against_shapes("utility", "ami", mechanism=PLAIN, clusterer="KMeans")
    other = measures.real_against_shapes("utility", "ami", mechanism=PIECEWISE, clusterer="KMeans")
    leak = measures.difference(
        "attack",
        "advantage",
        {"mechanism": PLAIN, "dataset": SHAPES},
        {"mechanism": PIECEWISE, "dataset": SHAPES},
    )
    words = (
        f"AMI on heart and seeds minus that on the shapes is {real} (Piecewise: {other}); on the "
        f"shapes the advantage minus Piecewise's is {leak}"
    )
    return all_hold((_above(real), _above(leak))), words


def _why_shapes(measures: Measures) -> Answer:
    same = {"mechanism": PLAIN, "clusterer": "KMeans"}
    real = measures.real_against_shapes("utility", "ami", **same)
    unit = measures.real_against_shapes("unit", "ami", **same)
    words = (
        f"AMI on heart and seeds minus that on the shapes is {real}; with epsilon for one spread "
        f"of the records it is {unit}: the unit accounts for {1 - unit.mean / real.mean:.0%} of it"
    )
    return _above(real), words


def _why_optics(measures: Measures) -> Answer:
    behind = {
        name: measures.difference(
            "utility",
            "ami",
            {"mechanism": name, "clusterer": "KMeans"},
            {"mechanism": name, "clusterer": "OPTICS"},
        )
        for name in (PLAIN, PIECEWISE)
    }
    rows = measures.rows("utility", clusterer="OPTICS", mechanism=PLAIN)
    clusters = sum(row["plain_clusters"] for row in rows) / len(rows)
    lost = sum(row["plain_in_none"] for row in rows) / len(rows)
    words = (
        f"its AMI is below that of k-means by {behind[PLAIN]} (nd-Laplace) and "
        f"{behind[PIECEWISE]} (Piecewise); on plain records already it leaves {lost:.0%} in no "
        f"cluster and finds {clusters:.0f} clusters on average: fine differences of density, which "
        "noise wipes out first"
    )
    return all_hold(map(_above, behind.values())), words


def _why_heart(measures: Measures) -> Answer:
    same = {"mechanism": PLAIN, "clusterer": "KMeans"}
    heart, seeds = {"dataset": "heart", **same}, {"dataset": "seeds", **same}
    ahead = measures.difference("utility", "ami", heart, seeds)
    unit = measures.difference("unit", "ami", heart, seeds)
    sizes = {row["dataset"]: row["spread"] for row in measures.rows("unit")}
    words = (
        f"AMI on heart minus that on seeds is {ahead}; heart's records lie {sizes['heart']:.2g} "
        f"units from the mean and those of seeds {sizes['seeds']:.2g}, and with epsilon for one "
        f"such spread the difference is {unit}"
    )
    return _above(ahead), words
