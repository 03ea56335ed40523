"""Threads and memory of kernels: parts of the records on all processors that the process may use.

Memory that is given back to the system and taken anew has to be cleared page by page, which takes
about as long as a kernel's own work. So each thread keeps what it has, a few megabytes at most,
until it ends (:class:`Scratch`). It keeps no record: what a kernel wrote is overwritten with zeros
when the kernel ends (:func:`cleared_scratch`).
"""

import functools
import math
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from shoal.tables import usable_threads

__all__ = ["Scratch", "cleared_scratch", "one_blas_thread", "run_in_parts", "thread_scratch"]

# With so few rows BLAS takes one thread of its own accord, and setting that would take longer.
FEW = 64
LINE = 64  # bytes of a cache line, and of the widest vector: neither is to straddle two of them

_lock = threading.Lock()
_limits = ExitStack()
_users = 0  # engines at work
_threads = threading.local()


def run_in_parts(
    job: Callable[[int, int], None], count: int, rows: int, *, threads: int | None = None
) -> None:
    """Call a function for parts of a range of rows, in several threads if there are many rows.

    Parameters
    ----------
    job : callable
        Function of the first row of a part and the one after its last; parts do not overlap.
    count : int
        Number of rows.
    rows : int
        Number of rows above which it pays to split a part.
    threads : int, default=None
        Number of threads; None takes as many as the process may use.

    Examples
    --------
    >>> from shoal.engines import run_in_parts
    >>> seen = []
    >>> run_in_parts(lambda start, stop: seen.append((start, stop)), 10, 5, threads=1)
    >>> seen
    [(0, 5), (5, 10)]
    """
    if count <= rows:
        with nullcontext() if count <= FEW else one_blas_thread(), cleared_scratch():
            job(0, count)
        return
    workers = threads or usable_threads()
    # Equal parts, as many for each thread. The threads end, and what they kept ends with them.
    parts = workers * -(-count // (workers * rows))
    ends = [count * i // parts for i in range(parts + 1)]
    with one_blas_thread(), ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(job, ends[:-1], ends[1:]):
            pass


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread while any engine is at work.

    The setting belongs to the process: the first to come lowers it and the last to go restores it,
    or two engines in two threads would leave it lowered for good.
    """
    global _users  # noqa: PLW0603
    with _lock:
        if _users == 0:
            _limits.enter_context(_blas().limit(limits=1))
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _limits.close()


@functools.cache
def _blas() -> ThreadpoolController:
    # Finding the libraries takes milliseconds; numpy's has been loaded by now.
    return ThreadpoolController().select(user_api="blas")


class Scratch:
    """Arrays of doubles by name, of one thread alone."""

    def __init__(self) -> None:
        self._held: dict[str, npt.NDArray[np.float64]] = {}
        self._used: dict[str, int] = {}  # doubles of each that were handed out since it was cleared

    def take(self, name: str, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
        """Return a contiguous array of this shape; what was taken by this name is overwritten."""
        size = math.prod(shape)
        held = self._held.get(name)
        if held is None or held.size < size:
            memory = np.zeros(8 * size + LINE, dtype=np.uint8)  # nor what was freed before
            start = -memory.ctypes.data % LINE
            held = self._held[name] = memory[start : start + 8 * size].view(np.float64)
        self._used[name] = max(size, self._used.get(name, 0))
        return held[:size].reshape(shape)

    def clear(self) -> None:
        """Overwrite what was handed out: it held records."""
        for name, size in self._used.items():
            self._held[name][:size] = 0.0
        self._used.clear()


def thread_scratch() -> Scratch:
    """Return the calling thread's own; a thread runs one kernel at a time."""
    held: Scratch | None = getattr(_threads, "scratch", None)
    if held is None:
        held = _threads.scratch = Scratch()
    return held


@contextmanager
def cleared_scratch() -> Iterator[None]:
    """Leave no record in the calling thread's scratch, however the work ends."""
    cleared = False
    try:
        yield
        thread_scratch().clear()
        cleared = True
    finally:
        if not cleared:  # after an exception or Ctrl-C: one step, which nothing comes between
            _threads.scratch = None
