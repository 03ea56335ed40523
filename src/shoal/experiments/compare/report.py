"""A comparison as one HTML page: for the curator only, or of a private copy and then to share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from shoal.experiments.compare.baseline import TrivialCosts
from shoal.experiments.compare.comparison import MIN_RUNS, Comparison, MethodRow
from shoal.experiments.compare.equal_privacy import box_diameter, own_epsilon
from shoal.experiments.compare.measurements import MAX_ATTACKED, MAX_REPORTS, RUNS, SHADOWS
from shoal.experiments.compare.recommendation import (
    RULE,
    SETTINGS,
    not_better_than_blind,
    recommend,
)
from shoal.experiments.estimate import Estimate, rounded
from shoal.experiments.provenance import Provenance
from shoal.experiments.report import Report
from shoal.plotting import draw_lines
from shoal.privacy import Guarantee

__all__ = ["compare_report"]

NEAR = 0.1  # of the diameter: how far apart two records are whose promise is shown too
SHUFFLER = (
    "Between a curator, who is trusted with all records, and nobody, there is a shuffler: it sees "
    "no record, takes everything off the reports that says whose they are, mixes the batch, and "
    "does not collude with whoever sees it. Each device sends one report, and all of a batch are "
    "of one mechanism."
)
NOT_AWARE = (
    "NoiseAwareKMeans on KdLaplace, Hybrid, Duchi and SquareWave: it needs reports as they were "
    "made (those of KdLaplace are those of Laplace before their remap), without bias, and not on a "
    "few points."
)
AUTO = "DPKMeans with method auto: whichever of its methods suits the columns, records and epsilon."


def compare_report(
    path: Path,
    comparison: Comparison,
    *,
    made: Provenance,
    private_copy: Guarantee | None = None,
    paid: str = "",
) -> Path:
    """Write the report, and its pictures beside it.

    Parameters
    ----------
    path : Path
        Where to.
    comparison : Comparison
        What was found.
    made : Provenance
        Where the numbers come from; it names the data.
    private_copy : Guarantee, optional
        Promise of the private copy that was compared on; None for raw records.
    paid : str, default=""
        Who paid for the copy, in a sentence.

    Returns
    -------
    path : Path
        The file written.

    Raises
    ------
    ParameterError
        If it cannot be written.
    """
    report = Report(
        f"Which private clustering for {made.data}?",
        figures=path.parent,
        publishable=private_copy is not None and private_copy.holds,
    )
    _first(report, comparison, private_copy, paid)
    report.verdict(recommend(comparison))
    _promises(report, comparison)
    _own_promises(report, comparison)
    _utility(report, comparison)
    _trust_models(report, comparison)
    _agreement(report, comparison)
    _attacks(report, comparison)
    _time(report, comparison)
    report.section("What was left out, and what was thinned out")
    report.points([*comparison.left_out, AUTO, NOT_AWARE, *_thinned(comparison)])
    report.provenance(
        made,
        "Noise was seeded so that a comparison that is stopped can go on: it is an experiment, and "
        "nothing in it is a release. Run shoal cluster or shoal perturb for one.",
    )
    return report.write(path)


def _first(
    report: Report, comparison: Comparison, private_copy: Guarantee | None, paid: str
) -> None:
    baseline = comparison.baseline
    if private_copy is None:
        report.verdict(
            "For the curator only: these numbers were computed from the raw records, and no budget "
            "pays for that. Do not share them; --private-copy makes a report that may be shared.",
            bad=True,
        )
    elif private_copy.holds:
        report.verdict(
            f"May be shared: everything here comes from a release with {private_copy}. "
            f"{paid}".strip()
        )
        report.text(
            "All methods ran on a private copy of the records, so that the numbers are those of "
            "the copy: the larger its epsilon, the nearer they are to those of the records."
        )
    else:
        report.verdict(f"Not to be shared: {private_copy}. {paid}".strip(), bad=True)
    whose = "the copy" if private_copy else "the raw records, so it stays here as well"
    report.lead(
        f"{baseline.n_records:,} records, {baseline.n_columns} columns "
        f"({', '.join(baseline.names)}), {baseline.n_clusters} clusters; "
        f"{comparison.runs} runs of each method at each epsilon. Where the number "
        f"of clusters was not given, it was chosen by the silhouette of {whose}."
    )


def _promises(report: Report, comparison: Comparison) -> None:
    d = comparison.baseline.n_columns
    report.section("Equal worst-case privacy")
    report.text(
        "Epsilon means here the same for all methods: exchanging one person's record for any other "
        "changes the probability of anything that is given away by a factor of at most e^epsilon. "
        "Each method runs at the epsilon of its own kind that promises just that. Columns are "
        "scaled from their public bounds to [-1, 1], which costs nothing, so that none outweighs "
        "the others by its unit."
    )
    rows = [
        [
            f"{epsilon:g}",
            f"{own_epsilon('central', epsilon, d):.3g}",
            f"{own_epsilon('local', epsilon, d):.3g}",
            f"{own_epsilon('metric', epsilon, d):.3g}",
            f"{NEAR * epsilon:.3g}",
        ]
        for epsilon in comparison.epsilons
    ]
    report.table(
        [
            "worst case",
            "central, add/remove",
            "local",
            "metric, for each unit of distance",
            "metric: two records 10% of the diameter apart",
        ],
        rows,
        text=0,
    )
    report.text(
        "A central epsilon counts twice, since an exchange is a removal and an addition. A metric "
        f"one counts {box_diameter(d):.3g} times, the diameter of the box. Metric privacy is meant "
        "for a larger worst case than the others: it hides which of two near records a report is "
        "from, and lets far ones be told apart. The last column is its epsilon for near ones; if "
        "that is all that must be hidden, run it at ten times the epsilon."
    )


def _own_promises(report: Report, comparison: Comparison) -> None:
    """Show what the user's own methods promise: nobody but their guarantee_ vouches for it."""
    own = [row for row in comparison.rows if ":" in row.contender]
    if not own:
        return
    report.text(
        "Methods of your own are run at the epsilon that their guarantee_ needs for the worst "
        "case. It is taken at its word: run shoal audit on them."
    )
    report.table(
        ["method", "worst case", "its promise", "equal to the others'"],
        [
            [row.method, f"{row.epsilon:g}", row.guarantee, "yes" if row.equal else "no"]
            for row in own
        ],
        text=4,
    )


