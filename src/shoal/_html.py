"""What a notebook shows: one small style for promises, ledgers, releases, schemas and estimators.

Every text is escaped here, and nothing is loaded from the web.
"""

import html
from collections.abc import Iterable, Sequence

__all__ = ["block", "paragraph", "promise", "table"]

STYLE = (
    "<style>.shoal{overflow-x:auto}.shoal table{border-collapse:collapse;font-size:.9em}"
    ".shoal caption{text-align:left;padding:.2em 0}"
    ".shoal th,.shoal td{border-bottom:1px solid #8886;padding:.2em .6em;text-align:left}"
    "</style>"
)


def block(*parts: str) -> str:
    """Return parts of HTML as one block with the style.

    >>> block(paragraph("5 clusters")).endswith("<p>5 clusters</p></div>")
    True
    """
    return f'<div class="shoal">{STYLE}{"".join(parts)}</div>'


def paragraph(text: str, *, strong: str = "") -> str:
    """Return a paragraph of plain text, with words in front of it that stand out.

    >>> paragraph("a < b", strong="Rule")
    '<p><strong>Rule</strong>: a &lt; b</p>'
    """
    first = f"<strong>{html.escape(strong)}</strong>: " if strong else ""
    return f"<p>{first}{html.escape(text)}</p>"


def promise(text: str, *, holds: bool) -> str:
    """Return a guarantee in words, and whether it holds.

    >>> promise("epsilon = 1", holds=False)
    '<p><strong>Guarantee (does not hold)</strong>: epsilon = 1</p>'
    """
    return paragraph(text, strong=f"Guarantee ({'holds' if holds else 'does not hold'})")


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "") -> str:
    """Return a table of plain text.

    >>> table(["age"], [["34"]])
    '<table><tr><th>age</th></tr><tr><td>34</td></tr></table>'
    """
    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    lines = [_row("th", headings), *(_row("td", cells) for cells in rows)]
    return f"<table>{title}{''.join(lines)}</table>"


def _row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"
