"""The part of the report that says what an attacker learns."""

from shoal.experiments.compare._report_rows import gain, point, shown
from shoal.experiments.compare.comparison import Comparison, MethodRow
from shoal.experiments.estimate import rounded
from shoal.experiments.report import Report
from shoal.plotting import draw_lines

__all__ = ["tell_attacks"]


def tell_attacks(report: Report, comparison: Comparison) -> None:
    control = comparison.control
    report.section("What an attacker learns")
    report.text(
        "From a central release: whether a record was in. The attacker knows all records and the "
        "method, and has made releases of his own; his advantage is the share of members found "
        "minus that of others accused: 0 is guessing, 1 is knowing. From k-means without privacy "
        f"it is {rounded(control['gain'], 2)} ({rounded(control['low'], 2)} to "
        f"{rounded(control['high'], 2)}): {_power(control['low'])}. No attack can pass the last "
        "column."
    )
    central = [row for row in comparison.rows if row.attack["attack"] == "membership"]
    local = [row for row in comparison.rows if row.attack["attack"] == "reconstruction"]
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
        {**point(row, gain(row)), "cost": row.cost.mean} for row in shown(comparison) if row.cost
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
        "diameter; the gain is the part of his error that a report takes away."
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
                f"{100 * row.attack['distance']:.0f}%",
            ]
            for (name, epsilon), row in seen.items()
        ],
    )
    report.text("The last column is how far reports lie from their records, after a remap if any.")
