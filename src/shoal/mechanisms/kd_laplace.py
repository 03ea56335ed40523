"""kd-Laplace: perturb, bring reports back into the domain, sharpen them; in one transformer.

The flowchart of the kd-Laplace thesis (section 3.3.5): the Laplace mechanism of the right
dimension, find reports outside the domain, grid remap, density remap. Two corrections keep its
promise. The distribution of the noise is right in every dimension (the thesis' angles are not
uniform for d >= 3). And everything after the mechanism sees reports and the public box only, where
the thesis takes the domain and the candidates from raw records (proofs/remap.md).
"""

from dataclasses import replace
from types import ModuleType
from typing import Any, Self

import numpy as np

from shoal import _numbers
from shoal._bounds import cells_per_column, given_bounds, public_box
from shoal._docs import shared_docs
from shoal._estimator_base import BaseEstimator, TransformerMixin, check_is_fitted
from shoal._frozen import fitted_copy, frozen_copy
from shoal._optional import require
from shoal._records import fitted_names
from shoal._report_channel import channel_bounds
from shoal._table_input import validate_table
from shoal._typing import Bounds, Floats, RandomState, TableLike
from shoal.exceptions import ParameterError
from shoal.mechanisms._base import ReportNames
from shoal.mechanisms._one_report import as_table
from shoal.mechanisms._sources import same_state
from shoal.mechanisms.laplace import Laplace
from shoal.noise import as_source, is_seeded
from shoal.privacy import Guarantee, Ledger
from shoal.schema import Schema
from shoal.tables import ArrayTable

__all__ = ["KdLaplace"]


REMAPS = ("bayes", "grid", None)
GRID_CELLS = 64


