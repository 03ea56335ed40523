"""Private WaveCluster: clusters of any shape, for a curator who holds the records.

After Chen, Yu & Chirkova (2015) with their promises kept, and our own one-shot technique. Central
differential privacy, pure epsilon, under add/remove of one record. Records are counted on a public
grid, every released number gets exact discrete noise, and thresholds, components and the map from
records to cells are post-processing (proofs/wavecluster.md).
"""

import math
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from shoal._bounds import Box
from shoal._records import fitted_names
from shoal._table_input import leaves_last_fit, validate_table
from shoal.cluster._curator import CuratorsClusterer
from shoal.cluster._noise import PureNoise
from shoal.cluster._open_engine import open_engine
from shoal.cluster._pay import pay
from shoal.cluster.wavecluster._cells import record_labels
from shoal.cluster.wavecluster._components import connected_components
from shoal.cluster.wavecluster._fit import find_cells
from shoal.cluster.wavecluster._problem import Cells
from shoal.cluster.wavecluster._settings import WaveSettings, check_wave_settings
from shoal.engines import HALF, Engine
from shoal.noise import Lattice, as_source
from shoal.privacy import Adjacency, Guarantee, Ledger, Receipt, Release

__all__ = ["DPWaveCluster"]

MAX_TABLE = 2**24  # cells of ``cells_``


