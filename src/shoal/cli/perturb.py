"""``shoal perturb``: each record of a file or a folder becomes a report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from shoal.cli._options import (
    BoundsText,
    Columns,
    LedgerFile,
    NoHeader,
    NoLedger,
    SchemaFile,
    TableName,
    Who,
    complete_local,
)
from shoal.cli._screen import progress_bar
from shoal.exceptions import ParameterError, ReleaseError

if TYPE_CHECKING:
    from shoal.privacy import Guarantee
    from shoal.tables import ArrayTable

__all__ = ["perturb_command"]

FILES = (".csv", ".parquet", ".pq")
SEEDED = "no promise: anyone who knows --seed can remove the noise"
ROWS = "the promise is per row: a person with several rows is protected less"


def perturb_command(
    data: Annotated[
        Path,
        typer.Argument(
            help="CSV, Parquet or Feather file of raw records, a folder of such files, or a .npy "
            "or .npz file."
        ),
    ],
    *,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="CSV or Parquet file for the reports; a new folder if the records are a folder, "
            "a Feather file or larger than 64 MiB.",
        ),
    ],
    target: Annotated[
        str,
        typer.Option(
            help="Laplace, PartitionResponse, Piecewise, SquareWave, Duchi, Hybrid, ...",
            autocompletion=complete_local,
        ),
    ] = "Laplace",
    epsilon: Annotated[
        float | None, typer.Option(help="Epsilon of each report. Default: 1.")
    ] = None,
    bounds: BoundsText = None,
    columns: Columns = None,
    schema: SchemaFile = None,
    no_header: NoHeader = False,
    unit: Annotated[
        str | None,
        typer.Option(
            help="Unit of distance between records, such as km, for a Laplace mechanism, whose "
            "epsilon is per unit; a ledger needs it."
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="Parameter of the target, as name=value."),
    ] = None,
    ledger: LedgerFile = None,
    no_ledger: NoLedger = False,
    table: TableName = None,
    who: Who = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Seed that makes the reports repeatable; voids the guarantee."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Perturb each record of a file on its own; the reports may leave the device.

    Folders and large files are never loaded whole; their reports appear all at once, as Parquet
    files in the order of the records. A public document of the mechanism is written beside the
    reports, so that `shoal cluster --reports` needs no further options.

    Example: shoal perturb places.csv -o reports.csv --columns x,y --bounds -1,1 --epsilon 2
    """
    # Loading these takes a second: after --help and wrong options have been dealt with.
    from shoal._build import LOCAL
    from shoal.cli._counting import count_spends, finish
    from shoal.cli._input import (
        named_columns,
        only_features,
        open_records,
        parse_columns,
        read_schema,
    )
    from shoal.cli._output import after_the_spend
    from shoal.cli._reports import promises
    from shoal.cli._target import build_target
    from shoal.mechanisms import save_beside
    from shoal.tables import ArrayTable, is_array_path

    described = only_features(read_schema(schema))
    chosen = parse_columns(
        columns,
        bounds=bounds,
        no_header=no_header,
        array=is_array_path(data),
        schema=described,
    )
    counting = count_spends(ledger, data, out, table=table, who=who, no_ledger=no_ledger)
    mechanism = build_target(
        target,
        LOCAL,
        epsilon=epsilon,
        bounds=bounds,
        names=chosen.used,
        settings=setting or [],
        ledger=counting.ledger,
        seed=seed,
        schema=described,
    )
    if unit is not None:
        _set_unit(mechanism, unit)
    records = open_records(data, chosen, schema=described)
    names = records.names if described else named_columns(chosen.used, records.columns)
    if isinstance(records, ArrayTable):
        count = _in_memory(mechanism, records, names, data, out)
    else:
        count = _streamed(mechanism, records, data, out)
    with after_the_spend("the document cannot be written", f"and the reports are in {out}"):
        # KdLaplace remaps on the device: a server cannot read its reports.
        readable = hasattr(mechanism, "to_dict")
        document = save_beside(mechanism, out, names) if readable else None
    promised = promises(mechanism)
    if as_json:
        shape = count, len(names)
        finish(counting, _plain(target, mechanism, promised, shape, (out, document)))
        return
    # The names of files are the user's: square brackets in them are no markup.
    screen = Console(markup=False, highlight=False)
    for title, promise in promised.items():
        screen.print(f"{title}: {promise}", soft_wrap=True)
    if mechanism.random_state is not None:
        screen.print(SEEDED)
    screen.print(ROWS, soft_wrap=True)
    if mechanism.ledger is not None:
        screen.print(f"ledger: {mechanism.ledger.receipt}")
    screen.print(f"\n{count:,} reports: {out.resolve()}", soft_wrap=True)
    if document is not None:
        screen.print(f"public document for the server: {document.resolve()}", soft_wrap=True)
    finish(counting, None)


def _set_unit(mechanism: Any, unit: str) -> None:
    """Set the unit of a metric promise, which a ledger needs."""
    if "unit" not in mechanism.get_params():
        raise ParameterError(
            f"--unit must come with a metric promise, got {type(mechanism).__name__}, whose "
            "epsilon is the same at any distance"
        )
    mechanism.set_params(unit=unit)


def _in_memory(
    mechanism: Any, table: "ArrayTable", names: tuple[str, ...], data: Path, out: Path
) -> int:
    """Write the reports to a file; return their number."""
    from shoal._report_channel import PARTITION_COLUMNS
    from shoal.cli._reports import are_partitions
    from shoal.tables import array_file, check_table_path, write_table

    partitions = are_partitions(mechanism)
    reported = PARTITION_COLUMNS if partitions else names
    check_table_path(out, reported)
    if out.exists() and out.samefile(array_file(data)):
        raise ParameterError(f"--out must not replace the records, got {str(out)!r}")
    with progress_bar("perturbing"):
        reports = mechanism.fit_transform(table)
    try:
        write_table(out, reported, reports.astype("int64") if partitions else reports)
    except ParameterError as failure:
        raise ReleaseError(
            f"{failure}; the budget was spent anyway, and no report was written"
        ) from None
    return len(reports)


def _streamed(mechanism: Any, records: Any, data: Path, out: Path) -> int:
    """Write the reports to a folder; return their number."""
    from shoal.cli._input import check_outside

    if out.suffix.lower() in FILES:
        raise ParameterError(
            f"--out must be a folder for the reports of a folder or a large file, got {str(out)!r}:"
            " leave out the ending"
        )
    check_outside("--out", out, data)
    with progress_bar("perturbing"):
        reports = mechanism.fit(records).transform(records, out=out)
    return int(reports.count_rows())


def _plain(
    target: str,
    mechanism: Any,
    promised: dict[str, "Guarantee"],
    shape: tuple[int, int],
    files: tuple[Path, Path | None],
) -> dict[str, object]:
    guarantees = [{**promise.to_dict(), "text": str(promise)} for promise in promised.values()]
    reports, document = files
    return {
        "target": target,
        "guarantee": guarantees[0],
        "over_the_whole_box": guarantees[-1],
        "reports": shape[0],
        "columns": shape[1],
        "file": str(reports),
        "document": None if document is None else str(document),
        "ledger": None if mechanism.ledger is None else mechanism.ledger.receipt.to_dict(),
    }
