"""A report with its figures: each as a vector file, and as a live picture in the page."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from sklearn.utils.parallel import Parallel, delayed

from shoal.audit._quietly import quietly, started
from shoal.experiments.page import Page

__all__ = ["Book"]

FORMATS = (".svg", ".json")  # for papers, and for the page


class _Figure(NamedTuple):
    """What is drawn, by which function, with which parameters."""

    draw: Callable[..., Any]
    path: Path
    args: tuple[Any, ...]
    words: dict[str, Any]


class Book:
    """What goes into a page, in order; its figures are drawn at the end, in parallel.

    Parameters
    ----------
    figures : Path
        An existing folder: each figure is written there as SVG, and as it is in the page.
    """

    def __init__(self, figures: Path) -> None:
        self.figures = figures
        self._drawings: list[_Figure] = []
        self._steps: list[Callable[[Page], Any]] = []

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the figures so far."""
        return tuple(drawing.path.name for drawing in self._drawings)

    def section(self, heading: str) -> Self:
        """Begin a section."""
        return self._add(lambda page: page.section(heading))

    def text(self, words: str) -> Self:
        """Add a paragraph."""
        return self._add(lambda page: page.text(words))

    def points(self, items: Iterable[str]) -> Self:
        """Add a list."""
        listed = list(items)
        return self._add(lambda page: page.points(listed))

    def table(
        self, headings: Sequence[str], rows: Iterable[Sequence[str]], *, text: int = 1
    ) -> Self:
        """Add a table whose first ``text`` columns are words, the others numbers."""
        listed = list(rows)
        return self._add(lambda page: page.table(headings, listed, text=text))

    def figure(
        self, draw: Callable[..., Any], name: str, *args: Any, says: str, **words: Any
    ) -> Self:
        """Add a figure; it is drawn by :meth:`write_to`.

        Parameters
        ----------
        draw : callable
            A function of :mod:`shoal.plotting`, whose first parameter is the path.
        name : str
            Name of its files, without their ending.
        *args, **words
            The other parameters.
        says : str
            What the figure shows: its caption.

        Returns
        -------
        book : Book
            The same.
        """
        path = self.figures / name
        self._drawings.append(_Figure(draw, path, args, words))
        live = path.with_name(f"{name}{FORMATS[-1]}")
        return self._add(lambda page: page.picture(live, says=says))

    def write_to(self, page: Page, *, n_jobs: int | None = 1) -> Page:
        """Draw the figures and put everything into a page.

        Parameters
        ----------
        page : Page
            What it is added to.
        n_jobs : int, default=1
            Number of processes that draw.

        Returns
        -------
        page : Page
            The same.
        """
        draw = quietly(_draw)
        tasks = (delayed(draw)(drawing) for drawing in self._drawings)
        for _ in started(Parallel(n_jobs=n_jobs, return_as="generator"), tasks):
            pass
        for step in self._steps:
            step(page)
        return page

    def _add(self, step: Callable[[Page], Any]) -> Self:
        self._steps.append(step)
        return self


def _draw(figure: _Figure) -> None:
    for ending in FORMATS:
        path = figure.path.with_name(f"{figure.path.name}{ending}")
        figure.draw(path, *figure.args, **figure.words)
