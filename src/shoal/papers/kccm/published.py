"""DP-KCCM as published, no guarantee: its noise does not know epsilon.

Where the source is silent or contradicts itself:

* The scale of round t is Delta t in the pseudo-code and Delta / t in the text (``formula=``).
* "Average" noise has no formula; here all rounds get one scale that costs the same in total.
* The centroid is printed upside down, num / sum, in pseudo-code and text; that is no point of the
  data's space, so it is taken for a slip of print and sum / num is used.
* Nothing is said of noisy sizes below 1 and of centers outside the box, which both occur at once;
  here sizes count at least 1 and centers are clipped, or the method would not run at all.
* "An initial centroid selection algorithm" is the sphere packing of the cited Su et al. (2016).

Merging is printed as ``min(p, q) + |p - q| * num(m) / (num(p) + num(q))`` in each column, where m
is the cluster with the larger value: the mean of p and q weighted by their sizes, written another
way. Noise is drawn in doubles, as the source does it: the low bits of a sum tell tables apart. It
goes through :func:`shoal.noise.privatize`, so that a replay can count what the method would spend
if its noise were exact.
"""

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClusterMixin

from shoal import _numbers
from shoal._records import validate_records
from shoal._typing import Floats, RandomState, TableLike
from shoal.cluster.kmeans import KCCM_NOISE, KCCM_ROUNDS, KCCMNoise, pack_spheres
from shoal.exceptions import DataError
from shoal.noise import PrivacyMeasure, RandomSource, as_source, privatize
from shoal.papers.kccm.accounting import Formula, check_formula, real_rho, real_spend, round_cost
from shoal.privacy import Guarantee

__all__ = [
    "DoubleGaussianNoise",
    "DoubleLaplaceNoise",
    "PublishedKCCM",
    "merged_center",
    "published_merge",
]

LABEL = "as published, no guarantee"


