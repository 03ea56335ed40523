"""A verdict on every claim of the thesis: research questions, hypotheses, open questions.

The thesis leaves its research questions partly unanswered ("in progress"); what is judged is the
answer that its chapters 3, 6 and 8 give. An open question is judged by what it takes for granted,
and answered. What decides is the interval of 95% over repeats.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from shoal.experiments import Estimate
from shoal.papers.claims import (
    Claim,
    Judgment,
    Verdict,
    all_hold,
    decide_outcome,
    judge_interval,
)
from shoal.papers.kd_laplace.figures import published_difference
from shoal.papers.kd_laplace.settings import (
    DENSITY,
    GRID,
    PIECEWISE,
    PLAIN,
    REAL,
    SHAPES,
    VERSIONS,
)
from shoal.papers.measurements import (
    Measurement,
    Measurements,
    estimate_mean,
    mean_by_repeat,
    select,
)

__all__ = ["judge_claims"]

Where = Callable[[Measurement], bool]
Answer = tuple[Judgment, str]

TOP_LOW, BOTTOM_HIGH = 3.5, 7.0  # "lower privacy budgets", "higher privacy budgets"
LOW_BUDGETS = f"epsilon up to {TOP_LOW:g}"
NONE = 0.001  # a share below is called none
UNHARMED = 0.02  # an advantage that grows by less sacrifices no privacy
APART = 0.2  # difference of AMI between tables that is called an impact
MAX_GROWTH = 2.0  # last step over first step: 1 for a logarithm, 4 for a square root


def judge_claims(measurements: Measurements) -> tuple[Verdict, ...]:
    """Judge RQ1 to RQ4, H1 to H3, and the three questions of the discussion, in this order."""
    verdicts = [_judge(measurements, question) for question in _questions()]
    verdicts.insert(2, _judge_search(measurements["search"]))
    return tuple(verdicts)


@dataclass(frozen=True)
class _Version:
    """The measurements of one version, and the contrasts that claims are about."""

    measurements: Measurements
    name: str

    def rows(self, experiment: str, where: Where | None = None, **wanted: Any) -> list[Measurement]:
        """Return the version's measurements of the experiments whose names begin so."""
        every = [
            row
            for name in self.measurements
            if name.startswith(experiment)
            for row in self.measurements[name]
        ]
        return select(every, where, version=self.name, **wanted)

    def ami(
        self, where: Where | None = None, *, experiment: str = "utility", **wanted: Any
    ) -> Estimate:
        """Estimate the mean agreement of k-means clusters, or of those of another clusterer."""
        wanted.setdefault("clusterer", "KMeans")
        return estimate_mean(mean_by_repeat(self.rows(experiment, where, **wanted), "ami"))

    def difference(
        self,
        experiment: str,
        value: str,
        first: Mapping[str, Any],
        second: Mapping[str, Any],
        where: Where | None = None,
    ) -> Estimate:
        """Estimate how much larger a measure is among the first than among the second."""
        ones = mean_by_repeat(self.rows(experiment, where, **first), value)
        others = mean_by_repeat(self.rows(experiment, where, **second), value)
        return estimate_mean(one - other for one, other in zip(ones, others, strict=True))

    def slope(self, experiment: str, value: str, **wanted: Any) -> Estimate:
        """Estimate the change of a measure for one more column, by least squares."""
        rows = self.rows(experiment, **wanted)
        middle = sum(row["columns"] for row in rows) / len(rows)
        square = sum((row["columns"] - middle) ** 2 for row in rows) / len(rows)
        weighted = [
            {**row, value: row[value] * (row["columns"] - middle) / square}
            for row in rows
            if row[value] is not None
        ]
        return estimate_mean(mean_by_repeat(weighted, value))

    def real_against_shapes(self, experiment: str, value: str, **wanted: Any) -> Estimate:
        """Estimate how much larger a measure is on real tables than on shapes, both narrow."""
        return self.difference(
            experiment,
            value,
            {"dataset": REAL, **wanted},
            {"dataset": SHAPES, **wanted},
            lambda row: row["columns"] <= 3,
        )


