"""``shoal compare``: all methods of the three trust models on the columns of a file."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from shoal._numbers import rounded_up
from shoal.cli._input import parse_bounds, parse_list
from shoal.cli._options import BoundsText, Columns, NoHeader, NoLedger, SchemaFile, Who
from shoal.cli._output import typed
from shoal.cli._screen import progress_bar
from shoal.exceptions import ParameterError

if TYPE_CHECKING:
    from shoal.cli._counting import Counting
    from shoal.experiments import Estimate
    from shoal.experiments.compare import Comparison

__all__ = ["compare_command"]

REPORT = "report.html"
PICTURES = ("agreement", "cost", "trade-off", "trust-models")
FILES = (REPORT, *[f"{name}.{end}" for name in PICTURES for end in ("svg", "png", "json")])


def compare_command(
    data: Annotated[Path, typer.Argument(help="CSV or Parquet file of raw records.")],
    *,
    epsilon: Annotated[
        str,
        typer.Option(
            help="Worst-case epsilons, separated by commas: how well anything given away can "
            "distinguish a person's record from another. All methods run at the same values."
        ),
    ] = "0.5,1,2",
    bounds: BoundsText = None,
    columns: Columns = None,
    schema: SchemaFile = None,
    no_header: NoHeader = False,
    label: Annotated[
        str | None, typer.Option(help="Column of classes to compare clusters with.")
    ] = None,
    clusters: Annotated[
        int | None,
        typer.Option(min=1, help="Number of clusters. Default: chosen by silhouette."),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            help="Methods, separated by commas, such as DPKMeans,Laplace, or module:Class of your "
            "own. Default: all of shoal's that fit."
        ),
    ] = None,
    runs: Annotated[
        int,
        typer.Option(min=1, help="Fits of each method at each epsilon; a recommendation needs 5."),
    ] = 10,
    delta: Annotated[
        float,
        typer.Option(help="Delta of the promise for reports behind a shuffler."),
    ] = 1e-6,
    attacks: Annotated[
        bool,
        typer.Option(
            "--attacks/--no-attacks",
            help="Whether to attack the methods too, which takes longer than fitting them.",
        ),
    ] = True,
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
        typer.Option(
            help="Ledger to charge for --private-copy; made by `shoal ledger`. Default: the one "
            "that SHOAL_LEDGER names, or one without a limit beside the records."
        ),
    ] = None,
    no_ledger: NoLedger = False,
    table_name: Annotated[
        str | None,
        typer.Option(
            "--table", help="Name of these records in the ledger. Default: the file's name."
        ),
    ] = None,
    who: Who = None,
    out: Annotated[
        Path, typer.Option(help="Folder for the report; a stopped comparison resumes from it.")
    ] = Path("shoal-compare"),
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Seed of the noise; with --private-copy it voids the guarantee."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Compare all methods on your own file at equal worst-case privacy, and recommend one.

    The report is for the curator only, unless it is based on a private copy (--private-copy).

    Example: shoal compare people.csv --columns age,weight --bounds 0:120,0:250 --label group
    """
    # Loading these takes a second: after --help and wrong options have been dealt with.
    from shoal import _numbers
    from shoal._optional import require
    from shoal.cli._counting import finish
    from shoal.cli._input import named_columns, only_features, parse_columns, read_schema
    from shoal.cli._output import staged
    from shoal.cli._private_copy import check_private_copy, open_private_copy
    from shoal.experiments import Provenance
    from shoal.experiments.compare import (
        ComparedTable,
        checked_delta,
        choose_contenders,
        compare_methods,
        compare_report,
    )
    from shoal.tables import read_table

    for package in ("altair", "vl_convert"):  # not after minutes of work
        require(package, extra="plot")
    epsilons = [_numbers.positive("--epsilon", _number(text)) for text in epsilon.split(",")]
    checked_delta(delta)
    if len(set(epsilons)) < len(epsilons):
        raise ParameterError(f"--epsilon must be different numbers, got {epsilon!r}")
    described = only_features(read_schema(schema))
    if described is not None and (bounds is not None or private_copy is not None):
        other = "--private-copy" if bounds is None else "--bounds"
        raise ParameterError(f"--schema must come without {other}, got both")
    used, header = parse_columns(
        columns, bounds=bounds, no_header=no_header, apart={"--label": label}, schema=described
    )
    if described is None:
        table = read_table(data, columns=used, label=label, names=header)
        table = replace(table, names=named_columns(used, table.columns))
    else:
        table = read_table(data, schema=described, label=label, names=header)
    chosen = choose_contenders(len(table.names), parse_list(only))
    box = described.space.bounds if described else parse_bounds(bounds, table.names)
    named = {"ledger": ledger, "table": table_name, "who": who, "no_ledger": no_ledger}
    counting = _counting(data, out, named, copied=private_copy is not None)
    charged = None if counting is None else counting.ledger
    request = check_private_copy(
        table,
        box,
        data=data,
        out=out,
        epsilon=private_copy,
        ledger=charged,
        seed=seed,
    )
    made = Provenance(typed(), seed or 0, data=data.name)
    with staged(out, FILES, mark=REPORT) as stage:
        copy = open_private_copy(request, out)
        if copy is not None and label is not None:
            note = f"Agreement with the column {label!r}: the copy holds no labels."
            chosen = chosen._replace(left_out=(*chosen.left_out, note))
        with progress_bar("comparing") as update:
            compared = ComparedTable.from_table(
                table if copy is None else read_table(copy.file, columns=table.names),
                file=data if copy is None else copy.file,
                label=label if copy is None else None,
                bounds=box,
                n_clusters=clusters,
            )
            comparison = compare_methods(
                compared,
                chosen,
                epsilons=epsilons,
                runs=runs,
                delta=delta,
                seed=seed or 0,
                store=out,
                n_jobs=jobs,
                progress=update,
                attacks=attacks,
            )
        compare_report(
            stage.path / REPORT,
            comparison,
            made=made,
            private_copy=None if copy is None else copy.guarantee,
            paid="" if copy is None else copy.paid,
        )
        stage.show()
    state = "for the curator only"
    if copy is not None:
        state = "may be shared" if copy.guarantee.holds else "not to be shared: seeded"
    if not as_json:
        _print(comparison, state, out / REPORT)
    plain = {**_plain(comparison, state, out / REPORT), "provenance": made.to_dict()}
    finish(counting, plain if as_json else None)


