"""A comparison as one HTML page: for the curator only, or of a private copy and then to share."""

from pathlib import Path

from shoal.experiments.book import Book
from shoal.experiments.compare._report_attacks import tell_attacks
from shoal.experiments.compare._report_rows import headings, point, shown, table_rows
from shoal.experiments.compare.attack_work import MAX_ATTACKED, RUNS, SHADOWS
from shoal.experiments.compare.comparison import MIN_RUNS, Comparison
from shoal.experiments.compare.equal_privacy import box_diameter, own_epsilon
from shoal.experiments.compare.recommend import RULE, recommend, useless
from shoal.experiments.compare.utility_work import MAX_REPORTS
from shoal.experiments.estimate import Estimate, rounded
from shoal.experiments.page import Page
from shoal.experiments.provenance import Provenance
from shoal.plotting import draw_lines
from shoal.privacy import Guarantee

__all__ = ["compare_report"]

NEAR = 0.1  # of the diameter: how far apart two records are whose promise is told too
NOT_AWARE = (
    "NoiseAwareKMeans on KdLaplace, Hybrid, Duchi and SquareWave: it needs reports as they were "
    "made (those of KdLaplace are those of Laplace before their remap), without bias, and not on a "
    "few points."
)
AUTO = "DPKMeans with method auto: up to 16 columns it is DPKMeans-grid, beyond DPKMeans-lsh."


def compare_report(
    path: Path,
    comparison: Comparison,
    *,
    made: Provenance,
    private_copy: Guarantee | None = None,
    paid: str = "",
) -> Path:
    """Write the page, and its pictures beside it.

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
    page = Page(
        f"Which private clustering for {made.data}?",
        publishable=private_copy is not None and private_copy.holds,
    )
    _first(page, comparison, private_copy, paid)
    page.verdict(recommend(comparison))
    _promises(page, comparison)
    _own_promises(page, comparison)
    book = Book(path.parent)
    _utility(book, comparison)
    tell_attacks(book, comparison)
    _time(book, comparison)
    book.section("What was left out, and what was thinned out")
    book.points([*comparison.left_out, AUTO, NOT_AWARE, *_thinned(comparison)])
    book.write_to(page).provenance(
        made,
        "Noise was seeded so that a comparison that is stopped can go on: it is an experiment, and "
        "nothing in it is a release. Run shoal cluster or shoal perturb for one.",
    )
    return page.write(path)


def _first(page: Page, comparison: Comparison, private_copy: Guarantee | None, paid: str) -> None:
    frame = comparison.frame
    if private_copy is None:
        page.verdict(
            "For the curator only: these numbers were computed from the raw records, and no budget "
            "pays for that. Do not share them; --private-copy makes a report that may be shared.",
            bad=True,
        )
    elif private_copy.holds:
        page.verdict(
            f"May be shared: everything here comes from a release with {private_copy}. "
            f"{paid}".strip()
        )
        page.text(
            "All methods ran on a private copy of the records, so that the numbers are those of "
            "the copy: the larger its epsilon, the nearer they are to those of the records."
        )
    else:
        page.verdict(f"Not to be shared: {private_copy}. {paid}".strip(), bad=True)
    whose = "the copy" if private_copy else "the raw records, so it stays here as well"
    page.lead(
        f"{frame.records:,} records, {frame.columns} columns ({', '.join(frame.names)}), "
        f"{frame.clusters} clusters; {comparison.runs} runs of each method at each epsilon. Where "
        f"the number of clusters was not given, it was chosen by the silhouette of {whose}."
    )


def _promises(page: Page, comparison: Comparison) -> None:
    d = comparison.frame.columns
    page.section("Equal worst-case privacy")
    page.text(
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
    page.table(
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
    page.text(
        "A central epsilon counts twice, since an exchange is a removal and an addition. A metric "
        f"one counts {box_diameter(d):.3g} times, the diameter of the box. Metric privacy is meant "
        "for a larger worst case than the others: it hides which of two near records a report is "
        "from, and lets far ones be told apart. The last column is its epsilon for near ones; if "
        "that is all that must be hidden, run it at ten times the epsilon."
    )


def _own_promises(page: Page, comparison: Comparison) -> None:
    """Show what the user's own methods promise: nobody but their guarantee_ vouches for it."""
    own = [row for row in comparison.rows if ":" in row.contender]
    if not own:
        return
    page.text(
        "Methods of your own are run at the epsilon that their guarantee_ needs for the worst "
        "case. It is taken at its word: run shoal audit on them."
    )
    page.table(
        ["method", "worst case", "its promise", "equal to the others'"],
        [
            [row.method, f"{row.epsilon:g}", row.guarantee, "yes" if row.equal else "no"]
            for row in own
        ],
        text=4,
    )


