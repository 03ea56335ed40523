"""Every published table of the sources again: as published beside corrected."""

from shoal.experiments.book import Book
from shoal.experiments.reproduce.finding import Finding, outcome
from shoal.experiments.reproduce.run_study import Reproduction, run_study
from shoal.experiments.reproduce.study import Part, Records, Study

__all__ = ["Book", "Finding", "Part", "Records", "Reproduction", "Study", "outcome", "run_study"]
