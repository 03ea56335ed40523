"""A private synthetic copy of a table: release once, then experiment as often as you like.

Central differential privacy, pure epsilon, under add/remove of one record (proofs/private_copy.md).
Noisy histograms of single columns say how finely each column is worth cutting and where; noisy
counts of all cells of that grid, empty ones included, say where records are. Records are drawn
from the cells, and in their cells by the histograms: everything after the noise is post-processing.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from shoal import _numbers
from shoal._bounds import Box, public_box
from shoal._docs import shared_docs
from shoal._table_input import leaves_last_fit, validate_table
from shoal._typing import Bounds, Floats, Ints, RandomState, TableLike
from shoal.cluster._budget import (
    COUNT_PART,
    BudgetSplit,
    charge,
    check_columns,
    check_epsilon,
    check_ledger,
)
from shoal.cluster._denoise import posterior_counts
from shoal.cluster._engines import open_engine
from shoal.cluster._noise import PureNoise
from shoal.cluster._synthetic import (
    CellDistribution,
    CellPlan,
    bins_of_columns,
    draw_records,
    plan_cells,
    rake_cells,
)
from shoal.engines import HALF, Engine, column_counts, grouped_counts, total_weight
from shoal.exceptions import ParameterError
from shoal.noise import MAX_SCALE, Lattice, RandomSource, as_source
from shoal.privacy import Adjacency, Guarantee, Ledger, Receipt, Release

__all__ = ["PrivateCopy"]

COLUMNS_PART = 0.38  # of the budget, for the histograms of single columns, all together
FAINT = 1e-9  # of the records: every bin may hold some, or nothing could be drawn from it


@shared_docs
class PrivateCopy(BaseEstimator):
    """A table of made-up records that resembles the true one.

    Parameters
    ----------
    {epsilon}
    {bounds}
    {n_public}
    {ledger}
    {random_state}

    Attributes
    ----------
    n_records_ : int
        Public or noisy number of records, at least 1: what ``sample`` draws by default.
    guarantee_ : Guarantee
        What ``release_`` and every sample promise.
    release_ : Release
        Noisy histograms and cells; all that samples are drawn from.
    {bounds_}
    {features_in_}

    See Also
    --------
    DPKMeans : Clusters themselves, which at the same epsilon are better than those of a copy.

    Notes
    -----
    Columns are numbers: whole numbers come back with fractions, and each column's distribution is
    kept better than how columns go together, the more so the more columns there are.

    {promise_to_records}

    Where the promise ends (proofs/private_copy.md): ``fit`` raises before anything is spent where
    there is no record, or a number is NaN or infinite. That costs nothing and can be repeated, and
    it tells whether a chosen subset is empty: errors are for the curator's eyes. How long a fit
    takes and how much memory it needs depends on the records, and is not hidden.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.cluster import PrivateCopy
    >>> X = np.repeat([[-0.5, -0.5], [0.5, 0.5]], 2000, axis=0)
    >>> copy = PrivateCopy(epsilon=1.0, bounds=(-1.0, 1.0), random_state=0).fit(X)
    >>> sample = copy.sample(1000, random_state=0)
    >>> sample.shape, bool(np.mean((sample > 0).all(axis=1) | (sample < 0).all(axis=1)) > 0.9)
    ((1000, 2), True)
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        bounds: Bounds | None = None,
        n_public: int | None = None,
        ledger: Ledger | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.n_public = n_public
        self.ledger = ledger
        self.random_state = random_state

    @leaves_last_fit
    def fit(self, X: TableLike, y: Any = None) -> Self:
        """Spend the budget and release what samples are drawn from.

        Parameters
        ----------
        {X_of_fit}
        {y}

        Returns
        -------
        self : PrivateCopy
            The fitted estimator.
        """
        table = validate_table(X, estimator=self)
        box, budgets = self._plan(table.columns)
        source = as_source(self.random_state)
        noise = PureNoise(float(self.epsilon))
        promise = Guarantee(
            "central",
            epsilon=float(self.epsilon),
            adjacency=Adjacency.ADD_REMOVE,
            seeded=source.seeded,
        )
        receipt = charge(
            self.ledger,
            table,
            noise,
            budgets,
            what="PrivateCopy",
            promise=promise,
            columns=getattr(self, "feature_names_in_", ()),
        )
        engine = open_engine(table, Lattice.box(*box, half=HALF))
        released = _release_counts(engine, noise, budgets, self.n_public, source)
        self.guarantee_ = promise
        self._publish(released, box, receipt)
        return self

    def sample(self, n: int | None = None, *, random_state: RandomState = None) -> Floats:
        """Draw made-up records; this costs nothing.

        Parameters
        ----------
        n : int, default=None
            How many; None draws ``n_records_``.
        random_state : None, int or Generator, default=None
            For the draws; nothing private depends on it.

        Returns
        -------
        records : ndarray of shape (n, d)
            Inside the public box.
        """
        check_is_fitted(self)
        rows = self.n_records_ if n is None else _numbers.count("n", n)
        seeded = isinstance(random_state, np.random.Generator)
        seed = random_state if seeded else _numbers.seed("random_state", random_state)
        values = self.release_.values
        plan = CellPlan(values["sides"], values["cell_of_bin"])
        distribution = CellDistribution(plan, values["cells"], values["columns"])
        return draw_records(distribution, rows, self.bounds_, np.random.default_rng(seed))

    def _plan(self, columns: int) -> tuple[Box, "CopyBudgets"]:
        """Check the parameters, before anything is read from the records or spent."""
        epsilon = check_epsilon(self.epsilon)
        if self.n_public is not None:
            _numbers.count("n_public", self.n_public)
        check_ledger(self.ledger)
        check_columns(columns)
        box = public_box(self.bounds, columns)
        records = COUNT_PART * epsilon if self.n_public is None else 0.0
        single = COLUMNS_PART * epsilon
        budgets = CopyBudgets(records, single, epsilon - records - single)
        smallest = min(budgets.cells, single / columns, *([records] if records else []))
        if smallest * MAX_SCALE < 1:
            raise ParameterError(
                f"epsilon must be larger for {columns} columns, got {self.epsilon!r}: its noise "
                "would be wider than the integers it is added to"
            )
        return box, budgets

    def _publish(self, released: "_ReleasedCounts", box: Box, receipt: Receipt | None) -> None:
        self.bounds_ = box
        self.n_records_ = max(1, round(released.n))
        distribution = rake_cells(released.estimate, released.likely, released.plan)
        self.release_ = Release(
            kind="PrivateCopy",
            values={
                "records": self.n_records_,
                "noisy_columns": released.columns,
                "noisy_cells": released.counts,
                "sides": released.plan.sides,
                "cell_of_bin": released.plan.cell_of_bin,
                "columns": distribution.columns,
                "cells": distribution.cells,
                "low": box.low,
                "high": box.high,
            },
            guarantee=self.guarantee_,
            ledger=receipt,
        )


