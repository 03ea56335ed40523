"""One BLAS thread at a time for whoever brings threads of his own."""

import functools
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from threadpoolctl import ThreadpoolController

__all__ = ["one_blas_thread"]

_lock = threading.Lock()
_limits = ExitStack()
_users = 0


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
