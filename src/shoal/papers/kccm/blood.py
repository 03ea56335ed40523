"""The table of the source's experiments: blood donors, scaled as the source scales them."""

import os

import numpy as np

from shoal._typing import Floats
from shoal.datasets import load

__all__ = ["load_blood", "without_outliers"]


FENCE = 1.5  # of the range between the quartiles: beyond it Tukey calls a value an outlier


def load_blood(*, data_dir: str | os.PathLike[str] | None = None) -> Floats:
    """Load the four columns of the blood transfusion set, scaled to [-1, 1].

    Parameters
    ----------
    data_dir : path-like, default=None
        As in :func:`shoal.datasets.load`.

    Returns
    -------
    X : ndarray of shape (748, 4)
        Records, scaled by their own minimum and maximum, which the source treats as public. For
        private use, take the declared bounds of :func:`shoal.datasets.load`.

    Examples
    --------
    The file is not part of shoal; where it is missing, the error says how to get it.

    >>> from shoal.exceptions import DataError
    >>> from shoal.papers.kccm import load_blood
    >>> try:
    ...     load_blood(data_dir="a-folder-without-it")
    ... except DataError as missing:
    ...     print(str(missing).rpartition("or ")[2])
    run `shoal datasets transfusion --download`
    """
    return _scaled(load("transfusion", data_dir=data_dir).X)


def without_outliers(X: Floats) -> Floats:
    """Remove outliers by Tukey's rule, and scale the remaining records again.

    The source compares tables with and without outliers, but gives no rule for them. This function
    reads raw records, so it is for experiments only.

    Parameters
    ----------
    X : ndarray of float64, shape (n, d)
        Records.

    Returns
    -------
    X : ndarray of float64, shape (m, d)
        Records that, in every column, are within 1.5 interquartile ranges of the quartiles; scaled
        to [-1, 1].

    Examples
    --------
    >>> import numpy as np
    >>> without_outliers(np.array([[0.0], [1.0], [2.0], [3.0], [50.0]])).ravel().round(2).tolist()
    [-1.0, -0.33, 0.33, 1.0]
    """
    first, third = np.quantile(X, [0.25, 0.75], axis=0)
    beyond = np.maximum(first - X, X - third)
    return _scaled(X[(beyond <= FENCE * (third - first)).all(axis=1)])


def _scaled(X: Floats) -> Floats:
    low, high = X.min(axis=0), X.max(axis=0)
    scaled: Floats = np.clip(2 * (X - low) / (high - low) - 1, -1.0, 1.0)
    return scaled
