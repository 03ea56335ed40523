"""Clusters of any shape without settings to choose: a private alternative to HDBSCAN.

Central differential privacy, pure epsilon, under add/remove of one record (proofs/density.md).
Records are counted on a coarse public grid, which tells how fine cells may be, and then in such
cells; every count gets exact discrete noise. All the rest is post-processing: the density behind
the counts, the tree of its peaks, which of them are more than chance, and the clusters.
"""

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from shoal import _numbers
from shoal._bounds import given_bounds
from shoal._docs import shared_docs
from shoal._frozen import leaves_last_fit
from shoal._outlines import outline_release
from shoal._records import fitted_names
from shoal._table_input import validate_table
from shoal._typing import Bounds, Floats, Ints, Labels, RandomState, TableLike
from shoal.cluster._budget import charge, check_ledger, drawn_by_seed
from shoal.cluster._curator import CuratorsClusterer
from shoal.cluster._engines import open_engine
from shoal.cluster._noise import PureNoise
from shoal.cluster._schema_columns import Strata, schema_box
from shoal.cluster.density._calibration import Chance
from shoal.cluster.density._cells import NoisyCells, published_cells, release_cells
from shoal.cluster.density._clusters import (
    DensityClusters,
    find_clusters,
    holds_records,
    without_clusters,
)
from shoal.cluster.density._plan import plan_budgets
from shoal.engines import HALF, Engine, Part
from shoal.exceptions import DataError, ParameterError, ReleaseError
from shoal.labels import check_release
from shoal.noise import Lattice, as_source, disjoint_part
from shoal.privacy import Adjacency, Guarantee, Ledger, Receipt, Release
from shoal.schema import Schema

__all__ = ["DPDensity"]

ROWS = 1 << 17  # labeled at a time


