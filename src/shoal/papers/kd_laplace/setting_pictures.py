"""Chapter 5 in pictures: the generated tables, how k was chosen, what noise does to a record."""

import numpy as np

from shoal.experiments.book import Book
from shoal.papers.kd_laplace.methods import Table, corrected_reports
from shoal.papers.kd_laplace.settings import SHAPES
from shoal.papers.kd_laplace.utility_work import table_of
from shoal.plotting import draw_n_clusters, draw_perturbation_area, draw_scatter
from shoal.reports import select_n_clusters

__all__ = ["tell_settings"]

CANDIDATES = range(2, 9)
DRAWS = 4000


def tell_settings(book: Book) -> None:
    """Put the pictures of chapter 5 into the report.

    Parameters
    ----------
    book : Book
        The report.
    """
    book.section("The tables and the noise (chapters 3 and 5)")
    for columns in (2, 3):
        book.figure(
            draw_scatter,
            f"shapes-{columns}",
            {name: table_of(name, columns).X for name in SHAPES},
            records=False,
            says=f"The generated tables, {columns} columns (figures 5.1 and 5.2), on the same "
            "axes: one epsilon hides more of a small table.",
        )
    for name in ("seeds", "line"):
        records = table_of(name, 2).X
        choices = [
            select_n_clusters(
                records, candidates=CANDIDATES, method=method, standardize=True, random_state=0
            )
            for method in ("elbow", "silhouette", "gap")
        ]
        book.figure(
            draw_n_clusters,
            f"n-clusters-{name}",
            choices,
            says=f"{name}, two columns: how the number of clusters can be chosen.",
        )
    table = table_of("seeds", 2)
    record = np.median(table.X, axis=0)
    reports = {
        f"epsilon {epsilon:g}": corrected_reports(
            "nd-Laplace", epsilon, Table(np.tile(record, (DRAWS, 1)), table.bounds), 0
        )
        for epsilon in (0.5, 2.0, 9.0)
    }
    book.figure(
        draw_perturbation_area,
        "perturbation-area",
        reports,
        record,
        bounds=table.bounds,
        says="Where reports of one made-up record lie, in two columns of seeds.",
    )
