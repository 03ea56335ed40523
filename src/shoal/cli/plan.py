"""``shoal plan``: what each epsilon would buy, before anything is spent."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from shoal.cli._output import staged, typed
from shoal.cli._screen import progress_bar
from shoal.exceptions import ParameterError

__all__ = ["plan_command"]

REPORT = "plan.html"
FILES = (REPORT, "plan.png")


def plan_command(
    *,
    schema: Annotated[Path, typer.Option(help="Schema of the table; made by `shoal schema`.")],
    n: Annotated[
        int,
        typer.Option(
            "--n", min=1, help="Your public guess of the number of rows; the true one is private."
        ),
    ],
    k: Annotated[int, typer.Option("--k", min=1, help="Number of clusters.")] = 5,
    epsilons: Annotated[str, typer.Option(help="Epsilons to compare, by commas.")] = "0.1,0.5,1,2",
    delta: Annotated[
        float, typer.Option(help="0 for pure differential privacy; above 0, Gaussian noise.")
    ] = 0.0,
    records_per_user: Annotated[
        int, typer.Option(min=1, help="Rows of one person that count, if they have several.")
    ] = 1,
    out: Annotated[Path, typer.Option(help="Folder for the page and the picture.")] = Path(
        "shoal-plan"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Other made-up records.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
) -> None:
    """Forecast what each epsilon would buy: no file is read, and nothing is spent.

    Clusters are made up from the schema alone, and clustered with and without privacy.

    Example: shoal plan --schema people.json --n 2000 --k 3 --epsilons 0.5,1
    """
    # Loading these takes a second: after --help and wrong options have been dealt with.
    from shoal._optional import require
    from shoal.experiments import Provenance, plan_release, plan_report
    from shoal.experiments.plan import HEADINGS
    from shoal.schema import Schema

    for package in ("altair", "vl_convert"):  # not after the work
        require(package, extra="plot")
    described = Schema.load(schema)
    wanted = _epsilons(epsilons)
    with staged(out, FILES, mark=REPORT) as stage:
        with progress_bar("planning") as update:
            plan = plan_release(
                described,
                n=n,
                k=k,
                epsilons=wanted,
                delta=delta,
                records_per_user=records_per_user,
                random_state=seed,
                progress=update,
            )
        plan_report(stage.path / REPORT, plan, made=Provenance(typed(), seed))
        stage.show()
    report = out / REPORT
    if as_json:
        typer.echo(json.dumps({**plan.to_dict(), "report": str(report)}))
        return
    screen = Console(markup=False, highlight=False)
    table = Table(title=plan.title)
    for heading in HEADINGS:
        table.add_column(heading, justify="right")
    for row in plan.rows:
        table.add_row(*row.cells)
    screen.print(table)
    for note in plan.notes:
        screen.print(note, soft_wrap=True)
    screen.print(f"\nreport: {report.resolve()}", soft_wrap=True)


def _epsilons(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError(
            f"--epsilons must be numbers > 0, by commas, got {text!r}: try --epsilons 0.1,0.5,1"
        ) from None
