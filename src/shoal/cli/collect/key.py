"""``shoal collect key``: what an app shows to the server when it sends reports."""

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from shoal.cli.collect._database import CampaignName, DatabaseUrl, ingest_key_user, open_store

__all__ = ["key_app"]

key_app = typer.Typer(
    help="Ingest keys of campaigns: anyone who has one may send reports to that campaign.",
    no_args_is_help=True,
)


@key_app.command("new")
def new_key_command(
    campaign: CampaignName,
    *,
    db: DatabaseUrl,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Make an ingest key and print it once; every copy of an app may hold the same key.

    The key of a shuffled campaign is for its relay only, never for a device.

    Example: shoal collect key new homes --db reports.db
    """
    with open_store(db) as store:
        text = store.add_ingest_key(campaign)
        user = ingest_key_user(store.campaign(campaign).campaign) or "whoever shows one"
    if as_json:
        typer.echo(json.dumps({"campaign": campaign, "key": text}))
        return
    typer.echo(text)
    typer.echo(f"for reports to {campaign}, for {user}; it is not shown again", err=True)


@key_app.command("list")
def list_keys_command(
    campaign: CampaignName,
    *,
    db: DatabaseUrl,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
) -> None:
    """List the ingest keys of a campaign by id; the keys themselves are never shown.

    Example: shoal collect key list homes --db reports.db
    """
    with open_store(db) as store:
        keys = store.ingest_keys(campaign)
    if as_json:
        typer.echo(json.dumps([key._asdict() for key in keys]))
        return
    table = Table(title=f"Ingest keys of {campaign}")
    for heading in ("id", "state"):
        table.add_column(heading)
    for key in keys:
        table.add_row(key.id, "revoked" if key.revoked else "valid")
    Console(markup=False, highlight=False).print(table)


@key_app.command("revoke")
def revoke_key_command(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="Id of the key, from the list.")],
    *,
    db: DatabaseUrl,
) -> None:
    """End an ingest key at once.

    Example: shoal collect key revoke 0a1b2c3d4e5f --db reports.db
    """
    with open_store(db) as store:
        store.revoke_ingest_key(identifier)
    typer.echo(f"revoked: {identifier}")