class _Question(NamedTuple):
    """A claim, how it is judged, and whether what it praises may come from a leak."""

    claim: Claim
    answer: Callable[[_Version], Answer]
    needs_leak: bool = False


def _questions() -> tuple[_Question, ...]:
    return (
        _Question(
            Claim(
                "RQ1",
                "reports of nd-Laplace train any clusterer; on heart and seeds they do better than "
                "Piecewise in AMI and advantage at low budgets, and Piecewise does better in AMI "
                "from 7 on",
            ),
            _against_piecewise,
            needs_leak=True,
        ),
        _Question(
            Claim(
                "RQ2",
                "grid and density remapping bring reports from outside the data's box back inside",
            ),
            _inside,
            needs_leak=True,
        ),
        _Question(Claim("RQ4", "which table it is decides how well nd-Laplace does"), _tables),
        _Question(
            Claim("H1", "density remapping improves utility without sacrificing privacy"),
            _density,
            needs_leak=True,
        ),
        _Question(
            Claim("H2", "utility and the adversary's advantage grow with the number of columns"),
            _columns,
            needs_leak=True,
        ),
        _Question(
            Claim(
                "H3",
                "the shape of the data harms nd-Laplace: lower AMI on the shapes than on heart and "
                "seeds, and a larger advantage than Piecewise there",
            ),
            _shapes,
        ),
        _Question(Claim("question 1", "on the shapes nd-Laplace does poorly; why?"), _why_shapes),
        _Question(
            Claim("question 2", "OPTICS does poorly with both mechanisms; why?"), _why_optics
        ),
        _Question(Claim("question 3", "heart does better than seeds; why?"), _why_heart),
    )


def _judge(measurements: Measurements, question: _Question) -> Verdict:
    published, corrected = (
        question.answer(_Version(measurements, version)) for version in VERSIONS
    )
    outcome = decide_outcome(
        as_published=published[0], corrected=corrected[0], needs_leak=question.needs_leak
    )
    evidence = f"As published: {published[1]}. Corrected: {corrected[1]}."
    return Verdict(question.claim, outcome, evidence)


def _judge_search(rows: Sequence[Measurement]) -> Verdict:
    """Judge how the number of nodes grows with the number of points, in all widths.

    Each number of points is four times the one before, so that a logarithm grows by equal steps.
    """
    points = sorted({row["points"] for row in rows})
    steps, most = {}, {}
    for columns in sorted({row["columns"] for row in rows}):
        nodes = [
            mean_by_repeat(select(rows, columns=columns, points=size), "nodes") for size in points
        ]
        steps[columns] = estimate_mean(
            (last - third) / (second - first)
            for first, second, *_, third, last in zip(*nodes, strict=True)
        )
        most[columns] = estimate_mean(nodes[-1])
    held = all_hold(judge_interval(one.low, one.high, below=MAX_GROWTH) for one in steps.values())
    growth = ", ".join(f"{columns}: {one}" for columns, one in steps.items())
    narrow, wide = min(most), max(most)
    evidence = (
        f"As published: from {points[0]:,} to {points[-1]:,} points, in steps of four times as "
        f"many, the last step adds so many times the nodes of the first, by number of columns: "
        f"{growth} (a logarithm: 1, a square root: 4); but a search looks at "
        f"{most[narrow].mean:.0f} nodes in {narrow} columns and {most[wide].mean:.0f} in {wide}. "
        "Corrected: a public grid needs no search (a report is rounded), in any number of columns."
    )
    return Verdict(
        Claim(
            "RQ3",
            "a kd-tree makes remapping fast in any number of columns, with O(log n) a search",
        ),
        decide_outcome(as_published=held, corrected="holds"),
        evidence,
    )


