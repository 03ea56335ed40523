"""The published figures, read from files that are not part of shoal.

They are three CSV files, ``kd_laplace_utility.csv``, ``kd_laplace_distance.csv`` and
``kd_laplace_attack.csv``, in a folder ``targets`` next to the folder that ``SHOAL_DATA`` names.
"""

import csv
import os
from dataclasses import dataclass
from pathlib import Path

from shoal.exceptions import DataError, ParameterError

__all__ = ["Figure", "load_figures", "targets_folder"]

VARIABLE = "SHOAL_DATA"

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
    """One published number.

    Parameters
    ----------
    dataset, mechanism : str
        As the source names them.
    columns : int
        How many of the first columns were used.
    epsilon : float
        The published epsilon.
    measure : str
        ``"ami"``, ``"distance"`` and so on.
    value : float
        What was published.
    clusterer : str
        Name of the clusterer; empty where there is none.
    parameter : int
        Its number of clusters, or of neighbors for OPTICS; 0 where there is none.

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


def targets_folder(path: str | os.PathLike[str] | None = None) -> Path:
    """Find the folder of published figures.

    Parameters
    ----------
    path : path-like, default=None
        The folder; None looks for ``targets`` next to the folder that ``SHOAL_DATA`` names.

    Returns
    -------
    folder : Path
        An existing folder.

    Raises
    ------
    DataError
        If there is none.
    """
    if path is None:
        data = os.environ.get(VARIABLE)
        if not data:
            raise DataError(
                f"the published figures are not part of shoal: set {VARIABLE} to a data folder "
                "with a folder named targets next to it, or pass targets"
            )
        path = Path(data).resolve().parent / "targets"
    folder = Path(path)
    if not folder.is_dir():
        raise DataError(
            f"the published figures are not in {str(folder)!r}: pass the folder as targets"
        )
    return folder


def load_figures(
    measure: str = "ami", *, targets: str | os.PathLike[str] | None = None
) -> tuple[Figure, ...]:
    """Read the published figures of one measure.

    Parameters
    ----------
    measure : {"ami", "ari", "sc", "ch", "distance", "advantage"}, default="ami"
        What to read.
    targets : path-like, default=None
        As in :func:`targets_folder`.

    Returns
    -------
    figures : tuple of Figure
        In the order of the file.
    """
    if measure not in MEASURES:
        raise ParameterError(f"measure must be one of {', '.join(MEASURES)}, got {measure!r}")
    path = targets_folder(targets) / f"kd_laplace_{MEASURES[measure]}.csv"
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except OSError:
        raise DataError(
            f"the published figures are not in {str(path)!r}: pass the folder as targets"
        ) from None
    return tuple(_figure(row, measure) for row in rows)


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