@shared_docs
class KdLaplace(ReportNames, TransformerMixin, BaseEstimator):
    """Perturb records with d-dimensional Laplace noise, then move reports nearer to the records.

    The second step is called remapping. It sees reports and public values only, so it costs no
    privacy. ``fit_transform`` perturbs each record once, fits the remap on these reports and
    returns them remapped; epsilon is spent once. ``fit`` does the same without returning reports.
    ``transform`` perturbs again, spends epsilon again, and applies the fitted remap. To perturb on
    devices, send reports of ``Laplace`` and run ``BayesRemap`` where they are collected: the
    distribution of the result is the same.

    Parameters
    ----------
    {metric_epsilon}
    {unit}
    {bounds}
    {report_schema}
    remap : {"bayes", "grid", None}, default="bayes"
        ``"bayes"``: every report moves to the expected position of its record, under a prior that
        is estimated from all reports (``BayesRemap``). ``"grid"``: reports outside the box move
        to the nearest point of a public grid in it. None: reports stay as they are.
    grid_cells : int or sequence of int, default=None
        Number of cells of the public grid in each column. None takes 64 for ``"grid"``, and a
        number that suits the size of the noise for ``"bayes"``.
    ledger : Ledger, default=None
        Charged with ``epsilon`` each time records are perturbed, before any noise is drawn.
    {random_state}

    Attributes
    ----------
    guarantee_ : Guarantee
        Metric privacy for each record, the same for every remap.
    mechanism_ : Laplace
        The mechanism that perturbs.
    remap_ : BayesRemap, GridRemap or None
        The remap, fitted on reports.
    {features_in_}

    See Also
    --------
    Laplace : Only the perturbation.
    shoal.remap.BayesRemap : Only the remap.

    Notes
    -----
    The Bayes remap is fitted on the reports as they are, not moved to the grid first: a report
    outside the box still shows on which side its record lies, and its distance how large its noise
    is.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.mechanisms import KdLaplace
    >>> records = np.repeat([[-0.5, -0.5, 0.0], [0.5, 0.5, 0.0]], 500, axis=0)
    >>> kd = KdLaplace(epsilon=8.0, bounds=(-1.0, 1.0))
    >>> points = kd.fit_transform(records)
    >>> bool(((points >= -1.0) & (points <= 1.0)).all())
    True
    >>> kd.guarantee_.notion, kd.guarantee_.epsilon
    ('metric', 8.0)
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        unit: str = "",
        bounds: Bounds | None = None,
        schema: Schema | None = None,
        remap: str | None = "bayes",
        grid_cells: Any = None,
        ledger: Ledger | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.unit = unit
        self.bounds = bounds
        self.schema = schema
        self.remap = remap
        self.grid_cells = grid_cells
        self.ledger = ledger
        self.random_state = random_state

    _fitted_state: Any  # the random_state that mechanism_ draws by

    @property
    def guarantee_(self) -> Guarantee:
        """Guarantee of the Laplace mechanism, after ``fit`` with the parameters of the fit."""
        mechanism: Laplace | None = getattr(self, "mechanism_", None)
        if mechanism is None:
            return self._mechanism(self.random_state).guarantee_
        promised = mechanism.guarantee_
        return replace(promised, seeded=promised.seeded or is_seeded(self.random_state))

    def fit(self, X: TableLike, y: Any = None) -> Self:
        """Perturb each record once, fit the remap on the reports, and discard the reports.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Records.
        y : None
            Ignored.

        Returns
        -------
        self : KdLaplace
            The fitted transformer; the ledger has been charged.
        """
        with fitted_copy(self) as own:
            own._fit_reports(X)
        return self

    def fit_transform(self, X: TableLike, y: Any = None) -> Floats:
        """Perturb each record once, fit the remap on the reports, and return them remapped.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Records; those outside the bounds are clipped.
        y : None
            Ignored.

        Returns
        -------
        points : ndarray of shape (n, d)
            One point for each record.
        """
        with fitted_copy(self) as own:
            return own._move(own._fit_reports(X))

    def transform(self, X: TableLike) -> Floats:
        """Perturb records, the same or others, and apply the fitted remap.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Records; those outside the bounds are clipped.

        Returns
        -------
        points : ndarray of shape (n, d)
            One point for each record; the ledger has been charged.
        """
        check_is_fitted(self, "mechanism_")
        own = frozen_copy(self)
        records = own._records(X, reset=False)
        if not same_state(own.random_state, self._fitted_state):
            self._fitted_state = own.random_state
            self.mechanism_.set_params(random_state=own.random_state)
        mechanism = self.mechanism_._settled()  # nobody else's, like the ledger that it charges
        mechanism.ledger = own.ledger
        return own._move(np.asarray(mechanism.transform(records)))

    def randomize(self, x: Any) -> Floats:
        """Perturb and remap one record.

        Parameters
        ----------
        x : array-like of shape (d,), or dict
            The record: values in the order of the columns, or a dict of values by column name if
            the names are known from the schema or from ``fit``.

        Returns
        -------
        point : ndarray of shape (d,)
            Its remapped report.
        """
        point: Floats = np.asarray(self.transform(as_table(x, self.schema, fitted_names(self))))[0]
        return point

    def _records(self, X: Any, *, reset: bool = True) -> ArrayTable:
        table = validate_table(X, estimator=self, reset=reset, schema=self.schema)
        if not isinstance(table, ArrayTable):
            # The prior comes from all reports: what is far away gets it where reports are gathered.
            raise ParameterError(
                "X must be in memory for KdLaplace, which fits its remap on all reports, got a "
                "table that is not: perturb its files with Laplace, whose reports are the same, "
                "and remap those",
                parameter="X",
                code="unsupported",
            )
        return table

    def _fit_reports(self, X: Any) -> Floats:
        records = self._records(X)
        source = as_source(self.random_state)
        mechanism = self._mechanism(source).fit(records)
        self._check_remap(records.columns)
        reports = np.asarray(mechanism.transform(records))
        # A seed's stream goes on from fit to transform; a pickle holds a seed of that, no key.
        later = int(source.words(1)[0]) if source.seeded else None
        mechanism.set_params(random_state=later)
        remap = self._remap(mechanism)
        self.remap_ = None if remap is None else remap.fit(reports)
        self.mechanism_, self._fitted_state = mechanism, self.random_state
        return reports

    def _check_remap(self, columns: int) -> None:
        """Refuse, before anything is spent, all that can be refused."""
        remap = self._remap(self._mechanism(None))
        if remap is None:
            return
        if self.grid_cells is not None:
            cells_per_column(self.grid_cells, columns, name="grid_cells")
        remap._check(columns)

    def _move(self, reports: Floats) -> Floats:
        if self.remap_ is None:
            return reports
        if isinstance(self.remap_, _remaps().BayesRemap):
            return np.asarray(self.remap_.transform(reports))
        box = public_box(channel_bounds(self), reports.shape[1])
        outside = ((reports < box.low) | (reports > box.high)).any(axis=1)
        points = reports.copy()
        if outside.any():
            points[outside] = self.remap_.transform(reports[outside])
        return points

    def _mechanism(self, random_state: Any) -> Laplace:
        # One distribution for every number of columns: the planar and spherical mechanisms draw the
        # same.
        return Laplace(
            self.epsilon,
            unit=self.unit,
            bounds=given_bounds(self),
            schema=self.schema,
            ledger=self.ledger,
            random_state=random_state,
        )

    def _remap(self, mechanism: Laplace) -> Any:
        _numbers.choice("remap", self.remap, REMAPS)
        if self.remap is None:
            return None
        if self.remap == "bayes":
            return _remaps().BayesRemap(mechanism, cells=self.grid_cells)
        cells = GRID_CELLS if self.grid_cells is None else self.grid_cells
        return _remaps().GridRemap(bounds=channel_bounds(self), cells=cells)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags


def _remaps() -> ModuleType:
    """Return the package of remaps: it is not on a device, where Laplace draws the same reports."""
    return require("shoal.remap", extra="")
