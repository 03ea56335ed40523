"""Work in other processes that leaves Ctrl-C to the process that asked for it."""

import os
import signal
from collections.abc import Callable
from functools import partial
from typing import Any

__all__ = ["quietly"]


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
