"""The source's data sets with the parameters of its figures."""

import os
from dataclasses import dataclass

import numpy as np

from shoal._bounds import Box
from shoal._typing import Floats
from shoal.datasets import load
from shoal.exceptions import ParameterError

__all__ = ["FIGURE_SETS", "FOURTH", "FigureSet", "load_figure_set"]

#: Number of cells along each column, and the fraction of the positive values that is taken for
#: noise: ds1 has 15 Gaussian clusters, ds2 three spirals, ds3 five shapes.
FIGURE_SETS = {"ds1": (64, 0.6), "ds2": (40, 0.1), "ds3": (48, 0.1)}
#: Name of the substitute for the source's fourth set, which is a lost sample of a million check-ins
#: on an unknown grid: another part of the same check-ins, of fewer places, on a grid of ours.
FOURTH = "gowalla"
FOURTH_GRID, FOURTH_THRESHOLD = 128, 0.1


@dataclass(frozen=True, eq=False)
class FigureSet:
    """A data set of the source's figures, with the parameters of WaveCluster.

    Parameters
    ----------
    name : str
        Name of the set in the source.
    X : ndarray of float64, shape (n, d)
        Records.
    grid : int
        Number of cells along each column.
    threshold : float
        Fraction of the positive values of the band that is taken for noise.
    columns : tuple of str, default=("x", "y")
        Names of the columns.
    box : Box, default=None
        Public bounds; None takes those of the records, as the source does.

    Examples
    --------
    >>> import numpy as np
    >>> figure_set = FigureSet("square", np.array([[0.0, 1.0], [4.0, 3.0]]), 4, 0.1)
    >>> figure_set.bounds.high.tolist()
    [4.0, 3.0]
    """

    name: str
    X: Floats
    grid: int
    threshold: float
    columns: tuple[str, ...] = ("x", "y")
    box: Box | None = None

    @property
    def bounds(self) -> Box:
        """The bounds of the grid, treated as public."""
        if self.box is not None:
            return self.box
        return Box(self.X.min(axis=0), self.X.max(axis=0))


def load_figure_set(name: str, *, data_dir: str | os.PathLike[str] | None = None) -> FigureSet:
    """Load a set of the source's figures.

    Parameters
    ----------
    name : {"ds1", "ds2", "ds3", "gowalla"}
        Name of the set; the last is a substitute for the source's own sample.
    data_dir : path-like, default=None
        As in :func:`shoal.datasets.load`.

    Returns
    -------
    figure_set : FigureSet
        The set, with the grid and the threshold of the source if they are known.

    Raises
    ------
    ParameterError
        If no set has this name.

    Examples
    --------
    The files are not part of shoal; where one is missing, the error says how to get it.

    >>> from shoal.exceptions import DataError
    >>> from shoal.papers.wavecluster import load_figure_set
    >>> try:
    ...     load_figure_set("ds2", data_dir="a-folder-without-it")
    ... except DataError as missing:
    ...     print(str(missing).rpartition("or ")[2])
    run `shoal datasets wavecluster_ds2 --download`
    """
    if name == FOURTH:
        return _check_ins(data_dir)
    if name not in FIGURE_SETS:
        raise ParameterError(f"name must be one of {(*FIGURE_SETS, FOURTH)}, got {name!r}")
    grid, threshold = FIGURE_SETS[name]
    return FigureSet(name, load(f"wavecluster_{name}", data_dir=data_dir).X, grid, threshold)


def _check_ins(data_dir: str | os.PathLike[str] | None) -> FigureSet:
    found = load(FOURTH, data_dir=data_dir)
    low, high = found.bounds
    # Longitude first: it runs along the first axis of a map.
    return FigureSet(
        FOURTH,
        np.ascontiguousarray(found.X[:, ::-1]),
        FOURTH_GRID,
        FOURTH_THRESHOLD,
        columns=("longitude", "latitude"),
        box=Box(low[::-1], high[::-1]),
    )
