"""A private synthetic copy of a table: release once, then experiment as often as you like.

Central differential privacy, pure epsilon, under add/remove of one record (proofs/private_copy.md).
Noisy histograms of single columns say how finely each column is worth cutting and where; noisy
counts of all cells of that grid, empty ones included, say where records are. Records are drawn
from the cells, and in their cells by the histograms: everything after the noise is post-processing.

Where records crowd in few cells (the world's check-ins, a box that is much too wide), a grid cannot
be fine enough. So in few columns one noisy number is bought first, how many records the fullest
cells hold, and where these are most, a noisy tree takes the place of histograms and cells: its
leaves are small where records are, and records are drawn evenly from them.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from shoal import _numbers
from shoal._bounds import Box, given_bounds
from shoal._cluster_table import ShownWithClusters
from shoal._docs import shared_docs
from shoal._frozen import leaves_last_fit
from shoal._table_input import validate_table
from shoal._typing import Bounds, Floats, Ints, RandomState, TableLike
from shoal.cluster._budget import (
    COUNT_PART,
    BudgetSplit,
    charge,
    check_columns,
    check_epsilon,
    check_ledger,
    drawn_by_seed,
)
from shoal.cluster._denoise import posterior_counts
from shoal.cluster._engines import open_engine
from shoal.cluster._leaves import (
    CROWD_PARTS,
    DOUBT,
    SHAPE_PART,
    crowd_budget,
    release_fullest,
    release_leaves,
    release_shape,
)
from shoal.cluster._noise import PureNoise
from shoal.cluster._schema_columns import CodedColumns, schema_box
from shoal.cluster._synthetic import (
    CellDistribution,
    CellPlan,
    LeafDistribution,
    bins_of_columns,
    draw_from_leaves,
    draw_records,
    plan_cells,
    plan_leaves,
    rake_cells,
)
from shoal.engines import HALF, Engine, column_counts, grouped_counts, total_weight
from shoal.exceptions import ParameterError
from shoal.noise import MAX_SCALE, Lattice, RandomSource, as_source
from shoal.privacy import Adjacency, Guarantee, Ledger, Receipt, Release
from shoal.schema import Schema

__all__ = ["PrivateCopy"]

COLUMNS_PART = 0.38  # of the budget, for the histograms of single columns, all together
FEW_COLUMNS = 3  # in more, a tree keeps single columns worse than histograms do
CROWD_CELLS = 256  # of a grid, in all: records crowd
CROWD_SHARE = 16  # if one in so many of these, the fullest ones,
CROWDED = 0.7  # hold so many of all records: below 0.6 on spread tables, above 0.85 on crowded ones
FAINT = 1e-9  # of the records: every bin may hold some, or nothing could be drawn from it


@shared_docs
class PrivateCopy(ShownWithClusters, BaseEstimator):
    """Synthetic records with differential privacy: a made-up table that resembles the true one.

    Parameters
    ----------
    {epsilon}
    {bounds}
    schema : Schema, default=None
        Public description of a table, in place of ``bounds``. The copy has the same features, with
        values of the same kinds (numbers, categories, dates).
    {n_public}
    {ledger}
    {random_state}

    Attributes
    ----------
    n_records_ : int
        Number of records that ``sample`` draws by default: the public or the noisy one, at least 1.
    guarantee_ : Guarantee
        The privacy guarantee of ``release_`` and of every sample.
    release_ : Release
        All that samples are drawn from. Its ``values`` hold noisy histograms and counts of cells
        (``noisy_columns``, ``noisy_cells``) and the probabilities estimated from them (``columns``,
        ``cells``). If most records lie in few places, they hold instead the noisy counts of the
        leaves of a tree, the probabilities of the leaves, and where they lie if the box is scaled
        to [0, 1] (``noisy_leaves``, ``leaves``, ``leaf_low``, ``leaf_widths``).
    {bounds_}
    {features_in_}

    See Also
    --------
    DPKMeans : The clusters themselves; better than clusters of a copy at the same epsilon.

    Notes
    -----
    Whole numbers come back with fractions. The distribution of each column is preserved better than
    the dependence between columns, the more so the more columns there are. In up to three columns,
    if most records lie in few places, the copy preserves these places instead.

    {promise_to_records}

    What the guarantee does not cover (proofs/private_copy.md): ``fit`` raises, before anything is
    spent, if there is no record, or a number is NaN or infinite. Such an error costs no budget, can
    be repeated, and tells whether a subset of the records is empty: errors are for the curator's
    eyes. The time and memory that a fit takes depend on the records and are not hidden.

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
        schema: Schema | None = None,
        n_public: int | None = None,
        ledger: Ledger | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.schema = schema
        self.n_public = n_public
        self.ledger = ledger
        self.random_state = random_state

    @leaves_last_fit
    def fit(self, X: TableLike, y: Any = None) -> Self:
        """Spend the budget and release the noisy counts that samples are drawn from.

        Parameters
        ----------
        {X_of_fit}
        {y}

        Returns
        -------
        self : PrivateCopy
            The fitted estimator.
        """
        table = validate_table(X, estimator=self, schema=self.schema)
        coded = None if self.schema is None else CodedColumns(self.schema)
        box = schema_box(given_bounds(self), self.schema, table.columns)
        drawn = box if coded is None else coded.box()  # where samples are drawn
        budgets = self._plan(len(drawn.low))
        source = as_source(self.random_state)
        noise = PureNoise(float(self.epsilon))
        promise = Guarantee(
            "central",
            epsilon=float(self.epsilon),
            adjacency=Adjacency.ADD_REMOVE,
            seeded=drawn_by_seed(source, self.schema),
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
        if coded is not None:
            engine = coded.engine(engine)
        n = _release_n(engine, noise, budgets, self.n_public, source)
        released = _release_synopsis(engine, n, noise, budgets, source)
        self.guarantee_ = replace(promise, uncounted=self.ledger is None)
        self._publish(n, released, drawn, receipt)
        return self

    def sample(self, n: int | None = None, *, random_state: RandomState = None) -> Any:
        """Draw synthetic records; this spends no budget, however often it is called.

        Parameters
        ----------
        n : int, default=None
            Number of records; None draws ``n_records_``.
        random_state : None, int or Generator, default=None
            Seed of the draws; the guarantee does not depend on it.

        Returns
        -------
        records : ndarray of shape (n, d)
            Records inside the public bounds. With a schema, an array of objects that holds the
            values as a table does, None for a missing one; ``feature_names_in_`` names the columns.
        """
        check_is_fitted(self)
        rows = self.n_records_ if n is None else _numbers.count("n", n)
        seeded = isinstance(random_state, np.random.Generator)
        seed = random_state if seeded else _numbers.seed("random_state", random_state)
        points = self._draw(rows, np.random.default_rng(seed))
        schema = self.release_.values.get("schema")  # of the counts, whatever was set after them
        return points if schema is None else CodedColumns(Schema.from_dict(schema)).decode(points)

    def _draw(self, rows: int, rng: np.random.Generator) -> Floats:
        values = self.release_.values
        if "leaves" in values:
            places = LeafDistribution(values["leaf_low"], values["leaf_widths"], values["leaves"])
            return draw_from_leaves(places, rows, self.bounds_, rng)
        plan = CellPlan(values["sides"], values["cell_of_bin"])
        distribution = CellDistribution(plan, values["cells"], values["columns"])
        return draw_records(distribution, rows, self.bounds_, rng)

    def _plan(self, columns: int) -> "CopyBudgets":
        """Check the parameters, before anything is read from the records or spent."""
        epsilon = check_epsilon(self.epsilon)
        if self.n_public is not None:
            _numbers.count("n_public", self.n_public)
        check_ledger(self.ledger)
        check_columns(columns)
        records = COUNT_PART * epsilon if self.n_public is None else 0.0
        single = COLUMNS_PART * epsilon
        if columns <= FEW_COLUMNS:
            budgets = CopyBudgets(records, tree_or_grid=epsilon - records)
        else:
            budgets = CopyBudgets(records, columns=single, cells=epsilon - records - single)
        parts = single / columns, CROWD_PARTS[0] * budgets.tree_or_grid, budgets.cells, records
        smallest = min(part for part in parts if part > 0)
        if smallest * MAX_SCALE < 1:
            raise ParameterError(
                f"epsilon must be larger for {columns} columns, got {self.epsilon!r}: its noise "
                "would be wider than the integers it is added to",
                parameter="epsilon",
                code="resolution",
            )
        return budgets

    def _publish(
        self,
        n: float,
        released: "_ReleasedCells | _ReleasedLeaves",
        box: Box,
        receipt: Receipt | None,
    ) -> None:
        self.bounds_ = box
        self.n_records_ = max(1, round(n))
        self.release_ = Release(
            kind="PrivateCopy",
            values={
                "records": self.n_records_,
                **released.values(),
                "low": box.low,
                "high": box.high,
                **({} if self.schema is None else {"schema": self.schema.to_dict()}),
            },
            guarantee=self.guarantee_,
            ledger=receipt,
        )


@dataclass(frozen=True)
class CopyBudgets(BudgetSplit):
    """What each release of a fit may spend; in few columns, noisy numbers divide it further."""

    records: float
    tree_or_grid: float = 0.0
    columns: float = 0.0
    cells: float = 0.0


class _ReleasedCells(NamedTuple):
    """Histograms and cells that were released, and the cells that they were planned into."""

    columns: Ints  # noisy histograms
    counts: Ints  # noisy counts of the cells
    distribution: CellDistribution

    def values(self) -> dict[str, Any]:
        """Return what is published."""
        plan, cells, columns = self.distribution
        return {
            "noisy_columns": self.columns,
            "noisy_cells": self.counts,
            "sides": plan.sides,
            "cell_of_bin": plan.cell_of_bin,
            "columns": columns,
            "cells": cells,
        }


class _ReleasedLeaves(NamedTuple):
    """Leaves of a tree that were released."""

    counts: Ints  # noisy
    distribution: LeafDistribution

    def values(self) -> dict[str, Any]:
        """Return what is published."""
        return {
            "noisy_leaves": self.counts,
            "leaf_low": self.distribution.low,
            "leaf_widths": self.distribution.widths,
            "leaves": self.distribution.leaves,
        }


def _release_n(
    engine: Engine,
    noise: PureNoise,
    budgets: CopyBudgets,
    n_public: int | None,
    source: RandomSource,
) -> float:
    """Release how many records there are, unless it is declared."""
    if n_public is not None:
        return float(n_public)
    exact = np.array([total_weight(engine)])
    return float(noise.counts(exact, budgets.records, contribution=1, source=source)[0])


def _release_synopsis(
    engine: Engine, n: float, noise: PureNoise, budgets: CopyBudgets, source: RandomSource
) -> _ReleasedCells | _ReleasedLeaves:
    """Release a tree where records crowd in few columns, else histograms and cells."""
    if engine.columns > FEW_COLUMNS:
        return _release_cells(engine, n, noise, budgets.columns, budgets.cells, source=source)
    rest = budgets.tree_or_grid
    crowd = crowd_budget(n, rest)
    if crowd:
        rest -= crowd
        if _crowded(engine, n, noise, crowd, source):
            return _release_tree(engine, n, noise, rest, source)
    columns = COLUMNS_PART * noise.total_budget
    return _release_cells(engine, n, noise, columns, rest - columns, source=source)


def _crowded(
    engine: Engine, n: float, noise: PureNoise, budget: float, source: RandomSource
) -> bool:
    """Release how many records the fullest cells hold; return whether it is most."""
    side = round(CROWD_CELLS ** (1 / engine.columns))
    fullest = side**engine.columns // CROWD_SHARE
    held = release_fullest(
        engine, side, fullest, noise, budget, half=HALF, contribution=1, source=source
    )
    return held > CROWDED * n + DOUBT / budget


def _release_tree(
    engine: Engine, n: float, noise: PureNoise, budget: float, source: RandomSource
) -> _ReleasedLeaves:
    """Release the shape of a tree, and the counts of all its leaves."""
    shape = SHAPE_PART * budget
    planned = release_shape(engine, n, shape, half=HALF, contribution=1, source=source)
    leaves = release_leaves(planned, noise, budget - shape, contribution=1, source=source)
    return _ReleasedLeaves(leaves.noisy, plan_leaves(leaves, HALF))


def _release_cells(
    engine: Engine,
    n: float,
    noise: PureNoise,
    columns_budget: float,
    cells_budget: float,
    *,
    source: RandomSource,
) -> _ReleasedCells:
    """Release each column's histogram, and the counts of all cells."""
    d = engine.columns
    bins = bins_of_columns(n, d, columns_budget)
    each = columns_budget / d
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
    plan = plan_cells(likely, n, cells_budget)
    # Every cell gets noise, those without records too: which ones are empty is private.
    cells = grouped_counts(engine, plan.cell_of_bin, plan.sides)
    counts = noise.counts(cells, cells_budget, contribution=1, source=source)
    estimate = posterior_counts(counts, noise, cells_budget, contribution=1)
    return _ReleasedCells(columns, counts, rake_cells(estimate, likely, plan))