@dataclass(frozen=True)
class CopyBudgets(BudgetSplit):
    """What each release of a fit may spend."""

    records: float
    columns: float
    cells: float


class _ReleasedCounts(NamedTuple):
    """What was released, and the cells that it was planned into."""

    n: float
    columns: Ints  # noisy histograms
    likely: Floats  # estimated probabilities of their bins
    plan: CellPlan
    counts: Ints  # noisy counts of the cells
    estimate: Floats  # estimated ones


def _release_counts(
    engine: Engine,
    noise: PureNoise,
    budgets: CopyBudgets,
    n_public: int | None,
    source: RandomSource,
) -> _ReleasedCounts:
    """Release how many records there are, each column's histogram, and the counts of all cells."""
    n = float(n_public or 0)
    if n_public is None:
        exact = np.array([total_weight(engine)])
        n = float(noise.counts(exact, budgets.records, contribution=1, source=source)[0])
    d = engine.columns
    bins = bins_of_columns(n, d, budgets.columns)
    each = budgets.columns / d
    # One record is in one bin of each column: the columns divide the budget, bins of one do not.
    columns = np.stack(
        [
            noise.counts(row, each, contribution=1, source=source)
            for row in column_counts(engine, bins)
        ]
    )
    likely = np.stack([posterior_counts(row, noise, each, contribution=1) for row in columns])
    likely += FAINT * max(n, 1.0)
    likely /= likely.sum(axis=1, keepdims=True)
    plan = plan_cells(likely, n, budgets.cells)
    # Every cell gets noise, those without records too: which ones are empty is private.
    cells = grouped_counts(engine, plan.cell_of_bin, plan.sides)
    counts = noise.counts(cells, budgets.cells, contribution=1, source=source)
    estimate = posterior_counts(counts, noise, budgets.cells, contribution=1)
    return _ReleasedCounts(n, columns, likely, plan, counts, estimate)
