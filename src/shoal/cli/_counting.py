"""The ledger of a paid command: the one that is named, or one beside the table, and its total.

Nobody adds up what is spent by hand, so a command counts by itself. The ledger beside a table has
no limit and refuses nothing; it is written at the first spend, not before. It holds what entries
hold: no record, and nothing computed from records.
"""

import json
import math
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from shoal._numbers import rounded_up
from shoal.exceptions import LedgerFileError, ParameterError
from shoal.privacy import Entry, Guarantee, Ledger

if TYPE_CHECKING:
    from shoal.privacy import Event

__all__ = ["Counting", "count_spends", "finish", "open_ledger"]

ENDING = ".ledger"
VARIABLE = "SHOAL_LEDGER"
WAYS = "name one with --ledger FILE, or pass --no-ledger to count this release nowhere"
UNCOUNTED = "no ledger was charged (--no-ledger): nobody adds this release to others of {name}"
REPORTS = ("local", "metric", "shuffled")


class Counting(NamedTuple):
    """What a command charges, and what it calls the table.

    Parameters
    ----------
    ledger : Ledger or None
        None counts nothing.
    name : str
        Name of the table in the last line.
    file : Path or None
        Where the ledger is, or will be.
    """

    ledger: Ledger | None
    name: str

    file: Path | None = None

    def check_apart(self, option: str, written: Path) -> None:
        """Refuse to write over the ledger."""
        if self.file is None:
            return
        kept = self.file.resolve()
        if written.resolve() in (kept, kept.with_name(f"{kept.name}.head")):
            raise ParameterError(
                f"{option} must not replace the ledger, got {str(written)!r} for both"
            )

    @property
    def total(self) -> dict[str, Any] | None:
        """What was spent on the table so far, as plain values; None where nothing is counted."""
        if self.ledger is None:
            return None
        spent = [{**promise.to_dict(), "text": str(promise)} for promise in self.ledger.spent]
        entries = self.ledger.entries
        return {
            "releases": len(entries),
            "seeded": sum(entry.seeded for entry in entries),
            "spent": spent,
            "file": self.ledger.path,
            "text": self.text,
        }

    @property
    def text(self) -> str:
        """The total so far in one line."""
        if self.ledger is None:
            return UNCOUNTED.format(name=self.name)
        entries, promises = self.ledger.entries, self.ledger.spent
        parts: list[str] = []
        for central in (True, False):
            own = [entry for entry in entries if (entry.notion not in REPORTS) == central]
            if own:
                told = [one for one in promises if _is_of(one, own, first=not parts)]
                parts.append(_sum(own, told, f" of {self.name}" * (not parts), central=central))
        seeded = sum(entry.seeded for entry in entries)
        parts += [f"{seeded} of them seeded, which promises nothing"] * bool(seeded)
        return "; ".join(parts) or f"nothing was spent on {self.name} so far"


class _AtFirstSpend(Ledger):
    """A ledger without a limit that is in no file until something is spent.

    A command that ends before it spends anything leaves no file.
    """

    def __init__(self, path: Path, **kwargs: Any) -> None:
        super().__init__(epsilon=math.inf, **kwargs)
        self._begin = {"path": path, **kwargs}

    def spend(self, event: "Event", **kwargs: Any) -> Entry:
        """Join the file, or make it, then spend."""
        if self.path is None:
            super().__init__(**self._begin, epsilon=math.inf)
        return super().spend(event, **kwargs)


def count_spends(
    ledger: Path | None,
    data: Path,
    out: Path,
    *,
    table: str | None,
    who: str | None,
    no_ledger: bool = False,
) -> Counting:
    """Open the ledger to charge: the one named, or of the environment, or beside the data.

    Its entries say who spent, on what, for what.
    """
    from shoal.tables import array_file

    if no_ledger:
        given = {"--ledger": ledger, "--table": table, "--who": who}
        for option, value in given.items():
            if value is not None:
                raise ParameterError(f"{option} must come without --no-ledger, got {str(value)!r}")
        return Counting(None, data.name)
    if ledger is None and os.environ.get(VARIABLE):
        ledger = Path(os.environ[VARIABLE])
    file = array_file(data)
    # Of the file itself, as its ledger is: a link to it is the same table.
    named = file.resolve() if file.is_file() or file.is_dir() else data
    name = named.stem if table is None else table
    shown = table or data.name or data.resolve().name
    kwargs = {"table": name, "who": who, "output": out.name or out.resolve().name}
    path = _beside(file) if ledger is None else ledger
    empty = Counting(None, shown, path)
    empty.check_apart("--out", out)
    if ledger is None and (not path.exists() or not path.stat().st_size):
        _check_writable(path, file)
        return empty._replace(ledger=_AtFirstSpend(path, **kwargs))
    counted = open_ledger(path).table
    if counted and counted != name:
        raise ParameterError(
            f"--table must be {counted!r}, the table that {str(path)!r} is for, got {name!r}: "
            "give both the same name if they are about the same people, or name the ledger of the "
            "other people"
        )
    return empty._replace(ledger=open_ledger(path, **kwargs))


