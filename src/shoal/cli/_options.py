"""Options that several commands take, each described once, and what the shell offers after a tab.

The names that are offered come from the registry: nothing that they name is loaded.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from shoal._registry import METHODS, class_names

__all__ = [
    "BoundsText",
    "Columns",
    "LedgerFile",
    "NamedColumns",
    "NoHeader",
    "NoLedger",
    "SchemaFile",
    "Settings",
    "TableName",
    "Who",
    "complete_central",
    "complete_clustered",
    "complete_datasets",
    "complete_local",
    "complete_settings",
    "complete_targets",
]


def complete_datasets(incomplete: str) -> list[str]:
    """Return the names of data sets that begin with what was typed."""
    from shoal.datasets.registry import REGISTRY

    return _beginning(incomplete, (info.name for info in REGISTRY))


def complete_central(incomplete: str) -> list[str]:
    """Return the names of estimators over raw records that begin with what was typed.

    >>> complete_central("DPW")
    ['DPWaveCluster']
    """
    return _beginning(incomplete, class_names("central"))


def complete_local(incomplete: str) -> list[str]:
    """Return the names of mechanisms that begin with what was typed."""
    return _beginning(incomplete, class_names("local"))


def complete_targets(incomplete: str) -> list[str]:
    """Return the names of estimators and mechanisms that begin with what was typed."""
    return complete_central(incomplete) + complete_local(incomplete)


def complete_clustered(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return estimators over raw records, or after ``--reports`` the mechanisms of reports."""
    complete = complete_central if ctx.params.get("reports") is None else complete_local
    return complete(incomplete)


def complete_settings(incomplete: str) -> list[str]:
    """Return the settings of ``--set`` that make a method of its own, and begin as it was typed.

    >>> complete_settings("method=l")
    ['method=lloyd']
    """
    named = (f"{name}={value}" for method in METHODS for name, value in method.kwargs.items())
    return _beginning(incomplete, ("method=auto", *named))


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if name.startswith(incomplete))


BoundsText = Annotated[
    str | None,
    typer.Option(help="Public bounds: LOW,HIGH, or LOW:HIGH for each column, or a JSON file."),
]
Columns = Annotated[
    str | None,
    typer.Option(
        help="Columns to use, separated by commas; required unless --bounds is a JSON file that "
        "names them. No name is read from the data."
    ),
]
NamedColumns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        help="Column names, separated by commas; required if neither the file nor the release has "
        "them.",
    ),
]
NoHeader = Annotated[
    bool,
    typer.Option(
        "--no-header",
        help="The first line of the CSV file is a record, not names: --columns lists all columns "
        "in order, with - for those to leave out.",
    ),
]
SchemaFile = Annotated[
    Path | None,
    typer.Option(
        "--schema",
        help="JSON file that describes the columns, including text, dates and gaps; made by "
        "`shoal schema`. Replaces --bounds and --columns.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Parameter of the target, as name=value.",
        autocompletion=complete_settings,
    ),
]
LedgerFile = Annotated[
    Path | None,
    typer.Option(
        help="Ledger to charge; made by `shoal ledger`. Default: the one that SHOAL_LEDGER names, "
        "or one without a limit beside the records, such as people.csv.ledger."
    ),
]
NoLedger = Annotated[
    bool, typer.Option("--no-ledger", help="Charge no ledger: nobody adds this release to others.")
]
TableName = Annotated[
    str | None,
    typer.Option(help="Name of these records in the ledger. Default: the file's name."),
]
Who = Annotated[str | None, typer.Option(help="Who spends. Default: your login name.")]
