"""The grid remap of the thesis, "grid-nd-Laplace" in its figures: as published, no guarantee.

Thesis (algorithms 3 and 4), and code for four columns and more: a grid is laid over the box of the
RAW table; a report outside that box, or nearer to the grid than to any RAW record, moves to the
nearest grid point.

Code for two and three columns: the radius is capped at r', the distance from the TRUE record to the
nearest side of the raw table's box where that is within 12 units (else the diameter of the true
record's 12 nearest raw records). A capped report is x + r' u(x) with u(x) computed from the angles
of the true record: it holds no noise at all, so it is a function of the record and of the table.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist

from shoal import _numbers
from shoal._typing import Floats
from shoal.papers.kd_laplace._as_published import AsPublished, Source
from shoal.papers.kd_laplace.nd_laplace import require_columns
from shoal.papers.kd_laplace.noise import nd_noise, to_cartesian

__all__ = ["GridNdLaplace", "Remapped", "grid_reports"]

CODE_GRID = 6  # points a column in the code's grid for four columns and more
CODE_UNIT = 12  # "grid size" of the code for two and three columns: a distance and a count at once

FLAW = (
    "the grid remap reads raw records: its box is that of the table and the report of one record "
    "depends on the others"
)


class Remapped(NamedTuple):
    """Reports after the grid remap, with what the density remap needs."""

    reports: Floats
    radius: Floats
    moved: npt.NDArray[np.bool_]


class GridNdLaplace(AsPublished):
    """Perturb records, then remap them on a grid over the raw table: as published, no guarantee.

    Parameters
    ----------
    epsilon : float, default=1.0
        The published epsilon, per unit of distance.
    source : {"thesis", "code"}, default="thesis"
        The remap of the text, or that of the code behind the figures.
    grid_points : int, default=12
        Points of the thesis' grid in each column; the text names no number, 12 is the code's.
    random_state : None, int or Generator, default=None
        Seed of a numpy generator.

    Attributes
    ----------
    guarantee_ : Guarantee
        Of notion ``"none"``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((100, 2))
    >>> reports = GridNdLaplace(epsilon=0.01, source="code", random_state=0).fit_transform(X)
    >>> again = GridNdLaplace(epsilon=0.01, source="code", random_state=1).fit_transform(X)
    >>> bool(np.allclose(reports, again))  # a strong promise, and hardly any noise
    True
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        source: Source = "thesis",
        grid_points: int = 12,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.source = source
        self.grid_points = grid_points
        self.random_state = random_state

    def _check(self, columns: int) -> None:
        super()._check(columns)
        require_columns(columns)
        _numbers.count("grid_points", self.grid_points)

    def _flaw(self, columns: int | None) -> str:
        return FLAW

    def _perturb(self, records: Floats, raw: Floats, generator: np.random.Generator) -> Floats:
        return grid_reports(
            records,
            raw,
            epsilon=self.epsilon,
            source=self.source,
            grid_points=self.grid_points,
            generator=generator,
        ).reports


def grid_reports(
    records: Floats,
    raw: Floats,
    *,
    epsilon: float,
    source: Source,
    grid_points: int,
    generator: np.random.Generator,
) -> Remapped:
    """Perturb and grid-remap records, the way of the source.

    Parameters
    ----------
    records : ndarray of shape (m, d)
        Records to report.
    raw : ndarray of shape (n, d)
        The raw table that is read.
    epsilon, source, grid_points, generator
        As in :class:`GridNdLaplace`.

    Returns
    -------
    remapped : Remapped
        Reports, the radii drawn, and which reports count as remapped.
    """
    columns = records.shape[1]
    noise = nd_noise(len(records), columns, epsilon=epsilon, source=source, generator=generator)
    reports: Floats = records + noise.vectors
    if source == "code" and columns <= 3:
        limit = _code_limit(records, raw)
        # Rounding can push a cosine beyond 1, whose angle is not a number: keep such a report.
        replacement = records + limit[:, None] * to_cartesian(_code_angles(records))
        moved = (noise.radius > limit) & np.isfinite(replacement).all(axis=1)
        reports[moved] = replacement[moved]
        return Remapped(reports, noise.radius, moved)
    points = CODE_GRID if source == "code" else grid_points
    low, high = raw.min(axis=0), raw.max(axis=0)
    outside = ((reports <= low) | (reports >= high)).any(axis=1)
    nearest = _nearest_grid_point(reports, low, high, points)
    to_raw, _ = cKDTree(raw).query(reports)
    moved = outside | (np.linalg.norm(reports - nearest, axis=1) < to_raw)
    reports[moved] = nearest[moved]
    return Remapped(reports, noise.radius, moved)


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
        _, found = cKDTree(raw).query(records[inner], k=neighbors)
        for row, near in zip(inner, found.reshape(len(inner), -1), strict=True):
            limit[row] = pdist(raw[near]).max(initial=0.0)
    return limit


def _code_angles(records: Floats) -> Floats:
    """Spherical coordinates of the TRUE record, length first, as the code computes them."""
    length = np.linalg.norm(records, axis=1)
    parts, product = [length], np.ones(len(records))
    with np.errstate(invalid="ignore", divide="ignore"):
        for column in records.T[:-1]:
            angle = np.arccos(column / (length * product))
            parts.append(angle)
            product = product * np.sin(angle)
    return np.column_stack(parts)
