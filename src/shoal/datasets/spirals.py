"""Interleaved spirals: clusters that no center describes."""

from typing import Any

import numpy as np

from shoal import _numbers
from shoal.datasets._parameters import check_columns, generator
from shoal.datasets.dataset import Dataset, generated

INNER, OUTER = 0.1, 0.9


def make_spirals(
    n_samples: int = 1000,
    *,
    n_arms: int = 3,
    n_features: int = 2,
    turns: float = 1.0,
    noise: float = 0.02,
    random_state: Any = None,
) -> Dataset:
    """Draw spirals that wind around each other, one a label, in the box [-1, 1]^d.

    The radius of an arm grows from 0.1 to 0.9 as it winds. In more columns the arms also
    rise from -0.9 to 0.9 in each column after the second, on a cone.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of records.
    n_arms : int, default=3
        Number of spirals.
    n_features : int, default=2
        Number of columns, at least 2.
    turns : float, default=1.0
        Turns an arm makes.
    noise : float, default=0.02
        Standard deviation of the normal noise on every column.
    random_state : None, int or numpy.random.Generator
        Seed; None draws fresh records each time.

    Returns
    -------
    dataset : Dataset
        Records in random order, evenly spread along the arms.

    Raises
    ------
    ParameterError
        If a parameter breaks its rule.

    Examples
    --------
    >>> spirals = make_spirals(300, random_state=0)
    >>> [int((spirals.y == arm).sum()) for arm in range(3)]
    [100, 100, 100]
    """
    n_samples = _numbers.count("n_samples", n_samples)
    n_arms = _numbers.count("n_arms", n_arms)
    n_features = check_columns(n_features)
    turns = _numbers.positive("turns", turns)
    noise = _numbers.non_negative("noise", noise)
    rng = generator(random_state)

    labels = rng.permutation(np.arange(n_samples) % n_arms).astype(np.int64)
    # The square root spreads records evenly over a length that grows with the radius.
    radius = np.sqrt(rng.uniform(INNER**2, OUTER**2, size=n_samples))
    place = (radius - INNER) / (OUTER - INNER)
    angle = 2.0 * np.pi * (turns * place + labels / n_arms)
    rise = OUTER * (2.0 * place - 1.0)
    arms = [radius * np.cos(angle), radius * np.sin(angle), *[rise] * (n_features - 2)]
    X = np.column_stack(arms)
    return generated(
        "spirals",
        X + rng.normal(scale=noise, size=X.shape),
        labels,
        (np.full(n_features, -1.0), np.full(n_features, 1.0)),
        source="shoal.datasets.make_spirals",
    )
