"""The table of the source's experiments: blood donors, scaled as the source scales them."""

import os

import numpy as np
import numpy.typing as npt

from shoal.datasets import load

__all__ = ["load_blood"]


def load_blood(*, data_dir: str | os.PathLike[str] | None = None) -> npt.NDArray[np.float64]:
    """Load the four columns of the blood transfusion set, scaled to [-1, 1].

    Parameters
    ----------
    data_dir : path-like, default=None
        As in :func:`shoal.datasets.load`.

    Returns
    -------
    X : ndarray of shape (748, 4)
        Scaled by its own minimum and maximum, which the source takes as public. For private use
        take the bounds of :func:`shoal.datasets.load`, which are declared.
    """
    X = load("transfusion", data_dir=data_dir).X
    low, high = X.min(axis=0), X.max(axis=0)
    scaled: npt.NDArray[np.float64] = np.clip(2 * (X - low) / (high - low) - 1, -1.0, 1.0)
    return scaled
