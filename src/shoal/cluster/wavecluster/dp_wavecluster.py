"""Private WaveCluster: clusters of any shape, for a curator who holds the records.

After Chen, Yu & Chirkova (2015) with their promises kept, and our own one-shot technique. Central
differential privacy, pure epsilon, under add/remove of one record. Records are counted on a public
grid, every released number gets exact discrete noise, and thresholds, components and the map from
records to cells are post-processing (proofs/wavecluster.md).
"""

import math
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from shoal._bounds import Box
from shoal._docs import shared_docs
from shoal._frozen import leaves_last_fit
from shoal._records import fitted_names
from shoal._table_input import validate_table
from shoal._typing import Bounds, Ints, Labels, RandomState, TableLike
from shoal.cluster._budget import charge, drawn_by_seed
from shoal.cluster._curator import CuratorsClusterer
from shoal.cluster._engines import open_engine
from shoal.cluster._noise import PureNoise
from shoal.cluster._schema_columns import Strata
from shoal.cluster.wavecluster._band import band_of
from shoal.cluster.wavecluster._components import connected_components
from shoal.cluster.wavecluster._problem import SignificantCells, WaveProblem, plain_cells
from shoal.cluster.wavecluster._techniques import AUTOMATIC, WavePlan, auto_grid, plan_fit
from shoal.cluster.wavecluster._threshold import automatic_cells
from shoal.engines import HALF, Engine, Part, grid_cell, grid_counts, total_weight
from shoal.exceptions import ParameterError
from shoal.noise import Lattice, RandomSource, as_source
from shoal.privacy import Adjacency, Guarantee, Ledger, Receipt, Release
from shoal.schema import Schema

__all__ = ["DPWaveCluster"]

MAX_TABLE = 2**24  # cells of ``cells_``
ROWS = 1 << 17  # labeled at a time


