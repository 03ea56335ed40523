"""The published figures, read from files that are not part of shoal, beside our measurements.

They are three CSV files, ``kd_laplace_utility.csv``, ``kd_laplace_distance.csv`` and
``kd_laplace_attack.csv``, in a folder ``targets`` next to the folder that ``SHOAL_DATA`` names.
"""

import csv
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shoal.exceptions import DataError, ParameterError
from shoal.papers.kd_laplace.settings import REAL, VERSIONS
from shoal.papers.measurements import Measurement

__all__ = [
    "Agreement",
    "Figure",
    "compare_with_published",
    "load_figures",
    "published_difference",
    "published_values",
    "with_published",
]

VARIABLE = "SHOAL_DATA"
AS_PUBLISHED = VERSIONS[0]
Key = tuple[str, str, int, float, str]

# What is read from each file: the measure's column and its name.
MEASURES = {
    "ami": "utility",
    "ari": "utility",
    "sc": "utility",
    "ch": "utility",
    "distance": "distance",
    "advantage": "attack",
}


@dataclass(frozen=True)
class Figure:
    """One published number of the thesis' figures.

    Parameters
    ----------
    dataset, mechanism : str
        Names of the data set and the mechanism in the source.
    columns : int
        Number of columns that were used, from the first on.
    epsilon : float
        The published epsilon.
    measure : str
        Name of the measure, such as ``"ami"`` or ``"distance"``.
    value : float
        The published value.
    clusterer : str
        Name of the clusterer; empty if there is none.
    parameter : int
        Number of clusters, or of neighbors for OPTICS; 0 if there is none.

    Examples
    --------
    >>> print(Figure("heart", "nd-Laplace", 2, 0.5, "ami", 0.7485, "KMeans", 2))
    heart, nd-Laplace, 2 columns, KMeans, epsilon 0.5: ami 0.7485
    """

    dataset: str
    mechanism: str
    columns: int
    epsilon: float
    measure: str
    value: float
    clusterer: str = ""
    parameter: int = 0

    def __str__(self) -> str:
        clusterer = f", {self.clusterer}" if self.clusterer else ""
        return (
            f"{self.dataset}, {self.mechanism}, {self.columns} columns{clusterer}, "
            f"epsilon {self.epsilon:g}: {self.measure} {self.value:g}"
        )


def load_figures(
    measure: str = "ami", *, targets: str | os.PathLike[str] | None = None
) -> tuple[Figure, ...]:
    r"""Read the published figures of one measure.

    Parameters
    ----------
    measure : {"ami", "ari", "sc", "ch", "distance", "advantage"}, default="ami"
        Name of the measure.
    targets : path-like, default=None
        Folder of the figures; None takes ``targets`` next to the folder that ``SHOAL_DATA`` names.

    Returns
    -------
    figures : tuple of Figure
        The figures, in the order of the file.

    Raises
    ------
    DataError
        If the file does not exist.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from shoal.papers.kd_laplace import load_figures
    >>> header = "dataset,mechanism,dimensions,clusterer,parameters,epsilon,ami,ari,sc,ch"
    >>> row = "seeds,nd-Laplace,2,KMeans,KMeans(clusters=2),0.5,0.25,0.2,0.3,130"  # made up
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "kd_laplace_utility.csv").write_text(f"{header}\n{row}\n")
    ...     print(*load_figures("ami", targets=folder))
    seeds, nd-Laplace, 2 columns, KMeans, epsilon 0.5: ami 0.25
    """
    if measure not in MEASURES:
        raise ParameterError(f"measure must be one of {', '.join(MEASURES)}, got {measure!r}")
    path = _targets_folder(targets) / f"kd_laplace_{MEASURES[measure]}.csv"
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except OSError:
        raise DataError(
            f"the published figures are not in {str(path)!r}: pass the folder as targets",
            parameter="targets",
            code="file",
        ) from None
    return tuple(_figure(row, measure) for row in rows)


