"""The file of a ledger: JSON lines, hash-chained, appended under a lock, synced before it counts.

The first line is a header with the limits. Every line ends with ``"hash"``, the SHA-256 of the
previous line's hash and of the line's own content, so that an edit anywhere but at the end shows.
(Whoever can write the file can also rewrite the whole chain or cut whole lines off its end: the
hashes catch accidents and careless edits. Copy the last hash elsewhere to catch more.)

A line counts once it ends with a newline. The tail of a write that a crash tore has none: the
spend was never acknowledged, so nothing was released, and the next append cuts it off.
"""

import contextlib
import errno
import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from shoal.exceptions import LedgerFileError, ParameterError, ShoalError

try:
    import fcntl
except ImportError:  # Windows has no advisory locks of this kind
    fcntl = None  # type: ignore[assignment]

__all__ = ["LedgerFile"]

_MAGIC = b'{"shoal_ledger":1,'
_START = "0" * 64

Parsed = TypeVar("Parsed")


class LedgerFile:
    """Reads and appends the lines of one ledger file.

    It remembers how far it has read, so each call reads only what is new. One object serves one
    thread at a time; other processes and objects are kept out by the lock on the file.

    Parameters
    ----------
    path : str
        Absolute path of the file.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._identity: tuple[int, int] | None = None
        self.rewind()

    @contextlib.contextmanager
    def locked(self, *, write: bool, create: bool = False) -> Iterator[int]:
        """Open and lock the file, exclusively for writing; yield its descriptor.

        A new descriptor each time: a lock belongs to the open file, which forked children share.
        """
        if fcntl is None:
            raise LedgerFileError("a ledger file needs POSIX file locks, which this system lacks")
        flags = os.O_RDWR | os.O_APPEND if write else os.O_RDONLY
        descriptor = -1
        try:
            descriptor = os.open(
                self.path, flags | os.O_CLOEXEC | (os.O_CREAT if create else 0), 0o600
            )
            fcntl.flock(descriptor, fcntl.LOCK_EX if write else fcntl.LOCK_SH)
            self._check_identity(descriptor)
        except OSError as failure:
            if descriptor >= 0:
                os.close(descriptor)
            raise LedgerFileError(self._says(failure)) from failure
        except BaseException:
            os.close(descriptor)
            raise
        try:
            yield descriptor
        finally:
            os.close(descriptor)  # releases the lock

    def start(self, header: dict[str, Any] | None) -> None:
        """Make sure that the file begins with a header, writing ``header`` if it is new."""
        if header is None and not Path(self.path).exists():
            raise ParameterError(f"epsilon must be given: there is no ledger at {self.path} yet")
        with self.locked(write=header is not None, create=header is not None) as descriptor:
            opening = os.pread(descriptor, 1 << 16, 0)
            if opening and not (opening.startswith(_MAGIC) or _MAGIC.startswith(opening)):
                raise LedgerFileError(f"{self.path} is not a ledger: choose another path")
            if b"\n" in opening:
                return
            if header is None:
                raise ParameterError(f"epsilon must be given: the ledger {self.path} is empty")
            self.append(descriptor, {"shoal_ledger": 1, **header})
            self._sync_folder()
            self.rewind()

    @property
    def at_start(self) -> bool:
        """Whether nothing was read yet, so that the header comes next."""
        return self._lines == 0

    def rewind(self) -> None:
        """Forget what was read; the next read begins with the header."""
        self._offset, self._lines, self._hash = 0, 0, _START

    def read_new(
        self, descriptor: int, parse: Callable[[dict[str, Any]], Parsed], *, at_most: int = -1
    ) -> list[Parsed]:
        """Return the whole lines that are new, parsed; on any damage nothing counts as read."""
        size = os.fstat(descriptor).st_size
        if size < self._offset:
            raise LedgerFileError(
                f"{self.path} lost lines since it was last read ({size} bytes, was "
                f"{self._offset}): restore it from a copy"
            )
        data = _read(descriptor, self._offset, size - self._offset)
        lines = data.split(b"\n")[:-1]  # what follows the last newline was never acknowledged
        if at_most >= 0:
            lines = lines[:at_most]
        offset, number, chain, parsed = self._offset, self._lines, self._hash, []
        for line in lines:
            number += 1
            try:
                content, chain = _decode(line, chain)
                parsed.append(parse(content))
            except (ValueError, TypeError, KeyError, RecursionError, ShoalError) as damage:
                raise LedgerFileError(
                    f"{self.path} is damaged at line {number} ({damage}): restore it from a copy"
                ) from damage
            offset += len(line) + 1
        self._offset, self._lines, self._hash = offset, number, chain
        return parsed

    def append(self, descriptor: int, content: dict[str, Any]) -> None:
        """Write one line and sync it to the disk, or leave the file as it was and raise.

        Everything before it must have been read under the same lock.
        """
        line, chain = _encode(content, self._hash)
        try:
            if os.fstat(descriptor).st_size > self._offset:
                os.ftruncate(descriptor, self._offset)  # the tail of a torn write
            if os.write(descriptor, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(descriptor)
        except BaseException as failure:
            # If this fails too, the line either is torn or counts as spent: both are safe.
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, self._offset)
                os.fsync(descriptor)
            if isinstance(failure, OSError):
                raise LedgerFileError(self._says(failure)) from failure
            raise
        self._offset += len(line)
        self._lines += 1
        self._hash = chain

    def _check_identity(self, descriptor: int) -> None:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):  # which may be opened, but not read
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        identity = (status.st_dev, status.st_ino)
        if self._identity is None:
            self._identity = identity
        elif self._identity != identity:
            raise LedgerFileError(f"{self.path} was replaced since it was opened: open it anew")

    def _sync_folder(self) -> None:
        try:
            folder = os.open(Path(self.path).parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as failure:
            raise LedgerFileError(self._says(failure)) from failure

    def _says(self, failure: OSError) -> str:
        return f"{self.path} cannot be used as a ledger: {failure.strerror}; nothing was spent"


def _read(descriptor: int, offset: int, length: int) -> bytes:
    parts = []
    while length > 0:
        part = os.pread(descriptor, length, offset)
        if not part:
            break
        parts.append(part)
        offset, length = offset + len(part), length - len(part)
    return b"".join(parts)


def _encode(content: dict[str, Any], previous: str) -> tuple[bytes, str]:
    plain = json.dumps(content, separators=(",", ":"), allow_nan=False)
    digest = hashlib.sha256((previous + plain).encode()).hexdigest()
    return f'{plain[:-1]},"hash":"{digest}"}}\n'.encode(), digest


def _decode(line: bytes, previous: str) -> tuple[dict[str, Any], str]:
    content = json.loads(line)
    if not isinstance(content, dict) or content.pop("hash", None) is None:
        raise ValueError("no hash")
    again, digest = _encode(content, previous)
    # Comparing the bytes, not only the hash, leaves no room for a second spelling of a line.
    if again != line + b"\n":
        raise ValueError("its hash does not follow from the lines before it")
    return content, digest
