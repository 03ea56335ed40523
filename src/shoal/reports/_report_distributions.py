"""How probable reports are, of mechanisms that do more than add noise: exact, one law each.

Atoms are the cells of a grid in up to three columns. In more columns they are drawn: each column
by itself from its own distribution, which reports tell far better than how columns go together.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from shoal._bounds import Box
from shoal._report_channel import ColumnChannel
from shoal._typing import Bools, Floats, Ints
from shoal.reports._column_tables import ColumnTable, column_tables, symbols_of
from shoal.reports._held_out_density import Part, held_out_density
from shoal.reports._record_channel import (
    Atoms,
    KernelChannel,
    MatrixChannel,
    ProductChannel,
    Singles,
    grid_atoms,
)
from shoal.reports._report_grid import MAX_COLUMNS

__all__ = ["ReportDistribution", "even_atoms", "open_distribution", "open_halves"]

CELLS = {1: (128, 512), 2: (48, 96), 3: (16, 24)}  # of a grid in each column: least and most
CELLS_PER_CENTER = 4.0  # in each column, per k^(1/d)
DRAWN_CELLS = (48, 128)  # of a column, where atoms are drawn
EVEN = 0.05  # of drawn atoms, and of a start, spread evenly: nothing is ruled out
MIN_ATOMS, MAX_ATOMS = 512, 2048
MAX_VALUES = 3e7  # ratios of reports and atoms held at a time
CHUNK_VALUES = 1 << 22


class ReportDistribution(Protocol):
    """The distribution of reports of one mechanism."""

    @property
    def tables(self) -> Sequence[ColumnTable]:
        """What each column says by itself."""

    def ratios(self, reports: Floats, atoms: Atoms) -> Singles:
        """Return probabilities of reports given atoms, over those of evenly spread records."""

    def grid_channel(self, reports: Floats, atoms: Atoms) -> KernelChannel:
        """Return the channel from the cells of a grid."""


def open_distribution(mechanism: Any, box: Box, k: int) -> ReportDistribution:
    """Return the distribution of a mechanism that was checked."""
    columns = len(box.low)
    few = columns <= MAX_COLUMNS
    limits = CELLS[columns] if few else DRAWN_CELLS
    least = CELLS_PER_CENTER * k ** (1 / columns) if few else 0.0
    if isinstance(mechanism, ColumnChannel):
        return _Columns(box, column_tables(mechanism, box, least=least, limits=limits))
    return _Corners(mechanism, box, cells=limits[0])


class _Columns:
    """Columns that are perturbed independently, all of them or some."""

    def __init__(self, box: Box, tables: list[ColumnTable]) -> None:
        self.tables = tables
        self._box = box
        self._ratios = [
            (table.matrix / np.maximum(table.matrix.mean(axis=1), TINY)[:, None]).astype(np.float32)
            for table in tables
        ]

    def ratios(self, reports: Floats, atoms: Atoms) -> Singles:
        symbols = symbols_of(self.tables, reports)
        cells = [ratios.shape[1] for ratios in self._ratios]
        shares = (atoms.points - self._box.low) / (self._box.high - self._box.low)
        indices = np.clip((shares * cells).astype(np.int64), 0, np.array(cells) - 1)
        result = np.ones((len(reports), len(indices)), dtype=np.float32)
        rows = max(1, CHUNK_VALUES // len(indices))
        for begin in range(0, len(reports), rows):
            part = result[begin : begin + rows]
            for column, ratios in enumerate(self._ratios):
                part *= ratios[:, indices[:, column]][symbols[begin : begin + rows, column]]
        return result

    def grid_channel(self, reports: Floats, atoms: Atoms) -> KernelChannel:
        return ProductChannel(
            atoms, symbols_of(self.tables, reports), [table.matrix for table in self.tables]
        )


TINY = np.finfo(np.float64).tiny


class _Corners:
    """Duchi's reports: corners of a box. One column is up with a probability linear in it."""

    def __init__(self, mechanism: Any, box: Box, *, cells: int) -> None:
        self._mechanism = mechanism
        self._middle = box.low / 2 + box.high / 2
        lattice = mechanism.lattice(len(box.low))
        self.tables = []
        for middle, half, step in zip(
            self._middle, box.high / 2 - box.low / 2, lattice.step, strict=True
        ):
            units = (np.arange(cells) + 0.5) / cells * 2 - 1
            up = 0.5 + 0.5 * units * half / step
            edges = middle + step * np.array([-2.0, 0.0, 2.0])
            self.tables.append(ColumnTable(edges, np.stack([1 - up, up]), None, float(step)))

    def ratios(self, reports: Floats, atoms: Atoms) -> Singles:
        # Linear in each column, so that evenly spread records are as one in the middle.
        even = self._mechanism.log_density(reports, self._middle)
        points = atoms.points
        result = np.empty((len(reports), len(points)), dtype=np.float32)
        if len(reports) < len(points):
            for row, report in enumerate(reports):
                same = np.broadcast_to(report, points.shape)
                result[row] = np.exp(self._mechanism.log_density(same, points) - even[row])
        else:
            for index, atom in enumerate(points):
                result[:, index] = np.exp(self._mechanism.log_density(reports, atom) - even)
        return result

    def grid_channel(self, reports: Floats, atoms: Atoms) -> KernelChannel:
        return _tallied(self, reports, atoms)


