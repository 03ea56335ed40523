"""What goes to the error stream: errors in the words of the command line, and a progress bar."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from shoal.exceptions import Code, ShoalError

__all__ = [
    "WAYS_OUT",
    "command_line_message",
    "progress_bar",
]

# By the parameter and the code of an error; what has no entry has no way out on the command line.
WAYS_OUT: dict[tuple[str, Code], str] = {
    ("X", "columns"): "compare both with `shoal schema FILE --check SCHEMA`",
    ("X", "unsupported"): "pass one CSV or Parquet file that fits in memory",
    ("bounds", "missing"): "pass --bounds LOW,HIGH, or LOW:HIGH for each column",
    ("bounds", "shape"): "pass --bounds LOW,HIGH, or LOW:HIGH for each column",
    ("claim", "missing"): "only a method with a guarantee_ of its own can be audited by its "
    "reports",
    ("columns", "missing"): "name them with --columns",
    ("estimator", "unsupported"): "name an estimator whose guarantee_ is central and that has a "
    "release_",
    ("delta", "budget"): "ask for less, or raise the limit: `shoal ledger FILE --epsilon LIMIT "
    "--delta LIMIT --reason WHY`",
    ("epsilon", "budget"): "ask for less, or raise the limit: `shoal ledger FILE --epsilon LIMIT "
    "--reason WHY`",
    ("limits", "conflict"): "omit the limits to open it, or raise them with --reason WHY",
    ("metric_epsilon", "budget"): "ask for less, or raise the limit: `shoal ledger FILE "
    "--metric-epsilon LIMIT --metric-unit UNIT --reason WHY`",
    ("names", "columns"): "look them up in the file, or pass --no-header if it has no header line",
    ("out", "missing"): "name a folder with --out",
    ("privacy_unit", "incomplete"): "name it with --user-column",
    ("random_state", "seeded"): "leave out its seed, or lower --samples",
    ("runs", "unexpected"): "pass --samples instead",
    ("sample_weight", "unsupported"): "pass one CSV or Parquet file that fits in memory",
    ("samples", "unexpected"): "pass --runs instead",
    ("schema", "incomplete"): "declare what anyone may enter, or learn it with `shoal schema FILE "
    "--from-frictionless SCHEMA --private EPS`",
    ("unit", "missing"): "name it with --unit, such as km",
    ("user_ids", "guarantee"): "name the column of users with --user-column",
    ("user_ids", "unsupported"): "pass one CSV or Parquet file that fits in memory",
}


def command_line_message(error: ShoalError) -> str:
    """Write an error for somebody who has no Python at hand.

    >>> from shoal.exceptions import ParameterError
    >>> error = ParameterError(
    ...     "out must be given", parameter="out", code="missing", in_python="pass out="
    ... )
    >>> command_line_message(error)
    'out must be given: name a folder with --out'
    """
    if not error.in_python:
        return str(error)
    way_out = WAYS_OUT.get((error.parameter, error.code))
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
