"""The file of a ledger: lines of JSON, each with the SHA-256 of the line before it and its own.

An edit anywhere but at the end breaks the chain. What a removed end breaks is the head: the number
of lines and the last hash, kept beside the lines. Every line holds random digits of its own, so
that hashes shown with releases tell nothing about the lines, not even those of two neighbors: with
digits in the header alone, whoever knew one hash could try out guesses of the next line.
"""

import contextlib
import errno
import hashlib
import json
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from shoal._file_locks import lock_file, unlock_file
from shoal._files import BINARY, atomic_write, sync_folder
from shoal.exceptions import LedgerFileError, ParameterError, ShoalError
from shoal.privacy.entries import Receipt

__all__ = [
    "FORMAT",
    "START",
    "Head",
    "LedgerFile",
    "decode_line",
    "encode_line",
    "new_header",
    "open_header",
]

FORMAT = 1  # of the lines and of the head
START = "0" * 64


class Head(NamedTuple):
    """How many lines there are, the header among them, and the hash of the last one."""

    lines: int = 0
    hash: str = START

    @property
    def receipt(self) -> Receipt:
        """What a release carries: the number of entries, and the hash."""
        return Receipt(self.lines - 1, self.hash)

    def after(self, content: dict[str, Any]) -> tuple[bytes, "Head"]:
        """Return the next line, salted, and the head with it."""
        line, digest = encode_line({**content, "salt": secrets.token_hex(16)}, self.hash)
        return line, Head(self.lines + 1, digest)

    def to_json(self) -> str:
        """Return the content of the head's file."""
        plain = {"shoal_ledger_head": FORMAT, "lines": self.lines, "hash": self.hash}
        return json.dumps(plain)

    @classmethod
    def from_json(cls, text: str) -> "Head":
        """Rebuild a head, strictly; ValueError if it is none."""
        plain = json.loads(text)
        if not isinstance(plain, dict) or plain.get("shoal_ledger_head") != FORMAT:
            raise ValueError("no head of this format")
        head = cls(plain.get("lines", 0), plain.get("hash", ""))
        whole = type(head.lines) is int and isinstance(head.hash, str)  # NaN is below nothing
        if not whole or head.to_json() != text.strip():
            raise ValueError("no head of this format")
        return head


def new_header(limits: dict[str, Any]) -> dict[str, Any]:
    """Return the first line of a ledger with these limits."""
    return {"shoal_ledger": FORMAT, **limits}


def open_header(content: dict[str, Any]) -> dict[str, Any]:
    """Return the limits in a header; ValueError if it is of another format."""
    limits = dict(content)
    if limits.pop("shoal_ledger", None) != FORMAT:
        raise ValueError(f"no header of format {FORMAT}")
    return limits


def encode_line(content: dict[str, Any], previous: str) -> tuple[bytes, str]:
    """Return a line with its hash, and the hash."""
    plain = json.dumps(content, separators=(",", ":"), allow_nan=False)
    digest = hashlib.sha256((previous + plain).encode()).hexdigest()
    return f'{plain[:-1]},"hash":"{digest}"}}\n'.encode(), digest


def decode_line(line: bytes, previous: str) -> tuple[dict[str, Any], str]:
    """Return the content and the hash of a line; ValueError if it does not follow."""
    content = json.loads(line)
    if not isinstance(content, dict) or content.pop("hash", None) is None:
        raise ValueError("no hash")
    again, digest = encode_line(content, previous)
    # Comparing the bytes, not only the hash, leaves no room for a second spelling of a line.
    if again != line + b"\n":
        raise ValueError("its hash does not follow from the lines before it")
    return content, digest


