"""The Laplace mechanism in any number of dimensions: metric privacy for whole records.

Density of a report z of the record x proportional to e^(-epsilon ||z - x||), Euclidean norm, any d.
Two records at distance r give any report with probabilities that differ by a factor of at most
e^(epsilon r): geo-indistinguishability (Andres et al. 2013), the law behind the kd-Laplace family.
Records and reports lie on a public lattice and the noise is exact, so that the promise holds for
the arithmetic that runs (proofs/noise.md, theorem 4; proofs/laplace.md).
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from shoal._bounds import public_box
from shoal.mechanisms._base import Mechanism
from shoal.noise import Lattice, RandomSource, is_seeded, k_norm
from shoal.privacy import Adjacency, Event, Guarantee, Ledger, MetricEvent

__all__ = ["Laplace"]

Floats = npt.NDArray[np.float64]

UNIT = ""  # that of the columns, whatever it is
CHUNK_VALUES = 1 << 17  # numbers perturbed at a time, so that intermediates stay in cache
FINENESS = 2.0**-12  # lattice step over noise scale and box: 1/4096 is far below either
FARTHEST = 2.0**-50  # lattice step over the largest bound, so that indices stay exact in doubles
FINEST = 2.0**-36  # lattice step over noise scale, so that exact noise stays fast


class Laplace(Mechanism):
    """Perturb records with d-dimensional Laplace noise on the device.

    Parameters
    ----------
    epsilon : float, default=1.0
        Metric epsilon, per unit of Euclidean distance between records: rescaling the columns
        changes what it means. ``guarantee_.to_local(diameter)`` gives the worst case over the box.
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
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where the table has them.

    See Also
    --------
    shoal.cluster.DPKMeans : Clusters in the central model, where a curator holds the records.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.mechanisms import Laplace
    >>> mechanism = Laplace(epsilon=4.0, bounds=(-1.0, 1.0))
    >>> reports = mechanism.fit_transform(np.zeros((1000, 2)))
    >>> reports.shape
    (1000, 2)
    >>> bool(abs(reports.var() - mechanism.variance()) < 0.1)
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

    @property
    def guarantee_(self) -> Guarantee:
        """Metric privacy for each record, whatever the others are."""
        return Guarantee(
            "metric",
            epsilon=self.epsilon,
            adjacency=Adjacency.SUBSTITUTE,
            unit=UNIT,
            seeded=is_seeded(self.random_state),
        )

    def log_density(self, z: Any, x: Any) -> Floats:
        """Log-density of reports given one record.

        Parameters
        ----------
        z : array-like of shape (n, d)
            Reports.
        x : array-like of shape (d,) or (n, d)
            The record, or one for each report.

        Returns
        -------
        log_density : ndarray of shape (n,)
            Natural logarithm, before rounding to the lattice.
        """
        reports = np.atleast_2d(np.asarray(z, dtype=np.float64))
        d = reports.shape[1]
        distances = np.linalg.norm(reports - np.asarray(x, dtype=np.float64), axis=1)
        constant = (
            d * math.log(self.epsilon)
            + math.lgamma(d / 2)
            - math.log(2)
            - d / 2 * math.log(math.pi)
            - math.lgamma(d)
        )
        densities: Floats = constant - self.epsilon * distances
        return densities

    def variance(self) -> float:
        """Variance of one column of a report, (d + 1) / epsilon^2.

        Returns
        -------
        variance : float
            The same in every column and for every record; needs ``fit`` for d.
        """
        check_is_fitted(self, "n_features_in_")
        return float(self.n_features_in_ + 1) / self.epsilon**2

    def lattice(self, columns: int) -> Lattice:
        """Give the public lattice that records and reports lie on.

        Parameters
        ----------
        columns : int
            Number of columns.

        Returns
        -------
        lattice : Lattice
            Made from ``epsilon`` and ``bounds`` alone.
        """
        box = public_box(self.bounds, columns)
        narrowest = float((box.high - box.low).min())
        farthest = float(max(np.abs(box.low).max(), np.abs(box.high).max()))
        step = FINENESS * min(1.0 / self.epsilon, narrowest)
        step = max(step, FARTHEST * farthest, FINEST / self.epsilon)
        return Lattice.isotropic(box.low, box.high, step=step)

    def _check(self, columns: int) -> None:
        super()._check(columns)
        self.lattice(columns)  # a box that no lattice fits is refused before anything is spent

    def _event(self) -> Event:
        return MetricEvent(epsilon=self.epsilon, unit=UNIT, purpose="one report of each record")

    def _perturb(self, records: Floats, source: RandomSource) -> Floats:
        columns = records.shape[1]
        lattice = self.lattice(columns)
        scale = 1 / (Fraction(self.epsilon) * Fraction(float(lattice.step[0])))
        reports = np.empty_like(records, order="C")
        rows = max(1, CHUNK_VALUES // columns)
        for start in range(0, len(records), rows):
            indices = lattice.encode(records[start : start + rows])
            indices += k_norm(len(indices), columns, scale=scale, source=source)
            reports[start : start + rows] = lattice.decode(indices)
        return reports
