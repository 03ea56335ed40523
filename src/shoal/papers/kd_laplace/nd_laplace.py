"""The plain mechanism of the thesis, "nd-Laplace" in its figures: as published, no guarantee.

The radius of its noise is right everywhere: Gamma(d, 1/epsilon). The direction is uniform only for
d = 2, and the noise is drawn in doubles, which give the record away in their low bits (Mironov
2012).

* d = 3, thesis (equations 3.8): polar angle theta uniform in [0, pi], psi uniform in [0, 2 pi). The
  density of a report is e^(-epsilon r)/sin(theta) up to a constant: unbounded at the poles.
* d = 3, code: theta uniform in [0, 2 pi), psi = arccos(2u - 1), so the poles are as crowded, and
  directions with sin(psi) = 0 get no density at all.
* d >= 4 (both): a point of the unit sphere is used as if its coordinates were angles. They lie in
  [-1, 1], so the first coordinate of the direction is at least cos(1) = 0.54.

All published methods keep the raw table and read it for every report: ``fit`` takes that table, and
``transform`` perturbs records as members of it. That is not how a private mechanism is built, and
it is the point: two tables that differ in one record can be audited through the report of another.
"""

from abc import ABC, abstractmethod
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from scipy.special import lambertw
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

from shoal import _numbers
from shoal._records import validate_records
from shoal._typing import Floats, RandomState, TableLike
from shoal.exceptions import DataError, ParameterError
from shoal.privacy import Guarantee

__all__ = ["ANGLES", "AsPublished", "NdLaplace", "Source", "draw_noise", "to_cartesian"]

Source = Literal["thesis", "code"]

LABEL = "as published, no guarantee"
DOUBLES = "planar Laplace noise in doubles, whose low bits tell records apart"
SPHERE = (
    "with three columns the polar angle is uniform, which is not uniform on the sphere: the "
    "density is unbounded at the poles"
)
ANGLES = (
    "with four columns and more a unit vector is used as angles: the first coordinate of the noise "
    "is always positive"
)


class AsPublished(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):
    """A published method, without any guarantee: turns records into reports."""

    random_state: RandomState
    _min_columns = 2

    def fit(self, X: TableLike, y: Any = None) -> Self:
        """Store the raw table, which the published method reads for every report.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Raw records.
        y : None
            Ignored.

        Returns
        -------
        self : AsPublished
            The fitted method.
        """
        records = validate_records(X, estimator=self)
        self._check(records.shape[1])
        self._raw = records.copy()
        self._generator = _generator(self.random_state)
        return self

    def transform(self, X: TableLike) -> Floats:
        """Perturb each record once, as a member of the table given to ``fit``.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Raw records.

        Returns
        -------
        Z : ndarray of shape (m, d)
            Reports of the method.
        """
        if not hasattr(self, "_raw"):
            raise DataError(
                f"{type(self).__name__} reads the raw table: call fit(X) first, in this process",
                code="unsupported",
            )
        records = validate_records(X, estimator=self, reset=False)
        self._check(records.shape[1])
        return self._perturb(records, self._raw, self._generator)

    @property
    def guarantee_(self) -> Guarantee:
        """A guarantee of notion "none"; its reason names the flaw."""
        columns: int | None = getattr(self, "n_features_in_", None)
        return Guarantee.none(f"{LABEL}: {self._flaw(columns)}")

    @abstractmethod
    def _flaw(self, columns: int | None) -> str:
        """Explain why nothing is promised; columns are not known before ``fit``."""

    @abstractmethod
    def _perturb(self, records: Floats, raw: Floats, generator: np.random.Generator) -> Floats:
        """Draw the reports of checked records."""

    def _check(self, columns: int) -> None:
        """Check the parameters for a table of so many columns."""
        if hasattr(self, "epsilon"):
            _numbers.positive("epsilon", self.epsilon)
        source = getattr(self, "source", "thesis")
        if source not in ("thesis", "code"):
            raise ParameterError(f"source must be 'thesis' or 'code', got {source!r}")
        if columns < self._min_columns:
            raise DataError(f"X must have at least 2 columns for a published method, got {columns}")

    def __getstate__(self) -> dict[str, Any]:
        # Raw records and the generator stay in this process.
        state: dict[str, Any] = {**super().__getstate__()}
        state.pop("_raw", None)
        state.pop("_generator", None)
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags


