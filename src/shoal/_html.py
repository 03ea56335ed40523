"""What a notebook shows: one small style for promises, ledgers, releases, schemas and estimators.

Every text is escaped here, and nothing is loaded from the web.
"""

import html
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["ShownWithPromise", "block", "paragraph", "promise", "table"]

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


class ShownWithPromise:
    """An estimator that a notebook shows with its promise.

    The diagram is scikit-learn's own. Everything else comes from the guarantee and the release:
    neither labels nor the number of records are looked at.
    """

    def _repr_html_inner(self) -> str:
        return self._with_promise(super()._repr_html_inner())  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._with_promise(bundle["text/html"])
        return bundle

    def _with_promise(self, diagram: str) -> str:
        if not hasattr(self, "n_features_in_"):
            return diagram
        guarantee = self.guarantee_  # type: ignore[attr-defined]
        shown = promise(str(guarantee), holds=guarantee.holds)
        return f"{diagram}{block(shown, self._released_html())}"

    def _released_html(self) -> str:
        """Return what was released for a notebook; nothing for an estimator that releases none."""
        return ""
