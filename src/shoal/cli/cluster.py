"""``shoal cluster``: private clusters of a file or a folder; what is written may be published."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli._cluster_reports import MechanismOptions, ReportOptions, cluster_reports
from shoal.cli._options import (
    Columns,
    LedgerFile,
    NoHeader,
    NoLedger,
    SchemaFile,
    Settings,
    TableName,
    Who,
    complete_clustered,
)
from shoal.cli._release_output import (
    FILES,
    OUTLINES,
    PICTURE,
    RELEASE,
    draw_picture,
    plain_release,
    print_release,
)
from shoal.cli._screen import progress_bar
from shoal.exceptions import ParameterError

if TYPE_CHECKING:
    from shoal._cluster_table import ClusterTable
    from shoal.cli._counting import Counting
    from shoal.cli._output import Stage

__all__ = ["cluster_command"]

LABELS = ("cluster",)
PLANE = 2  # columns whose clusters have outlines


def cluster_command(
    data: Annotated[
        Path | None,
        typer.Argument(
            help="CSV, Parquet or Feather file of raw records, a folder of such files, or a .npy "
            "or .npz file (words.npz::vectors names one array of several)."
        ),
    ] = None,
    *,
    target: Annotated[
        str | None,
        typer.Option(
            help="DPKMeans (default), DPWaveCluster or DPDensity; with --reports, the mechanism.",
            autocompletion=complete_clustered,
        ),
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="Budget of this release. Default: 1.")
    ] = None,
    bounds: Annotated[
        str | None,
        typer.Option(
            help="Public bounds: LOW,HIGH, or LOW:HIGH for each column, or a JSON file; "
            "ball:RADIUS for a ball around zero (DPKMeans); or private, to learn them with "
            "part of the budget (DPKMeans)."
        ),
    ] = None,
    columns: Columns = None,
    schema: SchemaFile = None,
    k: Annotated[
        int | None, typer.Option("--k", min=1, help="Number of clusters; --set n_clusters=K.")
    ] = None,
    no_header: NoHeader = False,
    user_column: Annotated[
        str | None,
        typer.Option(
            help="Column that says whose record each row is: the promise is then per person, "
            "however many rows they have, instead of per row (DPKMeans)."
        ),
    ] = None,
    records_per_user: Annotated[
        int | None,
        typer.Option(min=1, help="Rows counted per person. Default: 1."),
    ] = None,
    setting: Settings = None,
    ledger: LedgerFile = None,
    no_ledger: NoLedger = False,
    table: TableName = None,
    who: Who = None,
    out: Annotated[
        Path, typer.Option(help="Folder for the release; an earlier release in it is replaced.")
    ] = Path("shoal-cluster"),
    labels: Annotated[
        Path | None,
        typer.Option(help="CSV or Parquet file for each record's cluster: for the curator only."),
    ] = None,
    longitude: Annotated[
        str | None,
        typer.Option(
            help="Column that is the longitude in outlines.geojson. Default: the one whose name "
            "says so, or the first (DPDensity)."
        ),
    ] = None,
    reports: Annotated[
        Path | None,
        typer.Option(
            help="Reports of `shoal perturb` instead of raw records, a file or a folder. Nothing "
            "is spent."
        ),
    ] = None,
    mechanism: Annotated[
        Path | None,
        typer.Option(
            help="Document of the mechanism that made the reports. Default: the one beside them. "
            "Or pass --target, --epsilon and --bounds."
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(help="For reports: kmeans (default), density for any shape, or remap."),
    ] = None,
    shuffled: Annotated[
        bool,
        typer.Option(
            "--shuffled",
            help="The reports went through a shuffler in one batch: also state what that promises.",
        ),
    ] = False,
    n: Annotated[
        int | None,
        typer.Option("--n", min=1, help="Honest reports in the shuffled batch. Default: all."),
    ] = None,
    delta: Annotated[
        float | None, typer.Option(help="Delta of the shuffled promise. Default: 1e-6.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Seed that makes the release repeatable; voids the guarantee, but not that of "
            "reports.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Find private clusters in your own file and write a release that may be published.

    Folders, and files larger than 64 MiB, are never loaded whole, unless a column says whose
    record each row is. A table with text, dates or gaps needs --schema FILE (`shoal schema`).

    To find the clusters behind reports: shoal cluster --reports reports.csv --k 5

    Example: shoal cluster people.csv --columns age,weight --bounds 0:120,0:250 --epsilon 1
    """
    # Loading these takes a second: after --help and wrong options have been dealt with.
    from shoal._build import CENTRAL
    from shoal._cluster_table import cluster_table
    from shoal.cli._counting import count_spends, finish
    from shoal.cli._input import named_columns, open_records, parse_columns, read_schema
    from shoal.cli._output import after_the_spend, staged
    from shoal.cli._target import build_target
    from shoal.tables import ArrayTable, array_file, is_array_path, write_table

    if reports is not None:
        _refuse(
            "--reports must come without {}: clustering reports costs nothing, and devices find "
            "their labels with `shoal predict`",
            {
                "raw records": data,
                "--ledger": ledger,
                "--no-ledger": no_ledger or None,
                "--table": table,
                "--who": who,
                "--user-column": user_column,
                "--records-per-user": records_per_user,
                "--no-header": no_header or None,
                "--labels": labels,
                "--longitude": longitude,
            },
        )
        cluster_reports(
            reports,
            MechanismOptions(mechanism, target, epsilon, bounds, columns, schema),
            ReportOptions(method or "kmeans", k, seed, shuffled, n, delta),
            settings=setting or [],
            out=out,
            as_json=as_json,
        )
        return
    only = {"--mechanism": mechanism, "--method": method, "--n": n, "--delta": delta}
    only["--shuffled"] = shuffled or None
    _refuse("{} must come with --reports FILE, got it without one", only)
    if data is None:
        raise ParameterError("a file of raw records, or --reports FILE, must be given, got neither")
    described = read_schema(schema, user=user_column)
    chosen = parse_columns(
        columns,
        bounds=bounds,
        no_header=no_header,
        apart={"--user-column": user_column},
        array=is_array_path(data),
        schema=described,
    )
    counting = count_spends(ledger, data, out, table=table, who=who, no_ledger=no_ledger)
    model = build_target(
        target or "DPKMeans",
        CENTRAL,
        epsilon=epsilon,
        bounds=bounds,
        names=chosen.used,
        settings=_with_k(setting or [], k),
        ledger=counting.ledger,
        seed=seed,
        schema=described,
    )
    user = user_column
    if described is not None and described.user is not None:
        user = described.user.name
    _set_users(model, user, records_per_user)
    _check_places(array_file(data), out, labels, counting)
    records = open_records(data, chosen, user=user, schema=described)
    names = chosen.used if described else named_columns(chosen.used, records.columns)
    _check_longitude(model, names, longitude)
    in_memory = isinstance(records, ArrayTable)
    with staged(out, FILES, mark=RELEASE) as stage:
        with progress_bar("clustering"):
            if not described and isinstance(records, ArrayTable) and records.user_ids is not None:
                model.fit(records, user_ids=records.user_ids)
            else:
                model.fit(records)
        release = model.release_
        clusters = cluster_table(release, names)
        _write(model, clusters, stage, longitude and names.index(longitude))
        with after_the_spend("the picture cannot be drawn", f"and the release is in {out}"):
            notes = [
                *_promise_notes(model, user),
                *_uncertain_centers(model, clusters),
                *draw_picture(release, names, stage.path / PICTURE),
            ]
            stage.show()
    if labels is not None:
        with after_the_spend("labels cannot be written", f"and the release is in {out}"):
            each = model.labels_ if in_memory else model.predict(records)
            write_table(labels, LABELS, each[:, None])
    if not as_json:
        print_release(release, clusters, stage.shown, labels, notes)
    plain = plain_release(release, clusters, stage.shown, labels, notes)
    finish(counting, plain if as_json else None)


