"""Memory that a kernel uses again for each block of a part, so that it stays in cache."""

import math

import numpy as np
import numpy.typing as npt

__all__ = ["Scratch"]

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
        """Give a contiguous array of this shape; what was taken by this name is overwritten."""
        size = math.prod(shape)
        held = self._held.get(name)
        if held is None or held.size < size:
            held = self._held[name] = _aligned(size)
        return held[:size].reshape(shape)


def _aligned(size: int) -> npt.NDArray[np.float64]:
    room = np.empty(8 * size + LINE, dtype=np.uint8)
    start = -room.ctypes.data % LINE
    doubles: npt.NDArray[np.float64] = room[start : start + 8 * size].view(np.float64)
    return doubles