_MAGIC = b'{"shoal_ledger":'
_HEADER = _MAGIC + f"{FORMAT},".encode()

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
        self.head_path = f"{path}.head"
        self._identity: tuple[int, int] | None = None
        self.rewind()

    @contextlib.contextmanager
    def locked(self, *, write: bool, create: bool = False) -> Iterator[int]:
        """Open and lock the file, exclusively for writing; yield its descriptor.

        A new descriptor each time: a lock belongs to the open file, which forked children share.
        """
        flags = (os.O_RDWR | os.O_APPEND if write else os.O_RDONLY) | BINARY
        descriptor = -1
        try:
            descriptor = os.open(self.path, flags | (os.O_CREAT if create else 0), 0o600)
            lock_file(descriptor, exclusive=write)
            self._check_identity(descriptor)
        except BaseException as failure:
            if descriptor >= 0:  # Ctrl-C may come before it is open
                os.close(descriptor)
            if isinstance(failure, OSError):
                raise LedgerFileError(self._says(failure)) from failure
            raise
        try:
            yield descriptor
        finally:
            # What was done under the lock stands, whatever becomes of it: closing releases it too.
            try:
                with contextlib.suppress(OSError):
                    unlock_file(descriptor)
            finally:
                os.close(descriptor)  # also after Ctrl-C: else this process would wait for itself

    def start(self, header: dict[str, Any] | None) -> None:
        """Make sure that the file begins with a header, writing ``header`` if it is new."""
        if header is None and not Path(self.path).exists():
            raise ParameterError(f"epsilon must be given: there is no ledger at {self.path} yet")
        with self.locked(write=header is not None, create=header is not None) as descriptor:
            opening = _read(descriptor, 0, os.fstat(descriptor).st_size)
            if not _HEADER.startswith(opening[: len(_HEADER)]):
                if opening.startswith(_MAGIC):
                    raise LedgerFileError(
                        f"{self.path} is not a ledger of format {FORMAT}, the only one that this "
                        "version of shoal reads: open it with the version that wrote it"
                    )
                raise LedgerFileError(f"{self.path} is not a ledger: choose another path")
            if b"\n" in opening:
                return
            if header is None:
                raise ParameterError(f"epsilon must be given: the ledger {self.path} is empty")
            if self._read_head() is not None:
                raise LedgerFileError(f"{self.path} lost all its lines: restore it from a copy")
            self.append(descriptor, new_header(header))
            self.rewind()

    @property
    def at_start(self) -> bool:
        """Return whether nothing was read yet, so that the header comes next."""
        return self._head.lines == 0

    @property
    def receipt(self) -> Receipt:
        """The number of entries read so far, and the hash of the last line."""
        return self._head.receipt

    def rewind(self) -> None:
        """Forget what was read; the next read begins with the header."""
        self._offset, self._head = 0, Head()

    def read_new(
        self,
        descriptor: int,
        parse: Callable[[dict[str, Any], Receipt], Parsed],
        *,
        at_most: int = -1,
    ) -> list[Parsed]:
        """Return the whole lines that are new, parsed; on any damage nothing counts as read.

        With no ``at_most`` the head is compared as well.
        """
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
        offset, head, heads, parsed = self._offset, self._head, [self._head], []
        for line in lines:
            number = head.lines + 1
            try:
                content, digest = decode_line(line, head.hash)
                if not isinstance(content.pop("salt", None), str):
                    raise ValueError("no salt")
                head = Head(number, digest)
                parsed.append(parse(content, head.receipt))
            except (ValueError, TypeError, KeyError, RecursionError, ShoalError) as damage:
                raise LedgerFileError(
                    f"{self.path} is damaged at line {number} ({damage}): restore it from a copy"
                ) from damage
            offset += len(line) + 1
            heads.append(head)
        if at_most < 0:
            self._check_head(heads)
        self._offset, self._head = offset, head
        return parsed

    def append(self, descriptor: int, content: dict[str, Any]) -> Receipt:
        """Write one line and its head and sync both, or leave the files as they were and raise.

        Everything before it must have been read under the same lock.
        """
        line, head = self._head.after(content)
        acknowledged = False
        try:
            if self._head.lines and self._read_head() != self._head:
                self._write_head(self._head)  # a crash kept it from being brought up
            if os.fstat(descriptor).st_size > self._offset:
                os.ftruncate(descriptor, self._offset)  # the tail of a torn write
            if os.write(descriptor, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(descriptor)
            self._write_head(head)
            acknowledged = True
            sync_folder(Path(self.path).parent)
        except BaseException as failure:
            # A head that knows of the line keeps it: a spend that counts and was not used is safe.
            acknowledged = acknowledged or self._head_knows(head)
            if not acknowledged:
                # If this fails too, the line either is torn or counts as spent: both are safe.
                with contextlib.suppress(OSError):
                    os.ftruncate(descriptor, self._offset)
                    os.fsync(descriptor)
            if isinstance(failure, OSError):
                raise LedgerFileError(self._says(failure, spent=acknowledged)) from failure
            raise
        self._offset += len(line)
        self._head = head
        return head.receipt

    def _check_head(self, heads: list[Head]) -> None:
        """Refuse lines that the head does not know of, but for one that a crash left."""
        last, kept = heads[-1], self._read_head()
        if last.lines == 0:
            return
        if kept is None and last.lines == 1:
            return  # a crash between the header and its head
        if kept is None:
            raise LedgerFileError(f"{self.head_path} is missing: restore it from a copy")
        if kept.lines > last.lines:
            raise LedgerFileError(
                f"{self.path} lost its last line(s): it has {last.lines} where its head counts "
                f"{kept.lines}; restore it from a copy"
            )
        if last.lines - kept.lines > 1:
            raise LedgerFileError(
                f"{self.head_path} is older than the ledger: restore both from one copy"
            )
        known = next((head for head in heads if head.lines == kept.lines), None)
        if known is not None and known != kept:
            raise LedgerFileError(
                f"{self.path} is damaged at line {kept.lines} (not the line that its head "
                "names): restore both from one copy"
            )

    def _read_head(self) -> Head | None:
        try:
            return Head.from_json(Path(self.head_path).read_text(encoding="ascii"))
        except FileNotFoundError:
            return None
        except OSError as failure:
            raise LedgerFileError(self._says(failure)) from failure
        except (ValueError, TypeError, RecursionError) as damage:
            raise LedgerFileError(
                f"{self.head_path} is damaged: restore it from a copy"
            ) from damage

    def _head_knows(self, head: Head) -> bool:
        try:
            return self._read_head() == head
        except LedgerFileError:
            return False

    def _write_head(self, head: Head) -> None:
        ledger = Path(self.path).stat()
        with atomic_write(Path(self.head_path)) as part:
            part.touch(mode=0o600)
            part.write_text(head.to_json(), encoding="ascii")
            # Whoever may use the ledger needs its head, whoever spent last.
            if hasattr(os, "chown"):  # on Windows the folder decides
                for owner in ((-1, ledger.st_gid), (ledger.st_uid, -1)):
                    with contextlib.suppress(OSError):  # only root may give files away
                        os.chown(part, *owner)
            part.chmod(stat.S_IMODE(ledger.st_mode))

    def _check_identity(self, descriptor: int) -> None:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):  # which may be opened, but not read
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(status.st_mode):  # a device or a pipe keeps nothing
            raise LedgerFileError(f"{self.path} is no regular file: choose another path")
        identity = (status.st_dev, status.st_ino)
        # While this process waited for the lock, the path may have got another file.
        named = os.stat(self.path)  # noqa: PTH116 (beside fstat)
        if self._identity is None:
            self._identity = identity
        if not self._identity == identity == (named.st_dev, named.st_ino):
            raise LedgerFileError(f"{self.path} was replaced since it was opened: open it anew")

    def _says(self, failure: OSError, *, spent: bool = False) -> str:
        what = "the spend counts and nothing was released" if spent else "nothing was spent"
        return f"{self.path} cannot be used as a ledger: {failure.strerror}; {what}"


def _read(descriptor: int, offset: int, length: int) -> bytes:
    # Nobody else moves the position of this descriptor, and appends do not look at it.
    os.lseek(descriptor, offset, os.SEEK_SET)
    parts = []
    while length > 0:
        part = os.read(descriptor, length)
        if not part:
            break
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
