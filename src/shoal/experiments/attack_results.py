"""What attackers found out about the user's own records, and its report for the curator."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from shoal._numbers import readable
from shoal.audit import AttackResult, AttributeInference, Reconstruction
from shoal.experiments.estimate import rounded
from shoal.experiments.provenance import Provenance
from shoal.experiments.report import Report
from shoal.plotting import Picture

__all__ = ["AttackRow", "AttackSuite", "attack_report"]

MIN_GAPS = 2  # runs for an interval
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


@dataclass(frozen=True, eq=False)
class AttackRow:
    """The result of one membership attack, beside the same attack without privacy.

    Parameters
    ----------
    attack : str
        Name of the attack, one of ``ATTACKS``.
    result : AttackResult
        Result of the attack on the target.
    control : AttackResult
        Result of the attack on the same target without privacy.
    ceiling : float or None
        Largest advantage that the guarantee allows; None if it covers something else.
    seen, without : str
        What the attacker sees, and the same without privacy, in words.

    Examples
    --------
    >>> from shoal.audit import AttackResult
    >>> from shoal.experiments import AttackRow
    >>> seen = AttackResult.from_runs("yeom", [([0.9, 0.4], [0.1, 0.6])], threshold=0.5)
    >>> plain = AttackResult.from_runs("yeom", [([0.9, 0.8], [0.1, 0.2])], threshold=0.5)
    >>> row = AttackRow("yeom", seen, plain, ceiling=0.46)
    >>> row.result.advantages, row.control.advantages
    ((0.0,), (1.0,))
    """

    attack: str
    result: AttackResult
    control: AttackResult
    ceiling: float | None
    seen: str = "this release"
    without: str = "k-means without privacy"

    @property
    def has_power(self) -> bool:
        """Whether the attack is significantly better than guessing on the control."""
        return self.control.interval()[0] > 0

    @property
    def tells_apart(self) -> bool:
        """Whether the attack is significantly worse on the target than without privacy."""
        return self.result.interval()[1] < self.control.interval()[0]

    @property
    def sentence(self) -> str:
        """A sentence on whether the attack works at all, and what its result shows."""
        name = self.result.attack[:1].upper() + self.result.attack[1:]
        first = f"{name}: the same attack on {self.without} is right in {_right(self.control)}"
        here = f"{_right(self.result)} on {self.seen}"
        if not self.has_power:
            return (
                f"{first}: it has no power here, so what it gets, {here}, says nothing about "
                "privacy."
            )
        if not self.tells_apart:
            return (
                f"{first}, so it has some power here; it gets {here}, which these runs cannot "
                "tell from no privacy at all."
            )
        return f"{first}, so it has power here; it gets {here}, where guessing gets 50."


@dataclass(frozen=True, eq=False)
class AttackSuite:
    """Results of all attacks on a target, computed from raw records; for the curator only.

    Parameters
    ----------
    target : str
        The estimator or mechanism that was attacked, with its parameters.
    guarantee : str
        Its guarantee as a sentence.
    records, columns : int
        Number of records and columns of the table.
    rows : tuple of AttackRow
        The membership attacks.
    reconstruction : Reconstruction or None
        Best guesses of whole records from their reports.
    attribute, attribute_control : AttributeInference or None
        Best guesses of one column, and those from a release without privacy.
    notes : tuple of str
        What was left out, and why.

    Examples
    --------
    >>> from shoal.audit import AttackResult
    >>> from shoal.experiments import AttackRow, AttackSuite
    >>> seen = AttackResult.from_runs("yeom", [([0.9, 0.4], [0.1, 0.6])], threshold=0.5)
    >>> plain = AttackResult.from_runs("yeom", [([0.9, 0.8], [0.1, 0.2])], threshold=0.5)
    >>> row = AttackRow("yeom", seen, plain, ceiling=0.46)
    >>> suite = AttackSuite("DPKMeans(3)", "epsilon = 1", 64, 2, (row,), None, None, None, ())
    >>> suite.rows[0].attack, suite.records
    ('yeom', 64)
    """

    target: str
    guarantee: str
    records: int
    columns: int
    rows: tuple[AttackRow, ...]
    reconstruction: Reconstruction | None
    attribute: AttributeInference | None
    attribute_control: AttributeInference | None
    notes: tuple[str, ...]

    @property
    def has_power(self) -> bool:
        """Whether any membership attack is significantly better than guessing on its control."""
        return any(row.has_power for row in self.rows)

    @property
    def tells_apart(self) -> bool:
        """Whether any membership attack is significantly worse here than without privacy."""
        return any(row.tells_apart for row in self.rows)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The results as sentences: first what the attacks can show on these records at all."""
        sentences = [row.sentence for row in self.rows]
        if not self.has_power:
            sentences.insert(
                0,
                "No attack on membership that was run has power on these records, even without "
                "privacy: their results say nothing about privacy.",
            )
        elif not self.tells_apart:
            sentences.insert(
                0,
                "No attack on membership that was run does surely worse here than without privacy: "
                "their results do not show what privacy changes.",
            )
        for ceiling in {row.ceiling for row in self.rows if row.ceiling is not None}:
            sentences.append(
                f"No attack on the release, known or not, is right in more than "
                f"{50 + 50 * ceiling:.0f} of 100: this is the promise, not a measurement."
            )
        return tuple(sentences)

    @property
    def guesses(self) -> tuple[str, ...]:
        """Sentences on the guesses of records and columns, beside those without privacy."""
        sentences = []
        if self.reconstruction is not None:
            sentences.append("a report without noise would be the record itself")
            sentences += str(self.reconstruction).splitlines()
        if self.attribute is not None:
            sentences.append(_attribute_power(self.attribute, self.attribute_control))
            sentences += str(self.attribute).splitlines()
        return tuple(sentences)


