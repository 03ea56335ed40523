"""The ledger that a table is charged to: in memory, or in the file that the studio was given.

A limit is set before anything is spent, and then it is raised only on purpose, with a reason that
the ledger records: one that follows the spends limits nothing. A file brings its own limit; other
processes may charge it meanwhile, so its entries are read anew each time. In memory, tables of one
name share a ledger while the studio runs: whoever opens a file again is still charged to the limit
that was set for it.
"""

from pathlib import Path
from typing import Any

from shoal._numbers import rounded_up
from shoal.exceptions import LedgerFileError
from shoal.privacy import Entry, Ledger, LimitChange, PrivacyUnit
from shoal.service import RefusedError
from shoal.studio.settings import StudioSettings
from shoal.studio.workspace import StudioTable, Workspace, ledger_summary

__all__ = ["describe_ledger", "file_ledger", "ledger_name", "set_limit"]

LIMIT_STANDS = (
    "The limit can no longer change as if nothing had been spent: it can be raised only, with a "
    "reason, and the ledger records both."
)
UNLIMITED = (
    "The ledger in the file has no limit, and the studio shows what is left of one: set it first, "
    "with shoal ledger FILE --epsilon LIMIT --reason WHY."
)
OPENED_BEFORE = (
    "A table named {name!r} was opened before, with a limit of epsilon {epsilon} and delta "
    "{delta} for each {unit}: one limit covers everything spent on the same people. Set the "
    "same limit, or open the file under another name if it is about other people."
)


def ledger_name(table: StudioTable) -> str:
    """Return what a ledger calls a table, as the command line does: the file without its ending."""
    return Path(table.name).stem if table.source in ("upload", "file") else table.name


def set_limit(
    workspace: Workspace,
    table: StudioTable,
    epsilon: float | None,
    delta: float,
    *,
    name: str = "",
    reason: str = "",
) -> Ledger:
    """Give a table its ledger; the limit of the one it has is raised only, with a reason.

    Parameters
    ----------
    workspace : Workspace
        With the file of the ledger, if there is one, and the ledgers in memory.
    table : StudioTable
        Which gets the ledger.
    epsilon : float or None
        Its limit; None takes that of the file.
    delta : float
        The other part of the limit.
    name : str, default=""
        What the ledger calls the records; the name of the table if empty. Two tables about the same
        people share a name.

    Returns
    -------
    ledger : Ledger
        Which every release of the table is charged to.
    """
    settings = workspace.settings
    with table.purchases.halted():  # nothing is being charged to the ledger that is replaced
        held = table.ledger
        if held is not None and (held.entries or held.path is not None):
            limits = held.limits
            if epsilon is not None and (epsilon, delta) != (limits.epsilon, limits.delta):
                if not reason:
                    raise RefusedError("invalid-parameter", LIMIT_STANDS)
                held.set_limit(epsilon=epsilon, delta=delta, reason=reason)
            return held
        limit: dict[str, Any] = {} if epsilon is None else {"epsilon": epsilon, "delta": delta}
        called = name or ledger_name(table)
        if settings.ledger is not None:
            table.ledger = _in_file(settings.ledger, limit, _unit(table), called)
        elif epsilon is None:
            raise RefusedError("invalid-parameter", "A new ledger needs a limit on epsilon.")
        else:
            table.ledger = _in_memory(workspace, table, limit, called)
        return table.ledger


def file_ledger(settings: StudioSettings, name: str = "") -> Ledger | None:
    """Return the ledger in the studio's file; None where there is no file, or nothing in it."""
    path = settings.ledger
    if path is None or not path.exists():
        return None
    return _in_file(path, {}, PrivacyUnit(), name)


def describe_ledger(ledger: Ledger) -> dict[str, Any]:
    """Return limits, entries and what is left, as pages read them; a file is read anew."""
    return {
        **ledger_summary(ledger),
        "table": ledger.table,
        "file": ledger.path,
        "receipt": str(ledger.receipt),
        "list": [_plain(entry) for entry in ledger.entries],
        "changes": [_plain_change(change) for change in ledger.limit_changes],
    }


def _unit(table: StudioTable) -> PrivacyUnit:
    """Return whom the limit protects: users with all their rows, or rows."""
    user = None if table.schema is None else table.schema.user
    return PrivacyUnit() if user is None else PrivacyUnit.user(user.name)


def _in_memory(
    workspace: Workspace, table: StudioTable, limit: dict[str, Any], name: str
) -> Ledger:
    """Return the ledger that tables of this name share, or make it; generated ones share none."""
    made = Ledger(**limit, privacy_unit=_unit(table), table=name)
    if table.source not in ("upload", "file"):
        return made
    with workspace.lock:
        known = workspace.ledgers.get(name)
        if known is not None and known.limits == made.limits:
            return known
        others = (one for one in workspace.tables if one is not table)
        if known is not None and (known.entries or any(one.ledger is known for one in others)):
            limits = known.limits
            raise RefusedError(
                "invalid-parameter",
                OPENED_BEFORE.format(
                    name=name,
                    epsilon=rounded_up(limits.epsilon),
                    delta=rounded_up(limits.delta),
                    unit=limits.privacy_unit,
                ),
            )
        workspace.ledgers[name] = made
    return made


def _in_file(path: Path, limit: dict[str, Any], unit: PrivacyUnit, name: str) -> Ledger:
    """Open the ledger in a file, or make it; a file of another table is refused."""
    try:
        if not path.exists():
            if not limit:
                raise RefusedError("invalid-parameter", "A new ledger needs a limit on epsilon.")
            return Ledger(path, **limit, privacy_unit=unit, table=name)
        found = Ledger(path)
        if found.limits.unlimited:
            raise RefusedError("invalid-parameter", UNLIMITED)
        counted = found.table
        if name and counted and counted != name:
            raise RefusedError(
                "invalid-parameter",
                f"The ledger in the file is for the table {counted!r}, not for {name!r}: name this "
                "table the same if both are about the same people, or start the studio with the "
                "ledger of the other people.",
            )
        return Ledger(path, table=name, **({**limit, "privacy_unit": unit} if limit else {}))
    except OSError as failure:
        raise LedgerFileError(
            f"a ledger must be a file that can be used, got {str(path)!r}: {failure.strerror}"
        ) from None


def _plain_change(change: LimitChange) -> dict[str, Any]:
    limits = change.limits
    return {
        "number": None if change.receipt is None else change.receipt.count,
        "time": change.time,
        "who": change.who,
        "reason": change.reason,
        "epsilon": limits.epsilon,
        "delta": limits.delta,
    }


def _plain(entry: Entry) -> dict[str, Any]:
    receipt = entry.receipt
    return {
        "number": None if receipt is None else receipt.count,
        "time": entry.time,
        "who": entry.who,
        "purpose": entry.purpose,
        "price": entry.price,
        "notion": entry.notion,
        "unit": str(entry.privacy_unit),
        "table": entry.table,
        "columns": list(entry.columns),
        "output": entry.output,
        "seeded": entry.seeded,
        "hash": None if receipt is None else receipt.hash,
    }
