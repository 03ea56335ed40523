"""``shoal collect serve``: the server that takes reports, and the worker that analyzes them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.collect._database import (
    DatabaseUrl,
    PublicKeyText,
    database_url,
    open_store,
    read_campaign,
    require_server,
    server_limits,
)

if TYPE_CHECKING:
    from shoal.campaigns import SealingKey
    from shoal.collector import Store

__all__ = ["serve_command"]


def serve_command(
    *,
    db: DatabaseUrl,
    document: Annotated[
        list[Path] | None,
        typer.Option("--campaign", help="Document to add first, as `shoal collect add` does."),
    ] = None,
    public_key: PublicKeyText = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; put a proxy in front for TLS.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, help="Port to listen on; 0 picks a free one.")] = 8000,
    worker: Annotated[
        bool,
        typer.Option("--worker/--no-worker", help="Run analyses in a process beside the server."),
    ] = True,
    proxies: Annotated[
        int, typer.Option(min=0, help="Number of proxies in front that add to X-Forwarded-For.")
    ] = 0,
    sealing_key: Annotated[
        list[Path] | None,
        typer.Option(
            help="Key file of a shuffled campaign, as written by `shoal collect new`; opens what "
            "the relay forwards."
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="Limit of the server, as name=value, such as max_batch=1000."),
    ] = None,
) -> None:
    """Accept reports over HTTP until Ctrl-C or SIGTERM; acknowledged reports are on disk.

    Prints `ready ADDRESS` once it accepts requests. Any number of servers may share one PostgreSQL.

    Example: shoal collect serve --db reports.db --port 8000
    """
    require_server()
    read = [read_campaign(path, public_key) for path in document or []]
    keys = [_sealing_key(path) for path in sealing_key or []]
    with open_store(db, create=True) as store:
        for signed in read:
            store.add_campaign(signed)
        _warn_of_missing_keys(store, keys)
    from shoal.collector import Settings, serve

    options: dict[str, Any] = {
        "database": database_url(db),
        "host": host,
        "port": port,
        "analysis_worker": worker,
        "trusted_proxies": proxies,
    }
    settings = Settings(**options, **server_limits(Settings, setting or [], set(options)))
    serve(settings, sealing_keys=keys)


def _sealing_key(path: Path) -> "SealingKey":
    from shoal.campaigns import SealingKey

    return SealingKey.load(path)


def _warn_of_missing_keys(store: "Store", keys: list["SealingKey"]) -> None:
    """Say which campaigns are shuffled, and sealed to a key that is not here."""
    known = {str(key.public) for key in keys}
    for signed in store.campaigns():
        relay = signed.campaign.shuffler
        if relay is not None and relay.key not in known:
            typer.echo(
                f"warning: batches of {signed.campaign.id} are refused until --sealing-key names "
                "the file of its key",
                err=True,
            )