def _utility(report: Report, comparison: Comparison) -> None:
    baseline, trivial = comparison.baseline, comparison.baseline.trivial_costs
    report.section("What the clusters cost")
    report.text(
        "Mean squared distance of the records from their nearest center, over that of k-means "
        f"without privacy: 1 is no loss. {_intervals(comparison)}"
    )
    rows = _table_rows(comparison, lambda row: row.cost)
    for name, level in (
        ("without privacy: k-means", 1.0),
        ("no clusters: one center at the records' mean", trivial.mean),
        (f"blind: {baseline.n_clusters} points spread over the box", trivial.even),
        ("blind: one center in the middle of the box", trivial.middle),
    ):
        rows.append([name, *[Estimate(level, level, level).brief] * len(comparison.epsilons)])
    report.table(_headings(comparison), rows)
    report.text(RULE)
    no_better = not_better_than_blind(comparison)
    if no_better:
        report.text(
            f"Not better than blind at epsilon {comparison.middle:g}: {', '.join(no_better)}."
        )
    costs = [_point(row, row.cost) for row in _shown(comparison) if row.cost]
    if costs:
        report.figure(
            draw_lines,
            "cost",
            costs,
            x="epsilon",
            y="mean",
            group="method",
            panels="model",
            low="low",
            high="high",
            log_x=True,
            log_y=True,
            x_label="worst-case epsilon",
            y_label="cost (k-means = 1)",
            reference=_levels(trivial),
            says="Cost against epsilon, 95% bands; of each mechanism the better clusterer",
        )


