"""From a name in the published figures to its table, its method and its corrected counterpart.

The "line" figures come from the first columns of ``line_3d``, a line of length about 1, not from
``line_2d``, whose unit is several times larger: with the wrong file the method looks far better
than published, because a metric epsilon depends on the unit.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shoal._typing import Floats
from shoal.datasets import load
from shoal.exceptions import ParameterError
from shoal.mechanisms import KdLaplace, Laplace, Piecewise
from shoal.papers.kd_laplace.compared_piecewise import ComparedPiecewise
from shoal.papers.kd_laplace.density_nd_laplace import DensityNdLaplace
from shoal.papers.kd_laplace.grid_nd_laplace import GridNdLaplace
from shoal.papers.kd_laplace.nd_laplace import NdLaplace

__all__ = ["Table", "corrected_reports", "load_table", "published_method"]

FILES = {
    "heart": "kd_laplace_heart",
    "seeds": "kd_laplace_seeds",
    "line": "kd_laplace_line_3d",
    "circle": "kd_laplace_circle_3d",
    "skewed": "kd_laplace_skewed_3d",
}


@dataclass(frozen=True, eq=False)
class Table:
    """The first columns of one of the author's files, with their public bounds."""

    X: Floats
    bounds: tuple[Floats, Floats]


def load_table(
    dataset: str,
    columns: int,
    *,
    data_dir: str | os.PathLike[str] | None = None,
    files: Mapping[str, str] | None = None,
) -> Table:
    """Load the columns behind a published figure.

    Parameters
    ----------
    dataset : str
        Name in the figures, or a name of :func:`shoal.datasets.load`.
    columns : int
        How many of the first columns.
    data_dir : path-like, default=None
        As in :func:`shoal.datasets.load`.
    files : mapping, default=None
        Other names of :func:`shoal.datasets.load` for some data sets.

    Returns
    -------
    table : Table
        Records and public bounds.
    """
    whole = load({**FILES, **(files or {})}.get(dataset, dataset), data_dir=data_dir)
    if not 2 <= columns <= whole.X.shape[1]:
        raise ParameterError(
            f"columns must be from 2 to {whole.X.shape[1]} for {dataset}, got {columns!r}"
        )
    low, high = whole.bounds
    return Table(whole.X[:, :columns].copy(), (low[:columns], high[:columns]))


def published_method(mechanism: str, epsilon: float, random_state: Any = None) -> Any:
    """Build the method behind a published figure, as the code that made it: no guarantee.

    Parameters
    ----------
    mechanism : {"nd-Laplace", "grid-nd-Laplace", "density-nd-Laplace", "piecewise"}
        Name in the figures.
    epsilon : float
        The published epsilon.
    random_state : None, int or Generator, default=None
        Seed.

    Returns
    -------
    method : transformer
        With ``guarantee_.notion == "none"``.
    """
    if mechanism == "piecewise":
        return ComparedPiecewise(epsilon, random_state=random_state)
    kinds = {
        "nd-Laplace": NdLaplace,
        "grid-nd-Laplace": GridNdLaplace,
        "density-nd-Laplace": DensityNdLaplace,
    }
    if mechanism not in kinds:
        known = ", ".join([*kinds, "piecewise"])
        raise ParameterError(f"mechanism must be one of {known}, got {mechanism!r}")
    return kinds[mechanism](epsilon, source="code", random_state=random_state)


def corrected_reports(mechanism: str, epsilon: float, table: Table, random_state: Any) -> Floats:
    """Report a table with the corrected counterpart of a published method.

    Parameters
    ----------
    mechanism : str
        As in :func:`published_method`.
    epsilon : float
        Metric epsilon; for ``"piecewise"`` the local epsilon of a whole record, where the source
        spends it on each column.
    table : Table
        Records and public bounds.
    random_state : int
        Seed: for experiments only.

    Returns
    -------
    reports : ndarray of shape (n, d)
        Reports of Laplace for ``"nd-Laplace"``, remapped for the two remaps.
    """
    bounds = table.bounds
    kinds: dict[str, Any] = {
        "nd-Laplace": Laplace(epsilon, bounds=bounds),
        "grid-nd-Laplace": KdLaplace(epsilon, bounds=bounds, remap="grid"),
        "density-nd-Laplace": KdLaplace(epsilon, bounds=bounds, remap="bayes"),
        "piecewise": Piecewise(epsilon, bounds=bounds),
    }
    method = kinds[mechanism].set_params(random_state=random_state)
    reports: Floats = method.fit_transform(table.X)
    return reports
