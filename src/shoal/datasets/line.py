"""The line sets of the kd-Laplace thesis: two stretched clouds, a cut line in space."""

from typing import Any

import numpy as np

from shoal import _numbers
from shoal.datasets._parameters import check_plane_or_space, generator
from shoal.datasets.dataset import Bounds, Dataset, FloatArray, IntArray, generated

# Two long, thin clouds that lean towards each other; correlations 0.93 and -0.91.
CENTERS = np.array([[1.0, -1.0], [1.0, 1.0]])
COVARIANCES = np.array([[[1.4, 0.78], [0.78, 0.5]], [[0.95, -0.74], [-0.74, 0.7]]])
PLANE: Bounds = (np.array([-4.0, -4.5]), np.array([6.0, 4.5]))

NOISE = 0.05
SPACE: Bounds = (np.array([0.0, -0.25, -0.25]), np.array([1.0, 1.25, 1.25]))


def make_line(n_samples: int = 1000, *, n_features: int = 2, random_state: Any = None) -> Dataset:
    """Draw records along lines.

    In the plane, two stretched normal clouds, one a label, in the box [-4, 6] x [-4.5, 4.5]. In
    space, the line x1 = x2 = x3 from 0 to 1 with normal noise of standard deviation 0.05 on the
    last two columns, in [0, 1] x [-0.25, 1.25]^2; the label tells the lower half from the upper.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of records.
    n_features : {2, 3}, default=2
        Plane or space.
    random_state : None, int or numpy.random.Generator
        Seed; None draws fresh records each time.

    Returns
    -------
    dataset : Dataset
        Records in random order.

    Raises
    ------
    ParameterError
        If a parameter breaks its rule.

    Examples
    --------
    >>> line = make_line(n_features=3, random_state=0)
    >>> bool(abs(line.X[:, 1] - line.X[:, 0]).max() < 0.3)
    True
    """
    n_samples = _numbers.count("n_samples", n_samples)
    n_features = check_plane_or_space(n_features)
    rng = generator(random_state)
    X, y = _clouds(n_samples, rng) if n_features == 2 else _diagonal(n_samples, rng)
    low, high = PLANE if n_features == 2 else SPACE
    return generated(
        "line",
        X,
        y,
        (low.copy(), high.copy()),
        source="shoal.datasets.make_line, in the shape of the kd-Laplace thesis' line set",
    )


def _clouds(n_samples: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    labels = rng.permutation(np.arange(n_samples) % 2)
    roots = np.linalg.cholesky(COVARIANCES)
    normal = rng.normal(size=(n_samples, 2, 1))
    X: FloatArray = CENTERS[labels] + (roots[labels] @ normal)[:, :, 0]
    return X, labels.astype(np.int64)


def _diagonal(n_samples: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    place = rng.random(n_samples)
    noise = rng.normal(scale=NOISE, size=(n_samples, 2))
    X = np.column_stack([place, place + noise[:, 0], place + noise[:, 1]])
    return X, (place > 0.5).astype(np.int64)