def _refuse(rule: str, given: Mapping[str, object]) -> None:
    """Refuse options that are given where they mean nothing."""
    for option, value in given.items():
        if value is not None:
            raise ParameterError(rule.format(option))


def _write(model: Any, clusters: "ClusterTable", stage: "Stage", longitude: Any) -> None:
    """Write the release, its table, and the outlines of cells in the plane."""
    from shoal.cli._output import after_the_spend
    from shoal.tables import write_table

    release, out = model.release_, stage.out
    with after_the_spend(
        f"the release cannot be written to {str(out)!r}", "and nothing was released"
    ):
        release.save(stage.path / RELEASE)
        write_table(stage.path / clusters.file, clusters.names, clusters.values)
        stage.show()
    if hasattr(model, "outlines") and len(release.values["low"]) == PLANE:
        with after_the_spend("outlines cannot be written", f"and the release is in {out}"):
            outlines = model.outlines(longitude=longitude)
            (stage.path / OUTLINES).write_text(json.dumps(outlines), encoding="utf-8")
            stage.show()


def _with_k(settings: list[str], k: int | None) -> list[str]:
    if k is None:
        return settings
    for pair in settings:
        if pair.partition("=")[0] == "n_clusters":
            raise ParameterError(f"--k must come without --set {pair}, got both")
    return [*settings, f"n_clusters={k}"]


