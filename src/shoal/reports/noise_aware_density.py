"""Clusters of any shape of records that nobody but their holders has seen, from reports alone.

The density of the records is estimated through the known noise of the reports; its peaks that are
more than chance are clusters. Post-processing: it promises what the reports promise.
"""

import copy
import math
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from shoal import _numbers
from shoal._bounds import Box, given_bounds, public_box
from shoal._cluster_table import ShownWithClusters
from shoal._frozen import leaves_last_fit
from shoal._records import fitted_names, validate_records
from shoal._report_channel import (
    PartitionChannel,
    channel_bounds,
    promise_of_reports,
    record_names,
    schema_value,
)
from shoal._typing import Bounds, Floats, Labels, RandomState, TableLike
from shoal.density import GridCells, build_tree, choose_nodes, label_cells, prominence_for
from shoal.exceptions import DataError, ParameterError
from shoal.labels import label_encoded
from shoal.privacy import Release
from shoal.reports._false_peaks import Simulations, simulate
from shoal.reports._partition_shapes import open_partition_estimator, pair_indices
from shoal.reports._report_grid import MAX_COLUMNS
from shoal.reports._report_noise import checked_copy, report_noise
from shoal.reports._shape_density import open_estimator
from shoal.reports._unexplained import explained_reports
from shoal.reports.counted_reports import counted_rows
from shoal.reports.lies import liars_weight

__all__ = ["NoiseAwareDensity"]

HALF = 2**19  # steps of the lattice on each side of the middle of the box, for labels
MAX_ROUNDS = 6  # of simulations, each with other peaks taken for real
SEEDS = 2**31 - 1