def attack_report(
    path: Path, suite: AttackSuite, *, picture: Picture, made: Provenance, raw: bool = True
) -> Path:
    """Write the results of attacks as an HTML report.

    Parameters
    ----------
    path : Path
        File to write.
    suite : AttackSuite
        The results.
    picture : Picture
        Chart of the rates, from :func:`shoal.plotting.draw_rates`.
    made : Provenance
        Command, data and seed behind the numbers.
    raw : bool, default=True
        True if the records are real ones; False for synthetic ones or those of a private copy.

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
    >>> from shoal.audit import AttackResult
    >>> from shoal.experiments import AttackRow, AttackSuite, Provenance, attack_report
    >>> from shoal.plotting import draw_rates
    >>> seen = AttackResult.from_runs("yeom", [([0.9, 0.4], [0.1, 0.6])], threshold=0.5)
    >>> plain = AttackResult.from_runs("yeom", [([0.9, 0.8], [0.1, 0.2])], threshold=0.5)
    >>> rows = (AttackRow("yeom", seen, plain, ceiling=0.46),)
    >>> suite = AttackSuite("DPKMeans(3)", "epsilon = 1", 64, 2, rows, None, None, None, ())
    >>> made = Provenance("shoal attack people.csv", 0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder) / "attack.html"
    ...     attack_report(page, suite, picture=draw_rates(rows), made=made).name
    'attack.html'
    """
    report = Report("What an attacker learns", publishable=not raw)
    report.lead(
        f"For the curator only: these attacks know the {suite.records:,} raw records that they are "
        "tested on, and no budget pays for that."
        if raw
        else f"Tested on {suite.records:,} records of no real person: no true record was read."
    )
    for sentence in suite.sentences:
        report.verdict(sentence, bad=not suite.tells_apart)
    report.text(f"Attacked: {suite.target}.")
    report.text(f"Its promise: {suite.guarantee}.")
    report.section("Was this record in the data?")
    report.table(HEADINGS, [_row_cells(row) for row in suite.rows])
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


def _row_cells(row: AttackRow) -> list[str]:
    """Return the numbers of an attack, one for each heading."""
    result = row.result
    return [
        result.attack,
        *_right_cells(row.control),
        "yes" if row.has_power else "no",
        *_right_cells(result),
        f"{rounded(result.advantage, 3)}",
        f"{100 * result.tpr_at(0.01):.1f}%",
        f"{100 * result.tpr_at(0.001):.1f}%",
        "" if row.ceiling is None else f"{50 + 50 * row.ceiling:.0f} of 100",
    ]


def _sentences(lines: Iterable[str]) -> list[str]:
    return [f"{line[:1].upper()}{line[1:]}." for line in lines]


def _right(result: AttackResult) -> str:
    """Write how often an attack is right, of 100 guesses, with its interval."""
    return "{} of 100 (95%: {})".format(*_right_cells(result))


def _right_cells(result: AttackResult) -> tuple[str, str]:
    """Write how often an attack is right, of 100 guesses, and the interval of 95%."""
    low, high = (50 + 50 * limit for limit in result.interval())
    return f"{100 * result.right:.0f}", f"{low:.1f} to {high:.1f}"


def _attribute_power(result: AttributeInference, control: AttributeInference | None) -> str:
    """Write first whether being in the data changes the guess where nothing is protected."""
    if control is None:
        return f"a report without noise would give {result.column} itself"
    first = f"without privacy, being in the data costs a record {readable(control.difference or 0)}"
    if len(control.gaps) < MIN_GAPS:
        return f"{first} in {result.column}; a single run cannot tell whether this is chance"
    low, high = control.interval()
    first += f" in {result.column} (95%: {readable(low)} to {readable(high)})"
    if low > 0:
        return f"{first}, so the guess has power here"
    return f"{first}: the guess has no power here, so it says nothing about privacy"
