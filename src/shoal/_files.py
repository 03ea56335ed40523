"""Crash-safe writing: a file is there when it is complete, and not before."""

import contextlib
import ctypes
import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["BINARY", "atomic_write", "hidden_sibling", "rename_folder", "sync_folder"]

BINARY = getattr(os, "O_BINARY", 0)  # Windows would write two bytes for a newline
REPLACE_EXISTING, WRITE_THROUGH = 1, 8  # flags of MoveFileExW
PAUSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # seconds in which a virus scanner lets a file go


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
        _replace(part, path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def hidden_sibling(path: Path) -> Path:
    """Return a hidden name in the folder of a file that nobody else takes."""
    return path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}.part")


def rename_folder(folder: Path, new: Path) -> None:
    """Give a folder its name, also where an empty folder has it; OSError if something else has."""
    if sys.platform == "win32" and new.is_dir():  # there, a name that is taken is none to rename to
        new.rmdir()
    folder.rename(new)


def sync_folder(folder: Path) -> None:
    """Write the names of a folder to the disk, so that a crash cannot undo a rename in it.

    Windows can do so for single renames only, and :func:`atomic_write` has it do so.
    """
    if sys.platform == "win32":
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _replace(part: Path, path: Path) -> None:
    """Rename a file in one step, over another one where there is one."""
    if sys.platform != "win32":
        part.replace(path)
        return
    # Unlike os.replace, this returns when the new name is on the disk.
    move = ctypes.WinDLL("kernel32", use_last_error=True).MoveFileExW
    move.argtypes = [ctypes.c_wchar_p, ctypes.c_wchar_p, ctypes.c_uint32]
    move.restype = ctypes.c_int

    def once() -> None:
        if not move(str(part), str(path), REPLACE_EXISTING | WRITE_THROUGH):
            raise ctypes.WinError(ctypes.get_last_error())

    _retry(once)


def _retry(move: Callable[[], None]) -> None:
    """Try again for a moment: on Windows no file is replaced while somebody has it open."""
    for pause in PAUSES:
        try:
            move()
        except PermissionError:
            time.sleep(pause)
        else:
            return
    move()
