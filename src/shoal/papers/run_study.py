"""Run a study, resume it, and write its report."""

from dataclasses import dataclass
from pathlib import Path

from shoal._optional import require
from shoal.exceptions import ParameterError
from shoal.experiments.book import Book
from shoal.experiments.page import Page
from shoal.experiments.provenance import Provenance
from shoal.experiments.record_store import RecordStore
from shoal.experiments.run_spec import Progress, of_part, run_spec
from shoal.papers.finding import OUTCOMES, Finding
from shoal.papers.study import Records, Study

__all__ = ["Reproduction", "run_study"]


@dataclass(frozen=True)
class Reproduction:
    """What came out of a study.

    Parameters
    ----------
    report : Path
        One HTML file with all figures.
    findings : tuple of Finding
        A verdict on every claim of the source.
    records : mapping of str to list of dict
        Tidy records by part.
    """

    report: Path
    findings: tuple[Finding, ...]
    records: Records

    @property
    def verdict(self) -> str:
        """One sentence: how many claims had which outcome."""
        outcomes = [finding.outcome for finding in self.findings]
        counts = ", ".join(f"{outcomes.count(one)} {one}" for one in OUTCOMES)
        return f"Of {len(outcomes)} claims: {counts}."


def run_study(
    study: Study,
    *,
    folder: Path,
    full: bool = False,
    seed: int = 0,
    n_jobs: int | None = 1,
    progress: Progress | None = None,
) -> Reproduction:
    """Run all parts of a study and write its report; a run that was stopped goes on.

    Parameters
    ----------
    study : Study
        What to run.
    folder : Path
        Where records, figures and report go; made if it is not there.
    full : bool, default=False
        As large as the source's own experiments.
    seed : int, default=0
        Seed of everything.
    n_jobs : int, default=1
        Number of processes; -1 takes one for each core. Records do not depend on it.
    progress : callable, default=None
        Called as ``progress(done, total)``, in cells of all parts.

    Returns
    -------
    reproduction : Reproduction
        Report, findings and records.

    Raises
    ------
    DataError
        If a file that the study needs is not there.
    MissingPackageError
        If a package that the study or its report needs is not installed.
    ParameterError
        If the folder cannot be written, or holds records of another run.
    """
    # What the report needs is asked for before hours of work, not after.
    for package in ("altair", "vl_convert"):
        require(package, extra="plot")
    parts = study.parts(full=full, seed=seed)
    sizes = [len(part.spec.cells()) for part in parts]
    figures = folder / "figures"
    try:
        figures.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(
            f"folder must be one that can be written, got {str(folder)!r}: {error.strerror}"
        ) from None
    records: dict[str, list[dict[str, str | int | float | bool | None]]] = {}
    for place, part in enumerate(parts):
        with RecordStore(folder / f"{part.name}.csv", part.spec) as store:
            records[part.name] = run_spec(
                part.spec,
                part.work,
                store=store,
                n_jobs=n_jobs,
                progress=of_part(progress, sum(sizes[:place]), sum(sizes)),
            )
    found = Reproduction(folder / "report.html", study.findings(records), records)
    # Figures may show single records of the source's own, public tables.
    page = Page(study.title, publishable=False)
    page.lead(f"{study.source}. {_size(full)}").verdict(found.verdict)
    _claims(page, found.findings)
    book = Book(figures)
    study.tell(book, records)
    book.write_to(page, n_jobs=n_jobs)
    size = "--full" if full else "--quick"
    command = f"shoal reproduce {study.name} {size} --seed {seed}"
    page.provenance(
        Provenance(command, seed, data="the tables of the source"),
        "Records are beside this file as CSV, figures as SVG or PNG. The command repeats them.",
    )
    page.write(found.report)
    return found


def _size(full: bool) -> str:
    if full:
        return "Run in full, with at least the source's own number of repeats."
    return "A quick run, with few repeats and epsilons: its verdicts are a first look."


def _claims(page: Page, findings: tuple[Finding, ...]) -> None:
    page.section("The claims, one by one")
    page.text(
        "A verdict needs an interval of 95% that excludes the limit; where a claim is about "
        "several means, they share the 5%."
    )
    page.points(f"{name[:1].upper()}{name[1:]}: {words}." for name, words in OUTCOMES.items())
    page.table(
        ["claim", "what the source says", "verdict", "what we measured"],
        [[one.claim, one.words, one.outcome, one.evidence] for one in findings],
        text=4,
    )
