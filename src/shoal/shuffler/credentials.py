"""Credentials of a relay: a file with ingest keys of devices and tokens of its operator.

They are the relay's own. The key that the relay itself shows to the collector is another one, and
no device may have it: whoever holds it can send batches.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from shoal.exceptions import ParameterError
from shoal.service import KEY_PREFIX, TOKEN_PREFIX, credential_id, hash_credential, new_credential

__all__ = ["FileCredentials"]


class OperatorToken(NamedTuple):
    """What the token of an operator allows."""

    scopes: frozenset[str] = frozenset({"metrics"})


class FileCredentials:
    """File of ingest keys and tokens, one on each line; deleting a line revokes it at once.

    Parameters
    ----------
    path : Path
        The file. If it does not exist, it is created with one key and one token, readable by its
        owner only.

    Raises
    ------
    ParameterError
        If the file cannot be read or written, or a line is neither a key nor a token.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from shoal.shuffler import FileCredentials
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "keys"
    ...     credentials = FileCredentials(file)
    ...     key = next(line for line in file.read_text().split() if line.startswith("shoal_key"))
    ...     print(credentials.ingest_key_ok("homes", key))
    True
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int] | None = None
        self._hashes: frozenset[bytes] = frozenset()
        try:
            with suppress(FileExistsError):
                file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
                with os.fdopen(file, "w", encoding="ascii") as made:
                    made.writelines(
                        f"{new_credential(prefix)[1]}\n" for prefix in (KEY_PREFIX, TOKEN_PREFIX)
                    )
            self._look()
        except OSError as failure:
            raise ParameterError(
                f"keys must be a file that can be read, got {str(path)!r}: {failure.strerror}"
            ) from None

    def find_token(self, text: str) -> OperatorToken | None:
        """Return the token of a text, or None if it is not in the file."""
        return OperatorToken() if self._holds(text, TOKEN_PREFIX) else None

    def ingest_key_ok(self, campaign: str, text: str) -> bool:
        """Return whether the file holds this ingest key; the relay has a single campaign."""
        return self._holds(text, KEY_PREFIX)

    def _holds(self, text: str, prefix: str) -> bool:
        with suppress(OSError, ParameterError):  # half edited: what was read before holds
            self._look()
        return credential_id(text, prefix) is not None and hash_credential(text) in self._hashes

    def _look(self) -> None:
        """Read the file if it has changed."""
        found = self._path.stat()
        if self._seen == (found.st_mtime_ns, found.st_size):
            return
        lines = self._path.read_text(encoding="ascii", errors="replace").split("\n")
        texts = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
        for number, text in enumerate(texts, 1):
            if not any(credential_id(text, prefix) for prefix in (KEY_PREFIX, TOKEN_PREFIX)):
                raise ParameterError(
                    f"keys must be lines such as {KEY_PREFIX}_<id>_<secret>, got another line "
                    f"({number}) in {str(self._path)!r}"
                )
        self._hashes = frozenset(hash_credential(text) for text in texts)
        self._seen = (found.st_mtime_ns, found.st_size)