def published_values(measure: str) -> dict[Key, float]:
    """Return the published figures of a measure, none where the files are not there.

    Keys are dataset, mechanism, columns, epsilon and clusterer.
    """
    try:
        figures = load_figures(measure)
    except DataError:
        return {}
    return {
        (one.dataset, one.mechanism, one.columns, one.epsilon, one.clusterer): one.value
        for one in figures
    }


def with_published(rows: Iterable[Measurement], measure: str) -> list[dict[str, Any]]:
    """Add the published figure to each measurement of the methods as published, else None."""
    values = published_values(measure)
    return [
        {**row, "published": values.get(_key(row)) if row["version"] == AS_PUBLISHED else None}
        for row in rows
    ]


class Agreement(NamedTuple):
    """Means of published figures and of ours, and the mean of their absolute differences."""

    published: float
    again: float
    difference: float
    figures: int


def compare_with_published(
    rows: Iterable[Measurement], measure: str, *, by: Sequence[str]
) -> dict[tuple[Any, ...], Agreement]:
    """Compare means over repeats, as published, with the published figures, by columns ``by``.

    Only where there are published figures.
    """
    means: dict[Key, list[float]] = {}
    groups: dict[Key, tuple[Any, ...]] = {}
    values = published_values(measure)
    for row in rows:
        key = _key(row)
        if row["version"] == AS_PUBLISHED and key in values and row[measure] is not None:
            means.setdefault(key, []).append(row[measure])
            groups[key] = tuple(row[name] for name in by)
    pairs: dict[tuple[Any, ...], list[tuple[float, float]]] = {}
    for key, repeats in means.items():
        pairs.setdefault(groups[key], []).append((values[key], float(np.mean(repeats))))
    return {
        group: Agreement(
            float(np.mean([printed for printed, _ in some])),
            float(np.mean([again for _, again in some])),
            float(np.mean([abs(printed - again) for printed, again in some])),
            len(some),
        )
        for group, some in pairs.items()
    }


def published_difference(
    measure: str, first: str, second: str, where: Callable[[Measurement], bool]
) -> float | None:
    """Average the difference of two mechanisms in the published figures of heart and seeds.

    AMI is that of k-means; ``where`` is a condition on a record with ``epsilon``. None where the
    figures are not there.
    """
    values = published_values(measure)

    def of_mechanism(name: str) -> dict[tuple[Any, ...], float]:
        return {
            (dataset, columns, epsilon): value
            for (dataset, mechanism, columns, epsilon, clusterer), value in values.items()
            if mechanism == name
            and dataset in REAL
            and clusterer in ("", "KMeans")
            and where({"epsilon": epsilon})
        }

    ones, others = of_mechanism(first), of_mechanism(second)
    differences = [ones[key] - others[key] for key in ones if key in others]
    return sum(differences) / len(differences) if differences else None


def _key(row: Measurement) -> Key:
    return (
        row["dataset"],
        row["mechanism"],
        row["columns"],
        row["epsilon"],
        row.get("clusterer") or "",
    )


def _targets_folder(path: str | os.PathLike[str] | None) -> Path:
    """Return the existing folder of published figures."""
    if path is None:
        data = os.environ.get(VARIABLE)
        if not data:
            raise DataError(
                f"the published figures are not part of shoal: set {VARIABLE} to a data folder "
                "with a folder named targets next to it, or pass targets",
                parameter="targets",
                code="file",
            )
        path = Path(data).resolve().parent / "targets"
    folder = Path(path)
    if not folder.is_dir():
        raise DataError(
            f"the published figures are not in {str(folder)!r}: pass the folder as targets",
            parameter="targets",
            code="file",
        )
    return folder


def _figure(row: dict[str, str], measure: str) -> Figure:
    # "KMeans(clusters=2)" and "OPTICS(min_samples=4)" each hold one number.
    digits = "".join(letter for letter in row.get("parameters", "") if letter.isdigit())
    return Figure(
        dataset=row["dataset"],
        mechanism=row["mechanism"],
        columns=int(row.get("dimensions") or row["dimension"]),
        epsilon=float(row["epsilon"]),
        measure=measure,
        value=float(row[measure]),
        clusterer=row.get("clusterer", ""),
        parameter=int(digits or 0),
    )
