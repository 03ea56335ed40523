"""The square wave mechanism: local privacy for the distribution of a column.

Li et al. (2020). A column t in [0, 1] is reported in [-b, 1 + b]: with e^epsilon times the density
within b of t as elsewhere, b = (epsilon e^epsilon - e^epsilon + 1) / (2 e^epsilon (e^epsilon - 1 -
epsilon)). Reports lean to the middle: they are for estimating distributions (by EM or iterative
Bayesian update), not means. Window and rest are cells of a lattice, chosen exactly
(proofs/piecewise.md).
"""

import math
from fractions import Fraction
from typing import Any

from shoal.mechanisms._columns import ColumnMechanism
from shoal.mechanisms._window import MOST, Window
from shoal.privacy import Ledger

__all__ = ["SquareWave"]

SERIES = 1e-3  # epsilon below which b is taken from its series
LARGEST = 40.0  # epsilon above which b is below 2^-24 and the window stops shrinking


class SquareWave(ColumnMechanism):
    """Perturb records with the square wave mechanism on the device.

    Parameters
    ----------
    epsilon : float, default=1.0
        Local epsilon of the whole record, divided equally among its columns. It has no unit and
        is not comparable with a metric epsilon.
    bounds : tuple (low, high)
        Public box, two numbers or one value per column in each; records outside are clipped.
        Reports lie in a box at most twice as wide.
    ledger : Ledger, default=None
        Charged with ``epsilon`` at every ``transform``, before anything is drawn.
    random_state : None, int, RandomState or Generator, default=None
        None draws from the operating system's entropy. A seed is for tests and experiments.

    Attributes
    ----------
    guarantee_ : Guarantee
        Local privacy for each record.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where the table has them.

    See Also
    --------
    Piecewise : Unbiased reports.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.mechanisms import SquareWave
    >>> mechanism = SquareWave(epsilon=1.0, bounds=(0.0, 1.0))
    >>> reports = mechanism.fit_transform(np.full((1000, 1), 0.3))
    >>> bool((np.abs(reports - 0.5) < 1.0).all())
    True
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        bounds: Any = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.ledger = ledger
        self.random_state = random_state

    def _law(self, share: Fraction) -> Window:
        return Window.around(share, 1.0 / (2.0 * _half_width(float(share))))


def _half_width(epsilon: float) -> float:
    """Half the window's length, b, for records in [0, 1]."""
    if epsilon > LARGEST:
        return 0.5 / MOST
    if epsilon < SERIES:
        return 0.5 * (1 - epsilon / 3 + epsilon**2 / 12) / (1 + epsilon / 3 + epsilon**2 / 12)
    return (epsilon + math.expm1(-epsilon)) / (2 * (math.expm1(epsilon) - epsilon))