def _counting(data: Path, out: Path, named: dict[str, Any], *, copied: bool) -> "Counting | None":
    """Open the ledger that a private copy is charged to; without one nothing is released."""
    from shoal.cli._counting import count_spends

    if copied:
        return count_spends(data=data, out=out, **named)
    for name, value in named.items():
        if value:
            raise ParameterError(
                f"--{name.replace('_', '-')} must come with --private-copy EPSILON, got "
                f"{str(value)!r} without it: a comparison on raw records is for the curator only, "
                "and is not charged to a ledger"
            )
    return None


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _print(comparison: "Comparison", state: str, report: Path) -> None:
    from shoal.experiments.compare import recommend

    screen = Console(markup=False, highlight=False)
    baseline = comparison.baseline
    spread = " ± half of its 95% interval" if comparison.decides else ""
    table = Table(
        title=f"{baseline.n_records:,} records, {baseline.n_columns} columns, "
        f"{baseline.n_clusters} clusters: cost at each worst-case epsilon",
        caption=f"mean of {comparison.runs} runs{spread}; 1 = k-means without privacy; (shuffled): "
        f"for the batch of {baseline.n_records:,} reports, at delta {rounded_up(comparison.delta)}",
    )
    table.add_column("method", no_wrap=True)
    for epsilon in comparison.epsilons:
        table.add_column(rounded_up(epsilon), justify="right")
    for method in comparison.methods:
        costs = [row.cost for row in comparison.rows if row.method == method]
        if any(costs):
            table.add_row(method, *[_short(cost, comparison.decides) for cost in costs])
    blind = f"{baseline.trivial_costs.even:.3g}"
    table.add_section()
    table.add_row("spread over the box (blind)", *[blind] * len(comparison.epsilons))
    screen.print(table)
    for row in comparison.at(comparison.middle):
        if ":" in row.contender:
            screen.print(f"{row.method}: {row.guarantee}", soft_wrap=True)
    screen.print(f"{recommend(comparison)}\n", soft_wrap=True)
    screen.print(f"report, {state}: {report.resolve()}", soft_wrap=True)


def _short(cost: "Estimate | None", decides: bool) -> str:
    if cost is None:
        return ""
    return cost.brief if decides else f"{cost.mean:.3g}"


def _plain(comparison: "Comparison", state: str, report: Path) -> dict[str, object]:
    from shoal.experiments.compare import recommend

    baseline = comparison.baseline
    return {
        "recommendation": recommend(comparison),
        "enough_runs": comparison.decides,
        "records": baseline.n_records,
        "columns": baseline.names,
        "clusters": baseline.n_clusters,
        "runs": comparison.runs,
        "delta": comparison.delta,
        "baselines": baseline.trivial_costs._asdict(),
        "methods": [{**asdict(row), "attack": dict(row.attack)} for row in comparison.rows],
        "left_out": comparison.left_out,
        "report": str(report),
        "state": state,
    }
