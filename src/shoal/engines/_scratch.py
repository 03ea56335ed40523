"""Memory that kernels use again for each block, so that it stays in cache.

Memory that is given back to the system and taken anew has to be cleared page by page, which takes
about as long as a kernel's own work. So each thread keeps what it has, a few megabytes at most,
until it ends.
"""

import math
import threading

import numpy as np
import numpy.typing as npt

__all__ = ["Scratch", "thread_scratch"]

LINE = 64  # bytes of a cache line, and of the widest vector: neither is to straddle two of them


class Scratch:
    """Arrays of doubles by name, of one thread alone.

    Examples
    --------
    >>> from shoal.engines._scratch import Scratch
    >>> scratch = Scratch()
    >>> first = scratch.take("offsets", (2, 100))
    >>> again = scratch.take("offsets", (2, 60))
    >>> again.shape, first.ctypes.data == again.ctypes.data, again.ctypes.data % 64
    ((2, 60), True, 0)
    """

    def __init__(self) -> None:
        self._held: dict[str, npt.NDArray[np.float64]] = {}

    def take(self, name: str, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
        """Return a contiguous array of this shape; what was taken by this name is overwritten."""
        size = math.prod(shape)
        held = self._held.get(name)
        if held is None or held.size < size:
            held = self._held[name] = _aligned(size)
        return held[:size].reshape(shape)


_threads = threading.local()


def thread_scratch() -> Scratch:
    """Return the calling thread's own; a thread runs one kernel at a time."""
    held: Scratch | None = getattr(_threads, "scratch", None)
    if held is None:
        held = _threads.scratch = Scratch()
    return held


def _aligned(size: int) -> npt.NDArray[np.float64]:
    room = np.empty(8 * size + LINE, dtype=np.uint8)
    start = -room.ctypes.data % LINE
    doubles: npt.NDArray[np.float64] = room[start : start + 8 * size].view(np.float64)
    return doubles
