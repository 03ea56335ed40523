"""Work in other processes that leaves Ctrl-C to the process that asked for it."""

import os
import signal
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing import resource_tracker
from typing import Any

__all__ = ["quietly", "started"]


def quietly(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let worker processes ignore Ctrl-C, which a terminal sends to all of them at once.

    The process that started them stops, and takes them with it; a traceback from each would only
    hide its message.

    Parameters
    ----------
    function : callable
        What the workers do.

    Returns
    -------
    function : callable
        The same; in this process nothing changes.

    Examples
    --------
    >>> quietly(max)(1, 2)
    2
    """
    return partial(_work, os.getpid(), function)


def _work(parent: int, function: Callable[..., Any], *arguments: Any, **words: Any) -> Any:
    if os.getpid() != parent:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return function(*arguments, **words)


def started(parallel: Any, tasks: Iterable[Any]) -> Generator[Any, None, None]:
    """Start the processes of some work with Ctrl-C held back, so that none of them ever hears it.

    A process that is still loading its modules has not come to ``quietly`` yet. It takes over which
    signals are held back from the one that starts it; that one hears them as soon as all are
    started.

    Parameters
    ----------
    parallel : joblib.Parallel
        With results that come one by one.
    tasks : iterable
        What ``delayed`` gives, of functions of ``quietly``: processes that were there before are
        used again.

    Yields
    ------
    result : object
        What ``parallel(tasks)`` gives, one by one.

    Examples
    --------
    >>> from sklearn.utils.parallel import Parallel, delayed
    >>> work = quietly(max)
    >>> list(started(Parallel(return_as="generator"), [delayed(work)(1, 2)]))
    [2]
    """
    with parallel:
        with _interrupts_held():
            results = parallel(tasks)
        yield from results


@contextmanager
def _interrupts_held() -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):  # not there on Windows
        yield
        return
    resource_tracker.ensure_running()  # whoever starts it lifts this mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
