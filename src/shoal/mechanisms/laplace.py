"""The Laplace mechanism in any number of dimensions: metric privacy for whole records.

Density of a report z of the record x proportional to e^(-epsilon ||z - x||), Euclidean norm, any d.
Two lattice points at distance r give any report with probabilities that differ by a factor of at
most e^(epsilon r): geo-indistinguishability (Andres et al. 2013), the noise of the kd-Laplace
family.
Records and reports lie on a public lattice and the noise is exact, so that the promise holds for
the arithmetic that runs (proofs/noise.md, theorem 4; proofs/laplace.md).

Redrawn reports follow the distribution cut to the box. It is a Gaussian scale mixture: with T
distributed as chi with d + 1 degrees of freedom, (T / epsilon) times a standard normal vector has
this density. Given T the columns are independent, so every integral over the box is a product of
one-dimensional ones, averaged over T by Gauss-Legendre quadrature: no grid over the box.
"""

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from shoal._bounds import Box, public_box
from shoal._docs import shared_docs
from shoal._optional import require
from shoal._report_channel import channel_bounds
from shoal._typing import Bounds, Floats, Ints, RandomState
from shoal.exceptions import ParameterError
from shoal.mechanisms._metric import MetricMechanism
from shoal.mechanisms.report_format import ReportFormat
from shoal.noise import Lattice, RandomSource, k_norm
from shoal.privacy import Event, Guarantee, Ledger
from shoal.schema import Schema

__all__ = ["Laplace", "Truncated", "corner_mass", "truncated"]

NODES = 400
TAIL = 1e-14  # mass of T beyond the last node
FAR = 8.1  # T is so far above the root of d + 1 with less probability than that


class Truncated(NamedTuple):
    """What the box leaves of the distribution around each record."""

    mass: Floats  # of the uncut distribution inside the box, shape (n,)
    mean: Floats  # of each column of the cut distribution, shape (n, d)
    variance: Floats  # likewise


def truncated(records: Floats, box: Box, rate: float) -> Truncated:
    """Integrate the Laplace distribution around each record over the box."""
    if len(records) > 1 and (records == records[0]).all():
        # Many reports of one record, as audits and tests ask for.
        one = truncated(records[:1], box, rate)
        return Truncated(*(np.broadcast_to(part, (len(records), *part.shape[1:])) for part in one))
    low, high = box.low - records, box.high - records
    ndtr = require("scipy.special", extra="").ndtr
    distribution = require("scipy.stats", extra="").chi(records.shape[1] + 1, scale=1.0 / rate)
    end = float(distribution.isf(TAIL))
    nodes, weights = _legendre()
    spreads = (nodes + 1.0) * end / 2
    weights = weights * end / 2 * distribution.pdf(spreads)
    mass = np.zeros(len(records))
    first, second = np.zeros_like(records), np.zeros_like(records)
    for spread, weight in zip(spreads, weights, strict=True):
        a, b = low / spread, high / spread
        inside = ndtr(b) - ndtr(a)  # the record is inside, so that nothing cancels
        at_a, at_b = np.exp(-0.5 * a * a), np.exp(-0.5 * b * b)
        share = weight * inside.prod(axis=1)
        mass += share
        each = share[:, np.newaxis] / (inside * np.sqrt(2 * np.pi))
        first += each * spread * (at_a - at_b)
        second += each * spread * (low * at_a - high * at_b)
        second += share[:, np.newaxis] * spread**2
    first /= mass[:, np.newaxis]
    second /= mass[:, np.newaxis]
    return Truncated(mass, records + first, second - first**2)


@lru_cache(maxsize=64)  # asked before every report, and the same each time
def corner_mass(widths: tuple[float, ...], rate: float) -> float:
    """Mass inside the box for a record in one of its corners, the worst (proofs/laplace.md).

    That of ``truncated``, in plain numbers: a device asks for it, and has no scipy.
    """
    freedom, times = len(widths) + 1, Counter(widths)  # columns are often equally wide
    end = math.sqrt(freedom) + FAR
    constant = (freedom / 2 - 1) * math.log(2) + math.lgamma(freedom / 2)
    mass = 0.0
    for node, weight in zip(*map(np.ndarray.tolist, _legendre()), strict=True):
        t = (node + 1.0) * end / 2
        density = math.exp((freedom - 1) * math.log(t) - t * t / 2 - constant)
        inside = (math.erf(side * rate / (math.sqrt(2) * t)) / 2 for side in times)
        mass += weight * end / 2 * density * math.prod(map(pow, inside, times.values()))
    return mass


@cache
def _legendre() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return nodes, weights


RAREST = 2.0**-12  # chance of landing inside the box from which redrawing is still practical
MIN_DRAWS = 256  # draws at a time, where one costs hardly less
REDRAWN = "drawn at epsilon/2 and redrawn until inside the box, which costs the other half"


