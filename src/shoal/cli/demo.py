"""``shoal demo``: what privacy costs, on generated records."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from shoal._numbers import rounded_up
from shoal.cli._output import output_folder

if TYPE_CHECKING:
    from shoal.experiments import DemoRow

__all__ = ["demo_command"]


def demo_command(
    out: Annotated[Path, typer.Option(help="Folder for the picture and the report.")] = Path(
        "shoal-demo"
    ),
    records: Annotated[int, typer.Option(min=1, help="Number of generated records.")] = 20_000,
    repeats: Annotated[int, typer.Option(min=1, help="Runs of each method at each epsilon.")] = 5,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Seed that makes the table repeatable; voids the guarantees."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
) -> None:
    """Compare both trust models on generated records in a table, a picture and an HTML report.

    Example: shoal demo --records 5000 --out my-demo
    """
    # Loading these takes a second: after --help and wrong options have been dealt with.
    from shoal.experiments import (
        CENTRAL_EPSILONS,
        METRIC_EPSILONS,
        demo_report,
        demo_rows,
        example,
    )
    from shoal.plotting import draw_demo

    output_folder(out)
    console = Console(stderr=as_json)
    rows = list(
        track(
            demo_rows(n_samples=records, repeats=repeats, seed=seed),
            description="clustering",
            total=len(CENTRAL_EPSILONS) + len(METRIC_EPSILONS),
            console=console,
            transient=True,
        )
    )
    picture = draw_demo(example(n_samples=records, seed=seed), rows, path=out / "demo.png")
    report = demo_report(out / "report.html", rows, picture=picture, n_samples=records)
    if as_json:
        typer.echo(json.dumps({"rows": [_plain(row) for row in rows], "report": str(report)}))
        return
    console.print(_table(rows, records))
    console.print(f"\ncentral: {rows[0].guarantee}.")
    console.print(f"local: {rows[-1].guarantee}.")
    console.print(f"\nreport: {report.resolve()}", soft_wrap=True)


def _table(rows: list["DemoRow"], records: int) -> Table:
    table = Table(
        title=f"What privacy costs: 5 clusters in {records:,} generated records",
        caption=f"median (range) of {len(rows[0].costs)} runs; cost 1 = k-means without privacy;\n"
        "agreement = adjusted Rand index; worst = epsilon between any two records;\n"
        "local: each device reports once, NoiseAwareKMeans runs on the reports",
    )
    table.add_column("method")
    for heading in ("epsilon", "worst", "cost", "agreement"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            f"{row.model}: {row.method}",
            rounded_up(row.epsilon),
            rounded_up(row.worst_case, 3),
            row.cost_text,
            row.agreement_text,
        )
    return table


def _plain(row: "DemoRow") -> dict[str, object]:
    return {**asdict(row), "guarantee": {**row.guarantee.to_dict(), "text": str(row.guarantee)}}
