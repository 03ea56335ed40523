"""``shoal collect token``: what analysts show to the server."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from shoal.cli._input import parse_list
from shoal.cli.collect._database import DatabaseUrl, open_store
from shoal.exceptions import ParameterError

if TYPE_CHECKING:
    from shoal.collector.store import Token

__all__ = ["token_app"]

LIFETIME = re.compile(r"([1-9][0-9]{0,4})([hdw])")
HOURS = {"h": 1, "d": 24, "w": 168}

token_app = typer.Typer(
    help="Tokens of analysts: shown once, stored as hashes, limited in scope and time.",
    no_args_is_help=True,
)


@token_app.command("new")
def new_token_command(
    name: Annotated[str, typer.Argument(help="Whom the token is for.")],
    *,
    db: DatabaseUrl,
    scope: Annotated[
        str,
        typer.Option(
            help="What the token allows, separated by commas: read, analyze, publish, metrics."
        ),
    ] = "read",
    expires: Annotated[
        str, typer.Option(help="When the token expires: 12h, 30d, 8w, or a day such as 2030-01-31.")
    ] = "30d",
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Make a token and print it once.

    Example: shoal collect token new Ada --scope read,analyze --expires 30d --db reports.db
    """
    ends = _end(expires, datetime.now(UTC))
    with open_store(db) as store:
        text = store.add_token(name, parse_list(scope) or [], ends)
    if as_json:
        typer.echo(json.dumps({"name": name, "token": text, "expires": ends.isoformat()}))
        return
    typer.echo(text)
    typer.echo(f"for {name}, until {ends:%Y-%m-%d %H:%M} UTC; it is not shown again", err=True)


@token_app.command("list")
def list_tokens_command(
    db: DatabaseUrl,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
) -> None:
    """List tokens by name: what they allow and until when; the tokens are never shown.

    Example: shoal collect token list --db reports.db
    """
    with open_store(db) as store:
        tokens = store.tokens()
    if as_json:
        typer.echo(json.dumps([_plain(token) for token in tokens]))
        return
    table = Table(title="Tokens")
    for heading in ("id", "name", "scopes", "until (UTC)", "state"):
        table.add_column(heading)
    for token in tokens:
        row = _plain(token)
        until = f"{token.expires:%Y-%m-%d %H:%M}"
        table.add_row(token.id, token.name, ", ".join(row["scopes"]), until, row["state"])
    Console(markup=False, highlight=False).print(table)


@token_app.command("revoke")
def revoke_token_command(
    identifier: Annotated[
        str, typer.Argument(metavar="ID", help="Id of the token, from the list.")
    ],
    *,
    db: DatabaseUrl,
) -> None:
    """End a token at once.

    Example: shoal collect token revoke 0a1b2c3d4e5f --db reports.db
    """
    with open_store(db) as store:
        store.revoke_token(identifier)
    typer.echo(f"revoked: {identifier}")


def _end(text: str, now: datetime) -> datetime:
    """Read how long a token lasts, or when it ends.

    >>> _end("2d", datetime(2030, 1, 1, tzinfo=UTC)).isoformat()
    '2030-01-03T00:00:00+00:00'
    """
    lifetime = LIFETIME.fullmatch(text)
    if lifetime is not None:
        return now + timedelta(hours=int(lifetime[1]) * HOURS[lifetime[2]])
    try:
        ends = datetime.fromisoformat(text)
    except ValueError:
        raise ParameterError(
            f"--expires must be such as 30d, 12h or 2030-01-31, got {text!r}"
        ) from None
    return ends if ends.tzinfo is not None else ends.replace(tzinfo=UTC)


def _plain(token: "Token") -> dict[str, Any]:
    over = "expired" if token.expires <= datetime.now(UTC) else "valid"
    return {
        "id": token.id,
        "name": token.name,
        "scopes": sorted(token.scopes),
        "expires": token.expires.isoformat(),
        "state": "revoked" if token.revoked else over,
    }
