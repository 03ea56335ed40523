"""What attackers found out, as one HTML page for the curator."""

from collections.abc import Iterable
from pathlib import Path

from shoal.audit import AttackResult
from shoal.experiments.attack_suite import AttackRow, AttackSuite
from shoal.experiments.estimate import rounded
from shoal.experiments.page import Page
from shoal.experiments.provenance import Provenance
from shoal.plotting import Picture

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


def attack_report(path: Path, suite: AttackSuite, *, picture: Picture, made: Provenance) -> Path:
    """Write the page.

    Parameters
    ----------
    path : Path
        Where to.
    suite : AttackSuite
        What was found.
    picture : Picture
        The rates, as :func:`shoal.plotting.draw_rates` draws them.
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
    page = Page("What an attacker learns", publishable=False)
    page.lead(
        f"For the curator only: these attacks know the {suite.records:,} raw records that they are "
        "tested on, and no budget pays for that."
    )
    for sentence in suite.sentences:
        page.verdict(sentence, bad=not suite.tells_apart)
    page.text(f"Attacked: {suite.target}.")
    page.text(f"Its promise: {suite.guarantee}.")
    page.section("Was this record in the data?")
    page.table(HEADINGS, [attack_cells(row) for row in suite.rows])
    page.text(
        "Half of the records asked about were in, so guessing blindly is right in 50 of 100. An "
        "attack whose interval contains 50 where nothing is protected has no power on these "
        "records, and its other numbers say nothing. "
        "Advantage is the share of members found minus the share of others accused. An attacker "
        "who must not accuse more than 1 of 100 others finds the share of members in the column of "
        "1% false alarms."
    )
    if any(row.ceiling is not None for row in suite.rows):
        page.text(
            "The promise bounds every attack on what is released, those that nobody has thought of "
            "yet included: it allows at most the last column, however much else an attacker knows."
        )
    if any(row.ceiling is None for row in suite.rows):
        page.text(
            "Attacks without a last column are about a random forest that was trained on the "
            "members: it learns their true classes or their raw records, which no promise covers."
        )
    page.picture(picture, says="Share of members found against share of others accused")
    page.text("The left ends of the curves count few records, and are rough.")
    if suite.reconstruction is not None:
        page.section("What does a report say about its record?")
        page.points(_sentences(suite.guesses))
        page.text(
            "This attacker knows the noise and all records, but not who sent which report: nobody "
            "can guess better."
        )
    elif suite.attribute is not None:
        page.section(f"Can {suite.attribute.column} be guessed from the other columns?")
        page.points(_sentences(suite.guesses))
    if suite.notes:
        page.section("What was left out")
        page.points(suite.notes)
    proof = "An attack that fails proves nothing: another may succeed. A promise is a proof."
    return page.provenance(made, proof).write(path)


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
