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
    db: Annotated[
        Path, typer.Option(help="File for reports that wait; made if it is not there.")
    ] = Path("relay.db"),
    public_key: PublicKeyText = None,
    keys: Annotated[
        Path,
        typer.Option(
            help="File of ingest keys that devices show to this relay, and tokens that read its "
            "metrics, one a line; made with one of each if it is not there."
        ),
    ] = Path("relay.keys"),
    key: Annotated[
        str | None,
        typer.Option(
            envvar="SHOAL_RELAY_KEY",
            show_default=False,
            help="Ingest key that this relay shows to the collector; no device may have it. Put it "
            "into the variable: everybody on the machine can list commands.",
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; TLS is the task of a proxy in front.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, help="Port to listen on; 0 takes a free one.")] = 8001,
    proxies: Annotated[
        int, typer.Option(min=0, help="Proxies in front that add to X-Forwarded-For.")
    ] = 0,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="A limit of the server as name=value, such as client_rate=10."),
    ] = None,
) -> None:
    """Take sealed reports, shuffle them in full batches and forward these, until Ctrl-C or SIGTERM.

    Run it for a campaign of somebody else. It cannot open a report, and keeps no time and no
    address. What was acknowledged is forwarded in exactly one batch; what fills no batch by the
    closing time is deleted. Prints `ready ADDRESS` when it takes requests.

    Example: shoal collect shuffle --campaign homes.campaign.json --to https://collect.example.org
    """
    require_server()
    if public_key is None:
        raise ParameterError(
            "--public-key must be given: `shoal collect new` printed it; ask whoever runs the "
            "campaign on a way that others cannot change"
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
