"""Reports: text, tables and figures, rendered as one HTML page that needs nothing else."""

import base64
import html
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from sklearn.utils.parallel import Parallel, delayed

from shoal._files import atomic_write
from shoal._processes import ignore_sigint, run_parallel
from shoal.exceptions import ParameterError
from shoal.experiments.provenance import Provenance
from shoal.plotting import CHART_STYLE, Picture, page_scripts

__all__ = ["Report"]

FORMATS = (".svg", ".json")  # of a figure: for papers, and for other pages

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
th.text, td.text { text-align: left; } td { vertical-align: top; }
thead th { border-bottom: 2px solid #1c2733; font-weight: 600; vertical-align: bottom; }
figure { margin: 1.4rem 0; } figure img { max-width: 100%; min-width: 40rem; height: auto; }
figure.screen img { min-width: 0; border: 1px solid #dde3ea; }
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


class _Figure(NamedTuple):
    """A figure that is drawn when the report is written: function, file, parameters, caption."""

    draw: Callable[..., Picture]
    path: Path
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    says: str


class _Shown(NamedTuple):
    """A picture and its caption."""

    picture: Picture
    says: str


class Report:
    """A report that is built piece by piece and written as a single HTML page.

    All text is plain text and is escaped: it may hold names from the user's own file.

    Parameters
    ----------
    heading : str
        Heading of the page.
    figures : Path, optional
        An existing folder for the charts of :meth:`figure`: each is written there as SVG and as
        Vega-Lite (JSON), one that shows records as PNG.
    publishable : bool, default=True
        Whether everybody may see the report; it then accepts no chart of records.

    Examples
    --------
    >>> report = Report("What privacy costs").lead("On <made-up> records.")
    >>> report.table(["method", "cost"], [["k-means", "1.02"]], text=1).html.count("<td")
    2
    >>> "&lt;made-up&gt;" in report.html
    True
    """

    def __init__(
        self, heading: str, *, figures: Path | None = None, publishable: bool = True
    ) -> None:
        self._heading = heading
        self._folder = figures
        self._publishable = publishable
        self._pieces: list[str | _Figure | _Shown] = []

    def lead(self, text: str) -> Self:
        """Add a paragraph that a reader must see first."""
        return self._add(f'<p class="lead">{html.escape(text)}</p>')

    def verdict(self, text: str, *, bad: bool = False) -> Self:
        """Add the main result in a sentence; ``bad`` marks it as a warning."""
        kind = "verdict bad" if bad else "verdict"
        return self._add(f'<p class="{kind}">{html.escape(text)}</p>')

    def section(self, heading: str) -> Self:
        """Begin a section."""
        return self._add(f"<h2>{html.escape(heading)}</h2>")

    def text(self, text: str) -> Self:
        """Add a paragraph."""
        return self._add(f"<p>{html.escape(text)}</p>")

    def points(self, items: Iterable[str]) -> Self:
        """Add a bulleted list."""
        lines = "\n".join(f"<li>{html.escape(item)}</li>" for item in items)
        return self._add(f"<ul>\n{lines}\n</ul>")

    def table(
        self, headings: Sequence[str], rows: Iterable[Sequence[str]], *, text: int = 1
    ) -> Self:
        """Add a table; its first ``text`` columns hold text, the others numbers."""

        def line(tag: str, cells: Sequence[str]) -> str:
            marks = [' class="text"' if index < text else "" for index in range(len(cells))]
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

    def image(self, png: bytes, *, says: str) -> Self:
        """Add a screenshot, unchanged."""
        data = base64.b64encode(png).decode()
        caption = html.escape(says)
        return self._add(
            f'<figure class="screen"><img src="data:image/png;base64,{data}" alt="{caption}">'
            f"<figcaption>{caption}</figcaption></figure>"
        )

    def figure(
        self, draw: Callable[..., Picture], name: str, *args: Any, says: str, **kwargs: Any
    ) -> Self:
        """Add a figure; it is drawn by :meth:`write`.

        Parameters
        ----------
        draw : callable
            A function of :mod:`shoal.plotting`.
        name : str
            Name of its files, without extension.
        *args, **kwargs
            Arguments of the function.
        says : str
            Caption: what the figure shows.

        Returns
        -------
        report : Report
            The same report.
        """
        if self._folder is None:
            raise ParameterError("a report with figures must be given a folder for them, got None")
        self._pieces.append(_Figure(draw, self._folder / name, args, kwargs, says))
        return self

    def picture(self, picture: Picture, *, says: str) -> Self:
        """Add a chart: interactive, or as an image if it shows records.

        Parameters
        ----------
        picture : Picture
            A chart from a function of :mod:`shoal.plotting`.
        says : str
            Caption: what the chart shows.

        Returns
        -------
        report : Report
            The same report.

        Raises
        ------
        ParameterError
            If the chart shows records and the report is publishable.
        """
        self._pieces.append(self._checked(_Shown(picture, says)))
        return self

    def provenance(self, made: Provenance, *sentences: str) -> Self:
        """Add the last section: closing sentences, then command, data and seed."""
        lines = [f"<p>{html.escape(line)}</p>" for line in sentences]
        facts = (
            ("date", made.date),
            ("version", f"shoal {made.version}"),
            ("data", made.data),
            ("randomness", made.randomness),
        )
        listed = "".join(f"<dt>{name}</dt><dd>{html.escape(fact)}</dd>" for name, fact in facts)
        command = f"<dt>command</dt><dd><code>{html.escape(made.command)}</code></dd>"
        return self._add(f"<footer>{''.join(lines)}<dl>{listed}{command}</dl></footer>")

    @property
    def html(self) -> str:
        """HTML of the page so far; its figures must have been drawn."""
        heading = html.escape(self._heading)
        title = heading[:1].lower() + heading[1:]
        shown = [piece.picture for piece in self._pieces if isinstance(piece, _Shown)]
        return PAGE.format(
            title=title,
            style=STYLE,
            charts=CHART_STYLE,
            heading=heading,
            body="\n".join(
                _embedded(piece) if isinstance(piece, _Shown) else str(piece)
                for piece in self._pieces
            ),
            scripts="" if all(picture.records for picture in shown) else page_scripts(),
        )

    def write(self, path: Path, *, n_jobs: int | None = 1) -> Path:
        """Draw the figures and write the page; if that fails, no partial page is left.

        Parameters
        ----------
        path : Path
            File to write.
        n_jobs : int, default=1
            Number of processes that draw figures.

        Returns
        -------
        path : Path
            The file written.

        Raises
        ------
        ParameterError
            If the file cannot be written.
        """
        figures = [piece for piece in self._pieces if isinstance(piece, _Figure)]
        tasks = (delayed(ignore_sigint(_draw))(figure) for figure in figures)
        drawn = run_parallel(Parallel(n_jobs=n_jobs, return_as="generator"), tasks)
        shown = iter([self._checked(one) for one in drawn])
        self._pieces = [
            next(shown) if isinstance(piece, _Figure) else piece for piece in self._pieces
        ]
        page = self.html
        try:
            with atomic_write(path) as part:
                part.write_text(page, encoding="utf-8")
        except OSError as error:
            raise ParameterError(
                f"the report must go to a file that can be written, got {str(path)!r}: "
                f"{error.strerror}"
            ) from None
        return path

    def _add(self, piece: str) -> Self:
        self._pieces.append(piece)
        return self

    def _checked(self, shown: _Shown) -> _Shown:
        if shown.picture.records and self._publishable:
            raise ParameterError(
                "a report that may be published must hold no picture of records, got one: draw "
                "released values, or make the report with publishable=False"
            )
        return shown


def _draw(figure: _Figure) -> _Shown:
    picture = figure.draw(*figure.args, **figure.kwargs)
    for ending in (".png",) if picture.records else FORMATS:
        picture.save(figure.path.with_name(f"{figure.path.name}{ending}"))
    return _Shown(picture, figure.says)


def _embedded(shown: _Shown) -> str:
    """Render a picture as HTML, with all its data."""
    caption = f"<figcaption>{html.escape(shown.says)}</figcaption>"
    return f"<figure>{shown.picture.to_fragment(shown.says)}{caption}</figure>"
