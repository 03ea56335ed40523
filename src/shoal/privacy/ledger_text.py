"""A ledger as a table: what was spent on what, and the total."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING

from shoal.privacy.accounting import cost
from shoal.privacy.metric import metric_cost

if TYPE_CHECKING:
    from shoal.privacy.entry import Entry
    from shoal.privacy.ledger import Ledger

__all__ = ["ledger_html", "ledger_text"]

_COLUMNS = ("time (UTC)", "notion", "adjacency", "spent", "purpose")


def ledger_text(ledger: Ledger) -> str:
    """Return a plain-text table of the ledger.

    Parameters
    ----------
    ledger : Ledger
        Any ledger.

    Returns
    -------
    table : str
        One line per spend, and the totals.

    Examples
    --------
    >>> from shoal.privacy import Ledger
    >>> print(ledger_text(Ledger(epsilon=1.0)))
    ledger with epsilon = 1 (add/remove)
    nothing was spent, 1 is left
    """
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
    """Return the same table for a notebook.

    Parameters
    ----------
    ledger : Ledger
        Any ledger.

    Returns
    -------
    table : str
        HTML in which every text is escaped.

    Examples
    --------
    >>> from shoal.privacy import Ledger
    >>> ledger_html(Ledger(epsilon=1.0)).startswith("<table>")
    True
    """
    entries = ledger.entries
    rows = [f"<tr>{''.join(f'<th>{column}</th>' for column in _COLUMNS)}</tr>"]
    rows += [
        f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in _row(entry))}</tr>"
        for entry in entries
    ]
    foot = "".join(f"<p>{html.escape(line)}</p>" for line in _totals(ledger, entries))
    caption = html.escape(_title(ledger))
    return f"<table><caption>{caption}</caption>{''.join(rows)}</table>{foot}"


def _title(ledger: Ledger) -> str:
    limits = ledger.limits
    parts = [f"ledger with epsilon = {limits.epsilon:g}"]
    if limits.delta > 0:
        parts.append(f"delta = {limits.delta:g}")
    if limits.metric_epsilon is not None:
        parts.append(f"metric epsilon = {limits.metric_epsilon:g}")
    where = "" if ledger.path is None else f" in {ledger.path}"
    return f"{', '.join(parts)} ({limits.adjacency.value}){where}"


def _row(entry: Entry) -> tuple[str, ...]:
    return (
        entry.time[:19].replace("T", " "),
        entry.notion,
        "" if entry.notion in ("local", "metric") else entry.adjacency.value,
        _price(entry),
        " ".join(entry.purpose.split()),
    )


def _price(entry: Entry) -> str:
    metric = metric_cost(entry.event)
    if metric is not None:
        return f"epsilon {metric[1]:g} per {metric[0] or 'unit of distance'}"
    price = cost(entry.event)
    main = f"epsilon {price.epsilon:g}" if math.isfinite(price.epsilon) else f"rho {price.rho:g}"
    return f"{main}, delta {price.delta:g}" if price.delta > 0 else main


def _totals(ledger: Ledger, entries: tuple[Entry, ...]) -> list[str]:
    if not entries:
        return [f"nothing was spent, {ledger.remaining:g} is left"]
    spent = ledger.spent
    delta = f", delta = {spent.delta:g}" if spent.delta > 0 else ""
    left = f"left for a pure spend: {ledger.remaining:g}"
    lines = [f"total: epsilon = {spent.epsilon:g}{delta}; {left}"]
    for unit, guarantee in ledger.spent_metric.items():
        lines.append(
            f"metric total: epsilon = {guarantee.epsilon:g} of {ledger.limits.metric_epsilon:g} "
            f"per {unit or 'unit of distance'}"
        )
    return lines
