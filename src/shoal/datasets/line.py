"""The line sets of the kd-Laplace thesis: two stretched clouds, a cut line in more columns."""

from typing import Any

import numpy as np

from shoal import _numbers
from shoal._typing import Floats, Ints
from shoal.datasets._parameters import check_columns, generator
from shoal.datasets.dataset import Bounds, Dataset, generated

# Two long, thin clouds that lean toward each other; correlations 0.93 and -0.91.
CENTERS = np.array([[1.0, -1.0], [1.0, 1.0]])
COVARIANCES = np.array([[[1.4, 0.78], [0.78, 0.5]], [[0.95, -0.74], [-0.74, 0.7]]])
PLANE: Bounds = (np.array([-4.0, -4.5]), np.array([6.0, 4.5]))

NOISE = 0.05
MARGIN = 5.0 * NOISE


def make_line(n_samples: int = 1000, *, n_features: int = 2, random_state: Any = None) -> Dataset:
    """Draw records along lines.

    In the plane, two stretched normal clouds, one a label, in the box [-4, 6] x [-4.5, 4.5]. In
    d > 2 columns, the line x1 = x2 = ... = xd from 0 to 1 with normal noise of standard deviation
    0.05 on all but the first column, in [0, 1] x [-0.25, 1.25]^(d - 1); the label tells the lower
    half from the upper.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of records.
    n_features : int, default=2
        Number of columns, at least 2.
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
    n_features = check_columns(n_features)
    rng = generator(random_state)
    plane = n_features == 2
    X, y = _clouds(n_samples, rng) if plane else _diagonal(n_samples, n_features, rng)
    low, high = PLANE if plane else _tube(n_features)
    return generated(
        "line",
        X,
        y,
        (low.copy(), high.copy()),
        source="shoal.datasets.make_line, in the shape of the kd-Laplace thesis' line set",
    )


def _clouds(n_samples: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
    labels = rng.permutation(np.arange(n_samples) % 2)
    roots = np.linalg.cholesky(COVARIANCES)
    normal = rng.normal(size=(n_samples, 2, 1))
    X: Floats = CENTERS[labels] + (roots[labels] @ normal)[:, :, 0]
    return X, labels.astype(np.int64)


def _diagonal(n_samples: int, n_features: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
    place = rng.random(n_samples)
    noise = rng.normal(scale=NOISE, size=(n_samples, n_features - 1))
    X = np.column_stack([place, place[:, None] + noise])
    return X, (place > 0.5).astype(np.int64)


def _tube(n_features: int) -> Bounds:
    """Bound the line and its noise; the first column has none."""
    low, high = np.full(n_features, -MARGIN), np.full(n_features, 1.0 + MARGIN)
    low[0], high[0] = 0.0, 1.0
    return low, high
