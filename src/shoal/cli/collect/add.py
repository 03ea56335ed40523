"""``shoal collect add``: signed documents go into the database of a collector."""

import json
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.collect._database import (
    DatabaseUrl,
    PublicKeyText,
    ingest_key_user,
    open_store,
    read_campaign,
)

__all__ = ["add_command"]


def add_command(
    documents: Annotated[
        list[Path], typer.Argument(help="Documents that `shoal collect new` wrote.")
    ],
    *,
    db: DatabaseUrl,
    public_key: PublicKeyText = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Put campaigns, or later revisions, into the database, which is created if needed.

    Example: shoal collect add homes.campaign.json --db reports.db --public-key ed25519:KEY
    """
    read = [read_campaign(path, public_key) for path in documents]
    with open_store(db, create=True) as store:
        for signed in read:
            store.add_campaign(signed)
    if as_json:
        plain = [
            {"campaign": one.campaign.id, "revision": one.campaign.revision, "digest": one.digest}
            for one in read
        ]
        typer.echo(json.dumps(plain))
        return
    for one in read:
        typer.echo(f"{one.campaign.id}, revision {one.campaign.revision}: in force")
        user = ingest_key_user(one.campaign)
        if user is not None:
            typer.echo(f"next: shoal collect key new {one.campaign.id}, for {user}")