def _low_budget(row: Measurement) -> bool:
    return bool(row["epsilon"] <= TOP_LOW)


def _high_budget(row: Measurement) -> bool:
    return bool(row["epsilon"] >= BOTTOM_HIGH)


def _above(estimate: Estimate, limit: float = 0.0) -> Judgment:
    return judge_interval(estimate.low, estimate.high, above=limit)


def _below(estimate: Estimate, limit: float = 0.0) -> Judgment:
    return judge_interval(estimate.low, estimate.high, below=limit)


def _against_piecewise(version: _Version) -> Answer:
    ours, theirs = {"dataset": REAL, "mechanism": PLAIN}, {"dataset": REAL, "mechanism": PIECEWISE}
    means = {"clusterer": "KMeans"}
    low = version.difference("utility", "ami", ours | means, theirs | means, _low_budget)
    high = version.difference("utility", "ami", ours | means, theirs | means, _high_budget)
    leak = version.difference("attack", "advantage", ours, theirs, _low_budget)
    text = (
        f"AMI minus Piecewise's is {low} for {LOW_BUDGETS} and {high} from 7 on; advantage minus "
        f"Piecewise's is {leak} for {LOW_BUDGETS}"
    )
    printed = published_difference("advantage", PLAIN, PIECEWISE, _low_budget)
    if version.name == "as published" and printed is not None:
        text += f" (in the published figures {printed:.3f})"
    return all_hold((_above(low), _below(high), _below(leak))), text


def _inside(version: _Version) -> Answer:
    plain, *remapped = (
        estimate_mean(mean_by_repeat(version.rows("utility", mechanism=name), "outside"))
        for name in (PLAIN, GRID, DENSITY)
    )
    text = (
        f"{plain.mean:.1%} of reports lie outside the public box, {remapped[0].mean:.1%} after "
        f"grid and {remapped[1].mean:.1%} after density remapping"
    )
    if version.name == "as published":
        leaks = [row for row in version.measurements["leak"] if row["mechanism"] in (GRID, DENSITY)]
        caught = sum(bool(row["caught"]) for row in leaks)
        text += (
            f"; they read raw records for that, and {caught} of {len(leaks)} audits find a loss "
            "above the claim"
        )
    else:
        text += "; they see reports and public bounds only"
    return all_hold((_above(plain, NONE), *(_below(one, NONE) for one in remapped))), text


def _tables(version: _Version) -> Answer:
    names = (*REAL, *SHAPES)
    same: dict[str, Any] = {"columns": 2, "mechanism": PLAIN}
    means = {name: version.ami(dataset=name, **same) for name in names}
    unit = {name: version.ami(experiment="unit", dataset=name, **same) for name in names}
    best, worst = (pick(names, key=lambda name: means[name].mean) for pick in (max, min))
    sizes = [
        {row["dataset"]: row["spread"] for row in version.rows("unit", dataset=name)}[name]
        for name in (best, worst)
    ]
    apart = max(one.mean for one in unit.values()) - min(one.mean for one in unit.values())
    text = (
        f"AMI from {means[worst]} ({worst}) to {means[best]} ({best}) at the same epsilons; their "
        f"records lie {sizes[1]:.2g} and {sizes[0]:.2g} units from the mean, and with epsilon for "
        f"one such spread tables differ by {apart:.2f} at most"
    )
    ahead = judge_interval(
        means[best].low - means[worst].high, means[best].high - means[worst].low, above=APART
    )
    return ahead, text


