"""A ledger as a table: what was spent on what, and the total."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal import _html
from shoal._numbers import rounded_down, rounded_up

if TYPE_CHECKING:
    from shoal.privacy.entries import Entry
    from shoal.privacy.ledger import Ledger

__all__ = ["ledger_html", "ledger_text"]

_COLUMNS = ("", "time (UTC)", "who", "promise", "to each", "spent", "purpose")
_SEEDED = "seeded: no promise"
_EVERYTHING = ("table", "columns", "output", "adjacency", "hash")


def ledger_text(ledger: Ledger) -> str:
    """Return a plain-text table of the ledger."""
    entries = ledger.entries
    lines = [_title(ledger)]
    if entries:
        rows = [_COLUMNS, *map(_row, entries)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
        for row in rows:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            lines.append("  ".join(cells).rstrip())
    return "\n".join([*lines, *_totals(ledger, entries)])


def ledger_html(ledger: Ledger) -> str:
    """Return the same table for a notebook."""
    entries = ledger.entries
    rows = [(*_row(entry), *_rest(entry)) for entry in entries]
    spent = _html.table((*_COLUMNS, *_EVERYTHING), rows, caption=_title(ledger))
    return _html.block(spent, *map(_html.paragraph, _totals(ledger, entries)))


def _title(ledger: Ledger) -> str:
    limits = ledger.limits
    parts = [f"ledger with epsilon = {rounded_up(limits.epsilon)}"]
    if limits.delta > 0:
        parts.append(f"delta = {rounded_up(limits.delta)}")
    if limits.metric_epsilon is not None:
        parts.append(
            f"metric epsilon = {rounded_up(limits.metric_epsilon)} per {limits.metric_unit}"
        )
    whom = f"for each {limits.privacy_unit}"
    table = f" of {ledger.table!r}" if ledger.table else ""
    where = "" if ledger.path is None else f" in {ledger.path}"
    return f"{', '.join(parts)} ({limits.adjacency.value}) {whom}{table}{where}"


def _row(entry: Entry) -> tuple[str, ...]:
    number = "" if entry.receipt is None else str(entry.receipt.count)
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


def _one_line(text: str) -> str:
    """Return a text that cannot look like further lines of the table."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def _rest(entry: Entry) -> tuple[str, ...]:
    return (
        entry.table,
        ", ".join(entry.columns),
        entry.output,
        entry.adjacency.value if entry.notion == "central" else "",
        "" if entry.receipt is None else entry.receipt.hash,
    )


def _totals(ledger: Ledger, entries: tuple[Entry, ...]) -> list[str]:
    if not entries:
        return [f"nothing was spent, {rounded_down(ledger.remaining)} is left"]
    lines = [f"promised: {guarantee}" for guarantee in ledger.spent]
    lines.append(
        f"used: {ledger.used:.1%} of the limit; left for a pure spend: "
        f"{rounded_down(ledger.remaining)}"
    )
    metric = [guarantee.epsilon for guarantee in ledger.spent if guarantee.notion == "metric"]
    limits = ledger.limits
    if metric and limits.metric_epsilon is not None:
        limit = f"{rounded_up(limits.metric_epsilon)} per {limits.metric_unit}"
        lines.append(f"metric: {rounded_up(metric[0])} of {limit} is used")
    return [*lines, f"ledger: {ledger.receipt}"]
