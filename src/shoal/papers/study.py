"""A source's experiments as one object: what is run, what is found, what is shown."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from shoal.experiments._record_lines import Record
from shoal.experiments.book import Book
from shoal.experiments.cell import Cell
from shoal.experiments.spec import ExperimentSpec
from shoal.papers.finding import Finding

__all__ = ["Part", "Records", "Study"]

# Tidy records by the name of their part.
Records = Mapping[str, list[Record]]


@dataclass(frozen=True)
class Part:
    """One experiment of a study; it has a store of its own.

    Parameters
    ----------
    name : str
        Name of the part and of its file of records.
    spec : ExperimentSpec
        What is run.
    work : callable
        From a cell to its records. Processes get copies of it, so it must pickle.
    """

    name: str
    spec: ExperimentSpec
    work: Callable[[Cell], Iterable[Mapping[str, Any]]]


class Study(ABC):
    """What it takes to run the experiments of one source again."""

    name: str
    title: str
    source: str

    @abstractmethod
    def parts(self, *, full: bool, seed: int) -> tuple[Part, ...]:
        """List the experiments.

        Parameters
        ----------
        full : bool
            As large as the source's own, or small enough for a first look.
        seed : int
            Seed of everything.

        Returns
        -------
        parts : tuple of Part
            In the order in which they are run.

        Raises
        ------
        DataError
            If a file that they need is not there.
        """

    @abstractmethod
    def findings(self, records: Records) -> tuple[Finding, ...]:
        """Judge every claim of the source.

        Parameters
        ----------
        records : mapping of str to list of dict
            Records of all parts.

        Returns
        -------
        findings : tuple of Finding
            In the order of the source.
        """

    @abstractmethod
    def tell(self, book: Book, records: Records) -> None:
        """Put the figures and tables into the report.

        Parameters
        ----------
        book : Book
            The report.
        records : mapping of str to list of dict
            Records of all parts.
        """