def _density(version: _Version) -> Answer:
    means = {"clusterer": "KMeans"}
    gain = version.difference(
        "utility", "ami", {"mechanism": DENSITY} | means, {"mechanism": PLAIN} | means
    )
    leak = version.difference("attack", "advantage", {"mechanism": DENSITY}, {"mechanism": PLAIN})
    text = f"AMI changes by {gain}, advantage by {leak} (below {UNHARMED:g} is called no harm)"
    if version.name == "as published":
        audits = [row for row in version.measurements["leak"] if row["mechanism"] == DENSITY]
        worst = max(audits, key=lambda row: float(row["bound"] or 0) - float(row["claim"] or 0))
        text += (
            f"; but an audit finds a loss of at least {worst['bound']:.2f} where "
            f"{worst['claim']:.2f} is claimed"
        )
        return all_hold((_above(gain), _below(leak, UNHARMED))), text
    text += "; the remap sees reports only, so its promise is that of nd-Laplace"
    return _above(gain), text


def _columns(version: _Version) -> Answer:
    chosen = {"dataset": REAL, "mechanism": PLAIN}
    utility = version.slope("utility", "ami", clusterer="KMeans", **chosen)
    leak = version.slope("attack", "advantage", **chosen)
    distance = version.slope("utility", "distance", clusterer="KMeans", **chosen)
    text = (
        f"one more column changes AMI by {utility}, the advantage by {leak}, and the distance "
        f"between record and report by {distance}"
    )
    return all_hold((_above(utility), _above(leak))), text


def _shapes(version: _Version) -> Answer:
    real = version.real_against_shapes("utility", "ami", mechanism=PLAIN, clusterer="KMeans")
    other = version.real_against_shapes("utility", "ami", mechanism=PIECEWISE, clusterer="KMeans")
    leak = version.difference(
        "attack",
        "advantage",
        {"mechanism": PLAIN, "dataset": SHAPES},
        {"mechanism": PIECEWISE, "dataset": SHAPES},
    )
    text = (
        f"AMI on heart and seeds minus that on the shapes is {real} (Piecewise: {other}); on the "
        f"shapes the advantage minus Piecewise's is {leak}"
    )
    return all_hold((_above(real), _above(leak))), text


def _why_shapes(version: _Version) -> Answer:
    same = {"mechanism": PLAIN, "clusterer": "KMeans"}
    real = version.real_against_shapes("utility", "ami", **same)
    unit = version.real_against_shapes("unit", "ami", **same)
    text = (
        f"AMI on heart and seeds minus that on the shapes is {real}; with epsilon for one spread "
        f"of the records it is {unit}: the unit accounts for {1 - unit.mean / real.mean:.0%} of it"
    )
    return _above(real), text


def _why_optics(version: _Version) -> Answer:
    behind = {
        name: version.difference(
            "utility",
            "ami",
            {"mechanism": name, "clusterer": "KMeans"},
            {"mechanism": name, "clusterer": "OPTICS"},
        )
        for name in (PLAIN, PIECEWISE)
    }
    rows = version.rows("utility", clusterer="OPTICS", mechanism=PLAIN)
    clusters = sum(row["plain_clusters"] for row in rows) / len(rows)
    lost = sum(row["plain_in_none"] for row in rows) / len(rows)
    text = (
        f"its AMI is below that of k-means by {behind[PLAIN]} (nd-Laplace) and "
        f"{behind[PIECEWISE]} (Piecewise); on plain records already it leaves {lost:.0%} in no "
        f"cluster and finds {clusters:.0f} clusters on average: fine differences of density, which "
        "noise wipes out first"
    )
    return all_hold(map(_above, behind.values())), text


def _why_heart(version: _Version) -> Answer:
    same = {"mechanism": PLAIN, "clusterer": "KMeans"}
    heart, seeds = {"dataset": "heart", **same}, {"dataset": "seeds", **same}
    ahead = version.difference("utility", "ami", heart, seeds)
    unit = version.difference("unit", "ami", heart, seeds)
    sizes = {row["dataset"]: row["spread"] for row in version.rows("unit")}
    text = (
        f"AMI on heart minus that on seeds is {ahead}; heart's records lie {sizes['heart']:.2g} "
        f"units from the mean and those of seeds {sizes['seeds']:.2g}, and with epsilon for one "
        f"such spread the difference is {unit}"
    )
    return _above(ahead), text
