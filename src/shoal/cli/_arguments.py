"""What several commands are given in the same way: bounds, lists, and a folder to write to."""

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from shoal.exceptions import ParameterError

__all__ = [
    "RecordedCommand",
    "drop_empty_folders",
    "output_folder",
    "parse_bounds",
    "parse_bounds_file",
    "parse_list",
    "typed",
]

Bounds = tuple[float, float] | tuple[list[float], list[float]]

RULE = (
    "--bounds must be LOW,HIGH for all columns, LOW:HIGH,LOW:HIGH,... for one after the other, or "
    "a JSON file of column: [low, high]"
)

_typed: list[str] = []  # the command of this run and its words
_made: list[Path] = []  # folders of this run, inner ones first


def parse_bounds(text: str | None, names: Sequence[str] | None = None) -> Bounds | None:
    """Read public bounds.

    Parameters
    ----------
    text : str or None
        As given: two numbers, one pair of numbers for each column, or a JSON file.
    names : sequence of str, optional
        Names of the columns, which a file must have.

    Returns
    -------
    bounds : tuple (low, high) or None
        Numbers, or one number for each column.

    Examples
    --------
    >>> parse_bounds("-1,1")
    (-1.0, 1.0)
    >>> parse_bounds("0:1,40:200")
    ([0.0, 40.0], [1.0, 200.0])
    """
    if text is None:
        return None
    if Path(text).suffix.lower() == ".json":
        return _from_file(Path(text), names)
    parts = text.split(",")
    try:
        if ":" in text:
            pairs = [tuple(map(float, part.split(":"))) for part in parts]
            return _by_column([(low, high) for low, high in pairs])
        low, high = map(float, parts)
    except ValueError:
        raise ParameterError(f"{RULE}, got {text!r}") from None
    return low, high


def parse_bounds_file(path: Path) -> dict[str, tuple[float, float]]:
    """Read a JSON file of bounds.

    Parameters
    ----------
    path : Path
        As given by ``--bounds``.

    Returns
    -------
    bounds : dict of str to tuple (low, high)
        Of each column that the file names, in its order.

    Raises
    ------
    ParameterError
        If it cannot be read, or holds something else.
    """
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): (float(low), float(high)) for name, (low, high) in table.items()}
    except OSError as error:
        raise ParameterError(f"{RULE}, got {str(path)!r}: {error.strerror}") from None
    except (AttributeError, TypeError, ValueError):
        raise ParameterError(f"{RULE}, got {str(path)!r} with something else") from None


def parse_list(text: str | None) -> list[str] | None:
    """Take a list apart at its commas; None stays None.

    Parameters
    ----------
    text : str or None
        As given.

    Returns
    -------
    items : list of str or None
        Without blanks around them.
    """
    return None if text is None else [item.strip() for item in text.split(",") if item.strip()]


class RecordedCommand(TyperCommand):
    """A command that keeps what was typed, for :func:`typed`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the words before they are taken apart."""
        _typed[:] = [str(ctx.info_name), *args]
        return super().parse_args(ctx, args)


def typed() -> str:
    """Write the running command as it was typed, without folders.

    Returns
    -------
    command : str
        For the page that it makes.
    """
    from shoal.experiments import typed_command  # noqa: PLC0415

    name, *words = _typed
    return typed_command(name, words)


def output_folder(path: Path) -> Path:
    """Make a folder that can be written to.

    Parameters
    ----------
    path : Path
        As given by ``--out``.

    Returns
    -------
    path : Path
        An existing folder.

    Raises
    ------
    ParameterError
        If it cannot be made.
    """
    try:
        _made.extend(folder for folder in (path, *path.parents) if not folder.exists())
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".shoal-can-write"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise ParameterError(
            f"--out must be a folder that can be written, got {str(path)!r}: {error.strerror}"
        ) from None
    return path


def drop_empty_folders() -> None:
    """Remove the folders that were made for files which were never written."""
    while _made:
        with suppress(OSError):  # it holds something
            _made.pop(0).rmdir()


def _from_file(path: Path, names: Sequence[str] | None) -> Bounds:
    table = parse_bounds_file(path)
    try:
        return _by_column([table[name] for name in names or table])
    except KeyError as missing:
        raise ParameterError(f"{RULE}, got {str(path)!r} without column {missing}") from None


def _by_column(pairs: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [low for low, _ in pairs], [high for _, high in pairs]
