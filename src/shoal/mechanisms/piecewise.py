"""The piecewise mechanism: local privacy with bounded, unbiased reports.

Wang et al. (2019). A column t in [-1, 1] at epsilon becomes, with C = (s + 1)/(s - 1) and
s = e^(epsilon/2), uniform on a window of length C - 1 around it with probability s/(s + 1), else
uniform on the rest of [-C, C]. Here the window and the rest are cells of a lattice, counted and
chosen exactly, so that local epsilon holds for the arithmetic that runs (proofs/piecewise.md).
"""

import math
from fractions import Fraction
from typing import Any

from shoal.mechanisms._columns import ColumnMechanism
from shoal.mechanisms._window import MOST, Window
from shoal.privacy import Ledger

__all__ = ["Piecewise", "piecewise_law"]


class Piecewise(ColumnMechanism):
    """Perturb records with the piecewise mechanism on the device.

    Parameters
    ----------
    epsilon : float, default=1.0
        Local epsilon of the whole record: any two records are told apart by a factor of at most
        e^epsilon, however far apart they are. It has no unit and is not comparable with a metric
        epsilon; ``Laplace(...).guarantee_.to_local(diameter)`` is.
    bounds : tuple (low, high)
        Public box, two numbers or one value per column in each; records outside are clipped.
        Reports lie in a box C times as wide.
    columns : {"all", "sample"}, default="all"
        ``"all"``: every column at epsilon / d, for whole records. ``"sample"``: k = max(1, min(d,
        floor(epsilon / 2.5))) columns at epsilon / k, scaled by d / k, and the center of the box
        elsewhere, for means.
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
    Laplace : Metric privacy, for records whose neighbors matter most.
    Hybrid : Less noise at small epsilon.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.mechanisms import Piecewise
    >>> mechanism = Piecewise(epsilon=4.0, bounds=(0.0, 10.0))
    >>> reports = mechanism.fit_transform(np.full((10_000, 2), 7.0))
    >>> bool(abs(reports.mean() - 7.0) < 0.5)
    True
    >>> print(mechanism.guarantee_)  # doctest: +NORMALIZE_WHITESPACE
    local differential privacy with epsilon = 4: exchanging a record for any other changes the
    probability of any report by a factor of at most e^4 = 54.6
    """

    noise_kind = "unbiased"

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        bounds: Any = None,
        columns: str = "all",
        ledger: Ledger | None = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.columns = columns
        self.ledger = ledger
        self.random_state = random_state

    def _law(self, share: Fraction) -> Window:
        return piecewise_law(share)


def piecewise_law(epsilon: Fraction) -> Window:
    """Return the piecewise law of one column.

    Parameters
    ----------
    epsilon : Fraction
        Epsilon of the column.

    Returns
    -------
    law : Window
        Positions over width are e^(epsilon/2), the ratio of least variance at the ends.
    """
    ratio = math.exp(min(float(epsilon) / 2, math.log(MOST)))
    return Window.unbiased(epsilon, ratio)
