"""What attackers found out, as one HTML page for the curator."""

from pathlib import Path

from shoal.experiments.attack_suite import AttackRow, AttackSuite
from shoal.experiments.page import Page

__all__ = ["attack_report"]

HEADINGS = (
    "attack",
    "right of 100",
    "advantage",
    "95% interval",
    "found at 1% false alarms",
    "at 0.1%",
    "without privacy: right of 100",
    "promise allows at most",
)


def attack_report(path: Path, suite: AttackSuite, *, picture: Path) -> Path:
    """Write the page.

    Parameters
    ----------
    path : Path
        Where to.
    suite : AttackSuite
        What was found.
    picture : Path
        PNG file of the rates, embedded in the page.

    Returns
    -------
    path : Path
        The file written.

    Raises
    ------
    ParameterError
        If it cannot be written.
    """
    page = Page("What an attacker learns")
    page.lead(
        f"For the curator only: these attacks know the {suite.records:,} raw records that they are "
        "tested on, and no budget pays for that."
    )
    for sentence in suite.sentences:
        page.verdict(sentence)
    page.text(f"Attacked: {suite.target}.")
    page.text(f"Its promise: {suite.guarantee}.")
    page.section("Was this record in the data?")
    page.table(HEADINGS, [attack_cells(row) for row in suite.rows])
    page.text(
        "Half of the records asked about were in, so guessing blindly is right in 50 of 100. "
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
        page.points(_sentences(str(suite.reconstruction)))
        page.text(
            "This attacker knows the noise and all records, but not who sent which report: nobody "
            "can guess better."
        )
    if suite.attribute is not None:
        page.section(f"Can {suite.attribute.column} be guessed from the other columns?")
        page.points(_sentences(str(suite.attribute)))
    if suite.notes:
        page.section("What was left out")
        page.points(suite.notes)
    page.footer("An attack that fails proves nothing: another may succeed. A promise is a proof.")
    return page.write(path)


def attack_cells(row: AttackRow) -> list[str]:
    """Give the numbers of an attack as a row of a table.

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
    low, high = found.interval()
    return [
        found.attack,
        f"{100 * found.right:.0f}",
        f"{found.advantage:.3f}",
        f"{low:.3f} to {high:.3f}",
        f"{100 * found.tpr_at(0.01):.1f}%",
        f"{100 * found.tpr_at(0.001):.1f}%",
        f"{100 * row.control.right:.0f}",
        "" if row.ceiling is None else f"{50 + 50 * row.ceiling:.0f} of 100",
    ]


def _sentences(text: str) -> list[str]:
    return [f"{line[:1].upper()}{line[1:]}." for line in text.splitlines()]
