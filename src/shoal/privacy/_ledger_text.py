"""A ledger as a table: what was spent on what, and the total."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal import _html
from shoal._numbers import rounded_down, rounded_up
from shoal.privacy.entries import LimitChange

if TYPE_CHECKING:
    from shoal.privacy.entries import Entry
    from shoal.privacy.ledger import Ledger
    from shoal.privacy.limits import Limits

__all__ = ["ledger_html", "ledger_text"]

_COLUMNS = ("", "time (UTC)", "who", "promise", "to each", "spent", "purpose")
_SEEDED = "seeded: no promise"
_EVERYTHING = ("table", "columns", "output", "adjacency", "hash")


def ledger_text(ledger: Ledger) -> str:
    """Return a plain-text table of the ledger."""
    entries = ledger.entries
    lines = [_title(ledger)]
    if recorded := _recorded(ledger, entries):
        rows = [_COLUMNS, *map(_row, recorded)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
        for row in rows:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            lines.append("  ".join(cells).rstrip())
    return "\n".join([*lines, *_totals(ledger, entries)])


def ledger_html(ledger: Ledger) -> str:
    """Return the same table for a notebook."""
    entries = ledger.entries
    rows = [(*_row(line), *_rest(line)) for line in _recorded(ledger, entries)]
    spent = _html.table((*_COLUMNS, *_EVERYTHING), rows, caption=_title(ledger))
    return _html.block(spent, *map(_html.paragraph, _totals(ledger, entries)))


def _recorded(ledger: Ledger, entries: tuple[Entry, ...]) -> list[Entry | LimitChange]:
    """Return spends and changes of the limit in the order in which they were recorded."""
    both: list[Entry | LimitChange] = [*entries, *ledger.limit_changes]
    return sorted(both, key=lambda line: 0 if line.receipt is None else line.receipt.count)


def _title(ledger: Ledger) -> str:
    limits = ledger.limits
    if limits.unlimited:
        table = f" of {ledger.table!r}" if ledger.table else ""
        return f"ledger without a limit{table}{'' if ledger.path is None else f' in {ledger.path}'}"
    whom = f"for each {limits.privacy_unit}"
    table = f" of {ledger.table!r}" if ledger.table else ""
    where = "" if ledger.path is None else f" in {ledger.path}"
    return f"ledger with {_limit(limits)} ({limits.adjacency.value}) {whom}{table}{where}"


def _row(entry: Entry | LimitChange) -> tuple[str, ...]:
    number = "" if entry.receipt is None else str(entry.receipt.count)
    if isinstance(entry, LimitChange):
        when, who = entry.time[:19].replace("T", " "), _one_line(entry.who)
        before = "" if entry.before.unlimited else f" from {_limit(entry.before)}"
        why = f"limit set{before} to {_limit(entry.limits)}: {_one_line(entry.reason)}"
        return number, when, who, "", "", "nothing", why
    purpose = _one_line(entry.purpose)
    return (
        number,
        entry.time[:19].replace("T", " "),
        _one_line(entry.who),
        entry.notion,
        str(entry.privacy_unit),
        entry.price,
        f"{purpose} ({_SEEDED})" if entry.seeded else purpose,
    )


def _limit(limits: Limits) -> str:
    parts = [f"epsilon = {rounded_up(limits.epsilon)}"]
    if limits.delta > 0:
        parts.append(f"delta = {rounded_up(limits.delta)}")
    if limits.metric_epsilon is not None:
        parts.append(
            f"metric epsilon = {rounded_up(limits.metric_epsilon)} per {limits.metric_unit}"
        )
    return ", ".join(parts)


def _one_line(text: str) -> str:
    """Return a text that cannot look like further lines of the table."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def _rest(entry: Entry | LimitChange) -> tuple[str, ...]:
    receipt = "" if entry.receipt is None else entry.receipt.hash
    if isinstance(entry, LimitChange):
        return "", "", "", "", receipt
    return (
        entry.table,
        ", ".join(entry.columns),
        entry.output,
        entry.adjacency.value if entry.notion == "central" else "",
        receipt,
    )


def _totals(ledger: Ledger, entries: tuple[Entry, ...]) -> list[str]:
    if not entries and ledger.limits.unlimited:
        return ["nothing was spent"]
    if not entries:
        return [f"nothing was spent, {rounded_down(ledger.remaining)} is left"]
    lines = [f"promised: {guarantee}" for guarantee in ledger.spent]
    if ledger.limits.unlimited:
        return [*lines, f"ledger: {ledger.receipt}"]
    lines.append(
        f"used: {ledger.used:.1%} of the limit; left for a pure spend: "
        f"{rounded_down(ledger.remaining)}"
    )
    metric = [guarantee for guarantee in ledger.spent if guarantee.notion == "metric"]
    limits = ledger.limits
    if metric and limits.metric_epsilon is not None:
        limit = f"{rounded_up(limits.metric_epsilon)} per {limits.metric_unit}"
        slack = f", with slack {rounded_up(metric[0].slack, 3)}" if metric[0].slack else ""
        lines.append(f"metric: {rounded_up(metric[0].epsilon)} of {limit} is used{slack}")
    return [*lines, f"ledger: {ledger.receipt}"]
