"""What goes to the error stream: errors in the words of the command line, and a progress bar."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from shoal.exceptions import ShoalError

__all__ = [
    "WAYS_OUT",
    "command_line_message",
    "progress_bar",
]

# By the parameter that an error names; what has no entry has no way out on the command line.
WAYS_OUT = {
    "adjacency": "keep another ledger for local reports",
    "bounds": "pass --bounds LOW,HIGH, or LOW:HIGH for each column",
    "claim": "only a method with a guarantee_ of its own can be audited by its reports",
    "estimator": "name an estimator whose guarantee_ is central and that has a release_",
    "lacking": "declare what anyone may enter, or learn it with `shoal schema FILE "
    "--from-frictionless SCHEMA --private EPS`",
    "limits": "omit the limits to open it, or name another file",
    "metric_epsilon": "make one with `shoal ledger FILE --epsilon LIMIT --metric-epsilon LIMIT "
    "--metric-unit UNIT`",
    "names": "look them up in the file, or pass --no-header if it has no header line",
    "columns": "name them with --columns",
    "out_of_memory": "pass one CSV or Parquet file that fits in memory",
    "out": "name a folder with --out",
    "privacy_unit": "name it with --user-column",
    "random_state": "leave out its seed, or lower --samples",
    "runs": "pass --runs instead",
    "schema": "compare both with `shoal schema FILE --check SCHEMA`",
    "samples": "pass --samples instead",
    "unit": "name it with --unit, such as km",
    "user_ids": "name the column of users with --user-column, or make a ledger with "
    "--user-column NAME --rows-per-user M if no user has more rows",
}


def command_line_message(error: ShoalError) -> str:
    """Write an error for somebody who has no Python at hand.

    >>> from shoal.exceptions import ParameterError
    >>> command_line_message(ParameterError("n must be 1", parameter="runs", in_python="pass runs"))
    'n must be 1: pass --runs instead'
    """
    if not error.in_python:
        return str(error)
    way_out = WAYS_OUT.get(error.parameter)
    return error.message if way_out is None else f"{error.message}: {way_out}"


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar with the time that is left while the block lasts."""
    columns = TextColumn(title), BarColumn(), TimeRemainingColumn()
    console = Console(stderr=True)
    # Without a terminal a bar is only an empty line.
    off = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=off) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
