"""Arrays in files of numpy: ``.npy`` is mapped into memory, of ``.npz`` one array is read.

Nothing in them is unpickled, which would run what the file says.
"""

import os
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal._numbers import raise_alone
from shoal.exceptions import DataError

__all__ = ["array_file", "is_array_path", "open_array"]

# What numpy and zip files raise of a file that is damaged, encrypted or packed in another way.
BROKEN = (
    ValueError,
    EOFError,
    KeyError,
    RuntimeError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
NAMED = "::"  # between an archive and the name of one of its arrays
MAX_SHOWN = 8  # names of arrays in a message


class ArrayPath(NamedTuple):
    """A file, and which of its arrays."""

    file: Path
    name: str | None


def is_array_path(path: Any) -> bool:
    """Return whether a path names a file of NumPy arrays, by its ending.

    Parameters
    ----------
    path : object
        A path; anything else gives False.

    Returns
    -------
    array : bool
        True for ``words.npy``, ``words.npz`` and ``words.npz::vectors``.

    Examples
    --------
    >>> is_array_path("words.npz::vectors"), is_array_path("words.parquet")
    (True, False)
    """
    return isinstance(path, str | os.PathLike) and array_file(path).suffix.lower() in (
        ".npy",
        ".npz",
    )


def array_file(path: str | os.PathLike[str]) -> Path:
    """Return the file of a path such as ``words.npz::vectors``, without the name of the array.

    Parameters
    ----------
    path : path-like
        A path, with or without the name of an array.

    Returns
    -------
    file : Path
        The file that :func:`open_array` opens.

    Examples
    --------
    >>> array_file("words.npz::vectors").name
    'words.npz'
    """
    return _split(path).file


def open_array(path: str | os.PathLike[str]) -> npt.NDArray[Any]:
    """Open the records in a NumPy file.

    Parameters
    ----------
    path : path-like
        A ``.npy`` file, which is mapped into memory and read as needed; or a ``.npz`` archive. If
        the archive holds several tables of numbers, add the name of one: ``words.npz::vectors``.

    Returns
    -------
    X : ndarray
        The array, unchanged.

    Raises
    ------
    DataError
        If the file or the array does not exist, is damaged, or holds Python objects.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "words.npz"
    >>> np.savez(file, vectors=np.zeros((3, 2), np.float16), words=np.array(["a", "b", "c"]))
    >>> open_array(file).shape
    (3, 2)
    >>> folder.cleanup()
    """
    file, name = _split(path)
    try:
        if file.suffix.lower() == ".npz":
            return _read_archive(file, name)
        with file.open("rb") as opened:
            shape, dtype = _header(opened)
        if not _is_table(shape, dtype):
            raise DataError(
                f"{str(file)!r} must hold a table of numbers, one record a row, got "
                f"{len(shape)} dimensions of {dtype.name}",
                code="shape",
            )
        found: npt.NDArray[Any] = np.load(file, mmap_mode="r" if all(shape) else None)
        return found
    except DataError:
        raise
    except OSError as error:
        raise_alone(_unreadable(file, error.strerror or "it is damaged or cut short"))
    except BROKEN:
        # Of numpy and of zip files; their words may hold some of what is in them.
        raise_alone(_unreadable(file, "it is damaged, cut short or holds Python objects"))


def _split(path: str | os.PathLike[str]) -> ArrayPath:
    text = os.fspath(path)
    before, found, name = text.rpartition(NAMED)
    if found and before.lower().endswith(".npz"):
        return ArrayPath(Path(before), name)
    return ArrayPath(Path(text), None)


def _read_archive(file: Path, name: str | None) -> npt.NDArray[Any]:
    with zipfile.ZipFile(file) as archive:
        tables = []
        for member in archive.namelist():
            with archive.open(member) as opened:
                shape, dtype = _header(opened)
            if _is_table(shape, dtype):
                tables.append(member.removesuffix(".npy"))
    if name is None:
        if len(tables) != 1:
            shown = ", ".join(tables[:MAX_SHOWN]) or "none"
            raise DataError(
                f"{str(file)!r} must hold one table of numbers, got {shown}: choose one, as in "
                f"{file.name + NAMED + (tables or ['vectors'])[0]!r}"
            )
        name = tables[0]
    elif name not in tables:
        raise DataError(
            f"{str(file)!r} must hold a table of numbers {name!r}, got none of that name",
            code="columns",
        )
    with np.load(file) as arrays:
        found: npt.NDArray[Any] = arrays[name]
    return found


def _is_table(shape: tuple[int, ...], dtype: np.dtype[Any]) -> bool:
    return len(shape) == 2 and dtype.kind in "biuf"


def _header(opened: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Read the shape and the type of an array from the first bytes of its file."""
    form = np.lib.format
    version = form.read_magic(opened)
    read = form.read_array_header_1_0 if version == (1, 0) else form.read_array_header_2_0
    shape, _, dtype = read(opened)
    return shape, dtype


def _unreadable(file: Path, why: str) -> DataError:
    return DataError(
        f"the data must be a whole .npy or .npz file, got {str(file)!r}: {why}", code="file"
    )