class NoiseAwareDensity(ShownWithClusters, ClusterMixin, BaseEstimator):
    """Find clusters of any shape from reports whose noise is known.

    The density of the records on a grid over the public box is estimated by the iterative Bayesian
    update, which inverts the noise of the mechanism. Its smoothness is chosen so that each half of
    the reports best explains the other. A peak of the density is a cluster if it is more prominent
    than chance. To know what chance does, reports are simulated from a density without the peak,
    and the density is estimated again from these.

    Parameters
    ----------
    mechanism : Mechanism or GaussianChannel
        The mechanism that made the reports: any kind of Laplace without truncation, Piecewise with
        all columns, SquareWave, PartitionResponse, or a description of Gaussian noise.
    bounds : tuple (low, high), default=None
        Public box of the records; None takes that of the mechanism.
    alpha : float, default=0.05
        Probability of a false cluster, that is, of more than one cluster if the records have a
        single peak. It is calibrated by simulation, and holds if the density has no sharp edges
        (Notes).
    n_clusters : int, default=None
        Number of clusters, if it is known: takes the most prominent peaks, even if they are no
        more than chance. None takes all peaks that are more than chance.
    min_cluster_size : float, default=None
        Smallest estimated number of records of a cluster. Smaller parts are joined to the cluster
        beside them, or are of none. None accepts any size.
    contamination : float, default=None
        Share of the devices that may lie, such as 0.01. Reports that are too many for any records
        to explain are then left out, and no cluster is smaller than what so many liars can fake.
        None trusts every device.
    random_state : None, int or RandomState, default=None
        Seed of the halves of the reports and of simulations; privacy does not depend on it.

    Attributes
    ----------
    n_clusters_ : int
        Number of clusters.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Estimated number of records of each cluster, the largest first.
    cells_ : ndarray of int32 over the grid
        Cluster of each cell, -1 for none.
    density_ : ndarray over the grid
        Estimated number of records in each cell.
    cluster_tree_ : ClusterTree
        Hierarchy of clusters within clusters, see :class:`shoal.density.ClusterTree`; the clusters
        are its nodes ``cluster_nodes_``.
    cluster_nodes_ : ndarray of shape (n_clusters,)
        Node of each cluster in the tree.
    threshold_ : float
        Number of standard deviations by which a peak had to rise above the pass to a higher peak.
    labels_ : ndarray of shape (n,)
        Cluster of the cell of each report, clipped to the box, or -1 for none. For
        PartitionResponse, the most probable cluster of the record. -1 also for reports left out.
    left_out_ : int
        Number of reports that were left out because no records can explain so many of them.
    guarantee_ : Guarantee
        Guarantee of the mechanism.
    release_ : Release
        Cells and clusters, for :func:`label_on_device`; has the guarantee of the reports.
    bounds_ : Box
        Public box of the records.
    n_features_in_ : int
        Number of columns of a record.
    feature_names_in_ : ndarray of str
        Their names, where the table has them.

    See Also
    --------
    NoiseAwareKMeans : K-means clusters, in any number of columns.
    shoal.cluster.DPDensity : The same kind of clusters, if a curator holds the records.
    label_on_device : Label true records by the published cells.

    Notes
    -----
    It works for 1 to 3 columns: with more, the cells of a grid hold too few reports. ``Duchi`` and
    ``Hybrid`` are not supported: they report few different values, which show means but no shapes.

    Where a density ends abruptly, its estimate oscillates, and the oscillations can pass for peaks:
    records spread evenly over a third of the box, or all at one point, gave more than one cluster
    in about one fit of seven, at alpha 0.05.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.mechanisms import Laplace
    >>> from shoal.reports import NoiseAwareDensity
    >>> angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 6000)
    >>> ring = 0.8 * np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X = np.concatenate([ring, np.zeros((2000, 2))])
    >>> mechanism = Laplace(epsilon=12.0, bounds=(-1.0, 1.0), random_state=0)
    >>> reports = mechanism.fit_transform(X)
    >>> model = NoiseAwareDensity(mechanism=mechanism, random_state=0).fit(reports)
    >>> model.n_clusters_
    2
    """

    def __init__(
        self,
        *,
        mechanism: Any = None,
        bounds: Bounds | None = None,
        alpha: float = 0.05,
        n_clusters: int | None = None,
        min_cluster_size: float | None = None,
        contamination: float | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.mechanism = mechanism
        self.bounds = bounds
        self.alpha = alpha
        self.n_clusters = n_clusters
        self.min_cluster_size = min_cluster_size
        self.contamination = contamination
        self.random_state = random_state

    @leaves_last_fit
    def fit(self, Z: Any, y: Any = None) -> Self:
        """Find the clusters of the records behind the reports.

        Parameters
        ----------
        Z : array-like of shape (n, d)
            Reports as the mechanism made them: not clipped, not remapped, not standardized. From
            PartitionResponse, :class:`CountedReports` are accepted too.
        y : None
            Ignored.

        Returns
        -------
        self : NoiseAwareDensity
            The fitted estimator.
        """
        of_partitions = isinstance(self.mechanism, PartitionChannel)
        times = None
        if of_partitions:
            reports, times = counted_rows(Z, one_by_one=self.contamination is not None)
            self.n_features_in_ = self.mechanism.make_partitions().columns  # of a record
        else:
            reports = validate_records(Z, estimator=self)
        self._check(self.n_features_in_)
        self._seed = int(check_random_state(self.random_state).randint(SEEDS))
        rng = np.random.default_rng(self._seed)
        noise = (  # what is not known is refused before its bounds are asked for
            None
            if of_partitions
            else report_noise(self.mechanism, self.n_features_in_, biased=True)
        )
        everything, box = reports, self._box()
        kept = np.ones(len(reports), dtype=np.bool_)
        if self.contamination is not None:
            kept = explained_reports(
                reports, self.mechanism, box, np.random.RandomState(self._seed)
            )
            reports = reports[kept]
        self.left_out_ = int(np.count_nonzero(~kept))
        if noise is None:
            channel = checked_copy(self.mechanism, self.n_features_in_)
            self._estimator, counts = open_partition_estimator(
                reports, channel, box, rng, times=times
            )
        else:
            self._estimator, counts = open_estimator(reports, noise, box, rng)
        self.bounds_ = box
        self.guarantee_ = promise_of_reports(self.mechanism, reports.shape[1])
        self.density_ = self._estimator.density(counts)
        self._n_reports = len(reports) if times is None else int(times.sum())
        self._simulated: dict[int, Simulations] = {}
        self._find_clusters()
        labels = self._most_probable(everything) if of_partitions else self._labels(everything)
        self.labels_ = np.where(kept, labels, np.int32(-1))
        return self

    def predict(self, X: TableLike) -> Labels:
        """Find the cluster of the cell of each row.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Reports; or, only on the device that holds them, true records.

        Returns
        -------
        labels : ndarray of shape (n,)
            Cluster, or -1 for none. Labels of true records are private: keep them on the device.
        """
        check_is_fitted(self)
        return self._labels(validate_records(X, estimator=self, reset=False))

    def refine(
        self,
        *,
        n_clusters: int | None = None,
        min_cluster_size: float | None = None,
        alpha: float | None = None,
    ) -> "NoiseAwareDensity":
        """Find clusters with other parameters in the density that is already estimated.

        This costs no privacy, but alpha no longer holds: the best of several tries may show a false
        cluster more often than ``alpha``. ``labels_`` are those of ``fit``.

        Parameters
        ----------
        n_clusters, min_cluster_size : default=None
            As for the estimator; None does not take over the estimator's values.
        alpha : float, default=None
            As for the estimator; None keeps the estimator's value.

        Returns
        -------
        model : NoiseAwareDensity
            A new fitted estimator, with the same guarantee.
        """
        check_is_fitted(self)
        other = copy.copy(self)
        other.n_clusters, other.min_cluster_size = n_clusters, min_cluster_size
        other.alpha = self.alpha if alpha is None else alpha
        other._check_choices()
        other._simulated = dict(self._simulated)
        other._find_clusters()
        return other

    def _check(self, columns: int) -> None:
        self._check_choices()
        if columns > MAX_COLUMNS:
            raise DataError(
                f"Z must have at most {MAX_COLUMNS} columns, got {columns}: in more, cells of a "
                "grid hold too few reports to show shapes; choose columns, or use NoiseAwareKMeans",
                parameter="Z",
                code="columns",
            )
        try:
            check_random_state(self.random_state)
        except ValueError:
            raise ParameterError(
                "random_state must be None, an int or a RandomState, "
                f"got {type(self.random_state).__name__}",
                parameter="random_state",
                code="type",
            ) from None

    def _box(self) -> Box:
        bounds = channel_bounds(self.mechanism) if self.bounds is None else given_bounds(self)
        return public_box(bounds, self.n_features_in_)

    def _check_choices(self) -> None:
        _numbers.positive_probability("alpha", self.alpha)
        if self.n_clusters is not None:
            _numbers.count("n_clusters", self.n_clusters)
        if self.min_cluster_size is not None:
            _numbers.positive("min_cluster_size", self.min_cluster_size)
        if self.contamination is not None:
            _numbers.probability("contamination", self.contamination)

    def _find_clusters(self) -> None:
        """Find the clusters of the estimated density, and make the release."""
        cells = GridCells(self.density_.shape)
        if self.n_clusters is None:
            found = self._above_chance()
            self.threshold_ = found.threshold(float(self.alpha))
        else:
            found = self._simulate(int(self.n_clusters))
            self.threshold_ = prominence_for(found.merges, int(self.n_clusters))
        least = max(float(self.min_cluster_size or 0.0), self._made_up())
        tree = build_tree(
            found.estimate,
            cells,
            threshold=self.threshold_,
            min_size=least,
            merges=found.merges,
        )
        nodes = choose_nodes(tree) if self.n_clusters is None else np.flatnonzero(tree.is_leaf)
        clusters = label_cells(found.estimate, cells, tree, nodes, min_size=least)
        self.cluster_tree_, self.cluster_nodes_ = tree, clusters.nodes
        self.cluster_sizes_ = clusters.sizes
        self.n_clusters_ = len(clusters.nodes)
        self.cells_ = clusters.labels.reshape(self.density_.shape)
        self._publish(clusters.background)

    def _made_up(self) -> float:
        """Return how many records the liars that are assumed can make up."""
        weight = liars_weight(self.mechanism, self.n_features_in_)
        return weight * float(self.contamination or 0.0) * self._n_reports

    def _above_chance(self) -> Simulations:
        """Simulate chance beside one real peak; then beside those that are above it."""
        alpha, peaks = float(self.alpha), 1
        found = self._simulate(peaks)
        above = found.peaks(alpha)
        for _ in range(MAX_ROUNDS - 1):
            if above in (1, peaks):
                break
            peaks = above
            found = self._simulate(peaks)
            above = min(found.peaks(alpha), peaks)
        return found

    def _simulate(self, peaks: int) -> Simulations:
        if peaks not in self._simulated:
            counted = round(self.density_.sum())  # far reports are not
            self._simulated[peaks] = simulate(
                self._estimator, self.density_, counted, peaks=peaks, seed=self._seed
            )
        return self._simulated[peaks]

    def _publish(self, background: float) -> None:
        tree, box, shape = self.cluster_tree_, self.bounds_, list(self.density_.shape)
        inside = np.flatnonzero(self.cells_ >= 0)
        self.release_ = Release(
            kind="NoiseAwareDensity",
            values={
                "cells": inside,
                "clusters": self.cells_.ravel()[inside],
                "values": self.density_.ravel()[inside],
                "shape": shape,
                "grid": shape,
                "sizes": self.cluster_sizes_,
                "nodes": self.cluster_nodes_,
                "tree": tree.values(),
                "threshold": self.threshold_ if math.isfinite(self.threshold_) else None,
                "background": background,
                "records": self._n_reports,
                "alpha": float(self.alpha),
                "metric": "cells",
                "columns": fitted_names(self) or record_names(self.mechanism),
                "low": box.low,
                "high": box.high,
                "half": HALF,
                **schema_value(self.mechanism),
            },
            guarantee=self.guarantee_,
        )

    def _most_probable(self, reports: Floats) -> Labels:
        """Return the cluster that the record of each report is in with the highest probability."""
        parts = np.arange(-1, self.n_clusters_)
        shares = [
            self._estimator.channel.forward(np.where(self.cells_ == part, self.density_, 0.0))
            for part in parts
        ]
        best = parts[np.argmax(shares, axis=0)].astype(np.int32)
        labels: Labels = best[pair_indices(reports, self.mechanism.make_partitions())]
        return labels

    def _labels(self, rows: Floats) -> Labels:
        return label_encoded(self.release_, rows)
