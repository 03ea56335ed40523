"""The planar Laplace mechanism by inverse distribution function: metric privacy in two columns.

The sampler of Andres et al. (2013): a uniform p becomes the radius
r = -(W_{-1}((p - 1)/e) + 1) / epsilon, and the angle is uniform. The law is that of ``Laplace`` for
d = 2; both exist so that one can be held against the other. Exact on the lattice, as every
sampler here: no finite-precision correction is needed (proofs/planar.md).
"""

from fractions import Fraction

from shoal._typing import Ints
from shoal.exceptions import DataError
from shoal.mechanisms._metric import MetricMechanism
from shoal.noise import RandomSource, planar_laplace

__all__ = ["PlanarLaplace"]


class PlanarLaplace(MetricMechanism):
    """Perturb records of two columns with planar Laplace noise on the device.

    Parameters
    ----------
    epsilon : float, default=1.0
        Metric epsilon, per unit of Euclidean distance between records.
    level, radius : float, default=None
        Instead of ``epsilon``: two records within ``radius`` of each other are told apart by a
        factor of at most e^level. Epsilon is level / radius.
    unit : str, default=""
        Unit of distance of the columns, such as ``"km"``, ``"80 m"`` or ``"year"``: epsilon is per
        this unit. A ledger adds up what is spent per unit and takes no reports without one.
    bounds : tuple (low, high)
        Public box, two numbers or one value per column in each; records outside are clipped.
        Reports may lie outside.
    ledger : Ledger, default=None
        Charged with ``epsilon`` at every ``transform``, before anything is drawn.
    random_state : None, int, RandomState or Generator, default=None
        None draws from the operating system's entropy. A seed is for tests and experiments.

    Attributes
    ----------
    guarantee_ : Guarantee
        Metric privacy for each record.
    n_features_in_ : int
        Number of columns seen in ``fit``: 2.
    feature_names_in_ : ndarray of str
        Their names, where the table has them.

    See Also
    --------
    Laplace : Any number of columns, and faster.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.mechanisms import PlanarLaplace
    >>> mechanism = PlanarLaplace(level=2.0, radius=100.0, bounds=(0.0, 1000.0))
    >>> mechanism.fit_transform(np.full((5, 2), 500.0)).shape
    (5, 2)
    >>> mechanism.guarantee_.epsilon
    0.02
    """

    def _check(self, columns: int) -> None:
        if columns != 2:
            raise DataError(f"X must have 2 columns for PlanarLaplace, got {columns}: use Laplace")
        super()._check(columns)

    def _noise(self, count: int, columns: int, *, scale: Fraction, source: RandomSource) -> Ints:
        return planar_laplace(count, scale=scale, source=source)
