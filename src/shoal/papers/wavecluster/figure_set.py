"""The source's data sets with the parameters of its figures."""

import os
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal._bounds import Box
from shoal.datasets import load
from shoal.exceptions import ParameterError

__all__ = ["FIGURE_SETS", "FigureSet", "load_figure_set"]

# Cells along each column, and the part of the positive values that is noise: ds1 15 Gaussian
# clusters, ds2 three spirals, ds3 five shapes. The fourth, Gowalla, is a sample that was not kept.
FIGURE_SETS = {"ds1": (64, 0.6), "ds2": (40, 0.1), "ds3": (48, 0.1)}


@dataclass(frozen=True, eq=False)
class FigureSet:
    """A table and how WaveCluster is run on it.

    Parameters
    ----------
    name : str
        Name in the source.
    X : ndarray of float64, shape (n, d)
        Records.
    grid : int
        Cells along each column.
    threshold : float
        Part of the positive values of the band that counts as noise.

    Examples
    --------
    >>> import numpy as np
    >>> figure_set = FigureSet("square", np.array([[0.0, 1.0], [4.0, 3.0]]), 4, 0.1)
    >>> figure_set.bounds.high.tolist()
    [4.0, 3.0]
    """

    name: str
    X: npt.NDArray[np.float64]
    grid: int
    threshold: float

    @property
    def bounds(self) -> Box:
        """The table's own box, which the source takes as public."""
        return Box(self.X.min(axis=0), self.X.max(axis=0))


def load_figure_set(name: str, *, data_dir: str | os.PathLike[str] | None = None) -> FigureSet:
    """Load a set of the source's figures.

    Parameters
    ----------
    name : {"ds1", "ds2", "ds3"}
        Which one.
    data_dir : path-like, default=None
        As in :func:`shoal.datasets.load`.

    Returns
    -------
    figure_set : FigureSet
        With the source's grid and threshold.

    Raises
    ------
    ParameterError
        If no set has this name.
    """
    if name not in FIGURE_SETS:
        raise ParameterError(f"name must be one of {tuple(FIGURE_SETS)}, got {name!r}")
    grid, threshold = FIGURE_SETS[name]
    return FigureSet(name, load(f"wavecluster_{name}", data_dir=data_dir).X, grid, threshold)