class DPWaveCluster(CuratorsClusterer):
    """Clusters of any shape, from a private grid.

    Parameters
    ----------
    epsilon : float, default=1.0
        Budget of one ``fit``; ``inf`` for WaveCluster without privacy.
    bounds : tuple (low, high)
        Public box, two numbers or one value per column in each. Records outside are clipped.
    grid : int or "auto", default=64
        Cells along each column, a multiple of 2^level. ``"auto"`` chooses from the number of
        records, the columns and epsilon.
    threshold : float, default=0.1
        Part of the positive values of the band, in [0, 1), that counts as noise.
    wavelet : str, default="haar"
        A discrete wavelet of PyWavelets.
    level : int, default=1
        How often the wavelet is applied; a band value stands for 2^level cells to a side.
    technique : {"oneshot", "thr", "thr-em", "qt", "baseline", "density"}, default="oneshot"
        ``"oneshot"`` (ours): all of epsilon on the band, the threshold from the known noise.
        ``"thr"``, ``"thr-em"``, ``"qt"``, ``"baseline"``: the published ones, corrected.
        ``"density"``: neighborhoods that hold ``min_samples`` records, as in DBSCAN.
    min_samples : int, default=10
        For ``"density"``: records that a cell and its neighbors must hold.
    n_public : int, default=None
        The number of records where it is public. None spends 2% of epsilon on a noisy count where
        one is needed: for ``grid="auto"`` and ``"baseline"``.
    ledger : Ledger, default=None
        Charged with the whole budget before the first number is released.
    random_state : None, int, RandomState or Generator, default=None
        None draws from the operating system's entropy. A seed is for tests and experiments.

    Attributes
    ----------
    cells_ : ndarray of int32 over the band's grid
        Cluster of each cell, -1 where it is not significant; only for bands of at most 2^24 cells.
    cell_codes_, cell_labels_ : ndarray of shape (n_significant_,)
        Significant cells, numbered row by row over the band's grid, and their clusters.
    cell_values_ : ndarray of shape (n_significant_,)
        Their noisy values, in units of what one record changes.
    band_shape_ : tuple of int
        Cells of the band along each column.
    n_clusters_ : int
        Number of clusters.
    n_significant_ : int
        Number of significant cells.
    threshold_ : float
        Value that a cell had to reach.
    grid_ : int
        Cells along each column.
    guarantee_ : Guarantee
        What ``release_`` promises.
    release_ : Release
        The only thing meant to leave the curator.
    labels_ : ndarray of shape (n,)
        Cluster of each record, -1 for noise: private, for the curator only. Only for records in
        memory, and only in the process and the object that ``fit`` ran on: copies, pickles and
        displays have none.
    bounds_ : tuple (low, high)
        The public box.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where the table has them.

    See Also
    --------
    DPKMeans : Round clusters, in any number of columns.

    Notes
    -----
    The promise is to records. For a person with up to m of them it is ``guarantee_.for_group(m)``;
    only ``DPKMeans`` takes ``user_ids``.

    Where the promise ends (proofs/wavecluster.md): ``fit`` raises before anything is spent where
    there is no record, or a number is NaN or infinite. That costs nothing and can be repeated, and
    it tells whether a chosen subset is empty: errors are for the curator's eyes. ``labels_`` and
    ``predict`` of private records are exact. How long a fit takes and how much memory it needs
    depends on the records, and is not hidden.

    Examples
    --------
    >>> from shoal.cluster import DPWaveCluster
    >>> from shoal.datasets import make_spirals
    >>> X = make_spirals(30_000, random_state=0).X
    >>> model = DPWaveCluster(epsilon=1.0, bounds=(-1.0, 1.0), threshold=0.3, random_state=0).fit(X)
    >>> model.n_clusters_, model.cells_.shape
    (3, (32, 32))
    """

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        bounds: Any = None,
        grid: int | str = 64,
        threshold: float = 0.1,
        wavelet: str = "haar",
        level: int = 1,
        technique: str = "oneshot",
        min_samples: int = 10,
        n_public: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
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
    def fit(self, X: Any, y: Any = None) -> Self:
        """Spend the budget and find the clusters.

        Parameters
        ----------
        X : array-like of shape (n, d), ArrowTable, Arrow dataset or Spark DataFrame
            Records. Those that are not in memory are read once to see that they are all right, and
            then once for each pass.
        y : None
            Ignored.

        Returns
        -------
        self : DPWaveCluster
            The fitted estimator.
        """
        table = validate_table(X, estimator=self)
        settings = check_wave_settings(self, table.columns)
        source = as_source(self.random_state)
        what = f"DPWaveCluster({self.technique})"
        promise = (
            Guarantee.none("epsilon is infinite: WaveCluster without noise")
            if math.isinf(self.epsilon)
            else Guarantee(
                "central",
                epsilon=float(self.epsilon),
                adjacency=Adjacency.ADD_REMOVE,
                seeded=source.seeded,
            )
        )
        receipt = pay(
            self.ledger,
            table,
            PureNoise(float(self.epsilon)),
            settings.shares,
            what=what,
            promise=promise,
            columns=getattr(self, "feature_names_in_", ()),
        )
        lattice = Lattice.box(*settings.box, half=HALF)
        engine = open_engine(table, lattice)
        found = find_cells(self, engine, settings, source)
        self.guarantee_ = promise
        self._keep_labels(None)  # those of an earlier fit are not of what is released now
        self._publish(found.cells, settings, found.grid, found.shape, receipt)
        self._keep_labels(self._labels(engine) if table.in_memory else None)
        return self

    def predict(self, X: Any) -> Any:
        """Find the cluster of each record's cell; of private records, private.

        Parameters
        ----------
        X : array-like of shape (n, d), path, Arrow dataset or Spark DataFrame
            Records.

        Returns
        -------
        labels : ndarray of shape (n,), or Spark DataFrame
            Cluster, or -1 where the cell is not significant; a Spark DataFrame gets it as a further
            column.
        """
        check_is_fitted(self)
        table = validate_table(X, estimator=self, reset=False)
        return self._labels(open_engine(table, Lattice.box(*self.bounds_, half=HALF)))

    def _labels(self, engine: Engine) -> Any:
        block = self.grid_ // self.band_shape_[0]
        if hasattr(self, "cells_"):  # a table is quicker than a search
            return record_labels(engine, self.grid_, block, table=self.cells_.ravel())
        significant = self.cell_codes_, self.cell_labels_
        return record_labels(engine, self.grid_, block, significant=significant)

    def _publish(
        self,
        cells: Cells,
        settings: WaveSettings,
        grid: int,
        shape: tuple[int, ...],
        receipt: Receipt | None,
    ) -> None:
        box: Box = settings.box
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
        if cells.everything is not None:
            values["band"] = cells.everything
        self.release_ = Release(
            kind="DPWaveCluster", values=values, guarantee=self.guarantee_, ledger=receipt
        )
