"""Finished pieces of an audit in a folder, so that one that was stopped can go on.

A piece is the releases of some fits, in one .npz file. It is written under another name and renamed
when it is whole: a process that is killed leaves whole pieces behind, and at most one file whose
name ends in .tmp. The folder belongs to one audit, whose key it holds.
"""

import contextlib
import hashlib
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from shoal import __version__
from shoal.audit.estimators._releases import Ragged
from shoal.exceptions import ParameterError

KEY_FILE = "audit.json"

Piece = dict[str, Ragged]


def audit_key(model: Any, **words: Any) -> str:
    """Hash what the fits of an audit depend on.

    Parameters
    ----------
    model : estimator
        Its class and its parameters count.
    **words : object
        What else counts: tables, numbers of runs, the seed.

    Returns
    -------
    key : str
        Of hexadecimal digits; the same in every process.
    """
    return hashlib.sha256(_as_text((__version__, model, words)).encode()).hexdigest()


class PieceStore:
    """The pieces of one audit in a folder.

    Parameters
    ----------
    folder : str or path
        Made if it is not there; otherwise empty, or that of the same audit.
    key : str
        As :func:`audit_key` gives it.

    Raises
    ------
    ParameterError
        If the folder holds another audit or other files. Nothing in it is touched.
    """

    def __init__(self, folder: str | os.PathLike[str], key: str) -> None:
        self._folder = Path(folder)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            used = any(self._folder.iterdir())
        except OSError as failure:
            raise ParameterError(
                f"resume must be a folder that can be made or read, got {str(folder)!r}: "
                f"{failure.strerror}"
            ) from None
        if not used:
            self._write(KEY_FILE, lambda file: file.write(json.dumps({"key": key}).encode()))
        elif self._found_key() != key:
            raise ParameterError(
                "resume must be a new folder or one of the same audit (estimator, tables, runs, "
                f"seed, version), got one of something else: {str(folder)!r}"
            )

    def load(self, name: str) -> Piece | None:
        """Read a piece, or return None if it was not finished.

        Parameters
        ----------
        name : str
            Name of the piece.

        Returns
        -------
        piece : dict of str to Ragged, or None

        Raises
        ------
        ParameterError
            If its file is damaged.
        """
        path = self._folder / f"{name}.npz"
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                return {
                    str(value): Ragged(stored[f"numbers_{index}"], stored[f"lengths_{index}"])
                    for index, value in enumerate(stored["names"])
                }
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            raise ParameterError(
                f"resume must hold whole pieces, got a damaged one: delete {str(path)!r}"
            ) from None

    def save(self, name: str, piece: Piece) -> None:
        """Write a piece; it is there when it is whole, and not before.

        Parameters
        ----------
        name : str
            Name of the piece.
        piece : dict of str to Ragged
            As :func:`shoal.audit.estimators._releases.fit_many` returns it.
        """
        # Released values have any names; those of the arrays must suit a zip file.
        arrays: dict[str, Any] = {"names": np.array(list(piece), dtype=np.str_)}
        for index, (numbers, lengths) in enumerate(piece.values()):
            arrays |= {f"numbers_{index}": numbers, f"lengths_{index}": lengths}
        self._write(f"{name}.npz", lambda file: np.savez(file, **arrays))

    def _write(self, name: str, write: Any) -> None:
        # The number of the process keeps two of them from writing into one file.
        unfinished = self._folder / f"{name}.{os.getpid()}.tmp"
        try:
            with unfinished.open("wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(self._folder / name)
        finally:
            unfinished.unlink(missing_ok=True)

    def _found_key(self) -> str | None:
        with contextlib.suppress(OSError, ValueError):
            found = json.loads((self._folder / KEY_FILE).read_bytes())
            if isinstance(found, dict):
                return found.get("key")
        return None


def _as_text(value: Any) -> str:
    """Write a value out in full: numbers of arrays as their bytes, estimators by parameter."""
    if isinstance(value, np.ndarray):
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"array({value.dtype}, {value.shape}, {digest})"
    if isinstance(value, list | tuple):
        return "[" + ",".join(_as_text(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{_as_text(value[key])}" for key in sorted(value)) + "}"
    if hasattr(value, "get_params"):
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        return kind + _as_text(value.get_params(deep=False))
    return repr(value)
