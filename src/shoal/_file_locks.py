"""Locks on open files, between processes and between descriptors of one process.

A lock belongs to the open file: another opening of the same file is kept out, whoever made it, and
the lock goes with the process that dies. Readers of the bytes are not kept out; whoever wants to be
takes a lock as well.

POSIX has ``flock`` for this. Windows has ``LockFileEx``, whose locks nobody can read or write past;
so one byte far beyond the end of the file is locked, which no file ever holds. A wait for it inside
Windows would not end by Ctrl-C, hence we ask again and again.
"""

import ctypes
import errno
import os
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["WindowsLocks", "lock_file", "unlock_file"]

LOCKED_BYTE = 1 << 62  # no disk holds such a file; the largest offset of Windows is 2**63 - 1
FAIL_IMMEDIATELY, EXCLUSIVE = 1, 2  # flags of LockFileEx
LOCK_VIOLATION = 33  # its error where another holds the lock
ASK_SECONDS = 0.005  # between two tries; a ledger is held for milliseconds


class _Locks(Protocol):
    """What a system must be able to do."""

    def lock(self, descriptor: int, *, exclusive: bool, blocking: bool) -> None:
        """Take a lock."""

    def unlock(self, descriptor: int) -> None:
        """Release it."""


def lock_file(descriptor: int, *, exclusive: bool, blocking: bool = True) -> None:
    """Lock an open file until :func:`unlock_file`, or until all copies of it are closed.

    Parameters
    ----------
    descriptor : int
        Of a file opened for this lock, and for writing if it is exclusive: forked children share
        it. One that has a lock gets no other: POSIX would exchange it and let others in between,
        Windows would wait for itself.
    exclusive : bool
        Whether to keep everybody else out; otherwise only those who want it exclusively.
    blocking : bool, default=True
        Whether to wait for others.

    Raises
    ------
    BlockingIOError
        If another has it and nobody is to wait.
    OSError
        If the file cannot be locked, or this system has no file locks.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryFile() as file:
    ...     lock_file(file.fileno(), exclusive=True)
    ...     unlock_file(file.fileno())
    """
    _system.lock(descriptor, exclusive=exclusive, blocking=blocking)


def unlock_file(descriptor: int) -> None:
    """Release the lock on an open file.

    Closing alone would leave it with children that were forked meanwhile, and Windows takes its
    time.

    Parameters
    ----------
    descriptor : int
        As it was locked.
    """
    _system.unlock(descriptor)


class _PosixLocks:
    """Locks by ``flock``, of the module ``fcntl``."""

    def __init__(self, fcntl: Any) -> None:
        self._fcntl = fcntl

    def lock(self, descriptor: int, *, exclusive: bool, blocking: bool) -> None:
        kind = self._fcntl.LOCK_EX if exclusive else self._fcntl.LOCK_SH
        self._fcntl.flock(descriptor, kind if blocking else kind | self._fcntl.LOCK_NB)

    def unlock(self, descriptor: int) -> None:
        self._fcntl.flock(descriptor, self._fcntl.LOCK_UN)


class _Overlapped(ctypes.Structure):
    """OVERLAPPED of Windows: here it says where the locked bytes begin."""

    _fields_ = (
        ("Internal", ctypes.c_size_t),
        ("InternalHigh", ctypes.c_size_t),
        ("Offset", ctypes.c_uint32),
        ("OffsetHigh", ctypes.c_uint32),
        ("hEvent", ctypes.c_void_p),
    )


class WindowsLocks:
    """Locks by ``LockFileEx``.

    Parameters
    ----------
    kernel32 : ctypes.WinDLL
        The library of Windows that has it.
    get_handle : callable
        Returns the handle behind a descriptor, as ``msvcrt.get_osfhandle``.
    last_error : callable
        Returns the error of the last call, as ``ctypes.get_last_error``.
    make_error : callable
        Makes an OSError of its number, as ``ctypes.WinError``.
    """

    def __init__(
        self,
        kernel32: Any,
        *,
        get_handle: Callable[[int], int],
        last_error: Callable[[], int],
        make_error: Callable[[int], OSError],
    ) -> None:
        word, where = ctypes.c_uint32, ctypes.POINTER(_Overlapped)
        self._lock, self._unlock = kernel32.LockFileEx, kernel32.UnlockFileEx
        self._lock.argtypes = [ctypes.c_void_p, word, word, word, word, where]
        self._unlock.argtypes = [ctypes.c_void_p, word, word, word, where]
        self._lock.restype = self._unlock.restype = ctypes.c_int
        self._get_handle = get_handle
        self._last_error = last_error
        self._make_error = make_error

    def lock(self, descriptor: int, *, exclusive: bool, blocking: bool) -> None:
        """Take a lock, as :func:`lock_file` says."""
        handle = self._get_handle(descriptor)
        flags = FAIL_IMMEDIATELY | (EXCLUSIVE if exclusive else 0)
        while not self._lock(handle, flags, 0, 1, 0, ctypes.byref(_locked_byte())):
            error = self._last_error()
            if error != LOCK_VIOLATION:
                raise self._make_error(error)
            if not blocking:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
            time.sleep(ASK_SECONDS)

    def unlock(self, descriptor: int) -> None:
        """Release it, as :func:`unlock_file` says."""
        handle = self._get_handle(descriptor)
        if not self._unlock(handle, 0, 1, 0, ctypes.byref(_locked_byte())):
            raise self._make_error(self._last_error())


def _locked_byte() -> _Overlapped:
    return _Overlapped(Offset=LOCKED_BYTE & 0xFFFFFFFF, OffsetHigh=LOCKED_BYTE >> 32)


class _NoLocks:
    """A system without file locks, as that of a browser."""

    def lock(self, descriptor: int, *, exclusive: bool, blocking: bool) -> None:
        raise OSError(errno.ENOSYS, "this system has no file locks")

    def unlock(self, descriptor: int) -> None:
        raise OSError(errno.ENOSYS, "this system has no file locks")


def _system_locks() -> _Locks:  # each system has modules that others lack
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415

        return WindowsLocks(
            ctypes.WinDLL("kernel32", use_last_error=True),
            get_handle=msvcrt.get_osfhandle,
            last_error=ctypes.get_last_error,
            make_error=ctypes.WinError,
        )
    try:
        import fcntl  # noqa: PLC0415
    except ImportError:
        return _NoLocks()
    return _PosixLocks(fcntl)


_system = _system_locks()
