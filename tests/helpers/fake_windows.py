"""The file locks of Windows on Linux: ``LockFileEx`` by locks of open file descriptions.

These are like those of Windows: of a range of bytes, shared or exclusive, and of the open file. The
other half, that nobody can read or write locked bytes, is imitated by refusing to lock any that the
file has.
"""

import errno
import fcntl
import os
import struct
from typing import Any

from shoal import _file_locks

FAIL_IMMEDIATELY, EXCLUSIVE = 1, 2
LOCK_VIOLATION, INVALID_HANDLE, NOT_LOCKED = 33, 6, 158


class FakeKernel32:
    """What ``ctypes.WinDLL("kernel32")`` is to the locks."""

    def __init__(self) -> None:
        self.error = 0
        self.held: set[int] = set()

        # Functions, not methods: types are declared on them.
        def lock(handle: int, flags: int, *rest: Any) -> int:
            zero, low, high, where = rest
            assert zero == 0
            kind = fcntl.F_WRLCK if flags & EXCLUSIVE else fcntl.F_RDLCK
            ask = fcntl.F_OFD_SETLK if flags & FAIL_IMMEDIATELY else fcntl.F_OFD_SETLKW
            done = self._call(handle, ask, kind, _range(low, high, where))
            if done:
                self.held.add(handle)
            return done

        def unlock(handle: int, zero: int, low: int, high: int, where: Any) -> int:
            assert zero == 0
            if handle not in self.held:
                self.error = NOT_LOCKED
                return 0
            self.held.discard(handle)
            return self._call(handle, fcntl.F_OFD_SETLK, fcntl.F_UNLCK, _range(low, high, where))

        self.LockFileEx, self.UnlockFileEx = lock, unlock

    def _call(self, handle: int, ask: int, kind: int, locked: tuple[int, int]) -> int:
        start, length = locked
        try:
            assert start >= os.fstat(handle).st_size, "locked bytes could not be read by anybody"
            fcntl.fcntl(handle, ask, struct.pack("hhqqi0q", kind, os.SEEK_SET, start, length, 0))
        except OSError as failure:
            taken = failure.errno in (errno.EAGAIN, errno.EACCES)
            self.error = LOCK_VIOLATION if taken else INVALID_HANDLE
            return 0
        return 1


def windows_locks() -> _file_locks.WindowsLocks:
    """Return the locks of Windows on the fake; a descriptor is its own handle."""
    kernel32 = FakeKernel32()
    return _file_locks.WindowsLocks(
        kernel32,
        get_handle=lambda descriptor: descriptor,
        last_error=lambda: kernel32.error,
        make_error=lambda error: OSError(errno.EBADF, f"error {error} of Windows"),
    )


def _range(low: int, high: int, where: Any) -> tuple[int, int]:
    region = where._obj  # of ctypes.byref
    assert not region.hEvent
    return region.OffsetHigh << 32 | region.Offset, high << 32 | low