class PublishedKCCM(ClusterMixin, BaseEstimator):
    """DP-KCCM as published, without any guarantee: noisy k-means rounds, then merging.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters k. There is no epsilon, because the source's noise does not depend on it.
    formula : {"pseudo-code", "text"}, default="pseudo-code"
        Scale of the noise in round t: Delta t as in the pseudo-code, or Delta / t as in the text,
        with Delta = d + 1.
    noise : {"allocation", "average", "gaussian"}, default="allocation"
        Laplace noise with these scales ("adaptive" in the source), Laplace noise with a single
        scale that costs as much in total, or Gaussian noise with these scales as its standard
        deviation.
    overcluster : int, default=3
        It starts with this many times ``n_clusters`` centers (n in the source); 1 merges nothing.
    max_iter : int, default=12
        Number of rounds.
    random_state : None, int or Generator, default=None
        Seed of a numpy generator.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, d)
        Centers after merging.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Noisy sizes, at least 1.
    labels_ : ndarray of shape (n,)
        Nearest center of each record.
    guarantee_ : Guarantee
        A guarantee of notion ``"none"``; its reason says what the noise really costs.

    See Also
    --------
    shoal.cluster.DPKMeans : The corrected method, with ``method="kccm"``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[-0.5, -0.5], [0.5, 0.5]], 5000, axis=0)
    >>> method = PublishedKCCM(2, formula="text", overcluster=1, random_state=0).fit(X)
    >>> sorted(method.cluster_centers_[:, 0].round(1).tolist())
    [-0.5, 0.5]
    >>> print(method.guarantee_)  # doctest: +NORMALIZE_WHITESPACE
    no privacy guarantee: as published, no guarantee: the noise does not depend on epsilon and 12
    rounds of it spend 78, in doubles whose low bits tell tables apart
    """

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        formula: Formula = "pseudo-code",
        noise: KCCMNoise = "allocation",
        overcluster: int = 3,
        max_iter: int = KCCM_ROUNDS,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.formula = formula
        self.noise = noise
        self.overcluster = overcluster
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: TableLike, y: Any = None) -> Self:
        """Find the centers.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Raw records, scaled to [-1, 1] in every column.
        y : None
            Ignored.

        Returns
        -------
        self : PublishedKCCM
            The fitted method.
        """
        records = validate_records(X, estimator=self)
        self._check()
        if np.abs(records).max() > 1.0:
            raise DataError("X must lie in [-1, 1] in every column: scale it, as the source does")
        source = as_source(self.random_state)
        # The start comes first, so that runs can share it (SharedStart).
        centers = pack_spheres(self.overcluster * self.n_clusters, records.shape[1], source)
        generator = np.random.default_rng(source.words(4))
        for turn in range(1, self.max_iter + 1):
            round_ = self._round(turn, records.shape[1], generator)
            centers, sizes = _noisy_round(records, centers, round_, source)
        centers, sizes = published_merge(centers, sizes, self.n_clusters)
        self.cluster_centers_ = centers
        self.cluster_sizes_ = sizes
        self.labels_ = cdist(records, centers).argmin(axis=1)
        return self

    @property
    def guarantee_(self) -> Guarantee:
        """A guarantee of notion "none"; its reason says what the noise really costs."""
        spent = f"{self.max_iter} rounds of it spend"
        if self.noise != "gaussian":
            spent += f" {real_spend(self.formula, self.max_iter):.4g}"
        elif hasattr(self, "n_features_in_"):
            rho = real_rho(self.formula, self.max_iter, columns=self.n_features_in_)
            spent += f" rho = {rho:.4g} of zCDP and any pure epsilon"
        else:
            spent += " any pure epsilon"
        return Guarantee.none(
            f"{LABEL}: the noise does not depend on epsilon and {spent}, in doubles whose low bits "
            "tell tables apart"
        )

    def _round(self, turn: int, columns: int, generator: np.random.Generator) -> "_Round":
        """Return noise and costs of a round.

        Of Delta = d r + 1, d r is for the sums and 1 for the counts. Squared, as Gaussian noise
        counts it, the same: d r^2 and 1, since r = 1.
        """
        scale = (1 + columns) / self._cost(turn)
        if self.noise == "gaussian":
            square = 1 / scale**2
            return _Round(DoubleGaussianNoise(scale, generator), columns * square, square)
        return _Round(DoubleLaplaceNoise(scale, generator), columns / scale, 1 / scale)

    def _cost(self, turn: int) -> float:
        """Epsilon of a round of Laplace noise; Delta over it is the scale."""
        if self.noise == "average":
            return real_spend(self.formula, self.max_iter) / self.max_iter
        return round_cost(self.formula, turn)

    def _check(self) -> None:
        for name in ("n_clusters", "overcluster", "max_iter"):
            _numbers.count(name, getattr(self, name))
        check_formula(self.formula)
        _numbers.choice("noise", self.noise, KCCM_NOISE)


def published_merge(centers: Floats, sizes: Floats, k: int) -> tuple[Floats, Floats]:
    """Merge the two nearest centers repeatedly until k remain.

    Parameters
    ----------
    centers : ndarray of float64, shape (m, d)
        Noisy centers.
    sizes : ndarray of float64, shape (m,)
        Noisy sizes, above 0.
    k : int
        Number of centers to keep.

    Returns
    -------
    centers, sizes : ndarray
        The k centers that remain, and their sizes; a merged cluster has the sum of both sizes.

    Examples
    --------
    >>> import numpy as np
    >>> centers, sizes = np.array([[0.0], [1.0], [9.0]]), np.array([3.0, 1.0, 2.0])
    >>> [found.tolist() for found in published_merge(centers, sizes, 2)]
    [[[0.25], [9.0]], [4.0, 2.0]]
    """
    centers, sizes = centers.copy(), sizes.copy()
    while len(centers) > k:
        gaps = cdist(centers, centers)
        np.fill_diagonal(gaps, np.inf)
        p, q = np.unravel_index(gaps.argmin(), gaps.shape)
        centers[p] = merged_center(centers[p], centers[q], float(sizes[p]), float(sizes[q]))
        sizes[p] += sizes[q]
        centers, sizes = np.delete(centers, q, axis=0), np.delete(sizes, q)
    return centers, sizes


