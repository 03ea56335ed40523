"""Work in a process of its own, which ends at once when nobody waits for its result any more.

A thread cannot be ended from outside, and finding clusters behind reports takes seconds: the next
position of a slider must not wait for the last one. Processes are forked from a server that has
loaded the modules already, where the system has such a thing.
"""

import multiprocessing
from collections.abc import Callable
from functools import cache
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from typing import Any

from shoal._processes import ignore_sigint
from shoal.exceptions import ParameterError, ShoalError

__all__ = ["run_killable", "warm_processes"]

LOADED = (
    "shoal.reports.noise_aware_kmeans",
    "shoal.mechanisms",
    "shoal.cluster",
    "shoal.experiments.compare",
)
LOOK = 0.05  # seconds between two looks at whether somebody still waits


def run_killable(check: Callable[[], None], work: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in another process, and end that process if it is no longer wanted.

    Parameters
    ----------
    check : callable
        Called while the work runs; what it raises ends the work.
    work : callable
        Of a module, so that another process finds it.
    *arguments
        What it is called with. They are sent to the other process, and never hold a true record.

    Returns
    -------
    result : object
        What the function returned.

    Raises
    ------
    ShoalError
        What the function raised.
    """
    context = _context()
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(
        target=ignore_sigint(_answer), args=(theirs, work, arguments), daemon=True
    )
    process.start()
    theirs.close()
    try:
        while not mine.poll(LOOK):
            check()
        done, result = mine.recv()
    except EOFError:
        raise RuntimeError("a process of the studio ended without a result") from None
    finally:
        process.kill()
        process.join()
        process.close()
        mine.close()
    if not done:
        raise ParameterError(str(result))
    return result


def warm_processes() -> None:
    """Let processes load their modules before the first work is asked for; returns at once."""
    if _context().get_start_method() == "forkserver":
        forkserver.ensure_running()


@cache
def _context() -> Any:
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(LOADED))
    return context


def _answer(pipe: Connection, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    try:
        pipe.send((True, work(*arguments)))
    except ShoalError as error:
        pipe.send((False, error.message))
