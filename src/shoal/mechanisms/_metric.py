"""What the metric mechanisms share: distribution, lattice that keeps distances, epsilon by radius.

Density of a report z of the record x proportional to e^(-epsilon ||z - x||), Euclidean norm. Two
records at distance r give any report with probabilities that differ by a factor of at most
e^(epsilon r) (Andres et al. 2013). Records are rounded to a lattice first, which moves two of them
apart by up to a step in each column: a slack that the promise states beside epsilon. The mechanisms
differ in how they draw from this distribution.
"""

import math
from abc import abstractmethod
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from shoal import _numbers
from shoal._bounds import public_box
from shoal._report_channel import channel_bounds
from shoal._typing import Bounds, Floats, Ints, RandomState
from shoal.exceptions import ParameterError
from shoal.mechanisms._base import Mechanism
from shoal.mechanisms.report_format import ReportFormat
from shoal.noise import Lattice, RandomSource
from shoal.privacy import (
    Adjacency,
    Event,
    Guarantee,
    Ledger,
    MetricEvent,
    convert_epsilon,
    parse_unit,
)
from shoal.schema import Place, Schema

__all__ = ["MetricMechanism"]


DEFAULT_EPSILON = 1.0
KILOMETER = "km"
WIDER = 1 + 2.0**-48  # more than a product of a few doubles errs
FINENESS = 2.0**-12  # lattice step over 1 / epsilon and over the box: 1/4096 is far below either
# Steps finer than either of these serve nothing and are not taken:
FARTHEST = 2.0**-50  # over the largest bound: doubles hold hardly finer records
FINEST = 2.0**-36  # over the noise scale: exact noise stays fast


