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
from shoal._bounds import Box, cells_per_column, given_bounds, public_box
from shoal._report_channel import channel_bounds, promise_of_reports
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
    """Move each report to the posterior mean or median of its record.

    The prior, the distribution of the records over candidate points, is estimated from all reports
    by the iterative Bayesian update. This sees reports only and costs no privacy.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism that made the reports. Its noise must not depend on the record: the Laplace
        family.
    bounds : tuple (low, high), default=None
        Public box of the records; None takes that of the mechanism.
    cells : int or sequence of int, default=None
        For up to three columns: number of candidates in each column, the centers of equal cells of
        the box. None makes cells a quarter of the noise's standard deviation wide, within limits.
    candidates : int, default=256
        For four columns and more: largest number of candidates, which are chosen among the reports.
    prior : array-like, default=None
        Public weights of the candidates, one for each cell; for up to three columns. None estimates
        them from the reports.
    loss : {"squared", "linear"}, default="squared"
        ``"squared"`` takes the mean of the posterior, ``"linear"`` its geometric median, which is
        slower.
    radius : float, default=None
        Candidates farther than this from the report are ignored; None keeps all.
    max_iter : int, default=30
        Largest number of iterations of the iterative Bayesian update. On 10^6 reports, where the
        update needed 50 to 140 to converge, more than 30 lowered the error by less than 1%.
    tol : float, default=1.0
        The update stops when an iteration raises the log-likelihood of all reports by less than
        this, in nats.

    Attributes
    ----------
    guarantee_ : Guarantee
        Guarantee of the mechanism.
    prior_ : ndarray
        Weights of the candidates, which sum to 1. For four columns and more: of one Gaussian for
        all records, then of a wide one around each of ``candidates_``, then of a narrow one around
        each.
    grid_ : tuple of ndarray
        Candidates in each column; for up to three columns.
    candidates_ : ndarray of shape (m, d)
        Candidates; for four columns and more.
    log_likelihood_ : ndarray
        Log-likelihood of the reports in the course of the update, up to a constant; only if the
        prior is estimated.
    n_iter_ : int
        Length of ``log_likelihood_``.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    shoal.mechanisms.KdLaplace : Mechanism and remap in one transformer.

    Notes
    -----
    For up to three columns, all computations are convolutions on a grid that extends beyond the
    box: reports are counted once, and moved once by linear interpolation between cell centers. The
    grid extends by four standard deviations of the noise, or by the longest side of the box if that
    is less. Reports beyond it are first moved straight toward the middle of the box onto its
    border, which keeps their direction.

    For four columns and more, the prior is a mixture of Gaussians around a few hundred candidates,
    and the noise is approximated by a Gaussian of the same variance, see
    ``shoal/remap/_sparse.py``; reports are moved in chunks to limit memory.

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
        """Guarantee of the mechanism, after ``fit`` as it was then; void if either was seeded."""
        fitted: Guarantee | None = getattr(self, "_fitted_guarantee", None)
        if fitted is None:
            unfitted: Guarantee = self.mechanism.guarantee_
            return unfitted
        guarantee = promise_of_reports(self.mechanism, self.n_features_in_)
        return replace(fitted, seeded=fitted.seeded or guarantee.seeded)

    def _check(self, columns: int) -> None:
        _numbers.count("candidates", self.candidates)
        _numbers.count("max_iter", self.max_iter)
        _numbers.non_negative("tol", self.tol)
        if self.radius is not None:
            _numbers.positive("radius", self.radius)
        _numbers.choice("loss", self.loss, LOSSES)
        if self.cells is not None:
            cells_per_column(self.cells, columns)
        channel = Channel(self.mechanism, self._box(columns))
        if columns <= MAX_COLUMNS:
            self._given_prior(self._dense(channel))
        elif self.prior is not None:
            raise ParameterError(
                f"prior must be None for more than {MAX_COLUMNS} columns, got one for {columns}: "
                "no grid of that many columns fits memory",
                parameter="prior",
                code="unsupported",
            )

    def _learn(self, reports: Floats) -> None:
        self._fitted_guarantee = promise_of_reports(self.mechanism, reports.shape[1])
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
            return public_box(given_bounds(self), columns)
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
                f"got {_outline(self.prior)}: give cells as well to fix the shape",
                parameter="prior",
                code="shape",
            )
        prior /= prior.sum()
        return prior


def _outline(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return type(value).__name__ if shape is None else f"an array of shape {shape}"
