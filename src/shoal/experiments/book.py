"""A report with its figures: each as a file of its own, and live in the page."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from sklearn.utils.parallel import Parallel, delayed

from shoal.audit._quietly import quietly, started
from shoal.experiments.page import Page
from shoal.plotting import Picture

__all__ = ["Book"]

FORMATS = (".svg", ".json")  # for papers, and for other pages


class _Figure(NamedTuple):
    """What is drawn, by which function, with which parameters."""

    draw: Callable[..., Picture]
    path: Path
    args: tuple[Any, ...]
    words: dict[str, Any]


class Book:
    """What goes into a page, in order; its figures are drawn at the end, in parallel.

    Parameters
    ----------
    figures : Path
        An existing folder: each figure is written there as SVG and as Vega-Lite (JSON); one that
        shows records as PNG.
    """

    def __init__(self, figures: Path) -> None:
        self.figures = figures
        self._drawings: list[_Figure] = []
        self._pictures: list[Picture] = []
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
        self, draw: Callable[..., Picture], name: str, *args: Any, says: str, **words: Any
    ) -> Self:
        """Add a figure; it is drawn by :meth:`write_to`.

        Parameters
        ----------
        draw : callable
            A function of :mod:`shoal.plotting`.
        name : str
            Name of its files, without their ending.
        *args, **words
            Its parameters.
        says : str
            What the figure shows: its caption.

        Returns
        -------
        book : Book
            The same.
        """
        index = len(self._drawings)
        self._drawings.append(_Figure(draw, self.figures / name, args, words))
        return self._add(lambda page: page.picture(self._pictures[index], says=says))

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
        self._pictures = list(started(Parallel(n_jobs=n_jobs, return_as="generator"), tasks))
        for step in self._steps:
            step(page)
        return page

    def _add(self, step: Callable[[Page], Any]) -> Self:
        self._steps.append(step)
        return self


def _draw(figure: _Figure) -> Picture:
    picture = figure.draw(*figure.args, **figure.words)
    for ending in (".png",) if picture.records else FORMATS:
        picture.save(figure.path.with_name(f"{figure.path.name}{ending}"))
    return picture