@shared_docs
class DPDensity(CuratorsClusterer):
    """Density-based clustering with differential privacy: clusters of any shape and number.

    It needs bounds (or a schema) and epsilon; the other parameters are optional. A cluster is a
    peak of a noisy density that noise and chance do not explain.

    Parameters
    ----------
    {epsilon}
    {bounds}
    schema : Schema, default=None
        Public description of a table, in place of ``bounds``. Its numbers, dates and places (two
        columns each) are the columns of the cells, and must say what replaces a missing value, or
        refuse it. Every combination of categories, at most 64, is a stratum with a density and
        clusters of its own; a record is in one stratum, so each stratum gets the full epsilon.
    alpha : float, default=0.05
        Probability of any false cluster: of finding more than one if the records have a single
        peak, or one in a stratum without records.
    n_clusters : int, default=None
        Number of clusters in each stratum, if it is known: the most prominent peaks are taken,
        whether or not they are significant. None finds the significant ones.
    min_cluster_size : float, default=None
        Smallest estimated number of records of a cluster. Smaller parts are joined to the cluster
        beside them, or are of none. None accepts any size.
    {ledger}
    {random_state}

    Attributes
    ----------
    n_clusters_ : int
        Number of clusters found.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Estimated number of records of each cluster, the largest first in each stratum.
    cells_ : ndarray of int32 over the grid
        Cluster of each cell, -1 for none. If the records fill little of the bounds, cells are of
        several sizes: the array then has one entry per cell, and ``release_`` has their corners.
    density_ : ndarray over the grid
        Estimated number of records of each cell.
    cluster_tree_ : ClusterTree
        Clusters within clusters, as :class:`shoal.density.ClusterTree` describes them.
    cluster_nodes_ : ndarray of shape (n_clusters,)
        Node of each cluster in ``cluster_tree_``.
    threshold_ : float
        Prominence that made a peak significant: how far it had to rise above the highest pass to a
        higher peak, in standard deviations.
    n_records_ : float
        Noisy number of records.
    strata_ : list of dict
        The categories of each stratum, by field name; a single empty one if there are no
        categories. With several strata, ``cells_``, ``density_``, ``cluster_tree_``,
        ``cluster_nodes_`` and ``threshold_`` are lists with one entry for each.
    cluster_strata_ : ndarray of shape (n_clusters,)
        Stratum of each cluster.
    {guarantee_}
    release_ : Release
        The only thing meant to leave the curator.
    {labels_}
        Records in cells of no cluster have -1.
    {bounds_}
    {features_in_}

    See Also
    --------
    DPWaveCluster : Clusters of any shape by WaveCluster, with settings to choose.
    DPKMeans : Round clusters, in any number of columns.

    Notes
    -----
    For tables of 1 to 4 columns: with more, the cells of a grid hold too few records to show
    shapes.

    {promise_to_records}

    What the guarantee does not cover (proofs/density.md): ``fit`` raises, before anything is spent,
    if there is no record, or a number is NaN or infinite. Such an error costs no budget, can be
    repeated, and tells whether a subset of the records is empty: errors are for the curator's eyes.
    ``labels_`` and ``predict`` of private records are exact. The time and memory that a fit takes
    depend on the records and are not hidden.

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
        schema: Schema | None = None,
        alpha: float = 0.05,
        n_clusters: int | None = None,
        min_cluster_size: float | None = None,
        ledger: Ledger | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.schema = schema
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
        table = validate_table(X, estimator=self, schema=self.schema)
        strata = Strata.plan(self.schema, table.columns)
        budgets = plan_budgets(self.epsilon, len(strata.grid))
        self._check_choices()
        check_ledger(self.ledger)
        box = schema_box(given_bounds(self), self.schema, table.columns)
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
            what="DPDensity",
            promise=promise,
            columns=getattr(self, "feature_names_in_", ()),
        )
        engine = open_engine(table, Lattice.box(*box, half=HALF))
        # Each stratum gets all of the budget: one record is in one of them (proofs/density.md).
        released = []
        for index, stratum in enumerate(strata.engines(engine)):
            with disjoint_part(f"stratum {index}"):
                released.append(release_cells(stratum, noise, budgets, source=source))
        self.guarantee_ = replace(promise, uncounted=self.ledger is None)
        self.bounds_ = box
        self.strata_, self._strata = list(strata.levels), strata
        self._schema = self.schema  # what was counted: set_params changes the next fit alone
        self._records = tuple(one.records for one in released)
        self._noisy: tuple[NoisyCells, ...] = tuple(one.noisy for one in released)
        self.n_records_ = sum(self._records)
        self._find_clusters(receipt)
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
            Cluster of each record, -1 for none; a Spark DataFrame is returned with a column of
            them.
        """
        check_is_fitted(self)
        table = validate_table(X, estimator=self, reset=False, schema=self.schema)
        return self._labels(open_engine(table, Lattice.box(*self.bounds_, half=HALF)))

    def predict_proba(self, X: TableLike) -> Floats:
        """Return the degree to which each record belongs to each cluster; private if records are.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Records in memory.

        Returns
        -------
        degrees : ndarray of shape (n, n_clusters)
            Degrees between 0 and 1, from the record's cell and those around it. What a row lacks to
            1 is the degree to which the record belongs to no cluster.
        """
        check_is_fitted(self)
        table = validate_table(X, estimator=self, reset=False, schema=self.schema)
        if not table.in_memory:
            raise DataError(
                "X must be records in memory for predict_proba: use predict", code="unsupported"
            )
        degrees = sparse.csr_array(
            sparse.block_diag([found.memberships() for found in self._clusters])
        )
        engine = open_engine(table, Lattice.box(*self.bounds_, half=HALF))

        def find(part: Part) -> Labels:
            # There are at most 2^24 cells in a stratum.
            return _find_cells(self._strata, self._noisy, part.records).astype(np.int32)

        rows: Floats = degrees[engine.collect(find, rows=ROWS)].toarray()
        return rows

    def refine(
        self,
        *,
        n_clusters: int | None = None,
        min_cluster_size: float | None = None,
        alpha: float | None = None,
        level: float | None = None,
    ) -> "DPDensity":
        """Find clusters anew, with other settings, in the counts already released; spends nothing.

        If you try several settings and keep the one you like best, it may show a false cluster more
        often than ``alpha`` says. The result has no ``labels_``: call its ``predict``.

        Parameters
        ----------
        n_clusters, min_cluster_size : default=None
            As for the estimator; the estimator's own settings are not kept.
        alpha : float, default=None
            As for the estimator; None keeps the value of the last fit.
        level : float, default=None
            Density at which the tree is cut, in the unit of ``cluster_tree_``: clusters are the
            connected regions above it, and cells below it are in none. None chooses clusters of
            different densities by their excess of mass.

        Returns
        -------
        model : DPDensity
            Another fitted estimator, with the same guarantee and ledger receipt.
        """
        check_is_fitted(self)
        other = copy.copy(self)
        other.n_clusters, other.min_cluster_size = n_clusters, min_cluster_size
        other.alpha = self.release_.values["alpha"] if alpha is None else alpha
        other._check_choices()
        if level is not None:
            _numbers.positive("level", level)
            if n_clusters is not None:
                raise ParameterError(
                    "n_clusters must be left out where a level is given, got both",
                    parameter="n_clusters",
                    code="unexpected",
                )
        other._find_clusters(self.release_.ledger, level=level, known=self._clusters)
        return other

    @classmethod
    def from_release(cls, release: Release) -> "DPDensity":
        """Rebuild a fitted estimator from its release, without the records.

        What was published is enough to :meth:`refine` it, to ``predict`` and to draw it; nothing is
        spent.

        Parameters
        ----------
        release : Release
            Release of a DPDensity.

        Returns
        -------
        model : DPDensity
            Fitted estimator. Its clusters are those of the release's ``alpha``, with all other
            settings at their defaults.

        Raises
        ------
        ReleaseError
            If the release is of another kind, or lacks the counts of its cells.

        Examples
        --------
        >>> from shoal.cluster import DPDensity
        >>> from shoal.datasets import make_circle
        >>> X = make_circle(5_000, random_state=0).X
        >>> model = DPDensity(epsilon=4.0, bounds=(-1.5, 1.5), random_state=0).fit(X)
        >>> again = DPDensity.from_release(model.release_)
        >>> (again.cells_ == model.cells_).all()
        np.True_
        """
        if release.kind != cls.__name__:
            raise ReleaseError(f"release must be of a {cls.__name__}, got one of {release.kind}")
        check_release(release)
        values = release.values
        try:
            schema = Schema.from_dict(values["schema"]) if "schema" in values else None
            low, high = (np.asarray(values[end], dtype=np.float64) for end in ("low", "high"))
            columns = len(low) if schema is None else schema.space.columns
            strata = Strata.plan(schema, columns)
            budgets = plan_budgets(release.guarantee.epsilon, len(strata.grid))
            parts = values.get("strata", [values])
            model = cls(
                epsilon=release.guarantee.epsilon,
                bounds=(low, high) if schema is None else None,
                schema=schema,
                alpha=values["alpha"],
            )
            model._noisy = tuple(published_cells(part, budgets) for part in parts)
            model._records = tuple(float(part["records"]) for part in parts)
            model._check_choices()
        except (KeyError, TypeError, IndexError, ValueError):
            raise ReleaseError(
                "release must hold the counts of its cells, got one without: make it anew"
            ) from None
        model.n_features_in_ = columns
        if values.get("columns") is not None:
            model.feature_names_in_ = np.array(values["columns"], dtype=object)
        model.guarantee_ = release.guarantee
        model.bounds_ = schema_box(given_bounds(model), schema, columns)
        model.strata_, model._strata, model._schema = list(strata.levels), strata, schema
        model.n_records_ = sum(model._records)
        model._find_clusters(release.ledger)
        return model

    def outlines(self, *, longitude: int | str | None = None) -> dict[str, Any]:
        """Return the outlines of the clusters as GeoJSON, from the release alone.

        Parameters
        ----------
        longitude : int or str, default=None
            Column that comes first in each position, as longitude does in GeoJSON. None takes a
            column named lon, lng, long, longitude or x, or else the first.

        Returns
        -------
        collection : dict
            A FeatureCollection with a feature for each cluster, which has its number, its
            estimated size, its share of the records, and its stratum if there are several. With
            two columns features are polygons, in the unit of the bounds or fields; for a place, in
            longitude and latitude (beyond 180 if a polygon crosses that meridian). With one column
            they have no geometry but ``intervals``.

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

    def _find_clusters(
        self,
        receipt: Receipt | None,
        *,
        level: float | None = None,
        known: Sequence[DensityClusters] | None = None,
    ) -> None:
        """Find the clusters of the released counts, and make the release: post-processing.

        ``known``: earlier clusters of the same counts, for which chance was simulated.
        """
        alpha = float(self.alpha) / len(self._noisy)
        chances = [one.chance for one in known] if known else [None] * len(self._noisy)
        self._clusters = tuple(
            self._find_in_stratum(noisy, alpha, level, chance)
            for noisy, chance in zip(self._noisy, chances, strict=True)
        )
        counts = [len(found.flat.nodes) for found in self._clusters]
        self.n_clusters_ = sum(counts)
        self.cluster_strata_ = np.repeat(np.arange(len(counts)), counts)
        self.cluster_sizes_ = np.concatenate([found.flat.sizes for found in self._clusters])
        each: dict[str, list[Any]] = {
            "cluster_tree_": [found.tree for found in self._clusters],
            "cluster_nodes_": [found.flat.nodes for found in self._clusters],
            "threshold_": [found.threshold for found in self._clusters],
            "density_": [found.density for found in self._clusters],
            "cells_": _numbered([found.cells for found in self._clusters], counts),
        }
        for name, values in each.items():
            setattr(self, name, values if len(counts) > 1 else values[0])
        self._publish(receipt)

    def _find_in_stratum(
        self, noisy: NoisyCells, alpha: float, level: float | None, chance: Chance | None
    ) -> DensityClusters:
        found = find_clusters(
            noisy,
            alpha=alpha,
            n_clusters=None if self.n_clusters is None else int(self.n_clusters),
            min_size=float(self.min_cluster_size or 0.0),
            level=level,
            chance=chance,
        )
        # Of one table it is known that there are records; many strata may well have none.
        several = len(self._noisy) > 1
        return found if not several or holds_records(noisy, alpha) else without_clusters(found)

    def _publish(self, receipt: Receipt | None) -> None:
        box = self._strata.box(self.bounds_)
        values: dict[str, Any] = {
            "records": self.n_records_,
            "alpha": float(self.alpha),
            "columns": fitted_names(self),
            "low": box.low,
            "high": box.high,
            "half": HALF,
        }
        if self._schema is not None:
            values["schema"] = self._schema.to_dict()
        if len(self._clusters) == 1:
            values = {**self._clusters[0].values(), **values}
        else:
            values |= {
                "metric": "strata",
                "sizes": self.cluster_sizes_,
                "cluster_strata": self.cluster_strata_,
                "category_blocks": [list(block) for block in self._strata.blocks],
                "cell_columns": list(self._strata.grid),
                # Names of fields are values: as keys they could be those of the encoding.
                "strata": [
                    {**found.values(), "levels": list(levels.items()), "records": records}
                    for found, levels, records in zip(
                        self._clusters, self.strata_, self._records, strict=True
                    )
                ],
            }
        self.release_ = Release(
            kind="DPDensity", values=values, guarantee=self.guarantee_, ledger=receipt
        )

    def _labels(self, engine: Engine) -> Any:
        """Find the cluster of each record's cell: raw-data output, for the curator only."""
        strata, noisy = self._strata, self._noisy
        cells = self.cells_ if len(noisy) > 1 else [self.cells_]
        table = np.concatenate([one.ravel() for one in cells])

        def labels(part: Part) -> Labels:
            return table[_find_cells(strata, noisy, part.records)]

        return engine.collect(labels, rows=ROWS)


def _numbered(cells: list[Labels], counts: list[int]) -> list[Labels]:
    """Return the cells with the clusters of all strata numbered one after the other."""
    firsts = np.cumsum([0, *counts[:-1]])
    return [
        np.where(one >= 0, one + np.int32(first), one)
        for one, first in zip(cells, firsts, strict=True)
    ]


def _find_cells(
    strata: Strata, noisy: Sequence[NoisyCells], records: npt.NDArray[np.int32]
) -> Ints:
    """Return the cell of each record, where those of all strata are one after the other."""
    if len(noisy) == 1:
        return noisy[0].find(strata.pick(records))
    of, picked = strata.find(records), strata.pick(records)
    found = np.empty(len(records), dtype=np.int64)
    first = 0
    for index, cells in enumerate(noisy):
        inside = of == index
        found[inside] = first + cells.find(picked[inside])
        first += cells.counts.size
    return found
