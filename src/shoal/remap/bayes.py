"""Bayes remap: each report goes to where its record is expected, given all reports.

The optimal remap of Chatzikokolakis, ElSalamouny & Palamidessi (2017), which the kd-Laplace thesis
calls density remap: the mean (squared loss) or geometric median (linear loss) of the posterior

    P(q | z) = w(q) K(z | q) / sum_q' w(q') K(z | q').

The thesis takes candidates and weights from the raw records around the true record, which no
guarantee survives. Here they are public, or estimated from the reports alone by the iterative
Bayesian update: post-processing, so the guarantee of the reports stays as it is (proofs/remap.md).
"""

from dataclasses import replace
from typing import Any

import numpy as np

from shoal import _numbers
from shoal._bounds import Box, cells_per_column, public_box
from shoal._report_channel import channel_bounds
from shoal._typing import Bounds, Floats
from shoal.exceptions import ParameterError
from shoal.privacy import Guarantee
from shoal.remap._base import Remap
from shoal.remap._channel import Channel
from shoal.remap._dense import MAX_COLUMNS, DensePosterior
from shoal.remap._sparse import SparsePosterior

__all__ = ["BayesRemap"]


LOSSES = ("squared", "linear")


class BayesRemap(Remap):
    """Move each report to the mean or the median of what it says about its record.

    Parameters
    ----------
    mechanism : Mechanism
        What made the reports, with noise that does not depend on the record: the Laplace family.
    bounds : tuple (low, high), default=None
        Public box of the records; None takes the mechanism's.
    cells : int or sequence of int, default=None
        Up to three columns: number of candidates of a column, centers of equal cells of the box.
        None makes cells a quarter of the noise's standard deviation wide, within limits.
    candidates : int, default=256
        Four columns and more: largest number of candidates, chosen among the reports.
    prior : array-like, default=None
        Public weights of the candidates, one for each cell; up to three columns. None estimates
        them from the reports.
    loss : {"squared", "linear"}, default="squared"
        Mean or geometric median of the posterior. The median is slower.
    radius : float, default=None
        Candidates farther from the report are left out; None keeps all.
    max_iter : int, default=30
        Largest number of iterations of the iterative Bayesian update; on 10^6 reports, where it
        would go on for 50 to 140, more lowered the error by less than 1%.
    tol : float, default=1.0
        It stops when the log-likelihood of all reports rises by less, in nats.

    Attributes
    ----------
    guarantee_ : Guarantee
        That of the mechanism.
    prior_ : ndarray
        Weights of the candidates, sum 1. Four columns and more: of one Gaussian for all records,
        then of a wide one around each of ``candidates_``, then of a narrow one around each.
    grid_ : tuple of ndarray
        Candidates of each column; up to three columns.
    candidates_ : ndarray of shape (m, d)
        Candidates; four columns and more.
    log_likelihood_ : ndarray
        Of the reports, up to a constant, in the course of the update; not with a given prior.
    n_iter_ : int
        Its length.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    shoal.mechanisms.KdLaplace : Mechanism and remap in one.
    shoal.remap.iterative_bayesian_update : The estimate of the prior.

    Notes
    -----
    Up to three columns all work is convolutions on a grid that reaches beyond the box: reports are
    counted once, and looked up once by linear interpolation between cell centers. Reports beyond
    that grid (four standard deviations of the noise, or the box's longest side if that is less) are
    drawn toward the middle of the box onto its border, so that their direction stays.

    Four columns and more: the prior is a mixture of Gaussians around a few hundred candidates and
    the noise is taken as Gaussian of the same variance, see ``shoal/remap/_sparse.py``; reports
    are moved in chunks, so memory does not grow with their number times the candidates.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.mechanisms import Laplace
    >>> from shoal.remap import BayesRemap
    >>> records = np.repeat([[-0.5, -0.5], [0.5, 0.5]], 500, axis=0)
    >>> mechanism = Laplace(4.0, bounds=(-1.0, 1.0), random_state=0)
    >>> reports = mechanism.fit_transform(records)
    >>> points = BayesRemap(mechanism).fit_transform(reports)
    >>> bool(np.abs(points - records).mean() < 0.5 * np.abs(reports - records).mean())
    True
    """

    needs_reports = True

    def __init__(
        self,
        mechanism: Any = None,
        *,
        bounds: Bounds | None = None,
        cells: Any = None,
        candidates: int = 256,
        prior: Any = None,
        loss: str = "squared",
        radius: float | None = None,
        max_iter: int = 30,
        tol: float = 1.0,
    ) -> None:
        self.mechanism = mechanism
        self.bounds = bounds
        self.cells = cells
        self.candidates = candidates
        self.prior = prior
        self.loss = loss
        self.radius = radius
        self.max_iter = max_iter
        self.tol = tol

    @property
    def guarantee_(self) -> Guarantee:
        """That of the mechanism, once fitted as it was then; if either is seeded, none."""
        guarantee: Guarantee = self.mechanism.guarantee_
        fitted: Guarantee | None = getattr(self, "_fitted_guarantee", None)
        if fitted is None:
            return guarantee
        return replace(fitted, seeded=fitted.seeded or guarantee.seeded)

    def _check(self, columns: int) -> None:
        _numbers.count("candidates", self.candidates)
        _numbers.count("max_iter", self.max_iter)
        _numbers.non_negative("tol", self.tol)
        if self.radius is not None:
            _numbers.positive("radius", self.radius)
        if self.loss not in LOSSES:
            raise ParameterError(f"loss must be one of {LOSSES}, got {self.loss!r}")
        if self.cells is not None:
            cells_per_column(self.cells, columns)
        channel = Channel(self.mechanism, self._box(columns))
        if columns <= MAX_COLUMNS:
            self._given_prior(self._dense(channel))
        elif self.prior is not None:
            raise ParameterError(
                f"prior must be None for more than {MAX_COLUMNS} columns, got one for {columns}: "
                "no grid of that many columns fits memory"
            )

    def _learn(self, reports: Floats) -> None:
        self._fitted_guarantee = self.mechanism.guarantee_
        channel = Channel(self.mechanism, self._box(reports.shape[1]))
        posterior: DensePosterior | SparsePosterior
        if reports.shape[1] <= MAX_COLUMNS:
            posterior = self._dense(channel)
            self.grid_ = posterior.grid.centers()
            given = self._given_prior(posterior)
        else:
            posterior = SparsePosterior(channel, reports, self.candidates)
            self.candidates_ = posterior.candidates
            given = None
        if given is None:
            update = posterior.learn_prior(reports, max_iter=self.max_iter, tol=self.tol)
            self.prior_, self.log_likelihood_ = update
            self.n_iter_ = update.n_iter
        else:
            self.prior_ = given
        posterior.prepare(self.prior_, loss=self.loss, radius=self.radius)
        self._posterior = posterior

    def _move(self, reports: Floats) -> Floats:
        return self._posterior.move(reports)

    def _box(self, columns: int) -> Box:
        if self.bounds is not None:
            return public_box(self.bounds, columns)
        return public_box(channel_bounds(self.mechanism), columns)

    def _dense(self, channel: Channel) -> DensePosterior:
        columns = len(channel.box.low)
        cells = None if self.cells is None else cells_per_column(self.cells, columns)
        return DensePosterior(channel, cells)

    def _given_prior(self, dense: DensePosterior) -> Floats | None:
        if self.prior is None:
            return None
        shape = tuple(dense.grid.cells.tolist())
        try:
            prior = np.array(self.prior, dtype=np.float64)
        except (TypeError, ValueError):
            prior = np.empty(0)
        proper = prior.shape == shape and np.isfinite(prior).all() and (prior >= 0).all()
        if not proper or prior.sum() == 0:
            raise ParameterError(
                f"prior must have shape {shape}, one weight >= 0 for each cell and not all zero, "
                f"got {_outline(self.prior)}: give cells as well to fix the shape"
            )
        prior /= prior.sum()
        return prior


def _outline(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return type(value).__name__ if shape is None else f"an array of shape {shape}"
