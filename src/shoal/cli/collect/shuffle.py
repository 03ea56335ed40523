"""``shoal collect shuffle``: the relay between devices and the collector, run by somebody else."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.collect._database import PublicKeyText, require_server, server_limits
from shoal.exceptions import ParameterError

__all__ = ["shuffle_command"]


def shuffle_command(
    *,
    document: Annotated[
        str,
        typer.Option(
            "--campaign",
            help="Signed document of the campaign: a file, or its address at the collector.",
        ),
    ],
    to: Annotated[
        str, typer.Option(help="Address of the collector, such as https://collect.example.org.")
    ],
    db: Annotated[Path, typer.Option(help="File for waiting reports; created if missing.")] = Path(
        "relay.db"
    ),
    public_key: PublicKeyText = None,
    keys: Annotated[
        Path,
        typer.Option(
            help="File of ingest keys that devices show to this relay and tokens that read its "
            "metrics, one per line; created with one of each if missing."
        ),
    ] = Path("relay.keys"),
    key: Annotated[
        str | None,
        typer.Option(
            envvar="SHOAL_RELAY_KEY",
            show_default=False,
            help="Ingest key that this relay shows to the collector; no device may have it. Put "
            "it into the environment variable: everyone on the machine can list commands.",
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; put a proxy in front for TLS.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, help="Port to listen on; 0 picks a free one.")] = 8001,
    proxies: Annotated[
        int, typer.Option(min=0, help="Number of proxies in front that add to X-Forwarded-For.")
    ] = 0,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="Limit of the server, as name=value, such as client_rate=10."),
    ] = None,
) -> None:
    """Accept sealed reports and forward them in full, shuffled batches until Ctrl-C or SIGTERM.

    Run it for someone else's campaign. It cannot open reports, and keeps no times and no
    addresses. Each acknowledged report is forwarded in exactly one batch; reports that fill no
    batch by the closing time are deleted. Prints `ready ADDRESS` once it accepts requests.

    Example: shoal collect shuffle --campaign homes.campaign.json --to https://collect.example.org
    """
    require_server()
    if public_key is None:
        raise ParameterError(
            "--public-key must be given: `shoal collect new` printed it; ask whoever runs the "
            "campaign, over a channel that others cannot change"
        )
    if key is None:
        raise ParameterError(
            "--key must be given: whoever runs the collector makes one with `shoal collect key new "
            "CAMPAIGN`, for this relay alone"
        )
    from shoal.shuffler import Settings, serve

    options: dict[str, Any] = {
        "database": str(db),
        "to": to,
        "key": key,
        "host": host,
        "port": port,
        "trusted_proxies": proxies,
    }
    limits = server_limits(Settings, setting or [], set(options))
    serve(document, public_key, keys, Settings(**options, **limits))