def _utility(book: Book, comparison: Comparison) -> None:
    levels, frame = comparison.frame.baselines, comparison.frame
    book.section("What the clusters cost")
    book.text(
        "Mean squared distance of the records from their nearest center, over that of k-means "
        f"without privacy: 1 is no loss. {_intervals(comparison)}"
    )
    rows = table_rows(comparison, lambda row: row.cost)
    for name, level in (
        ("without privacy: k-means", 1.0),
        ("no clusters: one center at the records' mean", levels.mean),
        (f"knowing nothing: {frame.clusters} centers spread over the box", levels.even),
        ("knowing nothing: one center in the middle of the box", levels.middle),
    ):
        rows.append([name, *[Estimate(level, level, level).brief] * len(comparison.epsilons)])
    book.table(headings(comparison), rows)
    book.text(RULE)
    worse = useless(comparison)
    if worse:
        book.text(
            f"Worse than knowing nothing at epsilon {comparison.middle:g}: {', '.join(worse)}."
        )
    costs = [point(row, row.cost) for row in shown(comparison) if row.cost]
    if costs:
        book.figure(
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
            reference={"k-means without privacy": 1.0, "without looking": levels.best},
            says="Cost against epsilon, 95% bands; of each mechanism the better clusterer",
        )
    _agreement(book, comparison)


def _intervals(comparison: Comparison) -> str:
    if comparison.decides:
        return "Mean over the runs ± half of its 95% interval, or [low, high] where that is uneven."
    return (
        f"Mean of {comparison.runs} runs: fewer than {MIN_RUNS} say nothing about the next run, "
        "so there are no intervals here, and bands in the pictures are those of a guess."
    )


def _agreement(book: Book, comparison: Comparison) -> None:
    frame = comparison.frame
    book.section("Agreement")
    book.text(
        "Adjusted mutual information with the same clustering without privacy, k-means or "
        "WaveCluster: 1 is the same clusters, 0 is chance. Centers spread evenly over the box, "
        f"which know nothing, agree with k-means by {frame.even_ami:.2f}. WaveCluster finds "
        "clusters of any shape and has no centers, so that it is judged by this alone."
    )
    book.table(headings(comparison), table_rows(comparison, lambda row: row.ami))
    if frame.label is not None:
        plain = f"k-means without privacy has {rounded(frame.kmeans_label or 0.0, 2)}"
        if frame.wave_label is not None:
            plain += f", WaveCluster without privacy {rounded(frame.wave_label, 2)}"
        book.text(f"The same with the column {frame.label!r}: {plain}.")
        book.table(headings(comparison), table_rows(comparison, lambda row: row.ami_label))
    points = [point(row, row.ami) for row in shown(comparison) if row.ami]
    book.figure(
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


def _time(book: Book, comparison: Comparison) -> None:
    book.section("Time")
    rows = [
        [method, *[f"{1000 * row.seconds:,.0f}" for row in comparison.rows if row.method == method]]
        for method in comparison.methods
    ]
    book.text("Milliseconds of a fit on one core, reports included; mean over the runs.")
    book.table(headings(comparison), rows)


def _thinned(comparison: Comparison) -> list[str]:
    frame = comparison.frame
    notes = []
    if frame.records > MAX_REPORTS:
        notes.append(
            f"Local methods cluster the reports of {MAX_REPORTS:,} random records of "
            f"{frame.records:,}: with all of them they would do somewhat better. Costs are "
            "measured on all records."
        )
    if frame.records > MAX_ATTACKED:
        notes.append(
            f"Attacks run on {MAX_ATTACKED:,} random records: among more, one is hidden better."
        )
    notes.append(
        f"Attacks on releases: {RUNS} releases of about half of these records, after {SHADOWS} "
        "that the attacker made himself. An attack that fails proves nothing; a promise is a proof."
    )
    return notes