def _set_users(model: Any, user_column: str | None, records_per_user: int | None) -> None:
    """Set an estimator to promise to people instead of rows, if it can."""
    if user_column is None:
        if records_per_user is not None:
            raise ParameterError(
                f"--records-per-user must come with --user-column NAME, got {records_per_user} "
                "without it"
            )
        return
    if "records_per_user" not in model.get_params():
        raise ParameterError(
            f"--user-column must come with --target DPKMeans, got {type(model).__name__}, whose "
            "promise is per row"
        )
    model.set_params(records_per_user=records_per_user or 1, user_column=user_column)


def _check_longitude(model: Any, names: tuple[str, ...], longitude: str | None) -> None:
    """Refuse, before anything is spent, a column that no outline goes by."""
    if longitude is None:
        return
    if not hasattr(model, "outlines") or len(names) != PLANE:
        raise ParameterError(
            f"--longitude must come with --target DPDensity and 2 columns, got "
            f"{type(model).__name__} and {len(names)}"
        )
    if longitude not in names:
        raise ParameterError(f"--longitude must be one of --columns, got {longitude!r}")


def _promise_notes(model: Any, user_column: str | None) -> list[str]:
    """Return notes on who is promised nothing."""
    notes = []
    if model.random_state is not None:
        notes.append("no promise: anyone who knows --seed can remove the noise")
    if user_column is None:
        able = "records_per_user" in model.get_params()
        notes.append(
            "the promise is per row: a person with several rows is protected "
            f"less; use --user-column{'' if able else ' with --target DPKMeans'}"
        )
    return notes


def _uncertain_centers(model: Any, clusters: "ClusterTable") -> list[str]:
    """Return a line on the centers that may be noise alone and the options that help, or none."""
    if clusters.certain.all():
        return []
    known = int(clusters.certain.sum())
    numbers = ", ".join(map(str, (~clusters.certain).nonzero()[0]))
    option = f"--k {known}" if known else "--epsilon"
    bounds = "LOW:HIGH,..." if isinstance(model.bounds, str) else "private"
    ways = option if model.bounds is None else f"--bounds {bounds} or {option}"
    return [f"{model.advice_} ({ways}); not listed as segments: {numbers}"]


def _check_places(data: Path, out: Path, labels: Path | None, counting: "Counting") -> None:
    """Refuse, before anything is spent, what would destroy the data or publish the labels."""
    from shoal.cli._input import check_outside
    from shoal.tables import check_table_path

    check_outside("--out", out, data)
    if data.resolve() in [(out / name).resolve() for name in FILES]:
        raise ParameterError(f"--out must not replace the data, got {str(out)!r}")
    if labels is None:
        return
    if labels.resolve().is_relative_to(out.resolve()):
        raise ParameterError(
            f"--labels must lie outside the release's folder {str(out)!r}, got {str(labels)!r}: "
            "labels are for the curator only"
        )
    counting.check_apart("--labels", labels)
    check_outside("--labels", labels, data)
    check_table_path(labels, LABELS)
    if labels.exists() and labels.samefile(data):
        raise ParameterError(f"--labels must not replace the data, got {str(labels)!r}")
