"""Where the bytes of a table are: in a file, or in memory, where no file is ever written."""

import os
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from shoal.exceptions import DataError, ParameterError

__all__ = ["MemoryFile", "Source", "as_source", "check_unpacked", "open_source", "suffix"]


@dataclass(frozen=True, eq=False, repr=False)
class MemoryFile:
    r"""A file whose content is in memory, read like a file of that name on disk.

    Parameters
    ----------
    name : str
        File name; its ending tells the format, as for a path.
    content : bytes
        Content of the file, as private as the records.
    most : int, default=None
        Largest number of bytes after decompression, as a small compressed file can exceed any
        memory. None sets no limit.

    Examples
    --------
    >>> from shoal.tables import MemoryFile, read_columns
    >>> read_columns(MemoryFile("people.csv", b"age,city\n30,A\n"), ["city"])
    {'city': ['A']}
    """

    name: str
    content: bytes
    most: int | None = None

    def __post_init__(self) -> None:
        """Refuse what is no name or no bytes."""
        if not isinstance(self.name, str) or not isinstance(self.content, bytes):
            raise ParameterError("a file in memory must have a name and bytes, got something else")

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"MemoryFile({self.name!r})"  # no record

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a file in memory holds raw records: it is never pickled")


Source = Path | MemoryFile


def as_source(path: "str | os.PathLike[str] | MemoryFile") -> Source:
    """Return a path as one, and a file in memory as it is."""
    return path if isinstance(path, MemoryFile) else Path(path)


def suffix(source: Source) -> str:
    """Return the ending of the file's name, in small letters."""
    return Path(str(source)).suffix.lower()


def check_unpacked(source: Source, size: int) -> None:
    """Refuse a file in memory that has more bytes, once unpacked, than it may have."""
    most = source.most if isinstance(source, MemoryFile) else None
    if most is not None and size > most:
        raise DataError(
            f"{str(source)!r} must have at most {most:,} bytes once it is unpacked, got more",
            code="size",
        )


def open_source(source: Source) -> BinaryIO:
    """Open a file for reading, wherever it is."""
    # Bytes are not copied until somebody writes to them.
    return BytesIO(source.content) if isinstance(source, MemoryFile) else source.open("rb")
