"""The hybrid mechanism: piecewise or Duchi, chosen by a coin that does not look at the record.

Wang et al. (2019). Each column is reported by the piecewise mechanism with probability
1 - e^(-epsilon/2) if its epsilon is above 0.61, else by Duchi's for one column. Both keep epsilon,
and the coin is independent of the record, so the mixture keeps it. At that weight the variance is
the same for all records. Duchi's two values lie on the lattice of the piecewise reports, rounded
outwards and made unbiased again (proofs/hybrid.md).
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from shoal._docs import shared_docs
from shoal._typing import Bounds, Floats, Ints, RandomState
from shoal.mechanisms._local import ColumnMechanism
from shoal.mechanisms.report_format import ReportFormat
from shoal.mechanisms.windows import Window, piecewise_distribution
from shoal.noise import RandomSource, odds_between, two_level, uniform_integers
from shoal.privacy import Ledger
from shoal.schema import Schema

__all__ = ["Hybrid"]


TURNING_POINT = 0.61  # epsilon of a column at or below which Duchi alone is better
CHANCES = 2**53  # denominator of the probability of a truthful sign


@shared_docs
class Hybrid(ColumnMechanism):
    """Perturb records on the device with the hybrid mechanism, which has local privacy.

    Each column is reported by :class:`Piecewise` or by :class:`Duchi`, as a coin decides that does
    not depend on the record (Wang et al. 2019). Reports are unbiased.

    Parameters
    ----------
    {local_epsilon}
    {bounds}
        Reports lie in a wider box.
    {report_schema}
    {columns}
    {ledger_of_reports}
    {random_state}

    Attributes
    ----------
    {local_guarantee_}
    {features_in_}

    See Also
    --------
    Piecewise, Duchi : The two mechanisms that it chooses from.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.mechanisms import Hybrid
    >>> mechanism = Hybrid(epsilon=2.0, bounds=(0.0, 1.0)).fit(np.zeros((1, 1)))
    >>> bool(np.ptp(mechanism.variance([[0.0], [0.3], [1.0]])) < 1e-6)
    True
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        bounds: Bounds | None = None,
        schema: Schema | None = None,
        columns: str = "all",
        ledger: Ledger | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.schema = schema
        self.columns = columns
        self.ledger = ledger
        self.random_state = random_state

    def _distribution(self, epsilon: Fraction) -> "_HybridDistribution":
        return _HybridDistribution(piecewise_distribution(epsilon))

    def _report_format(self, columns: int) -> ReportFormat:
        reported = self._reported(columns)
        distribution = self._distribution(Fraction(float(self.epsilon)) / reported)
        if distribution.is_mixed:
            return super()._report_format(columns)
        # Two values and, for columns that are left out, the center between them.
        value = np.full(columns, distribution.value, dtype=np.int64)
        lattice = replace(self.lattice(columns), low=-value, high=value)
        if reported == columns:
            return ReportFormat.of_lattice(lattice, stride=2 * distribution.value)
        return ReportFormat.of_lattice(
            lattice, stride=distribution.value, reported=(reported, reported)
        )


@dataclass(frozen=True)
class _HybridDistribution:
    """A distribution of cells given a position: that of a window, or two values."""

    window: Window

    @property
    def positions(self) -> int:
        return self.window.positions

    @property
    def max_index(self) -> int:
        return self.window.max_index

    @property
    def step(self) -> float:
        return self.window.step

    @cached_property
    def value(self) -> int:
        """Cell of Duchi's upper value, a little above (e^epsilon + 1)/(e^epsilon - 1)."""
        cells = [
            self.positions * (1 + odds) / (2 * self._spread(odds))
            for odds in odds_between(self.window.epsilon)
        ]
        return math.ceil(max(cells)) + 1

    @cached_property
    def truthful(self) -> int:
        """Chances in 2^53 of a sign that is drawn from the record, so that reports are unbiased."""
        _, odds = odds_between(self.window.epsilon)
        chance = self.positions * (1 - odds) / (2 * self._spread(odds) * self.value)
        return math.floor(CHANCES * chance)

    def _spread(self, odds: Fraction) -> Fraction:
        """Return 1 - odds over the probability that a report is drawn from the window as such."""
        return 1 + Fraction(self.positions, self.window.width) * odds

    @property
    def is_mixed(self) -> bool:
        """Whether epsilon is large enough for windows to be drawn as well."""
        return self.window.epsilon > TURNING_POINT

    def draw(self, positions: Ints, source: RandomSource) -> Ints:
        shape, half = positions.shape, self.positions // 2
        record_sign = uniform_integers(shape, below=self.positions, source=source) < (
            positions + half
        )
        fair_sign = uniform_integers(shape, below=2, source=source) == 1
        truthful = uniform_integers(shape, below=CHANCES, source=source) < self.truthful
        signs = np.where(truthful, record_sign, fair_sign)
        cells = np.where(signs, self.value, -self.value)
        if self.is_mixed:
            wide = two_level(shape, epsilon=self.window.epsilon / 2, rest=0, source=source)
            cells = np.where(wide, self.window.draw(positions, source), cells)
        return cells

    def log_mass(self, cells: Ints, positions: Ints) -> Floats:
        units = positions / (self.positions / 2)
        chance = 0.5 + 0.5 * np.sign(cells) * units * (self.truthful / CHANCES)
        with np.errstate(divide="ignore"):
            two = np.where(np.abs(cells) == self.value, np.log(chance), -np.inf)
        if not self.is_mixed:
            return two
        half = float(self.window.epsilon) / 2
        wide = self.window.log_mass(cells, positions) + math.log(-math.expm1(-half))
        mixed: Floats = np.logaddexp(wide, two - half)
        return mixed

    @property
    def points(self) -> tuple[int, ...]:
        return -self.value, self.value

    def cdf(self, cells: Floats, positions: Floats) -> Floats:
        upper = 0.5 + positions / self.positions * (self.truthful / CHANCES)
        two: Floats = np.where(
            cells >= self.value, 1.0, np.where(cells >= -self.value, 1 - upper, 0.0)
        )
        if not self.is_mixed:
            return two
        odds = math.exp(-float(self.window.epsilon) / 2)
        return (1 - odds) * self.window.cdf(cells, positions) + odds * two

    def variance(self, units: Floats) -> Floats:
        two: Floats = (self.value * self.step) ** 2 - units**2
        if not self.is_mixed:
            return two
        odds = math.exp(-float(self.window.epsilon) / 2)
        return (1 - odds) * self.window.variance(units) + odds * two