@shared_docs
class Laplace(MetricMechanism):
    """Perturb records on the device with d-dimensional Laplace noise (metric privacy).

    A report z of the record x has a density proportional to e^(-epsilon ||z - x||), with the
    Euclidean norm. Records near each other are hard to tell apart, those far apart are not.

    Parameters
    ----------
    {metric_epsilon}
    {level_and_radius}
    {unit}
    {bounds}
        Reports may lie outside the bounds.
    {report_schema}
    truncate : {None, "resample"}, default=None
        ``"resample"`` redraws on the device until the report lies inside the box. The probability
        of that depends on the record, so this has a cost: the noise is drawn at epsilon / 2 to
        give a guarantee of epsilon. The number of redraws depends on the record too and must not
        become known outside the device, nor by the time at which the report arrives. Clipping
        reports afterwards costs nothing.
    {ledger_of_reports}
    {random_state}

    Attributes
    ----------
    {metric_guarantee_}
    {features_in_}

    See Also
    --------
    PlanarLaplace, SphericalLaplace : The same distribution for two and three columns, drawn by
        other algorithms.
    Piecewise : Local privacy, which protects near and far records alike.
    shoal.cluster.DPKMeans : K-means in the central model, where a trusted curator holds the
        records.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.mechanisms import Laplace
    >>> mechanism = Laplace(epsilon=4.0, bounds=(-1.0, 1.0))
    >>> reports = mechanism.fit_transform(np.zeros((1000, 2)))
    >>> reports.shape
    (1000, 2)
    >>> bool(abs(reports.var() - mechanism.variance()) < 0.1)
    True
    >>> homes = Laplace(level=2.0, radius=0.5, unit="km", bounds=([0.0, 0.0], [40.0, 40.0]))
    >>> homes.guarantee_.epsilon, homes.guarantee_.unit
    (4.0, 'km')
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        level: float | None = None,
        radius: float | None = None,
        unit: str = "",
        bounds: Bounds | None = None,
        schema: Schema | None = None,
        truncate: str | None = None,
        ledger: Ledger | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.level = level
        self.radius = radius
        self.unit = unit
        self.bounds = bounds
        self.schema = schema
        self.truncate = truncate
        self.ledger = ledger
        self.random_state = random_state

    def _promise(self, columns: int | None = None) -> Guarantee:
        promise = super()._promise(columns)
        return promise if self.truncate is None else replace(promise, reason=REDRAWN)

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
            Natural logarithms; with ``truncate``, minus infinity outside the box.
        """
        densities = super().log_density(z, x)
        if self.truncate is None:
            return densities
        reports = np.atleast_2d(np.asarray(z, dtype=np.float64))
        box = public_box(channel_bounds(self), reports.shape[1])
        centers = np.clip(np.atleast_2d(np.asarray(x, dtype=np.float64)), box.low, box.high)
        densities = super().log_density(reports, centers)
        densities -= np.log(truncated(centers, box, self._rate()).mass)
        outside = ((reports < box.low) | (reports > box.high)).any(axis=1)
        densities[outside] = -np.inf
        return densities

    def variance(self, X: Any = None) -> float | Floats:
        """Return the variance of one column of a report: (d + 1) / epsilon^2 unless truncated.

        Parameters
        ----------
        X : array-like of shape (n, d), default=None
            Records; with them, one variance is returned for each entry.

        Returns
        -------
        variance : float, or ndarray of the shape of X
            With ``truncate``: the variance of the truncated distribution around each record, and
            without X an upper bound over all records (proofs/laplace.md). Without X this needs
            ``fit``, for the number of columns d.
        """
        if self.truncate is None:
            return super().variance(X)
        if X is not None:
            records = np.asarray(X, dtype=np.float64)
            box = public_box(channel_bounds(self), records.shape[1])
            return truncated(np.clip(records, box.low, box.high), box, self._rate()).variance
        d = self._columns
        box = public_box(channel_bounds(self), d)
        widest = float((box.high - box.low).max())
        return min((d + 1) / self._rate() ** 2, widest**2 / 4)

    def _check(self, columns: int) -> None:
        if self.truncate not in (None, "resample"):
            raise ParameterError(
                f"truncate must be None or 'resample', got {self.truncate!r}",
                parameter="truncate",
                code="choice",
            )
        super()._check(columns)
        if self.truncate is None:
            return
        box = public_box(channel_bounds(self), columns)
        chance = corner_mass(tuple((box.high - box.low).tolist()), self._rate())
        if chance < RAREST:
            raise ParameterError(
                f"truncate must be None for {columns} columns at this epsilon and box, got "
                f"'resample': a draw from a corner lands inside with a chance of {chance:.0e}; "
                "clip the reports instead, which is free",
                parameter="truncate",
                code="unsupported",
            )

    def _event(self, promise: Guarantee) -> Event:
        event = super()._event(promise)
        return event if self.truncate is None else replace(event, purpose=REDRAWN)

    def _rate(self) -> float:
        return self._column_epsilon() / (1 if self.truncate is None else 2)

    def _report_format(self, columns: int) -> ReportFormat:
        if self.truncate is None:
            return super()._report_format(columns)
        return ReportFormat.of_lattice(self.lattice(columns))  # redrawn until inside the box

    def _noise(self, count: int, columns: int, *, scale: Fraction, source: RandomSource) -> Ints:
        return k_norm(count, columns, scale=scale, source=source)

    def _moved(
        self, indices: Ints, lattice: Lattice, scale: Fraction, source: RandomSource
    ) -> Ints:
        if self.truncate is None:
            return super()._moved(indices, lattice, scale, source)
        moved = np.empty_like(indices)
        waiting = np.arange(len(indices))
        while waiting.size:
            # Several draws for each of the last few, of which the first inside counts.
            tries = max(len(indices), MIN_DRAWS) // waiting.size
            drawn = super()._moved(
                np.repeat(indices[waiting], tries, axis=0), lattice, scale, source
            )
            inside = ((drawn >= lattice.low) & (drawn <= lattice.high)).all(axis=1)
            inside = inside.reshape(-1, tries)
            done = inside.any(axis=1)
            first = np.arange(waiting.size) * tries + inside.argmax(axis=1)
            moved[waiting[done]] = drawn[first[done]]
            waiting = waiting[~done]
        return moved
