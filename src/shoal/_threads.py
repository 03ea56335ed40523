"""How many threads a process should start."""

import os

__all__ = ["usable_threads"]


def usable_threads() -> int:
    """Return the number of processors that the process may use.

    Examples
    --------
    >>> usable_threads() >= 1
    True
    """
    # Containers and batch systems give a process fewer processors than the machine has.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
