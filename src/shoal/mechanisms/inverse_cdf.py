"""The Laplace mechanisms of the sources, by inverse distribution function: two and three columns.

``PlanarLaplace`` is the sampler of Andres et al. (2013): a uniform p becomes the radius
r = -(W_{-1}((p - 1)/e) + 1) / epsilon, and the angle is uniform. ``SphericalLaplace`` draws the
radius from Gamma(3, 1/epsilon), the angle around the axis and the COSINE of the angle from the axis
uniformly; the kd-Laplace thesis draws the angle itself uniformly, which has no privacy bound. The
distribution is that of ``Laplace`` for d = 2 and 3; both exist so that one can be held against the
other. Exact on the lattice (proofs/planar.md, proofs/spherical.md).
"""

from fractions import Fraction

from shoal._docs import shared_docs
from shoal._typing import Ints
from shoal.exceptions import DataError
from shoal.mechanisms._metric import MetricMechanism
from shoal.noise import RandomSource, planar_laplace, spherical_laplace
from shoal.schema import Schema

__all__ = ["PlanarLaplace", "SphericalLaplace"]


def _flag(schema: Schema | None) -> str:
    """Say why a place may be more columns than two."""
    return "" if schema is None else " of the schema (a place that may be missing is three)"


@shared_docs
class PlanarLaplace(MetricMechanism):
    """Perturb records of two columns on the device with planar Laplace noise (metric privacy).

    Parameters
    ----------
    {metric_epsilon}
    {level_and_radius}
    {unit}
    {bounds}
        Reports may lie outside the bounds.
    {report_schema}
    {ledger_of_reports}
    {random_state}

    Attributes
    ----------
    {metric_guarantee_}
    n_features_in_ : int
        Number of columns seen in ``fit``: 2.
    feature_names_in_ : ndarray of str
        Their names, where the table has them.

    See Also
    --------
    Laplace : The same noise for any number of columns, drawn faster.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.mechanisms import PlanarLaplace
    >>> mechanism = PlanarLaplace(level=2.0, radius=100.0, bounds=(0.0, 1000.0))
    >>> mechanism.fit_transform(np.full((5, 2), 500.0)).shape
    (5, 2)
    >>> mechanism.guarantee_.epsilon
    0.02

    Places of the globe, with an epsilon per kilometer:

    >>> from shoal.schema import Place, Schema
    >>> home = Place("home", center=(24.94, 60.17), radius=50.0, missing="refuse")
    >>> mechanism = PlanarLaplace(epsilon=0.5, schema=Schema([home]))
    >>> report = mechanism.randomize({"home": "24.95, 60.2"})
    >>> sorted(mechanism.schema.decode([report]))
    ['home latitude', 'home longitude']
    >>> print(mechanism.guarantee_.epsilon, mechanism.guarantee_.unit)
    0.5 km
    """

    def _check(self, columns: int) -> None:
        if columns != 2:
            raise DataError(
                f"X must have 2 columns for PlanarLaplace, got {columns}{_flag(self.schema)}: use "
                "Laplace",
                code="columns",
            )
        super()._check(columns)

    def _noise(self, count: int, columns: int, *, scale: Fraction, source: RandomSource) -> Ints:
        return planar_laplace(count, scale=scale, source=source)


@shared_docs
class SphericalLaplace(MetricMechanism):
    """Perturb records of three columns on the device with spherical Laplace noise.

    The guarantee is metric privacy.

    Parameters
    ----------
    {metric_epsilon}
    {level_and_radius}
    {unit}
    {bounds}
        Reports may lie outside the bounds.
    {report_schema}
    {ledger_of_reports}
    {random_state}

    Attributes
    ----------
    {metric_guarantee_}
    n_features_in_ : int
        Number of columns seen in ``fit``: 3.
    feature_names_in_ : ndarray of str
        Their names, where the table has them.

    See Also
    --------
    Laplace : The same noise for any number of columns, drawn faster.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.mechanisms import SphericalLaplace
    >>> mechanism = SphericalLaplace(level=2.0, radius=100.0, bounds=(0.0, 1000.0))
    >>> mechanism.fit_transform(np.full((5, 3), 500.0)).shape
    (5, 3)
    >>> mechanism.guarantee_.epsilon
    0.02
    """

    def _check(self, columns: int) -> None:
        if columns != 3:
            raise DataError(
                f"X must have 3 columns for SphericalLaplace, got {columns}: use Laplace",
                code="columns",
            )
        super()._check(columns)

    def _noise(self, count: int, columns: int, *, scale: Fraction, source: RandomSource) -> Ints:
        return spherical_laplace(count, scale=scale, source=source)
