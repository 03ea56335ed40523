"""A progress bar on the error stream, so that what is printed stays clean."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(words: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar with the time that is left while the block lasts.

    Parameters
    ----------
    words : str
        What is going on.

    Yields
    ------
    update : callable
        ``update(done, total)`` moves the bar.
    """
    columns = TextColumn(words), BarColumn(), TimeRemainingColumn()
    console = Console(stderr=True)
    # Without a terminal a bar is only an empty line.
    off = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=off) as bar:
        task = bar.add_task(words, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
