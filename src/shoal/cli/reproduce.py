"""``shoal reproduce``: the experiments of a source again, as published beside corrected."""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from shoal.cli._output import output_folder
from shoal.cli._screen import progress_bar

if TYPE_CHECKING:
    from shoal.papers import Reproduction

__all__ = ["reproduce_command"]


class Source(StrEnum):
    """The sources, as the command names them."""

    KD_LAPLACE = "kd-laplace"
    KCCM = "kccm"
    WAVECLUSTER = "wavecluster"


def reproduce_command(
    source: Annotated[Source, typer.Argument(help="Whose experiments.")],
    *,
    full: Annotated[
        bool,
        typer.Option(
            "--full/--quick", help="Run at the source's full size, or take a quick first look."
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for records, figures and report; a stopped run resumes from it."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for all cores.")] = -1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the whole run.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdicts as JSON.")] = False,
) -> None:
    """Run a source's experiments again and judge its claims.

    Progress is saved after every cell: after a stop, run the same command again to resume.

    Example: shoal reproduce kccm --quick
    """
    # Loading these takes a second: after --help and wrong options have been dealt with.
    from shoal.papers import load_study, run_study

    size = "full" if full else "quick"
    folder = output_folder(out or Path(f"shoal-reproduce-{source.value}-{size}"))
    with progress_bar(f"reproducing {source.value}") as update:
        result = run_study(
            load_study(source.value),
            folder=folder,
            full=full,
            seed=seed,
            n_jobs=jobs,
            progress=update,
        )
    if as_json:
        typer.echo(json.dumps(_plain(result)))
        return
    screen = Console()
    screen.print(_table(result))
    screen.print(result.summary)
    screen.print(f"\nreport: {result.report.resolve()}", soft_wrap=True)


def _table(result: "Reproduction") -> Table:
    table = Table(title="Claims of the source", show_lines=True)
    for heading in ("claim", "what the source says", "verdict"):
        table.add_column(heading)
    for one in result.verdicts:
        table.add_row(one.claim.name, one.claim.text, one.outcome)
    return table


def _plain(result: "Reproduction") -> dict[str, object]:
    return {
        "summary": result.summary,
        "verdicts": [
            {
                "claim": one.claim.name,
                "text": one.claim.text,
                "outcome": one.outcome,
                "evidence": one.evidence,
            }
            for one in result.verdicts
        ],
        "records": {name: len(rows) for name, rows in result.measurements.items()},
        "report": str(result.report),
    }
