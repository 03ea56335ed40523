"""Duchi's mechanism: local privacy with two values a column, for the whole record at once.

Duchi, Jordan & Wainwright (2018). The record t in [-1, 1]^d becomes a random corner v with mean t,
and the report is B times a corner s: each e^epsilon times as likely if s.v >= 0 as if s.v < 0. Ties
belong to one side only: on both, even d spends more than epsilon. The corners on both sides are
counted exactly and every choice is exact (proofs/duchi.md).
"""

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from shoal._docs import shared_docs
from shoal._typing import Bounds, Floats, Ints, RandomState
from shoal.mechanisms._local import LocalMechanism
from shoal.mechanisms.report_format import ReportFormat
from shoal.noise import Lattice, RandomSource, two_level, uniform_integers
from shoal.privacy import Ledger
from shoal.schema import Schema

__all__ = ["Duchi"]


HALF = 2**30  # records are rounded to this many steps on each side of the center


@shared_docs
class Duchi(LocalMechanism):
    """Perturb records on the device with Duchi's mechanism, which has local privacy.

    A report is a random corner of a box that is wider than the bounds: each column has one of two
    values (Duchi, Jordan & Wainwright 2018). Reports are unbiased and good for means at small
    epsilon; a single one says little about its record.

    Parameters
    ----------
    {local_epsilon}
    {bounds}
        Reports are corners of a wider box with the same center.
    {report_schema}
    {ledger_of_reports}
    {random_state}

    Attributes
    ----------
    {local_guarantee_}
    {features_in_}

    See Also
    --------
    Piecewise : Reports that are nearer to the record at larger epsilon.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.mechanisms import Duchi
    >>> mechanism = Duchi(epsilon=1.0, bounds=(-1.0, 1.0))
    >>> reports = mechanism.fit_transform(np.full((1000, 1), 0.5))
    >>> np.abs(reports).max().round(3).item()  # (e + 1) / (e - 1)
    2.164
    """

    noise_kind = "corners"

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        bounds: Bounds | None = None,
        schema: Schema | None = None,
        ledger: Ledger | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state

    def lattice(self, columns: int) -> Lattice:
        """Return the public lattice of the possible reports.

        Parameters
        ----------
        columns : int
            Number of columns.

        Returns
        -------
        lattice : Lattice
            Follows from ``epsilon`` and ``bounds`` alone; reports have indices -1 and 1 only.
        """
        self._check_column_epsilon(self.epsilon)
        return self._report_lattice(columns, step=self._value(columns), max_index=1)

    def log_density(self, z: Any, x: Any) -> Floats:
        """Return the log-probability of the corner nearest to each report, given the record.

        Parameters
        ----------
        z : array-like of shape (n, d)
            Reports.
        x : array-like of shape (d,) or (n, d)
            One record for all reports, or one record for each of them.

        Returns
        -------
        log_density : ndarray of shape (n,)
            Natural logarithms; minus infinity for a point that is near no corner.
        """
        reports = np.atleast_2d(np.asarray(z, dtype=np.float64))
        columns = reports.shape[1]
        lattice, sides = self.lattice(columns), _sides(columns)
        signs = np.clip(np.rint((reports - lattice.origin) / lattice.step), -2, 2)
        records = np.atleast_2d(np.asarray(x, dtype=np.float64))
        units = self._records(columns).encode(records) / HALF
        agreeing = _agreements(np.clip(0.5 + 0.5 * signs * units, 0.0, 1.0))
        first = (columns + 1) // 2  # agreements from which s.v >= 0
        with np.errstate(divide="ignore"):
            near = np.log(agreeing[:, first:].sum(axis=1))
            far = np.log(agreeing[:, :first].sum(axis=1))
        ratio = float(Fraction(sides.far, sides.near))
        total = math.log(sides.near) + math.log1p(ratio * math.exp(-self.epsilon))
        densities: Floats = np.logaddexp(near, far - self.epsilon) - total
        densities[(np.abs(signs) != 1).any(axis=1)] = -np.inf
        return densities

    def variance(self, X: Any = None) -> float | Floats:
        """Return the variance of one column of a report: B^2 - t^2, scaled to the box.

        Parameters
        ----------
        X : array-like of shape (n, d), default=None
            Records; with them, one variance is returned for each entry.

        Returns
        -------
        variance : float, or ndarray of the shape of X
            Without X, the largest over all records and columns; this needs ``fit``, for the number
            of columns d.
        """
        if X is not None:
            records = np.asarray(X, dtype=np.float64)
            columns = records.shape[1]
            value = self._value(columns)
            half = self.lattice(columns).step / value
            spread: Floats = (value**2 - self._units(records, columns) ** 2) * half**2
            return spread
        columns = self._columns
        return self._value(columns) ** 2 * self._unit_variance(columns)

    def _value(self, columns: int) -> float:
        """B, which makes reports unbiased, in units where the records are [-1, 1]."""
        sides = _sides(columns)
        pivotal = math.comb(columns - 1, columns // 2)
        odds = math.exp(-self.epsilon)
        total = float(Fraction(sides.near, pivotal)) + float(Fraction(sides.far, pivotal)) * odds
        return total / -math.expm1(-self.epsilon)

    def _report_format(self, columns: int) -> ReportFormat:
        return ReportFormat.of_lattice(self.lattice(columns), stride=2)  # -1 and 1 only

    def _records(self, columns: int) -> Lattice:
        return self._report_lattice(columns, step=1.0 / HALF, max_index=HALF)

    def _perturb(self, records: Floats, source: RandomSource) -> Floats:
        columns = records.shape[1]
        lattice, sides = self.lattice(columns), _sides(columns)
        rest = Fraction(sides.far, sides.near)
        reports = np.empty_like(records, order="C")
        for block, part in self._in_chunks(records):
            indices = self._records(columns).encode(part)
            chances = uniform_integers(indices.shape, below=2 * HALF, source=source)
            corners = np.where(chances < indices + HALF, 1, -1)
            turns = _signs(indices.shape, source)
            high = two_level(len(part), epsilon=float(self.epsilon), rest=rest, source=source)
            # From here on the record plays no part: redraw until the turn keeps s.v >= 0.
            refused = np.flatnonzero(high & (turns.sum(axis=1) < 0))
            while refused.size:
                turns[refused] = _signs((refused.size, columns), source)
                refused = refused[turns[refused].sum(axis=1) < 0]
            reports[block] = lattice.decode(corners * turns)
        return reports


class _Sides(NamedTuple):
    """How many corners s have s.v >= 0, and how many s.v < 0."""

    near: int
    far: int


def _sides(columns: int) -> _Sides:
    ties = math.comb(columns, columns // 2) if columns % 2 == 0 else 0
    far = (2**columns - ties) // 2
    return _Sides(2**columns - far, far)


def _signs(shape: tuple[int, ...], source: RandomSource) -> Ints:
    return 2 * uniform_integers(shape, below=2, source=source) - 1


def _agreements(chances: Floats) -> Floats:
    """Distribution of the number of successes of independent trials, one row of chances each."""
    distribution = np.zeros((len(chances), chances.shape[1] + 1))
    distribution[:, 0] = 1.0
    for chance in chances.T[:, :, np.newaxis]:
        successes = distribution[:, :-1] * chance
        distribution *= 1.0 - chance
        distribution[:, 1:] += successes
    return distribution
