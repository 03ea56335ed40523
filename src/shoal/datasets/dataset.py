"""What a data set is: its records with public bounds, its entry in the registry, its origin."""

from dataclasses import dataclass

import numpy as np

from shoal._typing import Floats, Ints

__all__ = ["Dataset", "DatasetInfo", "Origin", "github"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Records with the public facts about them.

    Parameters
    ----------
    name : str
        Name of the set.
    X : ndarray of float64, shape (n, d)
        Records.
    y : ndarray of int64, shape (n,), or None
        Ground-truth labels, where there are any.
    bounds : tuple of two ndarrays of shape (d,)
        Public bounds (low, high), declared and not computed from the records; pass them on as
        ``bounds=``.
    columns : tuple of str
        Names of the columns of `X`.
    license : str
        Terms under which the records may be used.
    source : str
        Where they come from.

    Examples
    --------
    >>> from shoal.datasets import make_circle
    >>> circle = make_circle(random_state=0)
    >>> print(circle)
    circle: 1000 records x 2 columns, 2 labels
    >>> circle.bounds
    (array([-1.5, -1.5]), array([1.5, 1.5]))
    """

    name: str
    X: Floats
    y: Ints | None
    bounds: tuple[Floats, Floats]
    columns: tuple[str, ...]
    license: str
    source: str

    def __str__(self) -> str:
        labels = "no labels" if self.y is None else f"{len(np.unique(self.y))} labels"
        rows, columns = self.X.shape
        return f"{self.name}: {rows} records x {columns} columns, {labels}"

    def __repr__(self) -> str:
        return f"<Dataset {self}>"


@dataclass(frozen=True)
class Origin:
    """Pinned places of the upstream files, and how the file of the registry is made of them.

    Parameters
    ----------
    urls : tuple of str
        Addresses that never change what they serve.
    recipe : str or None
        Name of the recipe of :func:`shoal.datasets.recipes.rebuild` that gives the registry's file
        byte by byte; None where there is none, so that the file must be got by hand.

    Examples
    --------
    >>> origin = github("owner/name", "0123abc", "data/points.txt", recipe="numbers")
    >>> origin.urls
    ('https://raw.githubusercontent.com/owner/name/0123abc/data/points.txt',)
    """

    urls: tuple[str, ...]
    recipe: str | None = None


@dataclass(frozen=True)
class DatasetInfo:
    """An entry of the registry.

    Parameters
    ----------
    name : str
        Name to pass to :func:`shoal.datasets.load`.
    limits : tuple of pairs of float
        Public bounds, one (low, high) a column.
    reason : str
        Why these bounds hold without looking at records.
    license : str
        Terms under which the records may be used.
    source : str
        Where they come from.
    columns : tuple of str
        Columns to load; empty for a set that comes with scikit-learn, which has its own names.
    label : str or None
        Column with the ground-truth label.
    file : str or None
        Path below the data folder; None for a set that comes with scikit-learn.
    sha256 : str or None
        Digest of that file.
    origin : Origin or None
        What that file was made from.

    Examples
    --------
    >>> from shoal.datasets import list_datasets
    >>> iris = next(info for info in list_datasets() if info.name == "iris")
    >>> iris.limits[0], iris.bundled, iris.downloadable
    ((0.0, 10.0), True, False)
    """

    name: str
    limits: tuple[tuple[float, float], ...]
    reason: str
    license: str
    source: str
    columns: tuple[str, ...] = ()
    label: str | None = None
    file: str | None = None
    sha256: str | None = None
    origin: Origin | None = None

    @property
    def bundled(self) -> bool:
        """Return whether the set comes with scikit-learn and needs no file."""
        return self.file is None

    @property
    def downloadable(self) -> bool:
        """Return whether :func:`shoal.datasets.fetch` can get the file."""
        return self.origin is not None and self.origin.recipe is not None

    @property
    def way(self) -> str:
        """What to do to have the file, in words that end a message."""
        here = "set SHOAL_DATA to the folder that holds it, or pass data_dir"
        if self.downloadable:
            return f"{here}, or run `shoal datasets {self.name} --download`"
        if self.origin is not None:
            return f"{here}; it was made from {' and '.join(self.origin.urls)}"
        return here


def github(repository: str, commit: str, *paths: str, recipe: str | None = None) -> Origin:
    """Return the origin of files of a public repository, as they are at one commit."""
    folder = f"https://raw.githubusercontent.com/{repository}/{commit}"
    return Origin(tuple(f"{folder}/{path}" for path in paths), recipe)
