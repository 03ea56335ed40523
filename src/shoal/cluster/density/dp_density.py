"""Clusters of any shape without settings: a private answer to HDBSCAN.

Central differential privacy, pure epsilon, under add/remove of one record (proofs/density.md).
Records are counted on a coarse public grid, which tells how fine cells may be, and then in such
cells; every count gets exact discrete noise. All the rest is post-processing: the density behind
the counts, the tree of its peaks, which of them are more than chance, and the clusters.
"""

import copy
import math
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from shoal import _numbers
from shoal._bounds import public_box
from shoal._docs import shared_docs
from shoal._records import fitted_names, leaves_last_fit
from shoal._table_input import validate_table
from shoal._typing import Bounds, Floats, Labels, RandomState, TableLike
from shoal.cluster._budget import charge, check_ledger
from shoal.cluster._curator import CuratorsClusterer
from shoal.cluster._engines import open_engine
from shoal.cluster._noise import PureNoise
from shoal.cluster.density._cells import release_cells
from shoal.cluster.density._outlines import outline_release
from shoal.cluster.density._plan import plan_budgets
from shoal.density import (
    FlatClusters,
    build_tree,
    cell_memberships,
    choose_nodes,
    find_merges,
    label_cells,
    prominence_for,
)
from shoal.engines import HALF, Engine, Part
from shoal.exceptions import DataError
from shoal.noise import Lattice, as_source
from shoal.privacy import Adjacency, Guarantee, Ledger, Receipt, Release

__all__ = ["DPDensity"]

ROWS = 1 << 17  # labeled at a time
DIGITS = 4  # decimals of a released density: finer ones are far below its error


