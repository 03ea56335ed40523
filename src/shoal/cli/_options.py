"""Options that several commands take, each described once."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli._complete import complete_settings

__all__ = ["Columns", "LedgerFile", "NoHeader", "Settings", "TableName", "Who"]

Columns = Annotated[
    str | None,
    typer.Option(
        help="Columns to use, by commas; needed, unless --bounds is a JSON file that names them. "
        "No name is taken from the data."
    ),
]
NoHeader = Annotated[
    bool,
    typer.Option(
        "--no-header",
        help="The first line of a CSV file is a record: --columns names all columns in order, "
        "- those to leave out.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="A parameter of the target, as name=value.",
        autocompletion=complete_settings,
    ),
]
LedgerFile = Annotated[Path | None, typer.Option(help="Ledger that pays; made by `shoal ledger`.")]
TableName = Annotated[
    str | None,
    typer.Option(help="Name of these records in the ledger; that of the file if left out."),
]
Who = Annotated[str | None, typer.Option(help="Who spends; your login name if left out.")]
