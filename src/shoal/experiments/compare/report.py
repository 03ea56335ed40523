"""A comparison as one HTML page: for the curator only, or of a private copy and then to share."""

from collections.abc import Callable
from pathlib import Path

from shoal._numbers import rounded_up
from shoal.experiments.compare.comparison import MIN_RUNS, Comparison, MethodRow
from shoal.experiments.compare.curves import (
    attack_gain,
    cost_levels,
    curve_point,
    shown_rows,
)
from shoal.experiments.compare.equal_privacy import box_diameter, own_epsilon
from shoal.experiments.compare.measurements import MAX_ATTACKED, MAX_REPORTS, RUNS, SHADOWS
from shoal.experiments.compare.recommendation import (
    RULE,
    not_better_than_blind,
    recommend,
)
from shoal.experiments.compare.trust_models import trust_models_section
from shoal.experiments.estimate import Estimate, rounded
from shoal.experiments.provenance import Provenance
from shoal.experiments.report import Report
from shoal.plotting import draw_lines
from shoal.privacy import Guarantee

__all__ = ["compare_report"]

NEAR = 0.1  # of the diameter: how far apart two records are whose promise is shown too
NOT_AWARE = (
    "NoiseAwareKMeans on KdLaplace: its reports are those of Laplace before their remap, which "
    "NoiseAwareKMeans takes as they were made. KMeans on PartitionResponse: colors are no points."
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
    """Write a comparison as an HTML report, with its charts as files beside it.

    Parameters
    ----------
    path : Path
        File to write.
    comparison : Comparison
        The results.
    made : Provenance
        Command, data and seed behind the numbers.
    private_copy : Guarantee, optional
        Guarantee of the private copy that methods were compared on; None for raw records.
    paid : str, default=""
        Which ledger was charged for the copy, as a sentence.

    Returns
    -------
    path : Path
        The file written.

    Raises
    ------
    ParameterError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from shoal.experiments import Provenance
    >>> from shoal.experiments.compare import (
    ...     ComparedTable,
    ...     choose_contenders,
    ...     compare_methods,
    ...     compare_report,
    ... )
    >>> from shoal.tables import ArrayTable
    >>> X = np.repeat([[-0.5, -0.5], [0.5, 0.5]], 100, axis=0)
    >>> places = ArrayTable(X + np.random.default_rng(0).normal(0, 0.1, X.shape), ("x", "y"))
    >>> table = ComparedTable.from_table(
    ...     places, file=Path("x.csv"), bounds=(-1.0, 1.0), n_clusters=2
    ... )
    >>> chosen = choose_contenders(2, ["DPKMeans-grid"])
    >>> comparison = compare_methods(table, chosen, epsilons=[1.0], runs=2)
    >>> made = Provenance("shoal compare x.csv", 0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     compare_report(Path(folder) / "compare.html", comparison, made=made).name
    'compare.html'
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
    trust_models_section(report, comparison)
    _agreement(report, comparison)
    if comparison.control:
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
            rounded_up(epsilon),
            rounded_up(own_epsilon("central", epsilon, d), 3),
            rounded_up(own_epsilon("local", epsilon, d), 3),
            rounded_up(own_epsilon("metric", epsilon, d), 3),
            rounded_up(NEAR * epsilon, 3),
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
    if any(row.model == "shuffled" for row in comparison.rows):
        report.text(
            "A method called shuffled promises the worst case for the batch of all reports, with a "
            f"delta of {rounded_up(comparison.delta)}, and less for each report: see the three "
            "trust models."
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
            [row.method, rounded_up(row.epsilon), row.guarantee, "yes" if row.equal else "no"]
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
            f"Not better than blind at epsilon {rounded_up(comparison.middle)}: "
            f"{', '.join(no_better)}."
        )
    _told_by_reports(report, comparison)
    costs = [curve_point(row, row.cost) for row in shown_rows(comparison) if row.cost]
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
            reference=cost_levels(trivial),
            says="Cost against epsilon, 95% bands; of each mechanism the better clusterer",
        )


def _told_by_reports(report: Report, comparison: Comparison) -> None:
    """Show what a server can know without any record: whether its centers are worth anything."""
    rows = [row for row in comparison.rows if row.better_than_blind is not None]
    if not rows:
        return
    report.text(
        "Who has reports alone cannot measure a cost. Share of the runs in which NoiseAwareKMeans "
        "said, by reports that it had held out, that its centers are better than blind:"
    )
    report.table(
        _headings(comparison),
        [
            [
                method,
                *[f"{row.better_than_blind:.0%}" for row in rows if row.method == method],
            ]
            for method in dict.fromkeys(row.method for row in rows)
        ],
    )


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
    points = [curve_point(row, row.ami) for row in shown_rows(comparison) if row.ami]
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
                    rounded_up(row.epsilon),
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
        {**curve_point(row, attack_gain(row)), "cost": row.cost.mean}
        for row in shown_rows(comparison)
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
                rounded_up(epsilon),
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
    if not comparison.control:
        return [*notes, "Nothing was attacked: --no-attacks asked for fits alone."]
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
    return ["method", *[f"epsilon {rounded_up(epsilon)}" for epsilon in comparison.epsilons]]


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
