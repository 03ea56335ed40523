"""The three findings of the source's abstract, and what became of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.experiments.book import Book
from shoal.papers.finding import Finding, outcome
from shoal.papers.judgment import Judgment, all_hold, any_holds
from shoal.papers.kccm import FORMULAS, Claim
from shoal.papers.kccm.cells import CORRECTED
from shoal.papers.kccm.comparisons import READINGS, Comparison
from shoal.papers.kccm.plan import DATASET, TRIMMED
from shoal.papers.study import Records

__all__ = ["judge_findings", "tell_comparisons"]


@dataclass(frozen=True)
class _Statement:
    """A finding in the source's terms: which claims make it up, on which tables."""

    name: str
    words: str
    claims: tuple[str, ...]
    datasets: tuple[str, ...]
    remark: str = ""


STATEMENTS = (
    _Statement(
        "finding 1",
        "merging clusters improves utility to some extent, with equal noise",
        ("merging helps",),
        (DATASET,),
    ),
    _Statement(
        "finding 2",
        "adaptive noise alone does not improve utility significantly, merging and adaptive noise "
        "together do so markedly",
        (
            "adaptive noise alone does not help significantly",
            "merging and adaptive noise help markedly",
        ),
        (DATASET,),
        "Significantly and markedly are read as 5% of the cost.",
    ),
    _Statement(
        "finding 3",
        "Gaussian noise is the most effective: on tables without outliers by the abstract, with "
        "outliers by the results",
        ("Gaussian is the best noise, merging", "Gaussian is the best noise, not merging"),
        (TRIMMED, DATASET),
        "Corrected, Gaussian noise makes the weaker promise: its delta is above 0.",
    ),
)


def judge_findings(comparisons: Sequence[Comparison], records: Records) -> tuple[Finding, ...]:
    """Judge the findings.

    A finding holds as published if all of its claims hold by one of the source's two formulas, on
    all of its tables; as long as a claim is undecided that could decide it, so is the finding. As
    published more is spent than is said, so praise that is lost where this is mended needs the
    leak; that something does not help needs none.

    Parameters
    ----------
    comparisons : sequence of Comparison
        What :func:`compare_all` returned.
    records : mapping of str to list of dict
        Records of the part "published", for what was really spent.

    Returns
    -------
    findings : tuple of Finding
        Three.
    """
    spent = ", ".join(
        f"by the {formula} (really epsilon {_spent(records, formula):.3g})" for formula in FORMULAS
    )
    return tuple(_finding(one, comparisons, spent) for one in STATEMENTS)


def tell_comparisons(book: Book, comparisons: Sequence[Comparison]) -> None:
    """Put the verdict on every claim into the report.

    Parameters
    ----------
    book : Book
        The report.
    comparisons : sequence of Comparison
        What :func:`compare_all` returned.
    """
    book.section("Every comparison behind the findings")
    book.text(
        "Change of the mean NICV from the older variant to the newer one, over all settings of "
        "epsilon and k, each counting the same; below 0 is better. Intervals go over starts, since "
        "runs on one start are alike; of several rivals the best one counts, and all of them share "
        "the 5%. Help that is significant or marked is a change below -5%. In brackets: in how "
        "many settings the claim holds by itself."
    )
    rows: dict[tuple[str, str], list[str]] = {}
    for one in comparisons:
        claim = one.verdict.claim
        row = rows.setdefault(
            (claim.text, one.dataset), [f"{claim.text}: {_compared(claim)}", one.dataset]
        )
        row.append(f"{one.verdict.judgment}, {one.numbers} ({one.held} of {one.settings})")
    book.table(
        ["claim of the source", "table", *map(_version, READINGS)],
        rows.values(),
        text=2 + len(READINGS),
    )


def _finding(statement: _Statement, comparisons: Sequence[Comparison], spent: str) -> Finding:
    by = {(one.verdict.claim.text, one.dataset, one.reading): one for one in comparisons}

    def judged(reading: str) -> Judgment:
        return all_hold(one.verdict.judgment for one in versions(reading))

    def versions(reading: str) -> list[Comparison]:
        return [
            by[claim, table, reading] for table in statement.datasets for claim in statement.claims
        ]

    lost = [one for one in versions(CORRECTED) if one.verdict.judgment == "does not hold"]
    groups = [
        [by[claim, dataset, reading] for reading in READINGS]
        for dataset in statement.datasets
        for claim in statement.claims
    ]
    where = len(statement.datasets) > 1
    sentences = [_sentence(versions, where=where) for versions in groups]
    changes = f"Change of NICV as published, {spent}, and corrected."
    return Finding(
        statement.name,
        statement.words,
        outcome(
            as_published=any_holds(map(judged, FORMULAS)),
            corrected=judged(CORRECTED),
            needs_leak=any(not one.verdict.claim.denied for one in lost),
        ),
        " ".join(filter(None, [changes, *sentences, statement.remark])),
    )


def _sentence(versions: Sequence[Comparison], *, where: bool) -> str:
    """Say what a claim's comparison came to, for both formulas and corrected."""
    claim = versions[-1].verdict.claim
    numbers = ", ".join(f"{one.numbers} ({one.verdict.judgment})" for one in versions)
    table = f", {versions[-1].dataset}" if where else ""
    return f"{claim.text[:1].upper()}{claim.text[1:]}{table}, {_compared(claim)}: {numbers}."


def _compared(claim: Claim) -> str:
    return f"{claim.new} over {claim.old[0] if len(claim.old) == 1 else 'the best rival'}"


def _version(reading: str) -> str:
    return reading if reading == CORRECTED else f"as published, {reading}"


def _spent(records: Records, formula: str) -> float:
    """Return what Laplace noise by a formula really spends."""
    return next(
        float(row["real_epsilon"] or 0.0)
        for row in records["published"]
        if row["formula"] == formula and row["real_delta"] == 0
    )