def merged_center(p: Floats, q: Floats, size_p: float, size_q: float) -> Floats:
    """Merge two centers as the source writes it.

    Parameters
    ----------
    p, q : ndarray of float64, shape (d,)
        Noisy centers.
    size_p, size_q : float
        Noisy sizes, above 0.

    Returns
    -------
    center : ndarray of float64, shape (d,)
        The size of the cluster with the larger value draws each column toward it.

    Examples
    --------
    >>> import numpy as np
    >>> merged_center(np.array([0.0, 1.0]), np.array([1.0, 0.0]), 3.0, 1.0).tolist()
    [0.25, 0.75]
    """
    larger = np.where(p >= q, size_p, size_q)
    center: Floats = np.minimum(p, q) + np.abs(p - q) * larger / (size_p + size_q)
    return center


@dataclass(frozen=True)
class DoubleLaplaceNoise:
    """Laplace noise in doubles on every entry: no guarantee.

    Parameters
    ----------
    scale : float
        Scale of the noise.
    generator : numpy.random.Generator
        Where it comes from.

    Examples
    --------
    >>> noise = DoubleLaplaceNoise(2.0, np.random.default_rng(0))
    >>> noise.privacy_loss(np.array([7.0, 1.0]), np.array([8.0, 0.0]))
    1.0
    """

    scale: float
    generator: np.random.Generator = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"Laplace noise in doubles, scale {self.scale:.4g}"

    @property
    def privacy_measure(self) -> PrivacyMeasure:
        """Pure epsilon."""
        return "epsilon"

    def sample(self, exact: Floats, source: RandomSource) -> Floats:
        """Add the noise."""
        return exact + self.generator.laplace(0.0, self.scale, exact.shape)

    def privacy_loss(self, exact: Floats, other: Floats) -> float:
        """Return the sum of the differences over the scale, as if the noise were exact."""
        if exact.shape != other.shape:
            return math.inf
        return float(np.abs(exact - other).sum()) / self.scale


@dataclass(frozen=True)
class DoubleGaussianNoise:
    """Gaussian noise in doubles on every entry: no guarantee.

    Parameters
    ----------
    sigma : float
        Standard deviation.
    generator : numpy.random.Generator
        Where it comes from.

    Examples
    --------
    >>> noise = DoubleGaussianNoise(2.0, np.random.default_rng(0))
    >>> noise.privacy_loss(np.array([7.0, 1.0]), np.array([9.0, 1.0]))
    1.0
    """

    sigma: float
    generator: np.random.Generator = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"Gaussian noise in doubles, sigma {self.sigma:.4g}"

    @property
    def privacy_measure(self) -> PrivacyMeasure:
        """The square of mu of Gaussian differential privacy."""
        return "mu^2"

    def sample(self, exact: Floats, source: RandomSource) -> Floats:
        """Add the noise."""
        return exact + self.generator.normal(0.0, self.sigma, exact.shape)

    def privacy_loss(self, exact: Floats, other: Floats) -> float:
        """Return the squared distance over the variance, as if the noise were exact."""
        if exact.shape != other.shape:
            return math.inf
        return float(((exact - other) ** 2).sum()) / self.sigma**2


class _Round(NamedTuple):
    """The noise of a round, and what one record costs in its sums and its counts."""

    noise: DoubleLaplaceNoise | DoubleGaussianNoise
    sums: float
    counts: float


def _noisy_round(
    records: Floats, centers: Floats, turn: _Round, source: RandomSource
) -> tuple[Floats, Floats]:
    """Assign records to centers, add noise to counts and sums, and divide."""
    labels = cdist(records, centers).argmin(axis=1)
    one_hot = np.zeros((len(centers), len(records)))
    one_hot[labels, np.arange(len(records))] = 1.0
    sums = privatize(one_hot @ records, turn.noise, cost=turn.sums, source=source)
    counts = privatize(one_hot.sum(axis=1), turn.noise, cost=turn.counts, source=source)
    sizes = np.maximum(counts, 1.0)
    return np.clip(sums / sizes[:, None], -1.0, 1.0), sizes
