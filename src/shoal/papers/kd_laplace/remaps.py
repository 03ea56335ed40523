"""The two remaps of the thesis, "grid-nd-Laplace" and "density-nd-Laplace" in its figures.

As published, no guarantee: both read raw records.

Grid remap
    Thesis (algorithms 3 and 4), and code for four columns and more: a grid is laid over the box of
    the RAW table; a report outside that box, or nearer to the grid than to any RAW record, moves to
    the nearest grid point.

    Code for two and three columns: the radius is capped at r', the distance from the TRUE record to
    the nearest side of the raw table's box where that is within 12 units (else the diameter of the
    true record's 12 nearest raw records). A capped report is x + r' u(x) with u(x) computed from
    the angles of the true record: it holds no noise at all, so it is a function of the record and
    of the table.

Density remap
    After the grid remap, each report that was moved becomes a weighted mean of RAW records within
    the drawn radius r of the TRUE record x (and, in the text, of the report).

    Thesis (equations 3.19 and 3.20): over Q, the raw records within r of x or of z, weights
    w(q) e^(-epsilon ||q - z||) with w(q) the number of raw records within r of q.

    Code for two and three columns: over at most 50 raw records q within r of x, weights
    e^(-epsilon ||q - z||) / (w(q) epsilon sum ||p - z|| over raw p within r of q): the logarithm in
    its denominator is not undone. Where a column of the true record is exactly 0 it divides by 0
    and keeps the report. Code for four columns and more: the radius is lost on the way and nothing
    is remapped, so the published figures there are those of nd-Laplace.
"""

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist, pdist

from shoal import _numbers
from shoal._typing import Bools, Floats, RandomState
from shoal.papers.kd_laplace.nd_laplace import (
    ANGLES,
    AsPublished,
    Source,
    draw_noise,
    to_cartesian,
)

__all__ = ["DensityNdLaplace", "GridNdLaplace"]

CODE_GRID = 6  # points a column in the code's grid for four columns and more
CODE_UNIT = 12  # "grid size" of the code for two and three columns: a distance and a count at once
CODE_NEIGHBORS = 50
MAX_PAIRED = 4096  # records whose distances to each other are kept: 128 MB

GRID_FLAW = (
    "the grid remap reads raw records: its box is that of the table and the report of one record "
    "depends on the others"
)
DENSITY_FLAW = (
    "the density remap reads raw records: a remapped report is a mean of raw records around the "
    "true one"
)


class _Remapped(NamedTuple):
    """Reports after the grid remap, with what the density remap needs."""

    reports: Floats
    radius: Floats
    moved: Bools


class _Remap(AsPublished):
    """What the two remaps share: their parameters and checks."""

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        source: Source = "thesis",
        grid_points: int = 12,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.source = source
        self.grid_points = grid_points
        self.random_state = random_state

    def _check(self, columns: int) -> None:
        super()._check(columns)
        _numbers.count("grid_points", self.grid_points)

    def _grid_reports(
        self, records: Floats, raw: Floats, generator: np.random.Generator
    ) -> _Remapped:
        """Perturb records and remap them on the grid."""
        source: Source = self.source
        columns = records.shape[1]
        noise = draw_noise(
            len(records), columns, epsilon=self.epsilon, source=source, generator=generator
        )
        reports: Floats = records + noise.vectors
        if source == "code" and columns <= 3:
            limit = _code_limit(records, raw)
            # Rounding can push a cosine beyond 1, whose angle is not a number: keep such a report.
            replacement = records + limit[:, None] * to_cartesian(_code_angles(records))
            moved = (noise.radius > limit) & np.isfinite(replacement).all(axis=1)
            reports[moved] = replacement[moved]
            return _Remapped(reports, noise.radius, moved)
        points = CODE_GRID if source == "code" else self.grid_points
        low, high = raw.min(axis=0), raw.max(axis=0)
        outside = ((reports <= low) | (reports >= high)).any(axis=1)
        nearest = _nearest_grid_point(reports, low, high, points)
        to_raw, _ = cKDTree(raw).query(reports)
        moved = outside | (np.linalg.norm(reports - nearest, axis=1) < to_raw)
        reports[moved] = nearest[moved]
        return _Remapped(reports, noise.radius, moved)


class GridNdLaplace(_Remap):
    """The thesis' "grid-nd-Laplace", as published, without any guarantee.

    Noise, then a remap of reports to a grid over the raw table.

    Parameters
    ----------
    epsilon : float, default=1.0
        The published epsilon, per unit of distance.
    source : {"thesis", "code"}, default="thesis"
        Whether to remap as the thesis describes, or as its code does, which made the figures.
    grid_points : int, default=12
        Number of grid points along each column. The thesis names no number; its code uses 12.
    random_state : None, int or Generator, default=None
        Seed of a numpy generator.

    Attributes
    ----------
    guarantee_ : Guarantee
        A guarantee of notion ``"none"``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((100, 2))
    >>> reports = GridNdLaplace(epsilon=0.01, source="code", random_state=0).fit_transform(X)
    >>> again = GridNdLaplace(epsilon=0.01, source="code", random_state=1).fit_transform(X)
    >>> bool(np.allclose(reports, again))  # a strong promise, and hardly any noise
    True
    """

    def _flaw(self, columns: int | None) -> str:
        return GRID_FLAW

    def _perturb(self, records: Floats, raw: Floats, generator: np.random.Generator) -> Floats:
        return self._grid_reports(records, raw, generator).reports


