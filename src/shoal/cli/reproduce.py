"""``shoal reproduce``: the experiments of a source again, as published beside corrected."""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from shoal.cli._arguments import output_folder
from shoal.cli._progress import progress_bar

if TYPE_CHECKING:
    from shoal.papers.run_study import Reproduction

__all__ = ["reproduce"]


class Source(StrEnum):
    """The sources, as the command names them."""

    KD_LAPLACE = "kd-laplace"
    KCCM = "kccm"
    WAVECLUSTER = "wavecluster"


def reproduce(
    source: Annotated[Source, typer.Argument(help="Whose experiments.")],
    *,
    full: Annotated[
        bool, typer.Option("--full/--quick", help="As large as the source's own, or a first look.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for records, figures and report; a stopped run goes on there."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for all cores.")] = -1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdicts as JSON.")] = False,
) -> None:
    """Run a source's experiments again and judge its claims.

    Records are kept cell by cell: run the same command again after a stop, and it goes on.

    Example: shoal reproduce kccm --quick
    """
    # Loading these takes a second: after --help and wrong options have been dealt with.
    from shoal.papers.run_study import run_study  # noqa: PLC0415
    from shoal.papers.studies import STUDIES  # noqa: PLC0415

    size = "full" if full else "quick"
    folder = output_folder(out or Path(f"shoal-reproduce-{source.value}-{size}"))
    with progress_bar(f"reproducing {source.value}") as update:
        found = run_study(
            STUDIES[source.value], folder=folder, full=full, seed=seed, n_jobs=jobs, progress=update
        )
    if as_json:
        typer.echo(json.dumps(_plain(found)))
        return
    screen = Console()
    screen.print(_table(found))
    screen.print(found.verdict)
    screen.print(f"\nreport: {found.report.resolve()}", soft_wrap=True)


def _table(found: "Reproduction") -> Table:
    table = Table(title="Claims of the source", show_lines=True)
    for heading in ("claim", "what the source says", "verdict"):
        table.add_column(heading)
    for one in found.findings:
        table.add_row(one.claim, one.words, one.outcome)
    return table


def _plain(found: "Reproduction") -> dict[str, object]:
    return {
        "verdict": found.verdict,
        "findings": [
            {
                "claim": one.claim,
                "words": one.words,
                "outcome": one.outcome,
                "evidence": one.evidence,
            }
            for one in found.findings
        ],
        "records": {name: len(rows) for name, rows in found.records.items()},
        "report": str(found.report),
    }
