"""``shoal collect``: campaigns of reports from many devices, one command a file."""

from collections.abc import Callable

import typer

from shoal.cli.collect.add import add_command
from shoal.cli.collect.analyze import analyze_command
from shoal.cli.collect.demo import demo_command
from shoal.cli.collect.export import export_command
from shoal.cli.collect.key import key_app
from shoal.cli.collect.new import new_command
from shoal.cli.collect.page import page_command
from shoal.cli.collect.publish import publish_command
from shoal.cli.collect.serve import serve_command
from shoal.cli.collect.shuffle import shuffle_command
from shoal.cli.collect.status import status_command
from shoal.cli.collect.token import token_app

__all__ = ["collect_app"]

collect_app = typer.Typer(
    help="Collect reports of many devices: campaigns, the server, its keys, analyses, results.",
    no_args_is_help=True,
)
COMMANDS: dict[str, Callable[..., None]] = {
    "new": new_command,
    "add": add_command,
    "serve": serve_command,
    "shuffle": shuffle_command,
    "status": status_command,
    "analyze": analyze_command,
    "publish": publish_command,
    "export": export_command,
    "page": page_command,
    "demo": demo_command,
}
for name, command in COMMANDS.items():
    collect_app.command(name)(command)
for name, commands in {"key": key_app, "token": token_app}.items():
    collect_app.add_typer(commands, name=name)
