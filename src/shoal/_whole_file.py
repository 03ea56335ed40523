"""Files that are there when they are complete, and not before."""

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

__all__ = ["beside", "whole_file"]


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Return a name to write to, which becomes the file's once the block has ended well.

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
    >>> with whole_file(path) as part:
    ...     _ = part.write_text("all of it")
    >>> [file.name for file in Path(folder.name).iterdir()]
    ['note.txt']
    >>> folder.cleanup()
    """
    part = beside(path)
    try:
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def beside(path: Path) -> Path:
    """Return a name in the folder of a file that nobody else takes."""
    return path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}.part")
