"""DP-WaveCluster as published, no guarantee: PrivQT, PrivTHR, PrivTHR_EM and Baseline.

Where the source is silent or contradicts itself:

* "Top k" with a fraction k is rounded up, which gives the source's own figures (144 of 159), and
  all values that reach the k-th largest are kept, as in the corrected method. The source keeps
  those "greater", which would be 143; on its third set, where 68 cells tie, 252 and not 320.
* PrivTHR drops |Z|'/2 values; here that is rounded, not below 0, and leaves at least one.
* Nothing is said of how the box is found; the source's programs take it from the records.
* Baseline's coarse grid follows from the number of records in Qardaji et al., which is taken as it
  is here. The source's programs have 10 x 10 coarse cells (``coarse=10``), which comes nearer to
  its figures.
* The source's programs average ten draws of the exponential mechanism, each at full cost, for one
  threshold. The text has one draw, and so has this.
"""

import math
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin

from shoal import _numbers
from shoal._bounds import Box, public_box
from shoal._records import validate_records
from shoal._typing import Floats
from shoal.cluster.wavecluster._components import label_grid
from shoal.cluster.wavecluster._reference import top_cells
from shoal.exceptions import DataError, ParameterError
from shoal.noise import as_source
from shoal.papers.wavecluster.adaptive_grid import adaptive_grid_records
from shoal.papers.wavecluster.haar_band import haar_band
from shoal.papers.wavecluster.published_threshold import draw_threshold, threshold_partitions
from shoal.privacy import Guarantee

__all__ = ["TECHNIQUES", "PublishedWaveCluster"]


LABEL = "as published, no guarantee"
TECHNIQUES = ("thr", "thr-em", "qt", "baseline")
THR_SHARE = 0.9  # alpha of PrivTHR, for the counts
THR_EM_SHARE = 0.7
MAX_CELLS = 2**24