def _levels(trivial: TrivialCosts) -> dict[str, float]:
    """Return the lines of a picture of costs: what needs no privacy, and what needs no records."""
    return {"k-means without privacy": 1.0, "spread over the box (blind)": trivial.even}


def _trust_models(report: Report, comparison: Comparison) -> None:
    """Set the three trust models side by side by what a batch promises to one person."""
    reports = [row for row in comparison.rows if row.shuffled_epsilon is not None]
    if not reports:
        return
    report.section("Three trust models")
    report.text(SHUFFLER)
    report.text(
        "Whoever sees the batch learns less of one person than from their report: its epsilon, for "
        f"exchanging one record, is much smaller, at delta = {comparison.delta:g}. The number of "
        "reports is public in this model, and everybody must know it. Reports at the same local "
        "epsilon are the same, shuffled or not, and so are their clusters. A method that is "
        '"shuffled" above was given the largest local epsilon whose batch keeps the worst case.'
    )
    # Both clusterers work on the same reports.
    seen = {(row.contender, row.model, row.epsilon): row for row in reports}
    local = {key: row for key, row in seen.items() if row.model == "local"}
    names = dict.fromkeys(row.contender for row in local.values())
    report.table(
        ["reports of", *[f"local epsilon {epsilon:g}" for epsilon in comparison.epsilons]],
        [
            [
                name,
                *[_epsilon(local.get((name, "local", epsilon))) for epsilon in comparison.epsilons],
            ]
            for name in names
        ],
    )
    report.text("Epsilon of the shuffled batch of these reports.")
    shuffled = [row for row in seen.values() if row.model == "shuffled"]
    if shuffled:
        report.table(
            ["reports of", *[f"batch of epsilon {epsilon:g}" for epsilon in comparison.epsilons]],
            [
                [
                    name,
                    *[f"{row.own_epsilon:.3g}" for row in shuffled if row.contender == name],
                ]
                for name in dict.fromkeys(row.contender for row in shuffled)
            ],
        )
        report.text("Local epsilon of each report, and all that holds if the shuffler fails.")
    points = trust_model_points(comparison)
    if points:
        report.figure(
            draw_lines,
            "trust-models",
            points,
            x="epsilon",
            y="mean",
            group="method",
            dash="model",
            low="low",
            high="high",
            log_x=True,
            log_y=True,
            x_label=f"epsilon for exchanging one record (shuffled: delta = {comparison.delta:g})",
            y_label="cost (k-means = 1)",
            reference=_levels(comparison.baseline.trivial_costs),
            says="Cost against what is promised to one person, 95% bands: the best central "
            "method, the best two that report, and the same reports behind a shuffler",
        )