class DensityNdLaplace(_Remap):
    """The thesis' "density-nd-Laplace", as published, without any guarantee.

    Noise, then a remap of reports to weighted means of raw records nearby.

    Parameters
    ----------
    epsilon : float, default=1.0
        The published epsilon, per unit of distance.
    source : {"thesis", "code"}, default="thesis"
        Whether to remap as the thesis describes, or as its code does, which made the figures.
    grid_points : int, default=12
        Number of grid points along each column.
    random_state : None, int or Generator, default=None
        Seed of a numpy generator.

    Attributes
    ----------
    guarantee_ : Guarantee
        A guarantee of notion ``"none"``.

    See Also
    --------
    shoal.remap : Remaps that are fitted on reports and see no record.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((100, 2))
    >>> reports = DensityNdLaplace(epsilon=0.5, random_state=0).fit_transform(X)
    >>> bool((reports >= X.min(axis=0)).all() and (reports <= X.max(axis=0)).all())
    True
    """

    def _flaw(self, columns: int | None) -> str:
        lost = self.source == "code" and columns is not None and columns > 3
        return ANGLES if lost else DENSITY_FLAW

    def _perturb(self, records: Floats, raw: Floats, generator: np.random.Generator) -> Floats:
        if self.source == "code" and records.shape[1] > 3:
            noise = draw_noise(
                *records.shape, epsilon=self.epsilon, source="code", generator=generator
            )
            plain: Floats = records + noise.vectors
            return plain
        remapped = self._grid_reports(records, raw, generator)
        if self.source == "thesis":
            return _thesis_density(records, raw, remapped, self.epsilon)
        return _code_density(records, raw, remapped, self.epsilon, generator)


def _nearest_grid_point(reports: Floats, low: Floats, high: Floats, points: int) -> Floats:
    # Rounding each column finds what the published kd-tree over points^d cells finds.
    steps = max(points - 1, 1)
    width = np.where(high > low, (high - low) / steps, 1.0)
    nearest: Floats = low + width * np.clip(np.round((reports - low) / width), 0, steps)
    return np.minimum(nearest, high)


def _code_limit(records: Floats, raw: Floats) -> Floats:
    low, high = raw.min(axis=0), raw.max(axis=0)
    below, above = records - low, high - records
    sides = np.hstack(
        [np.where(below < CODE_UNIT, below, np.inf), np.where(above < CODE_UNIT, above, np.inf)]
    )
    limit: Floats = np.abs(sides).min(axis=1)
    inner = np.flatnonzero(np.isinf(limit))
    if len(inner):
        neighbors = min(CODE_UNIT, len(raw))
        _, nearest = cKDTree(raw).query(records[inner], k=neighbors)
        for row, near in zip(inner, nearest.reshape(len(inner), -1), strict=True):
            limit[row] = pdist(raw[near]).max(initial=0.0)
    return limit


def _code_angles(records: Floats) -> Floats:
    """Return spherical coordinates of the TRUE record, length first, as the code computes them."""
    length = np.linalg.norm(records, axis=1)
    parts, product = [length], np.ones(len(records))
    with np.errstate(invalid="ignore", divide="ignore"):
        for column in records.T[:-1]:
            angle = np.arccos(column / (length * product))
            parts.append(angle)
            product = product * np.sin(angle)
    return np.column_stack(parts)


def _thesis_density(records: Floats, raw: Floats, remapped: _Remapped, epsilon: float) -> Floats:
    reports = remapped.reports.copy()
    between = _distances(raw)
    for row in np.flatnonzero(remapped.moved):
        report, radius = remapped.reports[row], remapped.radius[row]
        to_report = np.linalg.norm(raw - report, axis=1)
        near = (to_report <= radius) | (np.linalg.norm(raw - records[row], axis=1) <= radius)
        candidates = raw[near]
        if not len(candidates):
            continue
        crowd = ((between if len(between) else cdist(raw, raw)) <= radius).sum(axis=1)[near]
        # Only ratios matter: taking out the nearest distance keeps the weights from underflowing.
        weights = crowd * np.exp(-epsilon * (to_report[near] - to_report[near].min()))
        reports[row] = weights @ candidates / weights.sum()
    return reports


def _code_density(
    records: Floats,
    raw: Floats,
    remapped: _Remapped,
    epsilon: float,
    generator: np.random.Generator,
) -> Floats:
    reports = remapped.reports.copy()
    between = _distances(raw)
    # A true record with a 0 makes the code divide by 0; it then keeps the report.
    usable = remapped.moved & (records != 0).all(axis=1)
    for row in np.flatnonzero(usable):
        report, radius = remapped.reports[row], remapped.radius[row]
        near = np.flatnonzero(np.linalg.norm(raw - records[row], axis=1) <= radius)
        if len(near) > CODE_NEIGHBORS:
            near = generator.choice(near, size=CODE_NEIGHBORS)
        if not len(near):
            continue
        to_report = np.linalg.norm(raw - report, axis=1)
        within = (between[near] if len(between) else cdist(raw[near], raw)) <= radius
        below = within.sum(axis=1) * epsilon * (within @ to_report)
        weights = np.divide(
            np.exp(-epsilon * to_report[near]), below, out=np.zeros(len(near)), where=below > 0
        )
        if weights.sum() > 0:
            reports[row] = weights @ raw[near] / weights.sum()
    return reports


def _distances(raw: Floats) -> Floats:
    """Return distances between raw records where they fit in memory, else nothing."""
    between: Floats = cdist(raw, raw) if len(raw) <= MAX_PAIRED else np.empty((0, 0))
    return between
