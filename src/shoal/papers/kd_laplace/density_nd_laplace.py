"""The density remap of the thesis, "density-nd-Laplace" in its figures: as published, no guarantee.

After the grid remap, each report that was moved becomes a weighted mean of RAW records within the
drawn radius r of the TRUE record x (and, in the text, of the report).

Thesis (equations 3.19 and 3.20): over Q, the raw records within r of x or of z, weights
w(q) e^(-epsilon ||q - z||) with w(q) the number of raw records within r of q.

Code for two and three columns: over at most 50 raw records q within r of x, weights
e^(-epsilon ||q - z||) / (w(q) epsilon sum ||p - z|| over raw p within r of q): the logarithm in its
denominator is not undone. Where a column of the true record is exactly 0 it divides by 0 and keeps
the report. Code for four columns and more: the radius is lost on the way and nothing is remapped,
so the published figures there are those of nd-Laplace.
"""

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from shoal import _numbers
from shoal._typing import Floats
from shoal.papers.kd_laplace._as_published import AsPublished, Source
from shoal.papers.kd_laplace.grid_nd_laplace import Remapped, grid_reports
from shoal.papers.kd_laplace.nd_laplace import ANGLES, require_columns
from shoal.papers.kd_laplace.noise import nd_noise

__all__ = ["DensityNdLaplace"]

CODE_NEIGHBORS = 50
SMALL = 4096  # records whose distances to each other are kept: 128 MB

FLAW = (
    "the density remap reads raw records: a remapped report is a mean of raw records around the "
    "true one"
)


class DensityNdLaplace(AsPublished):
    """Perturb records, then move them to raw records nearby: as published, no guarantee.

    Parameters
    ----------
    epsilon : float, default=1.0
        The published epsilon, per unit of distance.
    source : {"thesis", "code"}, default="thesis"
        The remap of the text, or that of the code behind the figures.
    grid_points : int, default=12
        Points of the thesis' grid in each column.
    random_state : None, int or Generator, default=None
        Seed of a numpy generator.

    Attributes
    ----------
    guarantee_ : Guarantee
        Of notion ``"none"``.

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
        lost = self.source == "code" and columns is not None and columns > 3
        return ANGLES if lost else FLAW

    def _perturb(self, records: Floats, raw: Floats, generator: np.random.Generator) -> Floats:
        if self.source == "code" and records.shape[1] > 3:
            noise = nd_noise(
                *records.shape, epsilon=self.epsilon, source="code", generator=generator
            )
            plain: Floats = records + noise.vectors
            return plain
        remapped = grid_reports(
            records,
            raw,
            epsilon=self.epsilon,
            source=self.source,
            grid_points=self.grid_points,
            generator=generator,
        )
        if self.source == "thesis":
            return _thesis_density(records, raw, remapped, self.epsilon)
        return _code_density(records, raw, remapped, self.epsilon, generator)


def _thesis_density(records: Floats, raw: Floats, remapped: Remapped, epsilon: float) -> Floats:
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
    remapped: Remapped,
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
    """Distances between raw records where they fit in memory, else nothing."""
    between: Floats = cdist(raw, raw) if len(raw) <= SMALL else np.empty((0, 0))
    return between