@shared_docs
class DPDensity(CuratorsClusterer):
    """Clusters of any shape, with bounds and epsilon and nothing else to choose.

    Parameters
    ----------
    {epsilon}
    {bounds}
    alpha : float, default=0.05
        Probability of any false cluster: of more than one where records have a single peak.
    n_clusters : int, default=None
        Number of clusters where it is known: the most prominent peaks, whether or not they are
        more than chance. None finds those that are.
    min_cluster_size : float, default=None
        Records below which a part is no cluster of its own. None takes any size.
    {ledger}
    {random_state}

    Attributes
    ----------
    n_clusters_ : int
        Number of clusters.
    cluster_sizes_ : ndarray of shape (n_clusters_,)
        Estimated number of records of each, the largest first.
    cells_ : ndarray of int32 over the grid
        Cluster of each cell, -1 for none. Where records fill little of the box, cells are of
        several sizes: then it has one entry for each, and ``release_`` has their corners.
    density_ : ndarray over the grid
        Estimated number of records of each cell.
    cluster_tree_ : ClusterTree
        Clusters within clusters, as :class:`shoal.density.ClusterTree` describes them; the clusters
        are its nodes ``cluster_nodes_``.
    cluster_nodes_ : ndarray of shape (n_clusters_,)
        Node of each cluster.
    threshold_ : float
        Standard deviations that a peak had to stand above the pass to a higher one.
    n_records_ : float
        Noisy number of records.
    {guarantee_}
    release_ : Release
        The only thing meant to leave the curator.
    {labels_}
        Records in cells of no cluster have -1.
    {bounds_}
    {features_in_}

    See Also
    --------
    DPWaveCluster : The published way to clusters of any shape.
    DPKMeans : Round clusters, in any number of columns.

    Notes
    -----
    For 1 to 4 columns: in more, the cells of a grid hold too few records to show shapes.

    {promise_to_records}

    Where the promise ends (proofs/density.md): ``fit`` raises before anything is spent where there
    is no record, or a number is NaN or infinite. That costs nothing and can be repeated, and it
    tells whether a chosen subset is empty: errors are for the curator's eyes. ``labels_`` and
    ``predict`` of private records are exact. How long a fit takes and how much memory it needs
    depends on the records, and is not hidden.

    Examples
    --------
    >>> from shoal.cluster import DPDensity
    >>> from shoal.datasets import make_spirals
    >>> X = make_spirals(30_000, random_state=0).X
    >>> model = DPDensity(epsilon=1.0, bounds=(-1.0, 1.0), random_state=0).fit(X)
    >>> model.n_clusters_
    3
    """

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        bounds: Bounds | None = None,
        alpha: float = 0.05,
        n_clusters: int | None = None,
        min_cluster_size: float | None = None,
        ledger: Ledger | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.alpha = alpha
        self.n_clusters = n_clusters
        self.min_cluster_size = min_cluster_size
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
        self : DPDensity
            The fitted estimator.
        """
        table = validate_table(X, estimator=self)
        budgets = plan_budgets(self.epsilon, table.columns)
        self._check_choices()
        check_ledger(self.ledger)
        box = public_box(self.bounds, table.columns)
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
            what="DPDensity",
            promise=promise,
            columns=getattr(self, "feature_names_in_", ()),
        )
        engine = open_engine(table, Lattice.box(*box, half=HALF))
        released = release_cells(engine, noise, budgets, source=source)
        self.guarantee_ = promise
        self.bounds_ = box
        self.n_records_, self._noisy = released
        self._find_clusters(receipt)
        self._keep_labels(None)  # those of an earlier fit are not of what is released now
        self._keep_labels(self._labels(engine) if table.in_memory else None)
        return self

    def predict(self, X: TableLike) -> Any:
        """Find the cluster of each record's cell; of private records, private.

        Parameters
        ----------
        {X_of_predict}

        Returns
        -------
        labels : ndarray of shape (n,), or Spark DataFrame
            Cluster, or -1 for none; a Spark DataFrame gets it as a further column.
        """
        check_is_fitted(self)
        table = validate_table(X, estimator=self, reset=False)
        return self._labels(open_engine(table, Lattice.box(*self.bounds_, half=HALF)))

    def predict_proba(self, X: TableLike) -> Floats:
        """Return to what degree each record belongs to each cluster; of private records, private.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Records in memory.

        Returns
        -------
        degrees : ndarray of shape (n, n_clusters_)
            Between 0 and 1, by the record's cell and those around it; the rest of each row belongs
            to no cluster.
        """
        check_is_fitted(self)
        table = validate_table(X, estimator=self, reset=False)
        if not table.in_memory:
            raise DataError("X must be records in memory for predict_proba: use predict")
        noisy = self._noisy
        background = float(self.release_.values["background"])
        clusters = FlatClusters(
            self.cells_.ravel(), self.cluster_nodes_, self.cluster_sizes_, background
        )
        degrees = cell_memberships(noisy.estimate(), noisy.cells, clusters)
        engine = open_engine(table, Lattice.box(*self.bounds_, half=HALF))

        def find(part: Part) -> Labels:
            return noisy.find(part.records).astype(np.int32)  # there are at most 2^24 cells

        rows: Floats = degrees[engine.collect(find, rows=ROWS)].toarray()
        return rows

    def refine(
        self,
        *,
        n_clusters: int | None = None,
        min_cluster_size: float | None = None,
        alpha: float | None = None,
    ) -> "DPDensity":
        """Find other clusters in what was released already: this costs nothing.

        It is free in privacy, not in alpha: of several tries, the one that is liked best may show a
        false cluster more often than ``alpha`` says. It has no ``labels_``: ask it to ``predict``.

        Parameters
        ----------
        n_clusters, min_cluster_size : default=None
            As for the estimator, whose own are not kept.
        alpha : float, default=None
            None leaves it as it is.

        Returns
        -------
        model : DPDensity
            Another fitted estimator, with the same guarantee and the same receipt.
        """
        check_is_fitted(self)
        other = copy.copy(self)
        other.n_clusters, other.min_cluster_size = n_clusters, min_cluster_size
        other.alpha = self.alpha if alpha is None else alpha
        other._check_choices()
        other._find_clusters(self.release_.ledger)
        return other

    def outlines(self, *, longitude: int | str | None = None) -> dict[str, Any]:
        """Return where the clusters lie, as GeoJSON, from the release alone.

        Parameters
        ----------
        longitude : int or str, default=None
            Column that is the first of each position, as GeoJSON has it. None takes a column
            named lon, lng, long, longitude or x, or else the first.

        Returns
        -------
        collection : dict
            A FeatureCollection with a feature for each cluster, which has its number, its
            estimated size and its share of the records: polygons of two columns, in the unit of
            the bounds. Of one column, features without geometry have ``intervals``.

        Raises
        ------
        ParameterError
            If there are more than two columns.
        """
        check_is_fitted(self)
        return outline_release(self.release_.values, longitude)

    def _check_choices(self) -> None:
        _numbers.positive_probability("alpha", self.alpha)
        if self.n_clusters is not None:
            _numbers.count("n_clusters", self.n_clusters)
        if self.min_cluster_size is not None:
            _numbers.positive("min_cluster_size", self.min_cluster_size)

    def _find_clusters(self, receipt: Receipt | None) -> None:
        """Find the clusters of the released counts, and make the release: post-processing."""
        noisy, cells = self._noisy, self._noisy.cells
        estimate = noisy.estimate()
        merges = find_merges(estimate, cells.edges)
        if self.n_clusters is None:
            self.threshold_ = noisy.threshold(estimate, merges, cells, float(self.alpha))
        else:
            self.threshold_ = prominence_for(merges, int(self.n_clusters))
        tree = build_tree(
            estimate,
            cells,
            threshold=self.threshold_,
            min_size=float(self.min_cluster_size or 0.0),
            merges=merges,
        )
        nodes = choose_nodes(tree) if self.n_clusters is None else np.flatnonzero(tree.is_leaf)
        clusters = label_cells(estimate, cells, tree, nodes)
        self.cluster_tree_, self.cluster_nodes_ = tree, clusters.nodes
        self.cluster_sizes_ = clusters.sizes
        self.n_clusters_ = len(clusters.nodes)
        self.density_ = (estimate.density * cells.volumes).reshape(noisy.shape)
        self.cells_ = clusters.labels.reshape(noisy.shape)
        self._publish(clusters.background, receipt)

    def _publish(self, background: float, receipt: Receipt | None) -> None:
        tree, box = self.cluster_tree_, self.bounds_
        inside = np.flatnonzero(self.cells_ >= 0)
        self.release_ = Release(
            kind="DPDensity",
            values={
                "cells": inside,
                "clusters": self.cells_.ravel()[inside],
                "values": self.density_.ravel()[inside],
                "density": self.density_.round(DIGITS),
                **self._noisy.values(),
                "sizes": self.cluster_sizes_,
                "nodes": self.cluster_nodes_,
                "tree": tree.values(),
                "threshold": self.threshold_ if math.isfinite(self.threshold_) else None,
                "background": background,
                "records": self.n_records_,
                "alpha": float(self.alpha),
                "columns": fitted_names(self),
                "low": box.low,
                "high": box.high,
                "half": HALF,
            },
            guarantee=self.guarantee_,
            ledger=receipt,
        )

    def _labels(self, engine: Engine) -> Any:
        """Find the cluster of each record's cell: raw-data output, for the curator only."""
        noisy, table = self._noisy, self.cells_.ravel()

        def labels(part: Part) -> Labels:
            return table[noisy.find(part.records)]

        return engine.collect(labels, rows=ROWS)