class MetricMechanism(Mechanism):
    """Base class of mechanisms that add multivariate Laplace noise.

    Subclasses draw the noise; their docstrings describe the parameters.
    """

    noise_kind = "radial"
    has_density = True

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        level: float | None = None,
        radius: float | None = None,
        unit: str = "",
        bounds: Bounds | None = None,
        schema: Schema | None = None,
        ledger: Ledger | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.level = level
        self.radius = radius
        self.unit = unit
        self.bounds = bounds
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state

    def _promise(self, columns: int | None = None) -> Guarantee:
        """Return metric privacy for each record, whatever the others are."""
        return Guarantee(
            "metric",
            epsilon=self._promised(),
            adjacency=Adjacency.SUBSTITUTE,
            unit=self._distance_unit,
            slack=self._slack(self._known_columns() if columns is None else columns),
        )

    @property
    def local_guarantee_(self) -> Guarantee:
        """Local guarantee of each report: that for the two farthest records of the box."""
        box = public_box(channel_bounds(self), self._known_columns())
        # Records are rounded to points inside the box, so its diameter covers the rounding too.
        promised = replace(self.guarantee_, slack=0.0)
        # In units of the columns, which of a place are not those of the promise.
        widest = math.dist(box.low, box.high) * self._column_epsilon() / self._promised()
        return promised.to_local(widest * WIDER)

    def log_density(self, z: Any, x: Any) -> Floats:
        """Return the log-density of reports given the record, before rounding to the lattice.

        Parameters
        ----------
        z : array-like of shape (n, d)
            Reports.
        x : array-like of shape (d,) or (n, d)
            One record for all reports, or one record for each of them.

        Returns
        -------
        log_density : ndarray of shape (n,)
            Natural logarithms.
        """
        reports = np.atleast_2d(np.asarray(z, dtype=np.float64))
        d, rate = reports.shape[1], self._rate()
        distances = np.linalg.norm(reports - np.asarray(x, dtype=np.float64), axis=1)
        constant = (
            d * math.log(rate)
            + math.lgamma(d / 2)
            - math.log(2)
            - d / 2 * math.log(math.pi)
            - math.lgamma(d)
        )
        densities: Floats = constant - rate * distances
        return densities

    def variance(self, X: Any = None) -> float | Floats:
        """Return the variance of one column of a report, (d + 1) / epsilon^2.

        Parameters
        ----------
        X : array-like of shape (n, d), default=None
            Records; with them, one variance is returned for each entry.

        Returns
        -------
        variance : float, or ndarray of the shape of X
            The same in every column and for every record. Without X this needs ``fit``, for the
            number of columns d.
        """
        if X is not None:
            shape = np.shape(X)
            return np.full(shape, (shape[-1] + 1) / self._rate() ** 2)
        return float(self._columns + 1) / self._rate() ** 2

    def lattice(self, columns: int) -> Lattice:
        """Return the public lattice that records and reports lie on.

        Parameters
        ----------
        columns : int
            Number of columns.

        Returns
        -------
        lattice : Lattice
            Follows from ``epsilon`` and ``bounds`` alone. Its step is at most 1 / (4096 epsilon).

        Raises
        ------
        ParameterError
            If the box is too large for a lattice this fine.
        """
        box = public_box(channel_bounds(self), columns)
        rate, coarsest = self._rate(), FINENESS / self._column_epsilon()
        narrowest = 2.0 * float((box.high / 2 - box.low / 2).min())
        farthest = float(max(np.abs(box.low).max(), np.abs(box.high).max()))
        step = min(coarsest, max(FINENESS * narrowest, FARTHEST * farthest, FINEST / rate))
        if not 0 < step < math.inf:
            raise ParameterError(
                f"epsilon must allow for a lattice on the box, got {self._promised()!r}: "
                "choose a number nearer to 1 over the width of the box",
                parameter="epsilon",
                code="resolution",
            )
        return Lattice.isotropic(box.low, box.high, step=step)

    def _report_format(self, columns: int) -> ReportFormat:
        lattice = self.lattice(columns)
        # The radius has a gamma distribution: P(more than 2 d + 128 scales) < e^-(64 + 0.3 d).
        steps = (2 * columns + 128) / (self._rate() * float(lattice.step[0]))
        return ReportFormat.of_lattice(lattice.widened(steps), clips=True)

    @abstractmethod
    def _noise(self, count: int, columns: int, *, scale: Fraction, source: RandomSource) -> Ints:
        """Draw noise vectors in lattice steps."""

    def _promised(self) -> float:
        """Return the metric epsilon, given as such or as a level within a radius."""
        if self.level is None or self.radius is None:
            return float(self.epsilon)
        return float(self.level) / float(self.radius)

    def _rate(self) -> float:
        """Return the epsilon that the noise is drawn at, per unit of the columns."""
        return self._column_epsilon()

    def _column_epsilon(self) -> float:
        """Return the metric epsilon per unit of the columns, which of a place is not the km."""
        place = self._place
        if place is None:
            return self._promised()
        # In doubles, as clients in other languages do: the stretch leaves more than they round.
        per_km = float(convert_epsilon(Fraction(1), self._distance_unit, KILOMETER))
        # Two places are at most so much further apart in the plane than on the ground.
        return self._promised() * per_km * place.kilometers / place.stretch

    def _slack(self, columns: int) -> float:
        """Return what rounding adds to the exponent of two records, however near they are."""
        step = float(self.lattice(columns).step[0])
        place = self._place
        rounding = 0.0 if place is None else place.rounding
        return self._column_epsilon() * (step * math.sqrt(columns) + rounding) * WIDER

    @property
    def _place(self) -> Place | None:
        """Return the field of a schema that has a place and nothing else."""
        features = () if self.schema is None else self.schema.features
        alone = features[0] if len(features) == 1 else None
        return alone if isinstance(alone, Place) else None

    @property
    def _distance_unit(self) -> str:
        return self.unit if self.unit or self._place is None else KILOMETER

    def _encoded_params(self) -> dict[str, Any]:
        without = {"epsilon": self._column_epsilon(), "unit": "", "level": None, "radius": None}
        return {**super()._encoded_params(), **without}

    def _check(self, columns: int) -> None:
        length = parse_unit(self.unit).kind == parse_unit(KILOMETER).kind
        if self._place is not None and self.unit and not length:
            raise ParameterError(
                f"unit must be a length such as 'km' for a place, got {self.unit!r}",
                parameter="unit",
                code="text",
            )
        if self.schema is not None and self._place is None and self.unit:
            raise ParameterError(
                f"unit must be left out for a schema that is not one place, got {self.unit!r}: "
                "epsilon is per unit of the schema's own distance, which is 1 across a number of "
                "weight 1",
                parameter="unit",
                code="unexpected",
            )
        super()._check(columns)

    def _check_epsilon(self) -> None:
        super()._check_epsilon()
        given = {"level": self.level, "radius": self.radius}
        for name, value in given.items():
            if value is not None:
                _numbers.positive(name, value)
        if (self.level is None) != (self.radius is None):
            here, missing = ("level", "radius") if self.radius is None else ("radius", "level")
            raise ParameterError(
                f"{here} must come with {missing}, got {here}={given[here]!r} alone: epsilon is "
                "level / radius",
                parameter=here,
                code="missing",
            )
        if self.level is not None and self.epsilon != DEFAULT_EPSILON:
            raise ParameterError(
                f"epsilon must be left out where level and radius are given, got {self.epsilon!r}",
                parameter="epsilon",
                code="unexpected",
            )
        if self.level is not None:
            _numbers.positive("level", self._promised(), of=" / radius")

    def _event(self, promise: Guarantee) -> Event:
        return MetricEvent(
            epsilon=promise.epsilon,
            unit=promise.unit,
            slack=promise.slack,
            purpose="one report of each record",
        )

    def _perturb(self, records: Floats, source: RandomSource) -> Floats:
        columns = records.shape[1]
        lattice = self.lattice(columns)
        scale = 1 / (Fraction(self._rate()) * Fraction(float(lattice.step[0])))
        reports = np.empty_like(records, order="C")
        for block, part in self._in_chunks(records):
            indices = self._moved(lattice.encode(part), lattice, scale, source)
            reports[block] = lattice.decode(indices)
        return reports

    def _moved(
        self, indices: Ints, lattice: Lattice, scale: Fraction, source: RandomSource
    ) -> Ints:
        """Add noise to lattice points."""
        indices += self._noise(*indices.shape, scale=scale, source=source)
        return indices
