"""``shoal studio``: web pages on the own machine that show what privacy costs."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.exceptions import ParameterError

__all__ = ["studio_command"]

DEFAULT_PORT = 8760


def studio_command(
    data: Annotated[
        Path | None,
        typer.Argument(help="CSV or Parquet file to open. Default: choose one on the page."),
    ] = None,
    *,
    schema: Annotated[
        Path | None, typer.Option(help="Schema of that file, as written by `shoal schema`.")
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(help="Ledger file to charge. Default: one ledger per table, in memory."),
    ] = None,
    db: Annotated[
        str | None,
        typer.Option(help="Database of a collector, for the Campaigns page.", envvar="SHOAL_DB"),
    ] = None,
    reports: Annotated[
        list[Path] | None,
        typer.Option(help="Folder with pages of other commands to list; can be repeated."),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on; any address other than this machine's needs --token."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, help="Port to listen on; 0 picks a free one.")
    ] = DEFAULT_PORT,
    token: Annotated[
        str | None,
        typer.Option(
            help="Secret that a browser must present; `auto` generates one.", envvar="SHOAL_TOKEN"
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(help="Host name under which others open the studio; can be repeated."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in your browser.")
    ] = True,
) -> None:
    """Open the studio: move a slider, see what privacy costs, on made-up records or a private copy.

    Runs until Ctrl-C. Records are kept in memory and sent nowhere. On a machine that others use,
    pass --token auto: without a token, their programs can open the studio too.

    Example: shoal studio --port 0
    """
    import secrets

    from shoal._optional import require
    from shoal.cli.collect._database import database_url, require_server

    require_server()
    for package in ("altair", "vl_convert"):
        require(package, extra="plot")
    _check_paths(data, schema, reports or [])
    from shoal.studio import StudioSettings, Workspace, serve_studio

    settings = StudioSettings(
        host=host,
        port=port,
        token=secrets.token_urlsafe(24) if token == "auto" else token or "",
        names=tuple(name or ()),
        ledger=ledger,
        database=database_url(db) if db else "",
        folders=tuple(reports or ()),
    )
    workspace = Workspace(settings)
    path = "/"
    if data is not None:
        from shoal.studio import open_file

        path = f"/?table={open_file(workspace, data, schema).id}"
    serve_studio(settings, workspace=workspace, path=path, open_browser=browser)


def _check_paths(data: Path | None, schema: Path | None, reports: list[Path]) -> None:
    """Refuse what is not there before anything slow is imported."""
    if schema is not None and data is None:
        raise ParameterError(
            "--schema must come with FILE, which it describes; or load a schema on the page"
        )
    for option, path in (("FILE", data), ("--schema", schema)):
        if path is not None and not path.is_file():
            raise ParameterError(f"{option} must be an existing file, got {str(path)!r}")
    for folder in reports:
        if not folder.is_dir():
            raise ParameterError(f"--reports must be an existing folder, got {str(folder)!r}")
