"""What a command writes: its folder, files that appear when they are complete, what was typed."""

import shutil
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from shoal.exceptions import ParameterError, ReleaseError, ShoalError

__all__ = [
    "RecordedCommand",
    "Stage",
    "after_the_spend",
    "drop_empty_folders",
    "output_folder",
    "staged",
    "typed",
]

_typed: list[str] = []  # the command of this run and its arguments
_made: list[Path] = []  # folders of this run, inner ones first


class RecordedCommand(TyperCommand):
    """A command that keeps what was typed, for :func:`typed`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the arguments before they are parsed."""
        _typed[:] = [str(ctx.info_name), *args]
        return super().parse_args(ctx, args)


def typed() -> str:
    """Return the running command as it was typed, without folders."""
    from shoal.experiments import typed_command

    name, *arguments = _typed
    return typed_command(name, arguments)


def output_folder(path: Path) -> Path:
    """Create the folder of ``--out``, or refuse it if it cannot be written to."""
    try:
        _made.extend(folder for folder in (path, *path.parents) if not folder.exists())
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".shoal-can-write"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise ParameterError(
            f"--out must be a writable folder, got {str(path)!r}: {error.strerror}"
        ) from None
    return path


def drop_empty_folders() -> None:
    """Remove the folders that were made for files which were never written."""
    while _made:
        with suppress(OSError):  # it holds something
            _made.pop(0).rmdir()


class Stage:
    """Where files are written before they are shown.

    Parameters
    ----------
    out : Path
        The folder where they will be.
    path : Path
        A hidden one inside it.
    earlier : sequence of Path
        What an earlier run left there.
    """

    def __init__(self, out: Path, path: Path, earlier: Sequence[Path]) -> None:
        self.out = out
        self.path = path
        self.earlier = earlier
        self.shown: list[Path] = []

    def show(self) -> None:
        """Move what was written so far to its place; it replaces all of an earlier run."""
        for file in sorted(self.path.iterdir()):
            self.shown.append(file.replace(self.out / file.name))
        # Files of an earlier run would be taken for a part of this one.
        for file in self.earlier:
            if file not in self.shown:
                file.unlink(missing_ok=True)
        self.earlier = ()


@contextmanager
def staged(out: Path, names: Collection[str], *, mark: str) -> Iterator[Stage]:
    """Create a folder, and leave nothing of it where the block fails before it shows anything.

    Write to ``stage.path``, then call ``stage.show()``. `names` are all files that the command may
    write there; `mark` is the one that every run writes, by which an earlier run is known.
    """
    try:
        made = [folder for folder in (out, *out.parents) if not folder.exists()]
        taken = [out / name for name in names if (out / name).exists()]
    except OSError as failure:
        raise ParameterError(
            f"--out must be a writable folder, got {str(out)!r}: {failure.strerror}"
        ) from None
    if any(not file.is_file() for file in taken) or (taken and out / mark not in taken):
        raise ParameterError(
            f"--out must be a new folder or the folder of an earlier run, got {str(out)!r} with "
            f"another {taken[0].name}"
        )
    output_folder(out)
    stage = Stage(out, Path(tempfile.mkdtemp(prefix=".shoal-", dir=out)), taken)
    try:
        yield stage
    finally:
        shutil.rmtree(stage.path, ignore_errors=True)
        if not stage.shown:
            for folder in made:
                with suppress(OSError):  # somebody else may have put something there
                    folder.rmdir()


@contextmanager
def after_the_spend(what: str, state: str) -> Iterator[None]:
    """Say of a failure that the budget was spent all the same, and what there is of the release."""
    try:
        yield
    except (OSError, ShoalError) as failure:
        why = (failure.strerror if isinstance(failure, OSError) else None) or failure
        raise ReleaseError(f"{what}: {why}; the budget was spent anyway, {state}") from None
