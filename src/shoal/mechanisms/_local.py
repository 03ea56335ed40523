"""What the locally private mechanisms share: one epsilon for the whole record, and the box as unit.

Local epsilon bounds how well ANY two records are told apart, however far apart they are. It has no
unit, and equal numbers of metric and of local epsilon are not equal privacy.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import comb, floor, log
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from shoal._bounds import public_box
from shoal._report_channel import ColumnChannel, ReportedColumn, channel_bounds
from shoal._typing import Floats, Ints
from shoal.exceptions import ParameterError
from shoal.mechanisms._base import Mechanism
from shoal.mechanisms.report_format import ReportFormat
from shoal.noise import Lattice, RandomSource, uniform_integers
from shoal.privacy import Adjacency, Event, Guarantee, PureEvent

__all__ = ["ColumnDistribution", "ColumnMechanism", "LocalMechanism"]

SMALLEST = 2.0**-40  # epsilon of a column; reports then lie within 2^42 boxes


class LocalMechanism(Mechanism):
    """Base class of mechanisms with local privacy; columns are scaled to [-1, 1] and back."""

    def _promise(self, columns: int | None = None) -> Guarantee:
        """Return local privacy for each record, all its columns together."""
        return Guarantee("local", epsilon=self.epsilon, adjacency=Adjacency.SUBSTITUTE)

    def _event(self, promise: Guarantee) -> Event:
        return PureEvent(epsilon=self.epsilon, purpose="one report of each record")

    def _check_column_epsilon(self, epsilon: float) -> None:
        """Refuse an epsilon that leaves a column with next to nothing."""
        if epsilon < SMALLEST:
            raise ParameterError(
                f"epsilon must be at least 2^-40 for each column that is reported, got "
                f"{self.epsilon!r}: raise it or drop columns",
                parameter="epsilon",
                code="resolution",
            )

    def _report_lattice(self, columns: int, *, step: float, max_index: int) -> Lattice:
        """Spread steps of [-1, 1] over the box: index 0 is its center, max_index the last index."""
        box = public_box(channel_bounds(self), columns)
        # Halving first keeps the width of a box as wide as the doubles themselves finite.
        half = box.high / 2 - box.low / 2
        center = box.low / 2 + box.high / 2
        farthest = float(np.abs(center).max()) + step * max_index * float(half.max())
        if not math.isfinite(farthest):
            raise ParameterError(
                f"bounds must leave room for reports in float64, got {self.bounds!r}: rescale the "
                "columns or raise epsilon",
                parameter="bounds",
                code="resolution",
            )
        last = np.full(columns, max_index, dtype=np.int64)
        return Lattice(center, half * step, -last, last)

    def _units(self, X: Any, columns: int) -> Floats:
        """Clip records to the box and map it to [-1, 1]."""
        box = public_box(channel_bounds(self), columns)
        half = box.high / 2 - box.low / 2
        center = box.low / 2 + box.high / 2
        clipped = np.clip(np.asarray(X, dtype=np.float64), box.low, box.high)
        units: Floats = np.clip((clipped - center) / half, -1.0, 1.0)
        return units

    def _unit_variance(self, columns: int) -> float:
        """Return the square of half the widest column: the largest variance of one unit."""
        box = public_box(channel_bounds(self), columns)
        return float((box.high / 2 - box.low / 2).max()) ** 2


SAMPLED_EPSILON = 2.5  # epsilon that one more sampled column is worth (Wang et al. 2019)


class ColumnDistribution(Protocol):
    """Distribution of one column's report on integers; ``windows.Window`` is one."""

    @property
    def positions(self) -> int:
        """Records are -positions/2 .. positions/2."""

    @property
    def max_index(self) -> int:
        """Reports are -max_index .. max_index."""

    @property
    def step(self) -> float:
        """Length of a report's cell, in units where the records are [-1, 1]."""

    def draw(self, positions: Ints, source: RandomSource) -> Ints:
        """Draw one cell for each position."""

    def log_mass(self, cells: Ints, positions: Ints) -> Floats:
        """Log-probability of cells."""

    def cdf(self, cells: Floats, positions: Floats) -> Floats:
        """Probability of a report up to each place between cells; cell c ends at c + 1/2."""

    @property
    def points(self) -> tuple[int, ...]:
        """Cells that have a probability of their own, in order."""

    def variance(self, units: Floats) -> Floats:
        """Variance of reports."""


