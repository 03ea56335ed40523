"""``shoal datasets``: the sets that shoal knows, their schemas, and a checked download."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

from shoal._files import atomic_write
from shoal.cli._options import complete_datasets
from shoal.exceptions import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shoal.datasets import Dataset, DatasetInfo

__all__ = ["datasets_command"]


class _Known(NamedTuple):
    """What the registry says, and the set itself or why it cannot be loaded."""

    info: "DatasetInfo"
    dataset: "Dataset | None"
    missing: str = ""


def datasets_command(
    name: Annotated[
        str | None,
        typer.Argument(help="Data set to describe.", autocompletion=complete_datasets),
    ] = None,
    *,
    download: Annotated[
        bool,
        typer.Option(
            "--download", help="Download its file, verified by sha256; shows the license."
        ),
    ] = False,
    to: Annotated[
        Path | None,
        typer.Option(help="Folder for the file. Default: SHOAL_DATA, or a cache folder."),
    ] = None,
    schema_out: Annotated[
        Path | None,
        typer.Option(
            help="Write its schema to this file, for the `--schema` option of other commands."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the data sets that shoal knows, or describe one with its public bounds.

    Example: shoal datasets iris
    """
    # Loading these takes a second: after --help and wrong options have been dealt with.
    from shoal.datasets import list_datasets

    entries = {info.name: info for info in list_datasets()}
    if name is not None and name not in entries:
        raise ParameterError(f"the name must be one of {', '.join(entries)}, got {name!r}")
    path = _download(name, to) if download else None
    if to is not None and path is None:
        raise ParameterError(f"--to must come with --download, got {str(to)!r} without it")
    if schema_out is not None and name is None:
        raise ParameterError("--schema-out must come with the name of a data set, got none")
    known = [_look(info, to) for info in ([entries[name]] if name else entries.values())]
    if schema_out is not None:
        with atomic_write(schema_out) as part:
            part.write_text(json.dumps(_schema(known[0]), indent=2) + "\n", encoding="utf-8")
    if as_json:
        plain = [_plain(one) for one in known]
        if path is not None:
            plain[0]["path"] = str(path)
        typer.echo(json.dumps(plain[0] if name else plain))
        return
    screen = Console(markup=False, highlight=False)
    if name:
        _describe(screen, known[0])
        if path is not None:
            screen.print(f"file: {path.resolve()}", soft_wrap=True)
        if schema_out is not None:
            screen.print(f"schema: {schema_out.resolve()}", soft_wrap=True)
        return
    _list(screen, known)
    absent = [one for one in known if one.dataset is None]
    if absent:
        screen.print(
            f"{len(absent)} have no file here: set SHOAL_DATA to the folder that holds their "
            "files, or download one with `shoal datasets NAME --download`",
            soft_wrap=True,
        )
    screen.print(f"generated, with no file: {', '.join(_generated())}", soft_wrap=True)
    screen.print("for details: shoal datasets NAME")


def _download(name: str | None, to: Path | None) -> Path:
    """Download the file of a set; its license is shown first."""
    from shoal.datasets import fetch

    if name is None:
        raise ParameterError("--download must come with the name of a data set, got none")
    return fetch(name, to, notify=lambda text: typer.echo(text, err=True))


def _look(info: "DatasetInfo", folder: Path | None = None) -> _Known:
    """Load a set, which checks its file against the registry."""
    from shoal.datasets import load

    try:
        return _Known(info, load(info.name, data_dir=folder))
    except DataError as missing:
        return _Known(info, None, str(missing))


def _generated() -> list[str]:
    from shoal import datasets as package

    return [name for name in package.__all__ if name.startswith("make_")]


def _list(screen: Console, known: list[_Known]) -> None:
    rows = [("name", "records", "columns", "there", "license; source")]
    for info, dataset, _ in known:
        rows.append(
            (
                info.name,
                "" if dataset is None else f"{len(dataset.X):,}",
                str(len(info.table or info.limits)),
                "no" if dataset is None else "yes",
                f"{info.license}; {info.source}",
            )
        )
    width = max(len(row[0]) for row in rows)
    for name, records, columns, there, rest in rows:
        line = f"{name:{width}}  {records:>8}  {columns:>7}  {there:5}  {rest}"
        # A screen shows one line a set; a file gets the whole of it.
        if screen.is_terminal:
            screen.print(line, no_wrap=True, overflow="ellipsis")
        else:
            screen.print(line, soft_wrap=True)


def _describe(screen: Console, known: _Known) -> None:
    info, dataset, missing = known
    where = "comes with scikit-learn" if info.bundled else f"file {info.file}"
    screen.print(str(dataset) if dataset else missing, soft_wrap=True)
    for line in (f"source: {info.source}", f"license: {info.license}", where):
        screen.print(line, soft_wrap=True)
    if info.label:
        screen.print(f"label: {info.label}")
    table = Table(title="Public bounds")
    for heading in ("column", "type"):
        table.add_column(heading)
    for heading in ("low", "high"):
        table.add_column(heading, justify="right")
    for column, domain in _domains(known).items():
        table.add_row(column, *domain)
    screen.print(table)
    screen.print(f"why they hold: {info.reason}", soft_wrap=True)


def _schema(known: _Known) -> "Mapping[str, Any]":
    return known.info.table_schema(known.dataset.columns if known.dataset is not None else ())


def _domains(known: _Known) -> dict[str, tuple[str, str, str]]:
    """Return the type of each column, and its bounds if it has any."""
    if known.info.table:
        return {field["name"]: _domain(field) for field in _schema(known)["fields"]}
    bounds = _bounds(known).items()
    return {column: ("number", f"{low:g}", f"{high:g}") for column, (low, high) in bounds}


def _domain(field: "Mapping[str, Any]") -> tuple[str, str, str]:
    constraints = field.get("constraints", {})
    listed = field.get("categories", constraints.get("enum"))
    if listed is not None:
        return f"one of {len(listed)}", "", ""
    low, high = (f"{constraints[end]:g}" for end in ("minimum", "maximum"))
    return field["type"], low, high


def _bounds(known: _Known) -> dict[str, tuple[float, float]]:
    """Return the bounds by column, as a file for ``--bounds`` has them."""
    columns = known.dataset.columns if known.dataset is not None else known.info.columns
    return dict(zip(columns, known.info.limits, strict=True))


def _plain(known: _Known) -> dict[str, object]:
    info, dataset, missing = known
    return {
        "name": info.name,
        "records": None if dataset is None else len(dataset.X),
        "columns": len(info.table or info.limits),
        "bounds": _bounds(known),
        "schema": _schema(known),
        "reason": info.reason,
        "label": info.label,
        "license": info.license,
        "source": info.source,
        "file": info.file,
        "sha256": info.sha256,
        "there": dataset is not None,
        "downloadable": info.downloadable,
        "made_from": [] if info.origin is None else list(info.origin.urls),
        "why_not": missing or None,
    }
