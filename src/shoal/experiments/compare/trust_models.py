"""The section of the report that sets the trust models side by side: what a shuffler adds."""

from collections.abc import Callable

from shoal._numbers import rounded_up
from shoal.experiments.compare.comparison import Comparison, MethodRow
from shoal.experiments.compare.curves import cost_levels, trust_model_points
from shoal.experiments.compare.measurements import MAX_REPORTS
from shoal.experiments.report import Report
from shoal.plotting import draw_lines

__all__ = ["trust_models_section"]

SHUFFLER = (
    "Between a curator, who is trusted with all records, and nobody, there is a shuffler: it sees "
    "no record, takes everything off the reports that says whose they are, mixes the batch, and "
    "does not collude with whoever sees it. Each device sends one report, and all reports of a "
    "batch come from one mechanism. Reports are the same, shuffled or not, and so are their "
    "clusters; but a batch in which nobody knows whose report is whose tells less of a person "
    "than their report alone."
)


def trust_models_section(report: Report, comparison: Comparison) -> None:
    """Set the three trust models side by side by what is promised to one person."""
    # Both clusterers work on the same reports.
    seen = {
        (row.contender, row.model, row.epsilon): row
        for row in comparison.rows
        if row.shuffled_epsilon is not None
    }
    if not seen:
        return
    report.section("Three trust models")
    report.text(SHUFFLER)
    report.text(_batch(comparison))
    local = [row for row in seen.values() if row.model == "local"]
    report.text("Epsilon of the batch, by the local epsilon of each report in it:")
    _by_epsilon(report, comparison, local, "local", lambda row: row.shuffled_epsilon)
    shuffled = [row for row in seen.values() if row.model == "shuffled"]
    if shuffled:
        report.text(
            "The other way round, as the methods called shuffled were run: the local epsilon of "
            "each report, by the epsilon of the batch. It is all that holds if the shuffler fails:"
        )
        _by_epsilon(report, comparison, shuffled, "batch", lambda row: row.own_epsilon)
    _picture(report, comparison)


def _batch(comparison: Comparison) -> str:
    n_records = comparison.baseline.n_records
    thinned = ""
    if n_records > MAX_REPORTS:
        thinned = f" (of {MAX_REPORTS:,} of them, for mechanisms that report points)"
    return (
        f"A batch is here the reports of all {n_records:,} records{thinned}. Their number is "
        "public in this model: the promise counts on it, and says nothing about whether somebody "
        "took part. Its epsilon is, as all here, for exchanging one record for any other, at delta "
        f"= {rounded_up(comparison.delta)}; the other models have no delta."
    )


def _by_epsilon(
    report: Report,
    comparison: Comparison,
    rows: list[MethodRow],
    what: str,
    read: Callable[[MethodRow], float | None],
) -> None:
    """Add a table of one epsilon a column; mechanisms with the same numbers share a line."""
    cells = {
        (row.contender, row.epsilon): rounded_up(epsilon, 3)
        for row in rows
        if (epsilon := read(row)) is not None
    }
    names: dict[tuple[str, ...], list[str]] = {}
    for name in dict.fromkeys(row.contender for row in rows):
        numbers = tuple(cells[name, epsilon] for epsilon in comparison.epsilons)
        names.setdefault(numbers, []).append(name)
    report.table(
        [
            "reports of",
            *[f"{what} epsilon {rounded_up(epsilon)}" for epsilon in comparison.epsilons],
        ],
        [[", ".join(alike), *numbers] for numbers, alike in names.items()],
    )


def _picture(report: Report, comparison: Comparison) -> None:
    points = trust_model_points(comparison)
    if not points:
        return
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
        x_label=f"worst-case epsilon (shuffled: delta = {rounded_up(comparison.delta)})",
        y_label="cost (k-means = 1)",
        reference=cost_levels(comparison.baseline.trivial_costs),
        says="Cost against what is promised to one person, 95% bands: the best central method, "
        "the best two that report, and the same reports behind a shuffler; down and to the left "
        "is better",
    )