def _tallied(distribution: ReportDistribution, reports: Floats, atoms: Atoms) -> MatrixChannel:
    """Count equal reports together."""
    symbols = symbols_of(distribution.tables, reports)
    _, some, tally = np.unique(symbols, axis=0, return_index=True, return_inverse=True)
    return MatrixChannel(atoms, tally.ravel(), distribution.ratios(reports[some], atoms))


def open_halves(
    distribution: ReportDistribution,
    reports: Floats,
    box: Box,
    first: Bools,
    rng: np.random.RandomState,
) -> tuple[Part, tuple[Part, Part]]:
    """Return all reports, and each half of them with the other half as its judge."""
    groups = (np.ones(len(reports), dtype=np.bool_), first, ~first)
    if len(box.low) <= MAX_COLUMNS:
        cells = tuple(table.probabilities.shape[1] for table in distribution.tables)
        channel = distribution.grid_channel(reports, grid_atoms(box, cells))
        channels: list[KernelChannel] = [channel] * 3
        even = np.full(len(channel.atoms.points), 1.0 / len(channel.atoms.points))
        starts = [[even, _product(distribution, reports[group], even, rng)] for group in groups]
    else:
        symbols = symbols_of(distribution.tables, reports)
        many = int(np.clip(MAX_VALUES // len(np.unique(symbols, axis=0)), MIN_ATOMS, MAX_ATOMS))
        channels = [
            _tallied(
                distribution, reports, _drawn_atoms(distribution, reports[group], box, many, rng)
            )
            for group in groups
        ]
        starts = [[np.full(many, 1.0 / many)]] * 3
    parts = []
    for channel, group, begin in zip(channels, groups, starts, strict=True):
        size = len(channel.blind())
        own, other = (
            np.bincount(channel.tally[rows], minlength=size).astype(np.float64)
            for rows in (group, ~group)
        )
        parts.append(Part(channel, own, other, tuple(begin)))
    return parts[0], (parts[1], parts[2])


def even_atoms(
    distribution: ReportDistribution, reports: Floats, points: Floats, box: Box
) -> KernelChannel:
    """Return the channel of atoms that are spread evenly over a box of many columns."""
    return _tallied(distribution, reports, Atoms(points, (box.high - box.low) / MIN_ATOMS))


def _product(
    distribution: ReportDistribution, reports: Floats, even: Floats, rng: np.random.RandomState
) -> Floats:
    """Return the distribution of records whose columns have nothing to do with each other."""
    product = np.ones(1)
    for weights in _marginals(distribution, reports, rng):
        product = np.multiply.outer(product, weights).ravel()
    blended: Floats = (1 - EVEN) * product + EVEN * even
    return blended


def _drawn_atoms(
    distribution: ReportDistribution,
    reports: Floats,
    box: Box,
    many: int,
    rng: np.random.RandomState,
) -> Atoms:
    """Draw atoms, each column by itself."""
    points: Floats = rng.uniform(size=(many, len(box.low)))
    drawn = rng.uniform(size=many) >= EVEN
    for column, weights in enumerate(_marginals(distribution, reports, rng)):
        cells = rng.choice(len(weights), size=many, p=weights / weights.sum())
        points[drawn, column] = (cells[drawn] + points[drawn, column]) / len(weights)
    width = (box.high - box.low) / [table.probabilities.shape[1] for table in distribution.tables]
    return Atoms(box.low + points * (box.high - box.low), width)


def _marginals(
    distribution: ReportDistribution, reports: Floats, rng: np.random.RandomState
) -> list[Floats]:
    """Return the distribution of each column by itself, on its cells."""
    found = []
    for column, table in enumerate(distribution.tables):
        symbols = table.symbols(reports[:, column])
        symbols = symbols[symbols < len(table.probabilities)]
        found.append(_marginal(table, symbols, rng.permutation(len(symbols)) % 2 == 0))
    return found


def _marginal(table: ColumnTable, symbols: Ints, first: Bools) -> Floats:
    size, cells = table.probabilities.shape
    atoms = Atoms(np.arange(cells, dtype=np.float64)[:, None] + 0.5, np.ones(1), (cells,))
    channel = ProductChannel(atoms, symbols[:, None], [table.probabilities])
    counts: list[Floats] = [
        np.bincount(symbols[rows], minlength=size).astype(np.float64) for rows in (first, ~first)
    ]
    even = (np.full(cells, 1.0 / cells),)
    whole = Part(channel, counts[0] + counts[1], np.zeros(size), even)
    one, two = counts
    halves = Part(channel, one, two, even), Part(channel, two, one, even)
    return held_out_density(whole, halves).whole.weights
