"""``shoal compare``: all methods of both trust models on the columns of a file."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from shoal.cli._arguments import parse_bounds, parse_list, typed
from shoal.cli._options import Columns, NoHeader, Who
from shoal.cli._progress import progress_bar
from shoal.exceptions import ParameterError

if TYPE_CHECKING:
    from shoal.experiments.compare import Comparison
    from shoal.experiments.estimate import Estimate

__all__ = ["compare"]

REPORT = "report.html"
PICTURES = ("agreement", "cost", "trade-off")
FILES = (REPORT, *[f"{name}.{end}" for name in PICTURES for end in ("svg", "png", "json")])


def compare(
    data: Annotated[Path, typer.Argument(help="CSV or Parquet file of raw records.")],
    *,
    epsilon: Annotated[
        str,
        typer.Option(
            help="Worst-case epsilons, by commas: how well anything given away tells a person's "
            "record from any other. All methods are run at the same."
        ),
    ] = "0.5,1,2",
    bounds: Annotated[
        str | None,
        typer.Option(help="Public bounds: LOW,HIGH, or LOW:HIGH for each column, or a JSON file."),
    ] = None,
    columns: Columns = None,
    no_header: NoHeader = False,
    label: Annotated[
        str | None, typer.Option(help="Column of classes to compare clusters with.")
    ] = None,
    clusters: Annotated[
        int | None,
        typer.Option(min=1, help="Number of clusters; chosen by silhouette if left out."),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            help="Methods, by commas, such as DPKMeans,Laplace, or module:Class of your own; all "
            "of shoal's that fit."
        ),
    ] = None,
    runs: Annotated[
        int,
        typer.Option(min=1, help="Fits of each method at each epsilon; a recommendation needs 5."),
    ] = 10,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for all cores.")] = -1,
    private_copy: Annotated[
        float | None,
        typer.Option(
            help="Compare on a private copy, released once with this epsilon (add/remove): the "
            "report may then be shared."
        ),
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(help="Ledger that pays for --private-copy; made by `shoal ledger`."),
    ] = None,
    table_name: Annotated[
        str | None,
        typer.Option(
            "--table", help="Name of these records in the ledger; that of the file if left out."
        ),
    ] = None,
    who: Who = None,
    out: Annotated[
        Path, typer.Option(help="Folder for the report; a comparison that was stopped goes on.")
    ] = Path("shoal-compare"),
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Other noise; with --private-copy it voids the guarantee."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Compare all methods on your own file at equal worst-case privacy, and recommend one.

    The report is for the curator only, unless --private-copy pays for a private copy.

    Example: shoal compare people.csv --columns age,weight --bounds 0:120,0:250 --label group
    """
    # Loading these takes a second: after --help and wrong options have been dealt with.
    from shoal import _numbers  # noqa: PLC0415
    from shoal._optional import require  # noqa: PLC0415
    from shoal.cli._table_private_copy import check_private_copy, opened_private_copy  # noqa: PLC0415
    from shoal.cli._table_source import given_columns  # noqa: PLC0415
    from shoal.cli._table_stage import staged  # noqa: PLC0415
    from shoal.cli._table_target import paying_ledger  # noqa: PLC0415
    from shoal.datasets import read_table  # noqa: PLC0415
    from shoal.experiments.compare import (  # noqa: PLC0415
        choose_contenders,
        compare_methods,
        compare_report,
        open_frame,
    )
    from shoal.experiments.provenance import Provenance  # noqa: PLC0415

    for package in ("altair", "vl_convert"):  # not after minutes of work
        require(package, extra="plot")
    epsilons = [_numbers.positive("--epsilon", _number(text)) for text in epsilon.split(",")]
    if len(set(epsilons)) < len(epsilons):
        raise ParameterError(f"--epsilon must be different numbers, got {epsilon!r}")
    used, header = given_columns(
        columns, bounds=bounds, no_header=no_header, apart={"--label": label}
    )
    table = read_table(data, columns=used, label=label, names=header)
    chosen = choose_contenders(len(table.names), parse_list(only))
    box = parse_bounds(bounds, table.names)
    if ledger is not None and private_copy is None:
        raise ParameterError(
            f"--ledger must come with --private-copy EPSILON, got "
            f"{str(ledger)!r} alone: a comparison "
            "on raw records is for the curator only, and no ledger pays for it"
        )
    paying = paying_ledger(ledger, data, out, table=table_name, who=who)
    asked = check_private_copy(
        table, box, data=data, out=out, epsilon=private_copy, ledger=paying, seed=seed
    )
    made = Provenance(typed(), seed or 0, data=data.name)
    with staged(out, FILES, mark=REPORT) as stage:
        copy = opened_private_copy(asked, out)
        if copy is not None and label is not None:
            note = f"Agreement with the column {label!r}: the copy holds no labels."
            chosen = chosen._replace(left_out=(*chosen.left_out, note))
        with progress_bar("comparing") as update:
            frame = open_frame(
                data if copy is None else copy.file,
                columns=table.names,
                header=header if copy is None else None,
                label=label if copy is None else None,
                bounds=box,
                clusters=clusters,
            )
            found = compare_methods(
                frame,
                chosen,
                epsilons=epsilons,
                runs=runs,
                seed=seed or 0,
                store=out,
                n_jobs=jobs,
                progress=update,
            )
        compare_report(
            stage.path / REPORT,
            found,
            made=made,
            private_copy=None if copy is None else copy.guarantee,
            paid="" if copy is None else copy.paid,
        )
        stage.show()
    state = "for the curator only"
    if copy is not None:
        state = "may be shared" if copy.guarantee.holds else "not to be shared: seeded"
    if as_json:
        typer.echo(json.dumps({**_plain(found, state, out / REPORT), "provenance": made.to_dict()}))
    else:
        _print(found, state, out / REPORT)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _print(found: "Comparison", state: str, report: Path) -> None:
    from shoal.experiments.compare import recommend  # noqa: PLC0415

    screen = Console(markup=False, highlight=False)
    table = Table(
        title=f"{found.frame.records:,} records, {found.frame.columns} columns, "
        f"{found.frame.clusters} clusters: cost at each worst-case epsilon",
        caption=f"mean of {found.runs} runs{' ± half of its 95% interval' * found.decides}; 1 = "
        f"k-means without privacy; the best without looking: {found.frame.baselines.best:.3g}",
    )
    table.add_column("method", no_wrap=True)
    for epsilon in found.epsilons:
        table.add_column(f"{epsilon:g}", justify="right")
    for method in found.methods:
        costs = [row.cost for row in found.rows if row.method == method]
        if any(costs):
            table.add_row(method, *[_short(cost, found.decides) for cost in costs])
    screen.print(table)
    for row in found.at(found.middle):
        if ":" in row.contender:
            screen.print(f"{row.method}: {row.guarantee}", soft_wrap=True)
    screen.print(f"{recommend(found)}\n", soft_wrap=True)
    screen.print(f"report, {state}: {report.resolve()}", soft_wrap=True)


def _short(cost: "Estimate | None", decides: bool) -> str:
    if cost is None:
        return ""
    return cost.brief if decides else f"{cost.mean:.3g}"


def _plain(found: "Comparison", state: str, report: Path) -> dict[str, object]:
    from shoal.experiments.compare import recommend  # noqa: PLC0415

    frame = found.frame
    return {
        "recommendation": recommend(found),
        "enough_runs": found.decides,
        "records": frame.records,
        "columns": frame.names,
        "clusters": frame.clusters,
        "runs": found.runs,
        "baselines": frame.baselines._asdict(),
        "methods": [{**asdict(row), "attack": dict(row.attack)} for row in found.rows],
        "left_out": found.left_out,
        "report": str(report),
        "state": state,
    }