@dataclass(frozen=True)
class _LineDistribution:
    """The law of one column in the records' unit: index 0 of its cells is at the center."""

    distribution: ColumnDistribution
    unreported: float
    half: float  # of the column's width
    step: float

    @property
    def low(self) -> float:
        return self.unreported - (self.distribution.max_index + 0.5) * self.step

    @property
    def high(self) -> float:
        return self.unreported + (self.distribution.max_index + 0.5) * self.step

    @property
    def points(self) -> Floats:
        return self.unreported + self.step * np.array(self.distribution.points, dtype=np.float64)

    def cdf(self, z: Floats, x: Floats) -> Floats:
        cells = (z - self.unreported) / self.step
        units = np.clip((x - self.unreported) / self.half, -1.0, 1.0)
        return self.distribution.cdf(
            cells[:, np.newaxis], units[np.newaxis] * (self.distribution.positions // 2)
        )


class ColumnMechanism(LocalMechanism, ColumnChannel):
    """Base class of mechanisms that perturb each column independently."""

    columns: str = "all"

    def lattice(self, columns: int) -> Lattice:
        """Return the public lattice of the possible reports.

        Parameters
        ----------
        columns : int
            Number of columns.

        Returns
        -------
        lattice : Lattice
            Follows from ``epsilon`` and ``bounds`` alone. Its first and last indices are the
            smallest and largest reports; index 0 is the center of the box.
        """
        reported = self._reported(columns)
        epsilon = Fraction(float(self.epsilon)) / reported
        self._check_column_epsilon(float(epsilon))
        distribution = self._distribution(epsilon)
        step = distribution.step * (columns / reported)
        return self._report_lattice(columns, step=step, max_index=distribution.max_index)

    def log_density(self, z: Any, x: Any) -> Floats:
        """Return the log-probability of the lattice point nearest to each report.

        Parameters
        ----------
        z : array-like of shape (n, d)
            Reports.
        x : array-like of shape (d,) or (n, d)
            One record for all reports, or one record for each of them.

        Returns
        -------
        log_density : ndarray of shape (n,)
            Natural logarithms; minus infinity beyond the last lattice point. For a density in the
            unit of the records, subtract the logarithm of the volume of a lattice cell.
        """
        reports = np.atleast_2d(np.asarray(z, dtype=np.float64))
        columns = reports.shape[1]
        distribution, lattice = self._column_distribution(columns), self.lattice(columns)
        cells = np.rint((reports - lattice.origin) / lattice.step)
        last = (
            distribution.max_index + 1
        )  # beyond it everything is impossible, and int64 may not hold it
        cells = np.clip(cells, -last, last).astype(np.int64)
        records = np.atleast_2d(np.asarray(x, dtype=np.float64))
        positions = np.broadcast_to(self._positions(records, distribution), cells.shape)
        masses = distribution.log_mass(cells, positions)
        return _choose(masses, cells == 0, self._reported(columns))

    def variance(self, X: Any = None) -> float | Floats:
        """Return the variance of one column of a report, in the squared unit of the records.

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
            half = self.lattice(columns).step / self._unit_step(columns)
            return self._of_units(self._units(records, columns), columns) * half**2
        columns = self._columns
        # Every distribution here has a variance that is linear in the square of the record.
        worst = float(self._of_units(np.array([0.0, 1.0]), columns).max())
        return worst * self._unit_variance(columns)

    @abstractmethod
    def _distribution(self, epsilon: Fraction) -> ColumnDistribution:
        """Return the distribution of one column at its part of epsilon."""

    def reported_columns(self, columns: int) -> int:
        """Return the number of columns of a record that one report perturbs.

        Parameters
        ----------
        columns : int
            Number of columns.

        Returns
        -------
        reported : int
            All of them, or the number that is drawn with ``columns="sample"``.
        """
        return self._reported(columns)

    def column_distribution(self, column: int, columns: int) -> ReportedColumn:
        """Return the distribution of one perturbed column, in the unit of the records.

        Parameters
        ----------
        column : int
            Index of the column.
        columns : int
            Number of columns.

        Returns
        -------
        distribution : ReportedColumn
            Follows from ``epsilon`` and ``bounds`` alone.
        """
        lattice, box = self.lattice(columns), public_box(channel_bounds(self), columns)
        return _LineDistribution(
            self._column_distribution(columns),
            float(lattice.origin[column]),
            float(box.high[column] / 2 - box.low[column] / 2),
            float(lattice.step[column]),
        )

    def _column_distribution(self, columns: int) -> ColumnDistribution:
        return self._distribution(Fraction(float(self.epsilon)) / self._reported(columns))

    def _unit_step(self, columns: int) -> float:
        return self._column_distribution(columns).step * (columns / self._reported(columns))

    def _reported(self, columns: int) -> int:
        if self.columns == "all":
            return columns
        return max(1, min(columns, floor(self.epsilon / SAMPLED_EPSILON)))

    def _of_units(self, units: Floats, columns: int) -> Floats:
        each = self._column_distribution(columns).variance(units)
        factor = columns / self._reported(columns)
        # (d/k) report with probability k/d: E[square] = (d/k) (variance + t^2), mean t.
        spread: Floats = factor * each + (factor - 1.0) * units**2
        return spread

    def _report_format(self, columns: int) -> ReportFormat:
        reported, lattice = self._reported(columns), self.lattice(columns)
        if reported == columns:
            return ReportFormat.of_lattice(lattice)
        return ReportFormat.of_lattice(lattice, reported=(0, reported))

    def _positions(self, records: Floats, distribution: ColumnDistribution) -> Ints:
        last = distribution.positions // 2
        return self._report_lattice(records.shape[1], step=1.0 / last, max_index=last).encode(
            records
        )

    def _check(self, columns: int) -> None:
        if self.columns not in ("all", "sample"):
            raise ParameterError(
                f"columns must be 'all' or 'sample', got {self.columns!r}",
                parameter="columns",
                code="choice",
            )
        super()._check(columns)

    def _perturb(self, records: Floats, source: RandomSource) -> Floats:
        columns = records.shape[1]
        distribution, lattice = self._column_distribution(columns), self.lattice(columns)
        reported = self._reported(columns)
        reports = np.empty_like(records, order="C")
        for block, part in self._in_chunks(records):
            positions = self._positions(part, distribution)
            if reported == columns:
                cells = distribution.draw(positions, source)
            else:
                chosen = _subsets(len(part), columns, reported, source)
                rows = np.arange(len(part))[:, np.newaxis]
                cells = np.zeros_like(positions)
                cells[rows, chosen] = distribution.draw(positions[rows, chosen], source)
            reports[block] = lattice.decode(cells)
        return reports


def _subsets(count: int, columns: int, size: int, source: RandomSource) -> Ints:
    """Choose columns without replacement: the first steps of a shuffle, exactly uniform."""
    order = np.tile(np.arange(columns), (count, 1))
    rows = np.arange(count)
    for i in range(size):
        j = i + uniform_integers(count, below=columns - i, source=source)
        order[rows, i], order[rows, j] = order[rows, j], order[rows, i].copy()
    return order[:, :size]


def _choose(masses: Floats, centers: npt.NDArray[np.bool_], size: int) -> Floats:
    """Log-probability of whole reports when ``size`` columns were chosen and the rest is 0."""
    columns = masses.shape[1]
    if size == columns:
        whole: Floats = masses.sum(axis=1)
        return whole
    # Sum over all subsets, column by column: sums[:, c] has c columns chosen so far.
    sums = np.full((len(masses), size + 1), -np.inf)
    sums[:, 0] = 0.0
    left_out = np.where(centers, 0.0, -np.inf)
    for column in range(columns):
        chosen = sums[:, :-1] + masses[:, column, np.newaxis]
        sums += left_out[:, column, np.newaxis]
        sums[:, 1:] = np.logaddexp(sums[:, 1:], chosen)
    densities: Floats = sums[:, size] - log(comb(columns, size))
    return densities
