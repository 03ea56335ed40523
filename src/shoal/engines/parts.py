"""Work on many rows, some at a time, on all the processors that the process may use."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

from shoal.engines._blas import one_blas_thread
from shoal.tables import usable_threads

__all__ = ["run_in_parts"]

# With so few rows BLAS takes one thread of its own accord, and setting that would take longer.
FEW = 64


def run_in_parts(
    job: Callable[[int, int], None], count: int, rows: int, *, threads: int | None = None
) -> None:
    """Call a job for parts of some rows, in threads where there are many.

    Parameters
    ----------
    job : callable
        Takes the first row of a part and the one after its last; parts do not overlap.
    count : int
        Number of rows.
    rows : int
        Rows of a part above which it pays to split it.
    threads : int, default=None
        How many threads; None takes as many as the process may use.

    Examples
    --------
    >>> from shoal.engines import run_in_parts
    >>> seen = []
    >>> run_in_parts(lambda start, stop: seen.append((start, stop)), 10, 5, threads=1)
    >>> seen
    [(0, 5), (5, 10)]
    """
    if count <= rows:
        with nullcontext() if count <= FEW else one_blas_thread():
            job(0, count)
        return
    workers = threads or usable_threads()
    # Equal parts, as many for each thread.
    parts = workers * -(-count // (workers * rows))
    ends = [count * i // parts for i in range(parts + 1)]
    with one_blas_thread(), ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(job, ends[:-1], ends[1:]):
            pass
