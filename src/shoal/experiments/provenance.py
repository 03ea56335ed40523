"""Where the numbers of a page come from: date, version, data, command and seed."""

import datetime
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePath
from shlex import join

from shoal import __version__

__all__ = ["MADE_UP", "SECURE", "Provenance", "typed_command"]

MADE_UP = "made-up records"
SECURE = "secure randomness"
FOLDERS = re.compile(r"[/\\]")


def _today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


@dataclass(frozen=True)
class Provenance:
    """What a reader needs to reproduce a report: command, seed, data, version and date.

    It names no folder, which could identify a machine.

    Parameters
    ----------
    command : str
        The command line, see :func:`typed_command`.
    seed : int or None
        The seed; None for secure randomness.
    data : str, default="made-up records"
        Name of the file that was read, without its folder.
    version, date : str
        Version of shoal and day (UTC); by default the current ones.

    Examples
    --------
    >>> made = Provenance("shoal demo --seed 1", 1, date="2026-01-31", version="1.0")
    >>> print(made)
    2026-01-31, shoal 1.0, made-up records, seed 1, command: shoal demo --seed 1
    """

    command: str
    seed: int | None
    data: str = MADE_UP
    version: str = __version__
    date: str = field(default_factory=_today)

    def __post_init__(self) -> None:
        """Keep the name of the file only."""
        object.__setattr__(self, "data", Path(self.data).name)

    @property
    def randomness(self) -> str:
        """The seed, or that there was none, as text."""
        return SECURE if self.seed is None else f"seed {self.seed}"

    def __str__(self) -> str:
        return (
            f"{self.date}, shoal {self.version}, {self.data}, {self.randomness}, command: "
            f"{self.command}"
        )

    def to_dict(self) -> dict[str, str | int | None]:
        """Return the fields as plain values, and the randomness as text.

        Returns
        -------
        plain : dict
            The fields, for JSON.
        """
        return {**asdict(self), "randomness": self.randomness}


def typed_command(name: str, arguments: Sequence[str]) -> str:
    """Return a command line as it was typed, with paths shortened to their last part.

    Parameters
    ----------
    name : str
        Name of the command.
    arguments : sequence of str
        The arguments that follow it.

    Returns
    -------
    command : str
        The command line, quoted for a shell.

    Examples
    --------
    >>> typed_command("attack", ["/srv/ann/people.csv", "--out=/srv/my page", "--runs", "5"])
    "shoal attack people.csv '--out=my page' --runs 5"
    """
    return join(["shoal", name, *map(_without_folder, arguments)])


def _without_folder(argument: str) -> str:
    if not FOLDERS.search(argument):
        return argument
    option, equals, value = "", "", argument
    if argument.startswith("--"):
        option, equals, value = argument.partition("=")
    return f"{option}{equals}{PurePath(value.replace(chr(92), '/')).name or '.'}"
