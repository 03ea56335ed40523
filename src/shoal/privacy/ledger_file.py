"""The file of a ledger: lines appended under a lock, synced before they count, with a head beside.

A line counts once it ends with a newline. The tail of a write that a crash tore has none: the
spend was never acknowledged, so nothing was released, and the next append cuts it off.

After each line the head, ``<path>.head``, is replaced: it holds the number of lines and the last
hash. A crash in between leaves one line that the head does not know: it counts, and the next append
brings the head up. Any other disagreement is refused: lines that were cut off, or a head that was
rolled back. Whoever rolls both files back together goes unnoticed here, which is why every release
carries the count and the hash (:class:`~shoal.privacy.Receipt`).
"""

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from shoal._whole_file import whole_file
from shoal.exceptions import LedgerFileError, ParameterError, ShoalError
from shoal.privacy.entry import Receipt
from shoal.privacy.ledger_chain import FORMAT, Head, decode_line, new_header

try:
    import fcntl
except ImportError:  # Windows has no advisory locks of this kind
    fcntl = None  # type: ignore[assignment]

__all__ = ["LedgerFile"]

_MAGIC = f'{{"shoal_ledger":{FORMAT},'.encode()
_OLD_MAGIC = b'{"shoal_ledger":1,'

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
            opening = _read(descriptor, 0, os.fstat(descriptor).st_size)
            if opening.startswith(_OLD_MAGIC):
                raise LedgerFileError(
                    f"{self.path} is a ledger of format 1, which does not say whom it protects: "
                    f"convert it with `shoal ledger {Path(self.path).name} --convert NEW`"
                )
            if opening and not (opening.startswith(_MAGIC) or _MAGIC.startswith(opening)):
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
            self._sync_folder()
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
        with whole_file(Path(self.head_path)) as part:
            part.touch(mode=0o600)
            part.write_text(head.to_json(), encoding="ascii")
            # Whoever may use the ledger needs its head, whoever spent last.
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

    def _sync_folder(self) -> None:
        folder = os.open(Path(self.path).parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _says(self, failure: OSError, *, spent: bool = False) -> str:
        what = "the spend counts and nothing was released" if spent else "nothing was spent"
        return f"{self.path} cannot be used as a ledger: {failure.strerror}; {what}"


def _read(descriptor: int, offset: int, length: int) -> bytes:
    parts = []
    while length > 0:
        part = os.pread(descriptor, length, offset)
        if not part:
            break
        parts.append(part)
        offset, length = offset + len(part), length - len(part)
    return b"".join(parts)
