"""``shoal attack``: what attackers find out about the records of a file."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from shoal.cli._input import parse_bounds, parse_list
from shoal.cli._options import BoundsText, Columns, NoHeader, Settings, complete_targets
from shoal.cli._output import output_folder, typed
from shoal.cli._screen import progress_bar

if TYPE_CHECKING:
    from shoal.audit import AttackResult
    from shoal.experiments import AttackSuite

__all__ = ["attack_command"]


def attack_command(
    data: Annotated[Path, typer.Argument(help="CSV or Parquet file of raw records.")],
    *,
    target: Annotated[
        str,
        typer.Option(
            help="DPKMeans, DPDensity, Laplace, ... or module:object.",
            autocompletion=complete_targets,
        ),
    ] = "DPKMeans",
    epsilon: Annotated[float | None, typer.Option(help="Its epsilon.")] = None,
    bounds: BoundsText = None,
    columns: Columns = None,
    no_header: NoHeader = False,
    label: Annotated[
        str | None, typer.Option(help="Column of class labels, not used as a number.")
    ] = None,
    setting: Settings = None,
    attacks: Annotated[
        str | None,
        typer.Option(help="Any of centers, shadow, yeom, label-only. Default: all that fit."),
    ] = None,
    guess: Annotated[str | None, typer.Option(help="A column to guess from the others.")] = None,
    runs: Annotated[int, typer.Option(min=1, help="Runs of each attack.")] = 10,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for all cores.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder for picture and report.")] = Path(
        "shoal-attack"
    ),
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed that makes the attacks repeatable.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Attack private clusters of your own file and write a report for the curator.

    Example: shoal attack people.csv --columns age,weight --bounds 0:120,0:250 --epsilon 1
    """
    # Loading these takes a second: after --help and wrong options have been dealt with.
    from shoal._build import build_estimator, parse_settings
    from shoal.cli._input import named_columns, parse_columns
    from shoal.experiments import Provenance, attack_report, attack_suite
    from shoal.plotting import draw_rates
    from shoal.tables import read_table

    used, header = parse_columns(
        columns, bounds=bounds, no_header=no_header, apart={"--label": label}
    )
    table = read_table(data, columns=used, label=label, names=header)
    table = replace(table, names=named_columns(used, table.columns))
    model = build_estimator(
        target,
        epsilon=epsilon,
        bounds=parse_bounds(bounds, table.names),
        kwargs=parse_settings(setting or []),
    )
    folder = output_folder(out)
    with progress_bar("attacking") as update:
        suite = attack_suite(
            model,
            table,
            attacks=parse_list(attacks),
            column=guess,
            runs=runs,
            n_jobs=jobs,
            random_state=seed,
            progress=update,
        )
    picture = draw_rates(suite.rows, path=folder / "rates.png")
    made = Provenance(typed(), seed, data=data.name)
    report = attack_report(folder / "report.html", suite, picture=picture, made=made)
    if as_json:
        typer.echo(json.dumps({**_plain(suite, report), "provenance": made.to_dict()}))
        return
    # Words of the user's own file are no markup.
    screen = Console(markup=False, highlight=False)
    for sentence in suite.sentences:
        screen.print(sentence, soft_wrap=True)
    screen.print(_table(suite))
    for line in (*suite.guesses, *suite.notes):
        screen.print(line, soft_wrap=True)
    screen.print(f"\nreport, for the curator only: {report.resolve()}", soft_wrap=True)


def _table(suite: "AttackSuite") -> Table:
    table = Table(
        title=f"Was this record in the data? {suite.records:,} records, {suite.columns} columns",
        caption="half of these records were in the data: guessing is right in 50 of 100;\n"
        "±: half of the 95% interval; promised: no attack on the release can exceed it",
    )
    table.add_column("attack", no_wrap=True)
    for heading in ("no privacy", "power", "here", "promised"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in suite.rows:
        table.add_row(
            row.result.attack,
            _right(row.control),
            "yes" if row.has_power else "no",
            _right(row.result),
            "" if row.ceiling is None else f"<= {50 + 50 * row.ceiling:.0f}",
        )
    return table


def _right(result: "AttackResult") -> str:
    low, high = result.interval()
    return f"{100 * result.right:.0f} ± {25 * (high - low):.1f}"


def _plain(suite: "AttackSuite", report: Path) -> dict[str, object]:
    rows = [
        {
            "attack": row.result.attack,
            "has_power": row.has_power,
            "tells_privacy_from_none": row.tells_apart,
            "right_without_privacy": row.control.right,
            "advantage_without_privacy": row.control.advantage,
            "interval_without_privacy": row.control.interval(),
            "right": row.result.right,
            "advantage": row.result.advantage,
            "interval": row.result.interval(),
            "tpr": row.result.tpr,
            "fpr": row.result.fpr,
            "tpr_at_1_percent": row.result.tpr_at(0.01),
            "tpr_at_0.1_percent": row.result.tpr_at(0.001),
            "largest_advantage_promised": row.ceiling,
        }
        for row in suite.rows
    ]
    others = {
        "reconstruction": suite.reconstruction and str(suite.reconstruction),
        "attribute": suite.attribute and str(suite.attribute),
        "attribute_without_privacy": suite.attribute_control and str(suite.attribute_control),
    }
    return {
        "target": suite.target,
        "guarantee": suite.guarantee,
        "records": suite.records,
        "has_power": suite.has_power,
        "tells_privacy_from_none": suite.tells_apart,
        "sentences": suite.sentences,
        "attacks": rows,
        **others,
        "notes": suite.notes,
        "report": str(report),
    }