@shared_docs
class DPWaveCluster(CuratorsClusterer):
    """WaveCluster with differential privacy: clusters of any shape, from a noisy grid.

    Records are counted on a grid, and a wavelet transform of the counts is cut off at a threshold.
    The *band*, its low-pass part, is a coarser grid of averages; its cells above the threshold are
    *significant*, and clusters are their connected components.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget of one ``fit``; ``inf`` for WaveCluster without privacy.
    {bounds}
    schema : Schema, default=None
        Public description of a table of numbers, dates and places, in place of ``bounds``. It must
        say what replaces a missing value, or refuse it.
    grid : int or "auto", default=64
        Number of cells along each column, a multiple of 2^level. ``"auto"`` chooses it from the
        number of records, the columns and epsilon, as large as ``threshold="auto"`` can use.
    threshold : float or "auto", default=0.1
        Fraction of the positive values of the band, in [0, 1), that is taken for noise. ``"auto"``,
        for ``"oneshot"`` on at most 2^22 cells, chooses the threshold that best separates clusters
        which stand out from noise and sampling error; it reads the noisy band and costs no budget.
    wavelet : str, default="haar"
        Name of a discrete wavelet of PyWavelets.
    level : int, default=1
        Number of times the wavelet is applied: a cell of the band is 2^level cells of the grid
        wide.
    technique : {"oneshot", "thr", "thr-em", "qt", "baseline", "density"}, default="oneshot"
        How epsilon is spent. ``"oneshot"`` (ours) spends all of it on the band and computes the
        threshold from the known noise. ``"thr"``, ``"thr-em"``, ``"qt"`` and ``"baseline"`` are
        those of Chen, Yu & Chirkova (2015), corrected. ``"density"`` keeps cells whose neighborhood
        holds ``min_samples`` records, as DBSCAN does.
    min_samples : int, default=10
        For ``"density"``: number of records that a cell and its neighbors must hold together.
    n_public : int, default=None
        Number of records, if it is public. With None, 2% of epsilon buys a noisy count if one is
        needed: for ``grid="auto"`` and ``"baseline"``.
    {ledger}
    {random_state}

    Attributes
    ----------
    cells_ : ndarray of int32 over the band's grid
        Cluster of each cell, -1 if it is not significant; only for bands of at most 2^24 cells.
    cell_codes_, cell_labels_ : ndarray of shape (n_significant,)
        The significant cells, by their index in C order over the band's grid, and their clusters.
    cell_values_ : ndarray of shape (n_significant,)
        Noisy values of the significant cells, in units of what one record changes.
    band_shape_ : tuple of int
        Number of cells of the band along each column.
    n_clusters_ : int
        Number of clusters.
    n_significant_ : int
        Number of significant cells.
    threshold_ : float
        Value that a cell had to reach to be significant; with ``threshold="auto"``, after averaging
        with its neighbors.
    grid_ : int
        Number of cells of the grid along each column.
    {guarantee_}
    release_ : Release
        The only thing meant to leave the curator.
    {labels_}
        Records in cells that are not significant have -1.
    {bounds_}
    {features_in_}

    See Also
    --------
    DPKMeans : Round clusters, in any number of columns.

    Notes
    -----
    {promise_to_records}

    What the guarantee does not cover (proofs/wavecluster.md): ``fit`` raises, before anything is
    spent, if there is no record, or a number is NaN or infinite. Such an error costs no budget, can
    be repeated, and tells whether a subset of the records is empty: errors are for the curator's
    eyes. ``labels_`` and ``predict`` of private records are exact. The time and memory that a fit
    takes depend on the records and are not hidden.

    Examples
    --------
    >>> from shoal.cluster import DPWaveCluster
    >>> from shoal.datasets import make_spirals
    >>> X = make_spirals(30_000, random_state=0).X
    >>> model = DPWaveCluster(epsilon=1.0, bounds=(-1.0, 1.0), threshold=0.3, random_state=0).fit(X)
    >>> model.n_clusters_, model.cells_.shape
    (3, (32, 32))

    Without settings to guess:

    >>> kwargs = {"grid": "auto", "threshold": "auto", "random_state": 0}
    >>> DPWaveCluster(epsilon=1.0, bounds=(-1.0, 1.0), **kwargs).fit(X).n_clusters_
    3
    """

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        bounds: Bounds | None = None,
        schema: Schema | None = None,
        grid: int | str = 64,
        threshold: float | str = 0.1,
        wavelet: str = "haar",
        level: int = 1,
        technique: str = "oneshot",
        min_samples: int = 10,
        n_public: int | None = None,
        ledger: Ledger | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.schema = schema
        self.grid = grid
        self.threshold = threshold
        self.wavelet = wavelet
        self.level = level
        self.technique = technique
        self.min_samples = min_samples
        self.n_public = n_public
        self.ledger = ledger
        self.random_state = random_state

    @leaves_last_fit
    def fit(self, X: TableLike, y: Any = None) -> Self:
        """Spend the budget and find the clusters.

        Parameters
        ----------
        {X_of_fit}
        {y}

        Returns
        -------
        self : DPWaveCluster
            The fitted estimator.
        """
        table = validate_table(X, estimator=self, schema=self.schema)
        if self.schema is not None and Strata.plan(self.schema, table.columns).blocks:
            raise ParameterError(
                "schema must have no categories among its features for DPWaveCluster, got some: "
                "use DPDensity, which takes them for strata, or give them the role 'describe'",
                parameter="schema",
                code="unsupported",
            )
        plan = plan_fit(self, table.columns)
        source = as_source(self.random_state)
        promise = (
            Guarantee.none("epsilon is infinite: WaveCluster without noise")
            if math.isinf(self.epsilon)
            else Guarantee(
                "central",
                epsilon=float(self.epsilon),
                adjacency=Adjacency.ADD_REMOVE,
                seeded=drawn_by_seed(source, self.schema),
            )
        )
        receipt = charge(
            self.ledger,
            table,
            PureNoise(float(self.epsilon)),
            plan.budgets,
            what=f"DPWaveCluster({self.technique})",
            promise=promise,
            columns=getattr(self, "feature_names_in_", ()),
        )
        lattice = Lattice.box(*plan.box, half=HALF)
        engine = open_engine(table, lattice)
        fitted = self._find_cells(engine, plan, source)
        self.guarantee_ = replace(promise, uncounted=self.ledger is None)
        self._publish(fitted, plan.box, receipt)
        self._keep_labels(self._labels(engine) if table.in_memory else None)
        return self

    def predict(self, X: TableLike) -> Any:
        """Find the cluster of each record by its cell; labels of private records are private.

        Parameters
        ----------
        {X_of_predict}

        Returns
        -------
        labels : ndarray of shape (n,), or Spark DataFrame
            Cluster of each record, -1 if its cell is not significant; a Spark DataFrame is returned
            with a column of them.
        """
        check_is_fitted(self)
        table = validate_table(X, estimator=self, reset=False, schema=self.schema)
        return self._labels(open_engine(table, Lattice.box(*self.bounds_, half=HALF)))

    def _find_cells(self, engine: Engine, plan: WavePlan, source: RandomSource) -> "_Fitted":
        """Count the records where that is needed, choose the grid, and run the technique.

        The budgets have been charged; the technique hands back noisy values alone, except with an
        infinite epsilon.
        """
        infinite = math.isinf(self.epsilon)
        noise = PureNoise(float(self.epsilon))
        n = float(self.n_public or 0)  # 0: nothing asks for it
        if infinite:
            n = n or float(total_weight(engine))
        elif plan.budgets.records:
            exact = np.array([total_weight(engine)])
            noisy = noise.counts(exact, plan.budgets.records, contribution=1, source=source)
            n = float(noisy[0])
        d, level = engine.columns, int(self.level)
        grid = (
            auto_grid(n, d, float(self.epsilon), level)
            if isinstance(self.grid, str)
            else int(self.grid)
        )
        band = band_of(self.wavelet, level, grid, d)
        if infinite:
            counts = grid_counts(engine, (grid,) * d, HALF)
            if plan.technique is AUTOMATIC:
                values = band.dense(counts) / band.sensitivity
                cells = automatic_cells(values, scale=0.0, signed=band.signed)
            else:
                cells = plain_cells(counts, band, plan.part)
            return _Fitted(cells, grid, band.shape)
        problem = WaveProblem(
            engine,
            HALF,
            grid,
            band,
            plan.part,
            int(self.min_samples),
            n,
            noise,
            plan.budgets.cells,
            source,
        )
        return _Fitted(plan.technique.find_cells(problem), grid, band.shape)

    def _labels(self, engine: Engine) -> Any:
        """Find the cluster of each record's cell: raw-data output, for the curator only."""
        grid, block = self.grid_, self.grid_ // self.band_shape_[0]
        table = self.cells_.ravel() if hasattr(self, "cells_") else None
        significant, clusters = self.cell_codes_, self.cell_labels_

        def labels(part: Part) -> Labels:
            codes = np.zeros(len(part.records), dtype=np.int64)
            for column in part.records.T:
                codes *= grid // block
                codes += grid_cell(column, grid, HALF) // block
            # A table is quicker than a search.
            return _search(codes, significant, clusters) if table is None else table[codes]

        return engine.collect(labels, rows=ROWS)

    def _publish(self, fitted: "_Fitted", box: Box, receipt: Receipt | None) -> None:
        cells, grid, shape = fitted
        self.bounds_, self.grid_, self.band_shape_ = box, grid, shape
        self.cell_codes_, self.cell_values_ = cells.codes, cells.values
        self.cell_labels_ = connected_components(cells.codes, shape)
        self.n_clusters_ = int(self.cell_labels_.max(initial=-1)) + 1
        self.n_significant_ = len(cells.codes)
        self.threshold_ = float(cells.threshold)
        self.__dict__.pop("cells_", None)  # of an earlier fit
        if math.prod(shape) <= MAX_TABLE:
            table = np.full(math.prod(shape), -1, dtype=np.int32)
            table[cells.codes] = self.cell_labels_
            self.cells_ = table.reshape(shape)
        values: dict[str, Any] = {
            "cells": self.cell_codes_,
            "clusters": self.cell_labels_,
            "values": self.cell_values_,
            "shape": list(shape),
            "threshold": self.threshold_ if math.isfinite(self.threshold_) else None,
            "metric": "cells",
            "columns": fitted_names(self),
            "low": box.low,
            "high": box.high,
            "half": HALF,
            "grid": grid,
            "technique": self.technique,
            "wavelet": self.wavelet,
            "level": int(self.level),
        }
        if self.schema is not None:
            values["schema"] = self.schema.to_dict()
        if self.threshold == "auto":
            values["threshold_setting"] = "auto"
        if cells.all_values is not None:
            values["band"] = cells.all_values
        self.release_ = Release(
            kind="DPWaveCluster", values=values, guarantee=self.guarantee_, ledger=receipt
        )


class _Fitted(NamedTuple):
    """What may be published: significant cells, and the grid and band they belong to."""

    cells: SignificantCells
    grid: int
    shape: tuple[int, ...]


def _search(codes: Ints, significant: Ints, clusters: Labels) -> Labels:
    if not len(significant):
        return np.full(len(codes), -1, dtype=np.int32)
    index = np.minimum(np.searchsorted(significant, codes), len(significant) - 1)
    return np.where(significant[index] == codes, clusters[index], np.int32(-1))
