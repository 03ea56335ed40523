"""The command line: one command a file; each parses, calls and prints."""

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from shoal import __version__
from shoal.cli._output import RecordedCommand, drop_empty_folders
from shoal.cli._screen import command_line_message
from shoal.cli.attack import attack_command
from shoal.cli.audit import audit_command
from shoal.cli.cluster import cluster_command
from shoal.cli.collect import collect_app
from shoal.cli.compare import compare_command
from shoal.cli.datasets import datasets_command
from shoal.cli.demo import demo_command
from shoal.cli.ledger import ledger_command
from shoal.cli.perturb import perturb_command
from shoal.cli.plan import plan_command
from shoal.cli.predict import predict_command
from shoal.cli.profile import profile_command
from shoal.cli.reproduce import reproduce_command
from shoal.cli.schema import schema_command
from shoal.cli.studio import studio_command
from shoal.exceptions import ShoalError

__all__ = ["app", "main"]

INTERRUPTED = 130  # exit code of a command that Ctrl-C ended, by the custom of shells

app = typer.Typer(
    name="shoal",
    help="Private clustering: find the clusters, hide the individuals.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
COMMANDS: dict[str, Callable[..., None]] = {
    "attack": attack_command,
    "audit": audit_command,
    "cluster": cluster_command,
    "compare": compare_command,
    "datasets": datasets_command,
    "demo": demo_command,
    "ledger": ledger_command,
    "perturb": perturb_command,
    "plan": plan_command,
    "predict": predict_command,
    "profile": profile_command,
    "reproduce": reproduce_command,
    "schema": schema_command,
    "studio": studio_command,
}
for name, command in COMMANDS.items():
    app.command(name, cls=RecordedCommand)(command)
app.add_typer(collect_app, name="collect")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"shoal {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Private clustering: find the clusters, hide the individuals."""


def main() -> None:
    """Run the command line; bad input ends with one clear line and exit code 2, Ctrl-C with 130."""
    try:
        app()
    except ShoalError as error:
        typer.echo(f"shoal: {command_line_message(error)}", err=True)
        sys.exit(2)
    except SystemExit as end:
        if end.code == INTERRUPTED:
            typer.echo("shoal: stopped by Ctrl-C", err=True)
        raise
    finally:
        drop_empty_folders()
