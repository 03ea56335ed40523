"""One HTML page that needs nothing else: words, tables and pictures in one file."""

import html
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from shoal._whole_file import whole_file
from shoal.exceptions import ParameterError
from shoal.experiments.provenance import Provenance
from shoal.plotting import CHART_STYLE, Picture, page_scripts

__all__ = ["Page"]

STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; color: #1c2733; background: #fff;
       max-width: 60rem; margin: 2.5rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.7rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
p.lead { color: #4a5a6a; margin-top: 0; }
p.verdict { border-left: .35rem solid #0b3c5d; padding: .6rem 1rem; background: #f1f4f7; }
p.bad { border-color: #b3261e; background: #fbeeed; }
div.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .4rem .7rem; border-bottom: 1px solid #dde3ea; }
th.text, td.text { text-align: left; }
thead th { border-bottom: 2px solid #1c2733; font-weight: 600; vertical-align: bottom; }
figure { margin: 1.4rem 0; } figure img { max-width: 100%; min-width: 40rem; height: auto; }
figcaption { color: #4a5a6a; font-size: .9rem; margin-top: .3rem; }
li { margin: .45rem 0; } code { background: #f1f4f7; padding: .1rem .3rem; border-radius: 3px; }
footer { color: #4a5a6a; font-size: .85rem; margin-top: 3rem; border-top: 1px solid #dde3ea;
         padding-top: .4rem; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .2rem 1rem; }
dt { font-weight: 600; } dd { margin: 0; overflow-wrap: anywhere; }
"""

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>shoal: {title}</title><style>{style}{charts}</style></head><body>
<h1>{heading}</h1>
{body}
{scripts}</body></html>
"""


class Page:
    """A page that is put together piece by piece, and written whole.

    All text is plain text: what a page shows may hold names from the user's own file.

    Parameters
    ----------
    heading : str
        What the page is about.
    publishable : bool, default=True
        Whether everybody may see it; such a page takes no picture of records.

    Examples
    --------
    >>> page = Page("What privacy costs").lead("On <made-up> records.")
    >>> page.table(["method", "cost"], [["k-means", "1.02"]], text=1).html.count("<td")
    2
    >>> "&lt;made-up&gt;" in page.html
    True
    """

    def __init__(self, heading: str, *, publishable: bool = True) -> None:
        self._heading = heading
        self._publishable = publishable
        self._pieces: list[str] = []
        self._live = False

    def lead(self, words: str) -> Self:
        """Add what a reader must know first."""
        return self._add(f'<p class="lead">{html.escape(words)}</p>')

    def verdict(self, words: str, *, bad: bool = False) -> Self:
        """Add the sentence that the page is for; ``bad`` makes it stand out."""
        kind = "verdict bad" if bad else "verdict"
        return self._add(f'<p class="{kind}">{html.escape(words)}</p>')

    def section(self, heading: str) -> Self:
        """Begin a section."""
        return self._add(f"<h2>{html.escape(heading)}</h2>")

    def text(self, words: str) -> Self:
        """Add a paragraph."""
        return self._add(f"<p>{html.escape(words)}</p>")

    def points(self, items: Iterable[str]) -> Self:
        """Add a list."""
        lines = "\n".join(f"<li>{html.escape(item)}</li>" for item in items)
        return self._add(f"<ul>\n{lines}\n</ul>")

    def table(
        self, headings: Sequence[str], rows: Iterable[Sequence[str]], *, text: int = 1
    ) -> Self:
        """Add a table whose first ``text`` columns are words, the others numbers."""

        def line(tag: str, cells: Sequence[str]) -> str:
            marks = [' class="text"' if place < text else "" for place in range(len(cells))]
            inside = "".join(
                f"<{tag}{mark}>{html.escape(cell)}</{tag}>"
                for mark, cell in zip(marks, cells, strict=True)
            )
            return f"<tr>{inside}</tr>"

        body = "\n".join(line("td", row) for row in rows)
        return self._add(
            f'<div class="wide"><table><thead>{line("th", headings)}</thead><tbody>\n{body}\n'
            "</tbody></table></div>"
        )

    def picture(self, picture: Picture, *, says: str) -> Self:
        """Add a chart, live, or as an image where it shows records; ``says`` is its caption.

        Parameters
        ----------
        picture : Picture
            What a function of :mod:`shoal.plotting` returned.
        says : str
            What it shows.

        Returns
        -------
        page : Page
            The same.

        Raises
        ------
        ParameterError
            If the picture shows records and the page may be published.
        """
        if picture.records and self._publishable:
            raise ParameterError(
                "a page that may be published must hold no picture of records, got one: draw "
                "released values, or make the page with publishable=False"
            )
        self._live |= not picture.records
        shown = picture.to_fragment(says)
        caption = f"<figcaption>{html.escape(says)}</figcaption>"
        return self._add(f"<figure>{shown}{caption}</figure>")

    def provenance(self, made: Provenance, *words: str) -> Self:
        """End with where the numbers come from, after words that a reader wants to know last."""
        lines = [f"<p>{html.escape(line)}</p>" for line in words]
        facts = (
            ("date", made.date),
            ("version", f"shoal {made.version}"),
            ("data", made.data),
            ("randomness", made.randomness),
        )
        told = "".join(f"<dt>{name}</dt><dd>{html.escape(text)}</dd>" for name, text in facts)
        command = f"<dt>command</dt><dd><code>{html.escape(made.command)}</code></dd>"
        return self._add(f"<footer>{''.join(lines)}<dl>{told}{command}</dl></footer>")

    @property
    def html(self) -> str:
        """The page so far."""
        heading = html.escape(self._heading)
        title = heading[:1].lower() + heading[1:]
        return PAGE.format(
            title=title,
            style=STYLE,
            heading=heading,
            body="\n".join(self._pieces),
            charts=CHART_STYLE,
            scripts=page_scripts() if self._live else "",
        )

    def write(self, path: Path) -> Path:
        """Write the page, whole or not at all.

        Parameters
        ----------
        path : Path
            Where to.

        Returns
        -------
        path : Path
            The file written.

        Raises
        ------
        ParameterError
            If it cannot be written.
        """
        try:
            with whole_file(path) as part:
                part.write_text(self.html, encoding="utf-8")
        except OSError as error:
            raise ParameterError(
                f"the report must go to a file that can be written, got {str(path)!r}: "
                f"{error.strerror}"
            ) from None
        return path

    def _add(self, piece: str) -> Self:
        self._pieces.append(piece)
        return self
