"""The skewed sets of the kd-Laplace thesis: most records crowd on one side."""

from typing import Any

import numpy as np

from shoal import _numbers
from shoal.datasets._parameters import check_plane_or_space, generator
from shoal.datasets.dataset import Bounds, Dataset, FloatArray, IntArray, generated

CENTERS = np.array([[-3.0, 0.0], [2.0, 0.0]])
DEVIATIONS = np.array([[0.5, 1.0], [1.5, 1.0]])
PLANE: Bounds = (np.array([-6.0, -5.0]), np.array([8.0, 5.0]))

SCALES = np.array([0.5, 1.0, 1.5])
SHIFT = 1.0
# Ten times the scale: beyond it an exponential law has 1 record in 22,000.
SPACE: Bounds = (np.zeros(3), SHIFT + 10.0 * SCALES)


def make_skewed(n_samples: int = 1000, *, n_features: int = 2, random_state: Any = None) -> Dataset:
    """Draw records most of which lie on one side of the box.

    In the plane, nine records of ten in a narrow normal cloud on the left (label 0) and the tenth
    in a wide one on the right (label 1), in [-6, 8] x [-5, 5]. In space, exponential laws of
    scales 0.5, 1 and 1.5 (label 0) and the same moved by 1 in each column (label 1), half each, in
    [0, 6] x [0, 11] x [0, 16].

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
    >>> skewed = make_skewed(random_state=0)
    >>> int((skewed.y == 0).sum()), bool((skewed.X[skewed.y == 0, 0] < 0).all())
    (900, True)
    """
    n_samples = _numbers.count("n_samples", n_samples)
    n_features = check_plane_or_space(n_features)
    rng = generator(random_state)
    X, y = _two_clouds(n_samples, rng) if n_features == 2 else _two_corners(n_samples, rng)
    low, high = PLANE if n_features == 2 else SPACE
    return generated(
        "skewed",
        X,
        y,
        (low.copy(), high.copy()),
        source="shoal.datasets.make_skewed, in the shape of the kd-Laplace thesis' skewed set",
    )


def _two_clouds(n_samples: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    labels = rng.permutation(np.arange(n_samples) % 10 == 9).astype(np.int64)
    return rng.normal(CENTERS[labels], DEVIATIONS[labels]), labels


def _two_corners(n_samples: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    labels = rng.permutation(np.arange(n_samples) % 2).astype(np.int64)
    return rng.exponential(SCALES, size=(n_samples, 3)) + SHIFT * labels[:, None], labels
