"""The skewed sets of the kd-Laplace thesis: most records crowd on one side."""

from typing import Any

import numpy as np

from shoal import _numbers
from shoal._typing import Floats, Ints
from shoal.datasets._parameters import check_columns, generator
from shoal.datasets.dataset import Bounds, Dataset, generated

CENTERS = np.array([[-3.0, 0.0], [2.0, 0.0]])
DEVIATIONS = np.array([[0.5, 1.0], [1.5, 1.0]])
PLANE: Bounds = (np.array([-6.0, -5.0]), np.array([8.0, 5.0]))

SCALES = (0.5, 1.5)
SHIFT = 1.0
REACH = 10.0  # scales, beyond which an exponential law has 1 record in 22,000


def make_skewed(n_samples: int = 1000, *, n_features: int = 2, random_state: Any = None) -> Dataset:
    """Draw records most of which lie on one side of the box.

    In the plane, nine records of ten in a narrow normal cloud on the left (label 0) and the tenth
    in a wide one on the right (label 1), in [-6, 8] x [-5, 5]. In d > 2 columns, exponential
    laws of scales from 0.5 to 1.5 in equal steps (label 0) and the same moved by 1 in each column
    (label 1), half each; the box goes from 0 to 1 + 10 scales.

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
    >>> skewed = make_skewed(random_state=0)
    >>> int((skewed.y == 0).sum()), bool((skewed.X[skewed.y == 0, 0] < 0).all())
    (900, True)
    """
    n_samples = _numbers.count("n_samples", n_samples)
    n_features = check_columns(n_features)
    rng = generator(random_state)
    scales = np.linspace(*SCALES, n_features)
    plane = n_features == 2
    X, y = _two_clouds(n_samples, rng) if plane else _two_corners(n_samples, scales, rng)
    low, high = PLANE if plane else (np.zeros(n_features), SHIFT + REACH * scales)
    return generated(
        "skewed",
        X,
        y,
        (low.copy(), high.copy()),
        source="shoal.datasets.make_skewed, in the shape of the kd-Laplace thesis' skewed set",
    )


def _two_clouds(n_samples: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
    labels = rng.permutation(np.arange(n_samples) % 10 == 9).astype(np.int64)
    return rng.normal(CENTERS[labels], DEVIATIONS[labels]), labels


def _two_corners(n_samples: int, scales: Floats, rng: np.random.Generator) -> tuple[Floats, Ints]:
    labels = rng.permutation(np.arange(n_samples) % 2).astype(np.int64)
    spread = rng.exponential(scales, size=(n_samples, len(scales)))
    return spread + SHIFT * labels[:, None], labels
