"""Piecewise as the thesis compares with it: as published, no guarantee.

The mechanism itself (Wang et al. 2019) is right. The comparison maps each column to [-1, 1] by the
smallest and largest RAW value, and gives the whole epsilon to EACH column, so a record of d columns
is promised d * epsilon at best. At equal printed epsilon it is compared with a metric epsilon,
which is per unit of distance and another quantity.
"""

import numpy as np

from shoal._typing import Floats, RandomState
from shoal.papers.kd_laplace.nd_laplace import AsPublished

__all__ = ["ComparedPiecewise"]

DOMAIN = 1.001  # the code widens [-1, 1] a little against rounding


class ComparedPiecewise(AsPublished):
    """Piecewise as the thesis compares with it, without any guarantee: full epsilon per column.

    Parameters
    ----------
    epsilon : float, default=1.0
        Local epsilon of EACH column.
    random_state : None, int or Generator, default=None
        Seed of a numpy generator.

    Attributes
    ----------
    guarantee_ : Guarantee
        A guarantee of notion ``"none"``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((2000, 2))
    >>> reports = ComparedPiecewise(epsilon=4.0, random_state=1).fit_transform(X)
    >>> bool(abs(reports.mean() - X.mean()) < 0.02)
    True
    """

    _min_columns = 1

    def __init__(self, epsilon: float = 1.0, *, random_state: RandomState = None) -> None:
        self.epsilon = epsilon
        self.random_state = random_state

    def _flaw(self, columns: int | None) -> str:
        times = "d" if columns is None else str(columns)
        return (
            "the box is that of the raw table, and every column spends the whole epsilon: "
            f"{times} times what is printed"
        )

    def _perturb(self, records: Floats, raw: Floats, generator: np.random.Generator) -> Floats:
        low, high = raw.min(axis=0), raw.max(axis=0)
        half = np.where(high > low, (high - low) / 2, 1.0) * DOMAIN
        middle = (low + high) / 2
        values = np.clip((records - middle) / half, -1.0, 1.0)
        reports: Floats = middle + half * _piecewise(values, self.epsilon, generator)
        return reports


def _piecewise(values: Floats, epsilon: float, generator: np.random.Generator) -> Floats:
    odds = np.exp(epsilon / 2)
    limit = (odds + 1) / (odds - 1)
    left = (limit + 1) / 2 * values - (limit - 1) / 2
    right = left + limit - 1
    inside = generator.random(values.shape) < odds / (odds + 1)
    near = generator.uniform(left, right)
    # The rest of [-C, C] is uniform: a point of it beyond `left` is pushed over the middle piece.
    far = generator.uniform(-limit, 1.0, values.shape)
    far = np.where(far < left, far, far + (limit - 1))
    drawn: Floats = np.where(inside, near, far)
    return drawn
