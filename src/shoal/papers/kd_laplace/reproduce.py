"""The published figures beside the same method run again, as published and corrected.

As the source does it: the first d columns, in their own units; perturb; standardize each column
after that; cluster; compare with the labels of the same clusterer on the standardized plain
columns. One thing differs: the source perturbs ONCE per cell and repeats only k-means ten times, so
its figures carry the noise of a single draw; here every run perturbs afresh.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from shoal import _numbers
from shoal._typing import Floats, Ints
from shoal.papers.kd_laplace.agreement import agreement, cluster
from shoal.papers.kd_laplace.figures import Figure, load_figures
from shoal.papers.kd_laplace.methods import Table, corrected_reports, load_table, published_method

__all__ = ["Comparison", "reproduce_distance", "reproduce_utility"]

# From (figure, table, reports, run) to a number.
Measure = Callable[[Figure, Table, Floats, int], float]


@dataclass(frozen=True)
class Comparison:
    """One published figure beside the same method run again; prints as one line.

    Parameters
    ----------
    dataset, mechanism : str
        As the source names them.
    columns : int
        How many of the first columns.
    clusterer : str
        Empty for distances and advantages.
    epsilon : float
        The published epsilon.
    measure : {"ami", "distance", "advantage"}
        What was measured.
    published : float
        The published figure.
    as_published, as_published_std : float
        Mean and standard deviation over runs of the method as published, no guarantee.
    corrected, corrected_std : float
        The same for the corrected method, at the same printed epsilon.
    runs : int
        Number of runs, each with fresh noise.
    """

    dataset: str
    mechanism: str
    columns: int
    clusterer: str
    epsilon: float
    measure: str
    published: float
    as_published: float
    as_published_std: float
    corrected: float
    corrected_std: float
    runs: int

    def __str__(self) -> str:
        what = " ".join(filter(None, [self.dataset, f"d={self.columns}", self.clusterer]))
        return (
            f"{what:<16} {self.mechanism:<18} epsilon {self.epsilon:<4g} {self.measure} "
            f"published {self.published:8.4f}   as published, no guarantee {self.as_published:8.4f}"
            f" +- {self.as_published_std:.4f}   corrected {self.corrected:8.4f}"
            f" +- {self.corrected_std:.4f}"
        )


def reproduce_utility(
    *,
    datasets: Iterable[str] = ("heart", "seeds", "line"),
    mechanisms: Iterable[str] = ("nd-Laplace",),
    columns: Iterable[int] = (2,),
    clusterers: Iterable[str] = ("KMeans",),
    epsilons: Iterable[float] | None = None,
    runs: int = 10,
    random_state: int = 0,
    data_dir: str | os.PathLike[str] | None = None,
    targets: str | os.PathLike[str] | None = None,
    files: Mapping[str, str] | None = None,
) -> tuple[Comparison, ...]:
    """Run the published utility experiment again.

    Parameters
    ----------
    datasets, mechanisms, columns, clusterers, epsilons
        Which published figures; ``epsilons=None`` takes all of theirs.
    runs : int, default=10
        Runs for each figure, with fresh noise.
    random_state : int, default=0
        Seed of everything.
    data_dir, targets : path-like, default=None
        Folders of data files and of published figures; by default from ``SHOAL_DATA``.
    files : mapping, default=None
        Other files for some data sets, by their names in :func:`shoal.datasets.load`.

    Returns
    -------
    comparisons : tuple of Comparison
        Adjusted mutual information with the labels of the plain columns.
    """
    kept = set(clusterers)
    figures = [
        figure
        for figure in _chosen(
            "ami",
            datasets=datasets,
            mechanisms=mechanisms,
            columns=columns,
            epsilons=epsilons,
            targets=targets,
        )
        if figure.clusterer in kept
    ]

    tables = _tables(figures, data_dir, files)

    @cache
    def plain(figure: Figure, run: int) -> Ints:
        records = tables[figure.dataset, figure.columns].X
        return cluster(records, figure.clusterer, figure.parameter, random_state=run)

    def ami(figure: Figure, table: Table, reports: Floats, run: int) -> float:
        found = cluster(reports, figure.clusterer, figure.parameter, random_state=run)
        # Plain labels depend on neither mechanism nor epsilon.
        same = replace(figure, mechanism="", epsilon=0.0, value=0.0)
        return agreement(plain(same, run), found)

    return _compare(figures, tables, ami, runs=runs, random_state=random_state)


def reproduce_distance(
    *,
    datasets: Iterable[str] = ("heart", "seeds", "line"),
    mechanisms: Iterable[str] = ("nd-Laplace",),
    columns: Iterable[int] = (2,),
    epsilons: Iterable[float] | None = None,
    runs: int = 10,
    random_state: int = 0,
    data_dir: str | os.PathLike[str] | None = None,
    targets: str | os.PathLike[str] | None = None,
) -> tuple[Comparison, ...]:
    """Measure the published mean distance between record and report again.

    Parameters
    ----------
    datasets, mechanisms, columns, epsilons, runs, random_state, data_dir, targets
        As in :func:`reproduce_utility`.

    Returns
    -------
    comparisons : tuple of Comparison
        Mean Euclidean distance between record and report.
    """
    figures = _chosen(
        "distance",
        datasets=datasets,
        mechanisms=mechanisms,
        columns=columns,
        epsilons=epsilons,
        targets=targets,
    )

    def distance(figure: Figure, table: Table, reports: Floats, run: int) -> float:
        return float(np.linalg.norm(reports - table.X, axis=1).mean())

    tables = _tables(figures, data_dir, None)
    return _compare(figures, tables, distance, runs=runs, random_state=random_state)


def _chosen(
    measure: str,
    *,
    datasets: Iterable[str],
    mechanisms: Iterable[str],
    columns: Iterable[int],
    epsilons: Iterable[float] | None,
    targets: str | os.PathLike[str] | None,
) -> list[Figure]:
    wanted = set(datasets), set(mechanisms), set(columns)
    budgets = None if epsilons is None else {float(epsilon) for epsilon in epsilons}
    return [
        figure
        for figure in load_figures(measure, targets=targets)
        if figure.dataset in wanted[0]
        and figure.mechanism in wanted[1]
        and figure.columns in wanted[2]
        and (budgets is None or figure.epsilon in budgets)
    ]


Tables = dict[tuple[str, int], Table]


def _tables(
    figures: list[Figure],
    data_dir: str | os.PathLike[str] | None,
    files: Mapping[str, str] | None,
) -> Tables:
    keys = {(figure.dataset, figure.columns) for figure in figures}
    return {key: load_table(*key, data_dir=data_dir, files=files) for key in keys}


def _compare(
    figures: list[Figure], tables: Tables, measure: Measure, *, runs: int, random_state: int
) -> tuple[Comparison, ...]:
    runs = _numbers.count("runs", runs)
    comparisons = []
    for index, figure in enumerate(figures):
        table = tables[figure.dataset, figure.columns]
        again, right = np.empty(runs), np.empty(runs)
        for run in range(runs):
            # One seed a figure and run: figures at other epsilons get other noise.
            sequence = np.random.SeedSequence([random_state, index, run])
            seed = int(sequence.generate_state(1)[0])
            method = published_method(figure.mechanism, figure.epsilon, seed)
            again[run] = measure(figure, table, method.fit_transform(table.X), run)
            reports = corrected_reports(figure.mechanism, figure.epsilon, table, seed)
            right[run] = measure(figure, table, reports, run)
        comparisons.append(_comparison(figure, again, right))
    return tuple(comparisons)


def _comparison(figure: Figure, again: Floats, right: Floats) -> Comparison:
    return Comparison(
        dataset=figure.dataset,
        mechanism=figure.mechanism,
        columns=figure.columns,
        clusterer=figure.clusterer,
        epsilon=figure.epsilon,
        measure=figure.measure,
        published=figure.value,
        as_published=float(again.mean()),
        as_published_std=float(again.std()),
        corrected=float(right.mean()),
        corrected_std=float(right.std()),
        runs=len(again),
    )
