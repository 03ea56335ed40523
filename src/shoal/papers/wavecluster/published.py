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

PrivTHR_EM draws its threshold with an exponential mechanism whose range ends at the true maximum.
The positive values x_1 >= ... >= x_m of the band cut (0, x_1] into partitions; a candidate in
(x_(i+1), x_i] has rank i, the number of values that reach it. A partition is chosen with
probability proportional to its width times e^(-epsilon |i - k| / 2), a candidate evenly in it.
Where one record raises x_1, candidates appear that its absence rules out: no epsilon covers that.
"""

import math
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin

from shoal import _numbers
from shoal._bounds import Box, given_bounds, public_box
from shoal._records import validate_records
from shoal._typing import Bounds, Floats, Ints, Labels, RandomState, TableLike
from shoal.cluster.wavecluster import label_grid, top_cells
from shoal.exceptions import DataError, ParameterError
from shoal.noise import as_source
from shoal.papers.wavecluster.adaptive_grid import adaptive_grid_records
from shoal.privacy import Guarantee

__all__ = [
    "TECHNIQUES",
    "Partitions",
    "PublishedWaveCluster",
    "draw_threshold",
    "haar_band",
    "threshold_partitions",
]

LABEL = "as published, no guarantee"
#: Names of the techniques of the source: PrivTHR, PrivTHR_EM, PrivQT and Baseline.
TECHNIQUES = ("thr", "thr-em", "qt", "baseline")
# Part of epsilon for the counts: alpha of PrivTHR, and that of PrivTHR_EM.
THR_COUNTS, THR_EM_COUNTS = 0.9, 0.7
MAX_CELLS = 2**24


class PublishedWaveCluster(ClusterMixin, BaseEstimator):
    """Private WaveCluster as published, without any guarantee.

    It uses the Haar wavelet at level 1, as the source does: a value of the band is the sum of a
    block of 2^d cells divided by 2^(d/2); in two columns, half the sum of four cells. The source
    always takes a sensitivity of 1.

    Parameters
    ----------
    technique : {"thr", "thr-em", "qt", "baseline"}, default="thr"
        PrivTHR, PrivTHR_EM, PrivQT or Baseline; the last is for two columns only.
    epsilon : float, default=1.0
        The epsilon that the source claims.
    grid : int, default=64
        Number of cells along each column, even.
    threshold : float, default=0.1
        Fraction of the positive values of the band, in [0, 1), that is taken for noise.
    coarse : int, default=None
        For the baseline: number of coarse cells along each column. None takes the formula of
        Qardaji et al.
    bounds : tuple (low, high), default=None
        None computes the bounds from the records, as the source does. Public bounds repair this
        flaw only, so that methods can be compared on the same cells.
    random_state : None, int or Generator, default=None
        Seed of a numpy generator.

    Attributes
    ----------
    cells_ : ndarray of int32, shape (grid / 2, ..., grid / 2)
        Cluster of each cell of the band, -1 if it is not significant.
    n_clusters_ : int
        Number of clusters.
    n_significant_ : int
        Number of significant cells.
    threshold_ : float
        Value that a cell had to reach to be significant.
    counts_ : ndarray of float64, shape (grid, ..., grid)
        The counts that were clustered: noisy ones, or those of synthetic records.
    bounds_ : tuple (low, high)
        The bounds of the grid.
    labels_ : ndarray of int32, shape (n,)
        Cluster of each record, -1 for noise.
    guarantee_ : Guarantee
        A guarantee of notion ``"none"``; its reason names the flaws.

    See Also
    --------
    shoal.cluster.DPWaveCluster : The same techniques, corrected, and a better one.

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

    labels_: Labels

    def __init__(
        self,
        technique: str = "thr",
        *,
        epsilon: float = 1.0,
        grid: int = 64,
        threshold: float = 0.1,
        coarse: int | None = None,
        bounds: Bounds | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.technique = technique
        self.epsilon = epsilon
        self.grid = grid
        self.threshold = threshold
        self.coarse = coarse
        self.bounds = bounds
        self.random_state = random_state

    def fit(self, X: TableLike, y: Any = None) -> Self:
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
        self.bounds_ = (
            _own_box(records) if own else public_box(given_bounds(self), records.shape[1])
        )
        low, high = self.bounds_
        positions = np.clip((records - low) / (high - low), 0.0, 1.0)
        exact = _counts(positions, self.grid)
        self.counts_ = self._noisy_counts(positions, exact, generator)
        band = haar_band(self.counts_)
        self.threshold_ = self._threshold(band, exact, generator)
        mask = band >= self.threshold_
        self.cells_, self.n_clusters_ = label_grid(mask)
        self.n_significant_ = int(mask.sum())
        self.labels_ = self.cells_[tuple((_cells(positions, self.grid) // 2).T)]
        return self

    @property
    def guarantee_(self) -> Guarantee:
        """A guarantee of notion "none"; its reason names the flaws."""
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
        self, positions: Floats, exact: Floats, generator: np.random.Generator
    ) -> Floats:
        if self.technique == "baseline":
            drawn = adaptive_grid_records(positions, self.epsilon, generator, side=self.coarse)
            return _counts(drawn, self.grid)
        part = {"thr": THR_COUNTS, "thr-em": THR_EM_COUNTS}.get(self.technique, 1.0)
        return exact + generator.laplace(0.0, 1 / (part * self.epsilon), exact.shape)

    def _threshold(self, band: Floats, exact: Floats, generator: np.random.Generator) -> float:
        """Find what a value of the band has to reach."""
        keep = 1 - self.threshold
        if self.technique == "thr-em":
            true = haar_band(exact)
            positive = true[true > 0]
            budget = (1 - THR_EM_COUNTS) * self.epsilon
            k = math.ceil(keep * len(positive) - 1e-9)  # as in top_cells
            partitions = threshold_partitions(positive, k=k, epsilon=budget)
            return draw_threshold(partitions, generator)
        left = int((band > 0).sum())
        if self.technique == "thr":
            budget = (1 - THR_COUNTS) * self.epsilon
            empty = (haar_band(exact) <= 0).sum() + generator.laplace(0.0, 1 / budget)
            left -= max(round(empty / 2), 0)
        return top_cells(band, keep * left).threshold

    def _check(self, columns: int) -> None:
        _numbers.choice("technique", self.technique, TECHNIQUES)
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


def haar_band(counts: Floats) -> Floats:
    """Return the average band of the Haar wavelet: sums of blocks of 2^d cells over 2^(d/2).

    Parameters
    ----------
    counts : ndarray of float64, shape (grid, ..., grid)
        Counts of the cells, an even number along each column.

    Returns
    -------
    band : ndarray of float64, shape (grid / 2, ..., grid / 2)
        The band, scaled as in the source.

    Examples
    --------
    >>> import numpy as np
    >>> haar_band(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[5.0]]
    """
    columns = counts.ndim
    blocks = counts.reshape([size for side in counts.shape for size in (side // 2, 2)])
    band: Floats = blocks.sum(axis=tuple(range(1, 2 * columns, 2))) / 2 ** (columns / 2)
    return band


class Partitions(NamedTuple):
    """The intervals among which PrivTHR_EM, as published, chooses its threshold.

    They divide the range from 0 to the largest value, from low to high; those of width 0, between
    equal values, are left out.

    Attributes
    ----------
    low, high : ndarray of float64, shape (m,)
        Interval j is (low[j], high[j]].
    ranks : ndarray of int64, shape (m,)
        Number of values that reach a threshold in each interval.
    chances : ndarray of float64, shape (m,)
        Probability that each interval is chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.papers.wavecluster import threshold_partitions
    >>> found = threshold_partitions(np.array([4.0, 1.0, 2.0]), k=2, epsilon=1.0)
    >>> found.low.tolist(), found.high.tolist()
    ([0.0, 1.0, 2.0], [1.0, 2.0, 4.0])
    """

    low: Floats
    high: Floats
    ranks: Ints
    chances: Floats


def threshold_partitions(values: Floats, *, k: float, epsilon: float) -> Partitions:
    """Return the intervals of PrivTHR_EM's threshold, and the probability of each.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        Positive values of the band, without noise, in any order; at least one.
    k : float
        The wanted rank of the threshold among them.
    epsilon : float
        The epsilon that the source claims for it.

    Returns
    -------
    partitions : Partitions
        The intervals, from low to high, so that ranks decrease.

    Examples
    --------
    >>> import numpy as np
    >>> found = threshold_partitions(np.array([4.0, 1.0, 4.0, 2.0]), k=3, epsilon=np.log(4.0))
    >>> found.high.tolist(), found.ranks.tolist()
    ([1.0, 2.0, 4.0], [4, 3, 2])
    >>> found.chances.round(3).tolist()  # widths 1, 1, 2 with weights 1/2, 1, 1/2
    [0.2, 0.4, 0.4]
    """
    ascending = np.sort(values)
    low = np.concatenate([[0.0], ascending[:-1]])
    ranks = np.arange(len(ascending), 0, -1)
    wide = ascending > low
    low, high, ranks = low[wide], ascending[wide], ranks[wide]
    # In logarithms: at a large epsilon all but a few weights are too small for a double.
    logs = np.log(high - low) - epsilon / 2 * np.abs(ranks - k)
    weights = np.exp(logs - logs.max())
    return Partitions(low, high, ranks, weights / weights.sum())


def draw_threshold(partitions: Partitions, generator: np.random.Generator) -> float:
    """Draw a threshold: choose an interval, and a value uniformly in it.

    Parameters
    ----------
    partitions : Partitions
        From :func:`threshold_partitions`.
    generator : numpy.random.Generator
        Generator of the draw.

    Returns
    -------
    threshold : float
        The threshold, above 0 and at most the true maximum.

    Examples
    --------
    >>> import numpy as np
    >>> found = threshold_partitions(np.array([3.0]), k=1, epsilon=1.0)
    >>> 0 < draw_threshold(found, np.random.default_rng(0)) <= 3.0
    True
    """
    chosen = generator.choice(len(partitions.chances), p=partitions.chances)
    width = partitions.high[chosen] - partitions.low[chosen]
    # random() may be 0 but never 1, and a partition is open below and closed above.
    return float(partitions.high[chosen] - generator.random() * width)


def _own_box(records: Floats) -> Box:
    low, high = records.min(axis=0), records.max(axis=0)
    if not (low < high).all():
        raise DataError("X must vary in every column, or it has no box of its own: pass bounds")
    return Box(low, high)


def _cells(positions: Floats, grid: int) -> Ints:
    cells: Ints = np.minimum((positions * grid).astype(np.int64), grid - 1)
    return cells


def _counts(positions: Floats, grid: int) -> Floats:
    columns = positions.shape[1]
    code = np.zeros(len(positions), dtype=np.int64)
    for column in _cells(positions, grid).T:
        code = code * grid + column
    counted = np.bincount(code, minlength=grid**columns).astype(np.float64)
    return counted.reshape((grid,) * columns)
