"""The database of a collector, as its commands take it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.exceptions import ParameterError

if TYPE_CHECKING:
    from shoal.campaigns import Campaign, SignedCampaign
    from shoal.collector.store import Store
    from shoal.service import ServiceSettings

__all__ = [
    "CampaignName",
    "DatabaseUrl",
    "PublicKeyText",
    "database_url",
    "ingest_key_user",
    "open_store",
    "read_campaign",
    "require_server",
    "server_limits",
]

SQLITE = "sqlite:///"
# Packages of the extra `serve`, of which any may be missing where others came by another way.
OF_STORE = ("sqlalchemy", "alembic")
OF_SERVER = ("fastapi", "uvicorn", "httptools", "prometheus_client")

DatabaseUrl = Annotated[
    str,
    typer.Option(
        "--db",
        envvar="SHOAL_DB",
        show_default=False,
        help="A file such as reports.db, or postgresql://USER:PASSWORD@HOST/NAME. Put a password "
        "into the environment variable instead: everyone on the machine can list commands.",
    ),
]
PublicKeyText = Annotated[
    str | None,
    typer.Option(
        "--public-key",
        envvar="SHOAL_PUBLIC_KEY",
        show_default=False,
        help="Key that signed the documents, as `shoal collect new` printed it.",
    ),
]
CampaignName = Annotated[str, typer.Argument(help="Id of the campaign.")]


def database_url(text: str) -> str:
    """Return the URL of a database; a path is a file of SQLite.

    >>> database_url("reports.db")
    'sqlite:///reports.db'
    """
    return text if "://" in text else f"{SQLITE}{text}"


def require_server() -> None:
    """Refuse to go on where a package of the server is not installed."""
    from shoal._optional import require

    for package in (*OF_STORE, *OF_SERVER):
        require(package, extra="serve")


def server_limits(
    kind: "type[ServiceSettings]", pairs: list[str], taken: set[str]
) -> dict[str, Any]:
    """Read the limits of ``--set``; those with an option of their own are left to it."""
    from dataclasses import fields

    from shoal._build import parse_settings

    given = parse_settings(pairs)
    known = [field.name for field in fields(kind) if field.name not in taken]
    for name in given:
        if name not in known:
            raise ParameterError(f"--set must be one of {', '.join(known)}, got {name!r}")
    return given


@contextmanager
def open_store(text: str, *, create: bool = False) -> Iterator["Store"]:
    """Open the database of ``--db``; a file that is not there is refused, or made."""
    from shoal._optional import require

    url = database_url(text)
    for package in OF_STORE if url.startswith(SQLITE) else (*OF_STORE, "psycopg"):
        require(package, extra="serve")
    from shoal.collector.store import Store

    file = Path(url.removeprefix(SQLITE))
    if url.startswith(SQLITE) and not create and not file.exists():
        raise ParameterError(
            f"--db must be an existing database, got {str(file)!r}: make one with `shoal collect "
            "add DOCUMENT --db FILE`"
        )
    with Store.open(url) as store:
        yield store


def ingest_key_user(campaign: "Campaign") -> str | None:
    """Return who shows an ingest key to the collector; None where nobody needs one."""
    if campaign.shuffler is not None:
        return "the relay only: no device may have it"
    return None if campaign.open_intake else "the app that reports"


def read_campaign(path: Path, public_key: str | None) -> "SignedCampaign":
    """Read a signed document, checked with the key of ``--public-key``."""
    from shoal.campaigns import open_campaign

    if public_key is None:
        raise ParameterError(
            f"--public-key must be given with {str(path)!r}: `shoal collect new` printed it"
        )
    try:
        envelope = path.read_bytes()
    except OSError as failure:
        raise ParameterError(
            f"a campaign must be a file that can be read, got {str(path)!r}: {failure.strerror}"
        ) from None
    return open_campaign(envelope, public_key)