class NdLaplace(AsPublished):
    """The mechanism "nd-Laplace" of the thesis, as published, without any guarantee.

    Parameters
    ----------
    epsilon : float, default=1.0
        The published epsilon, per unit of distance.
    source : {"thesis", "code"}, default="thesis"
        For three columns, whether angles are drawn as in the thesis or as in its code, which made
        the figures.
    random_state : None, int or Generator, default=None
        Seed of a numpy generator.

    Attributes
    ----------
    guarantee_ : Guarantee
        A guarantee of notion ``"none"``.

    See Also
    --------
    shoal.mechanisms.Laplace : The correct distribution, for any number of columns.

    Examples
    --------
    >>> import numpy as np
    >>> method = NdLaplace(epsilon=2.0, random_state=0).fit(np.zeros((1000, 4)))
    >>> bool(method.transform(np.zeros((1000, 4)))[:, 0].min() > 0)
    True
    >>> print(method.guarantee_)  # doctest: +NORMALIZE_WHITESPACE
    no privacy guarantee: as published, no guarantee: with four columns and more a unit vector is
    used as angles: the first coordinate of the noise is always positive
    """

    def __init__(
        self, epsilon: float = 1.0, *, source: Source = "thesis", random_state: RandomState = None
    ) -> None:
        self.epsilon = epsilon
        self.source = source
        self.random_state = random_state

    def _flaw(self, columns: int | None) -> str:
        if columns is None:
            return f"{DOUBLES}; {SPHERE}; {ANGLES}"
        return {2: DOUBLES, 3: SPHERE}.get(columns, ANGLES)

    def _perturb(self, records: Floats, raw: Floats, generator: np.random.Generator) -> Floats:
        noise = draw_noise(
            *records.shape, epsilon=self.epsilon, source=self.source, generator=generator
        )
        reports: Floats = records + noise.vectors
        return reports


class Noise(NamedTuple):
    """Radius and direction of the noise, one row a record."""

    radius: Floats
    direction: Floats

    @property
    def vectors(self) -> Floats:
        """Noise to add."""
        product: Floats = self.radius[:, None] * self.direction
        return product


def draw_noise(
    rows: int, columns: int, *, epsilon: float, source: Source, generator: np.random.Generator
) -> Noise:
    """Draw the published noise.

    Parameters
    ----------
    rows, columns : int
        Number of records and of columns, at least 2 of these.
    epsilon : float
        The published epsilon.
    source : {"thesis", "code"}
        Whose angles; they differ for three columns.
    generator : Generator
        Source of randomness.

    Returns
    -------
    noise : Noise
        Radius of shape (rows,), direction of shape (rows, columns): of length 1, or a little less
        for four columns and more.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> noise = draw_noise(1000, 5, epsilon=1.0, source="code", generator=generator)
    >>> bool(noise.direction[:, 0].min() >= np.cos(1.0))  # never negative: no guarantee
    True
    """
    if columns == 2:
        # Inverse of the distribution function of the radius, as Andres et al. (2013) give it.
        uniform = generator.random(rows)
        branch: Floats = lambertw((uniform - 1) / np.e, k=-1).real
        angle = generator.uniform(0.0, 2 * np.pi, rows)
        return Noise(-(branch + 1) / epsilon, np.column_stack([np.cos(angle), np.sin(angle)]))
    radius = generator.gamma(columns, 1 / epsilon, rows)
    if columns == 3:
        return Noise(radius, _published_sphere(rows, source, generator))
    normal = generator.normal(size=(rows, columns))
    unit = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    return Noise(radius, to_cartesian(unit))


def to_cartesian(angles: Floats) -> Floats:
    """Turn rows into directions the way the published code does.

    Parameters
    ----------
    angles : ndarray of shape (n, d)
        Rows taken as angles; the first entry only scales the last coordinate, by its cosine, where
        it should be absent.

    Returns
    -------
    directions : ndarray of shape (n, d)
        Coordinates (cos a2, sin a2 cos a3, ..., sin a2 ... sin ad cos a1).
    """
    sines = np.sin(angles)
    sines[:, 0] = 1.0
    products = np.multiply.accumulate(sines, axis=1)
    directions: Floats = products * np.roll(np.cos(angles), -1, axis=1)
    return directions


def _published_sphere(rows: int, source: Source, generator: np.random.Generator) -> Floats:
    theta: Floats
    psi: Floats
    if source == "thesis":
        theta = generator.uniform(0.0, np.pi, rows)
        psi = generator.uniform(0.0, 2 * np.pi, rows)
    else:
        theta = generator.uniform(0.0, 2 * np.pi, rows)
        psi = np.arccos(2 * generator.random(rows) - 1)
    flat = np.sin(theta)
    return np.column_stack([flat * np.sin(psi), flat * np.cos(psi), np.cos(theta)])


def _generator(random_state: RandomState) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ParameterError(
            f"random_state must be None, a whole number >= 0 or a generator, got {random_state!r}"
        ) from None
