"""Crash-safe writing: a file is there when it is complete, and not before."""

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

__all__ = ["atomic_write", "hidden_sibling", "sync_folder"]


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a path to write to, which is renamed to `path` once the block has ended well.

    Parameters
    ----------
    path : Path
        The file; one that exists is replaced, or stays as it was if the block fails.

    Yields
    ------
    part : Path
        Where to write, in the same folder. It is on the disk before it gets its name.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "note.txt"
    >>> with atomic_write(path) as part:
    ...     _ = part.write_text("all of it")
    >>> [file.name for file in Path(folder.name).iterdir()]
    ['note.txt']
    >>> folder.cleanup()
    """
    part = hidden_sibling(path)
    try:
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def hidden_sibling(path: Path) -> Path:
    """Return a hidden name in the folder of a file that nobody else takes."""
    return path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}.part")


def sync_folder(folder: Path) -> None:
    """Write the names of a folder to the disk, so that a crash cannot undo a rename in it."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
