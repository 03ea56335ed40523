"""Files that this process opens to write to, by any thread, temporary ones included."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_watching: list[list[str]] = []


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watching:
        return
    if event == "open":
        path, mode, flags = arguments
        if (mode and set(mode) & set("wax+")) or (flags or 0) & WRITES:
            _watching[-1].append(str(path))
    elif event.startswith("tempfile."):
        _watching[-1].append(event)


@contextmanager
def written_files() -> Iterator[list[str]]:
    """Yield a list that fills with what is opened to be written, or made to be."""
    if not getattr(sys, "_shoal_watched", False):  # a hook cannot be taken away again
        sys.addaudithook(_watch)
        sys._shoal_watched = True
    found: list[str] = []
    _watching.append(found)
    try:
        yield found
    finally:
        _watching.remove(found)
