"""What attackers found out, as one HTML page for the curator."""

from collections.abc import Iterable
from pathlib import Path

from shoal.audit import AttackResult
from shoal.experiments.attack_suite import AttackRow, AttackSuite
from shoal.experiments.estimate import rounded
from shoal.experiments.provenance import Provenance
from shoal.experiments.report import Report

__all__ = ["attack_report"]

HEADINGS = (
    "attack",
    "without privacy: right of 100",
    "95% interval",
    "has power",
    "here: right of 100",
    "95% interval",
    "advantage",
    "found at 1% false alarms",
    "at 0.1%",
    "promise allows at most",
)


def attack_report(path: Path, suite: AttackSuite, *, picture: Path, made: Provenance) -> Path:
    """Write the report.

    Parameters
    ----------
    path : Path
        Where to.
    suite : AttackSuite
        What was found.
    picture : Path
        PNG file of the rates, embedded in the report.
    made : Provenance
        Where the numbers come from.

    Returns
    -------
    path : Path
        The file written.

    Raises
    ------
    ParameterError
        If it cannot be written.
    """
    report = Report("What an attacker learns")
    report.lead(
        f"For the curator only: these attacks know the {suite.records:,} raw records that they are "
        "tested on, and no budget pays for that."
    )
    for sentence in suite.sentences:
        report.verdict(sentence, bad=not suite.tells_apart)
    report.text(f"Attacked: {suite.target}.")
    report.text(f"Its promise: {suite.guarantee}.")
    report.section("Was this record in the data?")
    report.table(HEADINGS, [attack_cells(row) for row in suite.rows])
    report.text(
        "Half of the records asked about were in, so guessing blindly is right in 50 of 100. An "
        "attack whose interval contains 50 where nothing is protected has no power on these "
        "records, and its other numbers say nothing. "
        "Advantage is the share of members found minus the share of others accused. An attacker "
        "who must not accuse more than 1 of 100 others finds the share of members in the column of "
        "1% false alarms."
    )
    if any(row.ceiling is not None for row in suite.rows):
        report.text(
            "The promise bounds every attack on what is released, those that nobody has thought of "
            "yet included: it allows at most the last column, however much else an attacker knows."
        )
    if any(row.ceiling is None for row in suite.rows):
        report.text(
            "Attacks without a last column are about a random forest that was trained on the "
            "members: it learns their true classes or their raw records, which no promise covers."
        )
    report.picture(picture, says="Share of members found against share of others accused")
    report.text("The left ends of the curves count few records, and are rough.")
    if suite.reconstruction is not None:
        report.section("What does a report say about its record?")
        report.points(_sentences(suite.guesses))
        report.text(
            "This attacker knows the noise and all records, but not who sent which report: nobody "
            "can guess better."
        )
    elif suite.attribute is not None:
        report.section(f"Can {suite.attribute.column} be guessed from the other columns?")
        report.points(_sentences(suite.guesses))
    if suite.notes:
        report.section("What was left out")
        report.points(suite.notes)
    proof = "An attack that fails proves nothing: another may succeed. A promise is a proof."
    return report.provenance(made, proof).write(path)


def attack_cells(row: AttackRow) -> list[str]:
    """Return the numbers of an attack as a row of a table.

    Parameters
    ----------
    row : AttackRow
        One attack.

    Returns
    -------
    cells : list of str
        As many as there are headings.
    """
    found = row.result
    return [
        found.attack,
        *_right(row.control),
        "yes" if row.has_power else "no",
        *_right(found),
        f"{rounded(found.advantage, 3)}",
        f"{100 * found.tpr_at(0.01):.1f}%",
        f"{100 * found.tpr_at(0.001):.1f}%",
        "" if row.ceiling is None else f"{50 + 50 * row.ceiling:.0f} of 100",
    ]


def _right(found: AttackResult) -> list[str]:
    low, high = (50 + 50 * limit for limit in found.interval())
    return [f"{100 * found.right:.0f}", f"{low:.1f} to {high:.1f}"]


def _sentences(lines: Iterable[str]) -> list[str]:
    return [f"{line[:1].upper()}{line[1:]}." for line in lines]