class PublishedWaveCluster(ClusterMixin, BaseEstimator):
    """Find clusters of any shape, as the source prints it: no guarantee.

    The Haar wavelet at level 1, the source's choice: a value of the band is the sum of a block of
    2^d cells over 2^(d/2), half the sum of four cells in two columns. Sensitivity is always 1.

    Parameters
    ----------
    technique : {"thr", "thr-em", "qt", "baseline"}, default="thr"
        PrivTHR, PrivTHR_EM, PrivQT or Baseline, the last for two columns only.
    epsilon : float, default=1.0
        What the source claims to spend.
    grid : int, default=64
        Cells along each column, an even number.
    threshold : float, default=0.1
        Part of the positive values of the band, in [0, 1), that counts as noise.
    coarse : int, default=None
        Coarse cells along each column for the baseline. None takes Qardaji et al.'s formula.
    bounds : tuple (low, high), default=None
        None takes the box from the records, as the source does. A public box mends that flaw alone,
        for comparisons on the same cells.
    random_state : None, int or Generator, default=None
        Seed of a numpy generator.

    Attributes
    ----------
    cells_ : ndarray of int32, shape (grid / 2, ..., grid / 2)
        Cluster of each cell of the band, -1 where it is not significant.
    n_clusters_ : int
        Number of clusters.
    n_significant_ : int
        Number of significant cells.
    threshold_ : float
        Value that a cell had to reach.
    counts_ : ndarray of float64, shape (grid, ..., grid)
        What was clustered: noisy counts, or counts of synthetic records.
    bounds_ : tuple (low, high)
        The box of the grid.
    labels_ : ndarray of int32, shape (n,)
        Cluster of each record, -1 for noise.
    guarantee_ : Guarantee
        Of notion ``"none"``; its reason names the flaws.

    See Also
    --------
    shoal.cluster.DPWaveCluster : The same techniques with their promises kept, and a better one.

    Examples
    --------
    >>> from shoal.datasets import make_spirals
    >>> X = make_spirals(30_000, random_state=0).X
    >>> method = PublishedWaveCluster("qt", epsilon=1.0, grid=40, random_state=0).fit(X)
    >>> method.cells_.shape
    (20, 20)
    >>> print(method.guarantee_)  # doctest: +NORMALIZE_WHITESPACE
    no privacy guarantee: as published, no guarantee: the box is taken from the records, a modified
    record changes two counts where sensitivity 1 allows for one, and the noise is in doubles whose
    low bits tell tables apart
    """

    labels_: npt.NDArray[np.int32]

    def __init__(
        self,
        technique: str = "thr",
        *,
        epsilon: float = 1.0,
        grid: int = 64,
        threshold: float = 0.1,
        coarse: int | None = None,
        bounds: Any = None,
        random_state: Any = None,
    ) -> None:
        self.technique = technique
        self.epsilon = epsilon
        self.grid = grid
        self.threshold = threshold
        self.coarse = coarse
        self.bounds = bounds
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Raw records.
        y : None
            Ignored.

        Returns
        -------
        self : PublishedWaveCluster
            The fitted method.
        """
        records = validate_records(X, estimator=self)
        self._check(records.shape[1])
        generator = np.random.default_rng(as_source(self.random_state).words(4))
        own = self.bounds is None
        self.bounds_ = _own_box(records) if own else public_box(self.bounds, records.shape[1])
        low, high = self.bounds_
        places = np.clip((records - low) / (high - low), 0.0, 1.0)
        exact = _counts(places, self.grid)
        self.counts_ = self._noisy_counts(places, exact, generator)
        band = haar_band(self.counts_)
        self.threshold_ = self._threshold(band, exact, generator)
        mask = band >= self.threshold_
        self.cells_, self.n_clusters_ = label_grid(mask)
        self.n_significant_ = int(mask.sum())
        self.labels_ = self.cells_[tuple((_cells(places, self.grid) // 2).T)]
        return self

    @property
    def guarantee_(self) -> Guarantee:
        """Nothing is promised; the reason names the flaws."""
        flaws = []
        if self.technique == "thr-em":
            flaws.append("the threshold is drawn up to the true maximum")
        if self.technique == "baseline" and self.coarse is None:
            flaws.append("the number of records is used without noise")
        if self.bounds is None:
            flaws.append("the box is taken from the records")
        flaws.append("a modified record changes two counts where sensitivity 1 allows for one")
        doubles = "and the noise is in doubles whose low bits tell tables apart"
        return Guarantee.none(f"{LABEL}: {', '.join([*flaws, doubles])}")

    def _noisy_counts(
        self, places: Floats, exact: Floats, generator: np.random.Generator
    ) -> Floats:
        if self.technique == "baseline":
            drawn = adaptive_grid_records(places, self.epsilon, generator, side=self.coarse)
            return _counts(drawn, self.grid)
        share = {"thr": THR_SHARE, "thr-em": THR_EM_SHARE}.get(self.technique, 1.0)
        return exact + generator.laplace(0.0, 1 / (share * self.epsilon), exact.shape)

    def _threshold(self, band: Floats, exact: Floats, generator: np.random.Generator) -> float:
        """Find what a value of the band has to reach."""
        keep = 1 - self.threshold
        if self.technique == "thr-em":
            true = haar_band(exact)
            positive = true[true > 0]
            share = (1 - THR_EM_SHARE) * self.epsilon
            k = math.ceil(keep * len(positive) - 1e-9)  # as in top_cells
            partitions = threshold_partitions(positive, k=k, epsilon=share)
            return draw_threshold(partitions, generator)
        left = int((band > 0).sum())
        if self.technique == "thr":
            share = (1 - THR_SHARE) * self.epsilon
            empty = (haar_band(exact) <= 0).sum() + generator.laplace(0.0, 1 / share)
            left -= max(round(empty / 2), 0)
        return top_cells(band, keep * left).threshold

    def _check(self, columns: int) -> None:
        if self.technique not in TECHNIQUES:
            raise ParameterError(f"technique must be one of {TECHNIQUES}, got {self.technique!r}")
        _numbers.positive("epsilon", self.epsilon)
        _numbers.probability("threshold", self.threshold)
        if self.coarse is not None:
            _numbers.count("coarse", self.coarse)
        if _numbers.count("grid", self.grid) % 2:
            raise ParameterError(f"grid must be even, got {self.grid}: try {self.grid + 1}")
        if columns * math.log2(self.grid) > math.log2(MAX_CELLS):
            raise ParameterError(
                f"grid must have at most {MAX_CELLS} cells in all, got {self.grid}^{columns}"
            )
        if self.technique == "baseline" and columns != 2:
            raise DataError(f"X must have 2 columns for the baseline, got {columns}")


def _own_box(records: Floats) -> Box:
    low, high = records.min(axis=0), records.max(axis=0)
    if not (low < high).all():
        raise DataError("X must vary in every column, or it has no box of its own: pass bounds")
    return Box(low, high)


def _cells(places: Floats, grid: int) -> npt.NDArray[np.int64]:
    cells: npt.NDArray[np.int64] = np.minimum((places * grid).astype(np.int64), grid - 1)
    return cells


def _counts(places: Floats, grid: int) -> Floats:
    columns = places.shape[1]
    code = np.zeros(len(places), dtype=np.int64)
    for column in _cells(places, grid).T:
        code = code * grid + column
    counted = np.bincount(code, minlength=grid**columns).astype(np.float64)
    return counted.reshape((grid,) * columns)