def trust_model_points(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the curves of the picture: the best of each trust model, by central epsilon."""
    shown = [row for row in _shown(comparison) if row.cost is not None and row.equal]
    best = {
        model: list(
            dict.fromkeys(row.contender for row in comparison.ranked(comparison.middle, model))
        )
        for model in SETTINGS
    }
    kept = {*best["central"][:1], *best["local"][:2], *best["shuffled"]}
    points = []
    for row in shown:
        if row.contender not in kept:
            continue
        if row.model != "shuffled":
            points.append(_point(row, row.cost))
        if row.shuffled_epsilon is not None:
            points.append(
                {**_point(row, row.cost), "model": "shuffled", "epsilon": row.shuffled_epsilon}
            )
    order = list(SETTINGS)
    return sorted(points, key=lambda point: order.index(point["model"]))


def _epsilon(row: MethodRow | None) -> str:
    return "" if row is None or row.shuffled_epsilon is None else f"{row.shuffled_epsilon:.3g}"


def _intervals(comparison: Comparison) -> str:
    if comparison.decides:
        return "Mean over the runs ± half of its 95% interval, or [low, high] where that is uneven."
    return (
        f"Mean of {comparison.runs} runs: fewer than {MIN_RUNS} say nothing about the next run, "
        "so there are no intervals here, and bands in the pictures are those of a guess."
    )


def _agreement(report: Report, comparison: Comparison) -> None:
    baseline = comparison.baseline
    report.section("Agreement")
    report.text(
        "Adjusted mutual information with the same clustering without privacy, k-means, "
        "WaveCluster or DPDensity: 1 is the same clusters, 0 is chance. Centers spread evenly over "
        f"the box, which know nothing, agree with k-means by {baseline.even_ami:.2f}. WaveCluster "
        "and DPDensity find clusters of any shape and have no centers, so that they are judged by "
        "this alone."
    )
    report.table(_headings(comparison), _table_rows(comparison, lambda row: row.ami))
    if baseline.label is not None:
        plain = f"k-means without privacy has {rounded(baseline.kmeans_label or 0.0, 2)}"
        if baseline.wave_label is not None:
            plain += f", WaveCluster without privacy {rounded(baseline.wave_label, 2)}"
        if baseline.density_label is not None:
            plain += f", DPDensity without noise {rounded(baseline.density_label, 2)}"
        report.text(f"The same with the column {baseline.label!r}: {plain}.")
        report.table(_headings(comparison), _table_rows(comparison, lambda row: row.ami_label))
    points = [_point(row, row.ami) for row in _shown(comparison) if row.ami]
    report.figure(
        draw_lines,
        "agreement",
        points,
        x="epsilon",
        y="mean",
        group="method",
        panels="family",
        low="low",
        high="high",
        log_x=True,
        x_label="worst-case epsilon",
        y_label="AMI",
        says="Agreement with the same clustering without privacy, 95% bands",
    )


def _attacks(report: Report, comparison: Comparison) -> None:
    control = comparison.control
    report.section("What an attacker learns")
    report.text(
        "From a central release: whether a record was in. The attacker knows all records and the "
        "method, and has made releases of their own; their advantage is the share of members found "
        "minus that of others accused: 0 is guessing, 1 is knowing. From k-means without privacy "
        f"it is {rounded(control['gain'], 2)} ({rounded(control['low'], 2)} to "
        f"{rounded(control['high'], 2)}): {_power(control['low'])}. No attack can pass the last "
        "column."
    )
    central = [row for row in comparison.rows if row.attack.get("attack") == "membership"]
    local = [row for row in comparison.rows if row.attack.get("attack") == "reconstruction"]
    if central:
        report.table(
            ["method", "epsilon", "advantage", "95% interval", "promise allows"],
            [
                [
                    row.method,
                    f"{row.epsilon:g}",
                    f"{rounded(row.attack['gain'], 3)}",
                    f"{rounded(row.attack['low'], 3)} to {rounded(row.attack['high'], 3)}",
                    _allowed(row),
                ]
                for row in central
            ],
        )
    if local:
        _reconstruction(report, local)
    points = [
        {**_point(row, _gain(row)), "cost": row.cost.mean}
        for row in _shown(comparison)
        if row.cost and row.attack
    ]
    if points:
        report.figure(
            draw_lines,
            "trade-off",
            points,
            x="cost",
            y="mean",
            group="method",
            panels="model",
            low="low",
            high="high",
            log_x=True,
            x_label="cost (k-means = 1)",
            y_label="gain of an attacker",
            says="What an attacker gains, of 1, against cost, with 95% bands; a point for each "
            "epsilon: down and to the left is better",
        )


def _power(low: float) -> str:
    if low > 0:
        return "the attack has power on these records"
    return (
        "the attack has no power on these records, even without privacy, so that it says nothing "
        "about the methods below"
    )


def _allowed(row: MethodRow) -> str:
    ceiling = row.attack["ceiling"]
    return "anything" if ceiling is None else f"{ceiling:.3f}"


def _reconstruction(report: Report, local: list[MethodRow]) -> None:
    report.text(
        "From a report: the record itself. This attacker knows the noise and all records, but not "
        "who sent which report: nobody can guess better. Distances are in per cent of the box's "
        "diameter; the gain is the part of their error that a report takes away."
    )
    # Both clusterers work on the same reports.
    seen = {(row.contender, row.epsilon): row for row in local}
    report.table(
        [
            "method",
            "epsilon",
            "guess is off by",
            "without report",
            "gain",
            "95% interval",
            "report",
        ],
        [
            [
                name,
                f"{epsilon:g}",
                f"{100 * row.attack['off']:.1f}%",
                f"{100 * row.attack['off_without']:.1f}%",
                f"{rounded(row.attack['gain'], 3)}",
                f"{rounded(row.attack['low'], 3)} to {rounded(row.attack['high'], 3)}",
                _distance(row.attack["distance"]),
            ]
            for (name, epsilon), row in seen.items()
        ],
    )
    report.text(
        "The last column is how far reports lie from their records, after a remap if any; colors "
        "lie nowhere. Behind a shuffler nobody knows whose a report is: nothing was attacked there."
    )


def _distance(part: float | None) -> str:
    return "" if part is None else f"{100 * part:.0f}%"


def _time(report: Report, comparison: Comparison) -> None:
    report.section("Time")
    rows = [
        [method, *[f"{1000 * row.seconds:,.0f}" for row in comparison.rows if row.method == method]]
        for method in comparison.methods
    ]
    report.text("Milliseconds of a fit on one core, reports included; mean over the runs.")
    report.table(_headings(comparison), rows)


def _thinned(comparison: Comparison) -> list[str]:
    baseline = comparison.baseline
    notes = []
    if baseline.n_records > MAX_REPORTS:
        notes.append(
            f"Local methods cluster the reports of {MAX_REPORTS:,} random records of "
            f"{baseline.n_records:,}: with all of them they would do somewhat better. Costs are "
            "measured on all records."
        )
    if baseline.n_records > MAX_ATTACKED:
        notes.append(
            f"Attacks run on {MAX_ATTACKED:,} random records: among more, one is hidden better."
        )
    notes.append(
        f"Attacks on releases: {RUNS} releases of about half of these records, after {SHADOWS} "
        "made by the attacker. An attack that fails proves nothing; a promise is a proof."
    )
    return notes


def _headings(comparison: Comparison) -> list[str]:
    """Head a table with one column for each epsilon."""
    return ["method", *[f"epsilon {epsilon:g}" for epsilon in comparison.epsilons]]


def _table_rows(
    comparison: Comparison, read: Callable[[MethodRow], Estimate | None]
) -> list[list[str]]:
    """Write a measure of all methods that have it, one column for each epsilon."""
    rows = []
    for method in comparison.methods:
        estimates = [read(row) for row in comparison.rows if row.method == method]
        if any(estimates):
            rows.append([method, *(_text(one, comparison) for one in estimates)])
    return rows


def _text(estimate: Estimate | None, comparison: Comparison) -> str:
    """Write a measure, with its interval if there are runs enough, or nothing if there is none."""
    if estimate is None:
        return ""
    return estimate.brief if comparison.decides else Estimate(*[estimate.mean] * 3).brief


def _gain(row: MethodRow) -> Estimate:
    """Read what an attacker gains."""
    return Estimate(*(float(row.attack[key]) for key in ("gain", "low", "high")))


def _shown(comparison: Comparison) -> list[MethodRow]:
    """List, of each mechanism, the clusterer that costs least at the middle epsilon."""
    best: dict[tuple[str, str], MethodRow] = {}
    for row in comparison.at(comparison.middle):
        kept = best.get((row.contender, row.model))
        if kept is None or (row.cost and kept.cost and row.cost.mean < kept.cost.mean):
            best[row.contender, row.model] = row
    methods = {row.method for row in best.values()}
    return [row for row in comparison.rows if row.method in methods]


def _point(row: MethodRow, estimate: Estimate | None) -> dict[str, Any]:
    """Make a point of a picture."""
    assert estimate is not None
    return {
        "method": row.contender,
        "model": row.model,
        "family": "any shape" if row.cost is None else f"{row.model}, k-means",
        "epsilon": row.epsilon,
        "mean": estimate.mean,
        # A cost is above 0, and so is the band on a logarithmic axis.
        "low": max(estimate.low, estimate.mean / 10) if row.cost is estimate else estimate.low,
        "high": estimate.high,
    }
