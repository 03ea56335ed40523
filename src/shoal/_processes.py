"""Work in other processes that leaves Ctrl-C to the process that asked for it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing import resource_tracker
from typing import Any

__all__ = ["OWN_GROUP", "ignore_sigint", "kill_group", "run_parallel"]

# Of `subprocess.Popen`: Ctrl-C at a terminal is for whoever started the process, not for it.
OWN_GROUP: dict[str, Any] = {}
if sys.platform == "win32":
    OWN_GROUP["creationflags"] = subprocess.CREATE_NEW_PROCESS_GROUP
else:
    OWN_GROUP["start_new_session"] = True


def kill_group(pid: int) -> bool:
    """End a process that was started with ``OWN_GROUP`` at once, with all that it started.

    Parameters
    ----------
    pid : int
        Number of the process.

    Returns
    -------
    found : bool
        False if none was left.

    Examples
    --------
    >>> command = [sys.executable, "-c", "input()"]
    >>> with subprocess.Popen(command, stdin=subprocess.PIPE, **OWN_GROUP) as process:
    ...     kill_group(process.pid)
    True
    """
    if sys.platform == "win32":
        command = ["taskkill", "/F", "/T", "/PID", str(pid)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # macOS says the latter of one that has ended
        return False
    return True


def ignore_sigint(function: Callable[..., Any]) -> Callable[..., Any]:
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
    >>> ignore_sigint(max)(1, 2)
    2
    """
    return partial(_work, os.getpid(), function)


def _work(parent: int, function: Callable[..., Any], *arguments: Any, **kwargs: Any) -> Any:
    if os.getpid() != parent:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return function(*arguments, **kwargs)


def run_parallel(parallel: Any, tasks: Iterable[Any]) -> Generator[Any, None, None]:
    """Run tasks in processes that are started with Ctrl-C blocked, so that none ever receives it.

    A process that is still loading its modules has not come to ``ignore_sigint`` yet. It inherits
    the blocked signals of the process that starts it, which receives them again as soon as all are
    started.

    Parameters
    ----------
    parallel : joblib.Parallel
        With results that come one by one.
    tasks : iterable
        Calls of ``delayed`` on functions wrapped by :func:`ignore_sigint`: processes that were
        there before are used again.

    Yields
    ------
    result : object
        Results of ``parallel(tasks)``, one by one.

    Examples
    --------
    >>> from sklearn.utils.parallel import Parallel, delayed
    >>> work = ignore_sigint(max)
    >>> list(run_parallel(Parallel(return_as="generator"), [delayed(work)(1, 2)]))
    [2]
    """
    with parallel:
        with _interrupts_blocked():
            results = parallel(tasks)
        yield from results


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    if sys.platform == "win32":  # there, no signal can be blocked
        yield
        return
    resource_tracker.ensure_running()  # whoever starts it lifts this mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