def finish(counting: Counting | None, plain: dict[str, Any] | None) -> None:
    """Print the total as the last line; as JSON, print it with all else of the result."""
    if plain is not None:
        total = {} if counting is None else {"total": counting.total}
        typer.echo(json.dumps({**plain, **total}))
    if counting is not None and (plain is None or counting.ledger is None):
        typer.echo(counting.text, err=plain is not None)


def _beside(data: Path) -> Path:
    """Return where the ledger of a table is: beside the file itself, however it was named.

    >>> _beside(Path("people.csv")).name
    'people.csv.ledger'
    """
    if data.exists() and not (data.is_file() or data.is_dir()):
        raise ParameterError(
            f"--ledger must be given for records that are in no file, got {str(data)!r}: {WAYS}",
            parameter="ledger",
            code="missing",
        )
    whole = data.resolve()
    if not whole.name:
        raise ParameterError(
            f"--ledger must be given for {str(data)!r}, which has nothing beside it: {WAYS}",
            parameter="ledger",
            code="missing",
        )
    return whole.with_name(whole.name + ENDING)


def open_ledger(path: Path, **limits: Any) -> Ledger:
    """Open the ledger in a file that exists, or make one where an epsilon is given."""
    try:
        if "epsilon" not in limits and not path.exists():
            raise LedgerFileError(
                f"there is no ledger at {str(path)!r}: make one with `shoal ledger {path} "
                "--epsilon LIMIT`"
            )
        return Ledger(path, **limits)
    except OSError as failure:
        raise LedgerFileError(
            f"a ledger must be a file that can be used, got {str(path)!r}: {failure.strerror}"
        ) from None


def _check_writable(path: Path, data: Path) -> None:
    """Refuse, before any work, a folder in which no ledger can be kept."""
    if not data.exists():
        return  # reading it says so
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as failure:
        raise ParameterError(
            f"--ledger must be given where none can be kept beside the records, in "
            f"{str(path.parent)!r}: {failure.strerror}; {WAYS}",
            parameter="ledger",
            code="missing",
        ) from None


def _is_of(promise: Guarantee, entries: list[Entry], *, first: bool) -> bool:
    """Return whether a promise is about these entries; that there is none is said once."""
    notions = {entry.notion for entry in entries}
    return first if promise.notion == "none" else promise.notion in notions


def _sum(entries: list[Entry], promises: list[Guarantee], of: str, *, central: bool) -> str:
    one, many = ("release", "releases") if central else ("set of reports", "sets of reports")
    count = f"{len(entries)} {one if len(entries) == 1 else many}{of}"
    together = "" if len(entries) == 1 else "together "
    several = len(promises) > 1
    return f"{count}, {together}{', '.join(_amount(promise, several) for promise in promises)}"


def _amount(promise: Guarantee, several: bool) -> str:
    """Write what is promised, and to whom where that is not each row."""
    if promise.notion == "none":
        return f"no promise ({promise.reason})"
    delta = f" and delta = {rounded_up(promise.delta)}" if promise.delta else ""
    per = f" per {promise.unit or 'unit of distance'}" if promise.notion == "metric" else ""
    slack = f" and slack = {rounded_up(promise.slack, 3)}" if promise.slack else ""
    unit = promise.privacy_unit
    whom = f" to each {unit}" if several or unit.kind == "user" else ""
    note = f" ({promise.reason})" if promise.reason else ""
    return f"epsilon = {rounded_up(promise.epsilon)}{delta}{per}{slack}{whom}{note}"
