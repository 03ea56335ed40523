"""Private k-means for a curator who holds the records.

Central differential privacy under add/remove of one record, pure for ``delta=0`` and through zCDP
otherwise. Records are rounded to a public lattice, every released number gets exact discrete noise,
and everything after the noise is post-processing (proofs/lloyd.md).
"""

import math
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from shoal import _numbers
from shoal._bounds import Box, public_box
from shoal._records import validate_records
from shoal.cluster._budget import MOST_ROUNDS, lloyd_rounds
from shoal.cluster._centres import pack_spheres
from shoal.cluster._lloyd import NoisyCentres, noisy_lloyd
from shoal.cluster._noise import Noise, noise_for
from shoal.engines import nearest_centres, nearest_statistics
from shoal.exceptions import DataError, ParameterError
from shoal.noise import MAX_SCALE, Lattice, RandomSource, as_source
from shoal.privacy import Adjacency, Guarantee, Ledger, Release

__all__ = ["DPKMeans"]

METHODS = ("auto", "lloyd")
HALF = 2**19  # lattice records lie in -HALF .. HALF
MOST_COLUMNS = 8192  # above, products of records would not be exact in doubles
COUNT_SHARE = 0.02  # of epsilon, for the noisy number of records where none is declared


class DPKMeans(ClusterMixin, BaseEstimator):
    """k-means whose centres may be published.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters; it may exceed the number of records.
    epsilon : float, default=1.0
        Budget of one ``fit``.
    delta : float, default=0.0
        0 for pure differential privacy (Laplace noise), above 0 for Gaussian noise.
    bounds : tuple (low, high)
        Public box, two numbers or one value per column in each. Records outside are clipped.
    method : {"auto", "lloyd"}, default="auto"
        ``"lloyd"``: rounds of noisy counts and sums; ``"auto"`` chooses among the methods there
        are, today this one.
    n_public : int, default=None
        The number of records where it is public. None spends 2% of epsilon on a noisy count, which
        sets the number of rounds.
    max_iter : int, default=None
        Number of rounds; None takes 2 to 7, as many as epsilon can pay for.
    ledger : Ledger, default=None
        Charged with the whole budget before the first number is released.
    random_state : None, int, RandomState or Generator, default=None
        None draws from the operating system's entropy. A seed is for tests and experiments.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, d)
        Private centres.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Noisy sizes around the centres of the last round, none below 0.
    guarantee_ : Guarantee
        What ``release_`` promises.
    release_ : Release
        The only thing meant to leave the curator.
    labels_ : ndarray of shape (n,)
        Cluster of each record: private, for the curator only; dropped by pickle.
    n_iter_ : int
        Number of rounds.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where the table has them.

    See Also
    --------
    shoal.mechanisms.Laplace : The local model, where no one but the device sees the record.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.cluster import DPKMeans
    >>> X = np.repeat([[-5.0, -5.0], [5.0, 5.0]], 5000, axis=0)
    >>> model = DPKMeans(2, epsilon=1.0, bounds=(-10.0, 10.0), random_state=0).fit(X)
    >>> sorted(np.rint(model.cluster_centers_[:, 0]).astype(int).tolist())
    [-5, 5]
    >>> model.guarantee_.epsilon, model.guarantee_.holds
    (1.0, False)
    """

    labels_: npt.NDArray[np.int32]

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        bounds: Any = None,
        method: str = "auto",
        n_public: int | None = None,
        max_iter: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.method = method
        self.n_public = n_public
        self.max_iter = max_iter
        self.ledger = ledger
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Spend the budget and find the centres.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Records.
        y : None
            Ignored.

        Returns
        -------
        self : DPKMeans
            The fitted estimator.
        """
        X = validate_records(X, estimator=self)
        box = self._check(X.shape[1])
        source = as_source(self.random_state)
        lattice = Lattice.box(box.low, box.high, half=HALF)
        records = lattice.encode(X)
        noise = noise_for(self.epsilon, self.delta)
        self._check_scales(noise, X.shape[1])
        if self.ledger is not None:
            # The count and the rounds divide a fixed total, so all of it is spent before any.
            self.ledger.spend(
                noise.event("count and rounds"), purpose=f"DPKMeans({self.n_clusters})"
            )
        found = self._lloyd(records, noise, source)
        self.cluster_centers_ = lattice.decode(found.centres)
        self.cluster_sizes_ = np.maximum(found.counts, 0)
        self.labels_ = nearest_centres(records, found.centres)
        self.guarantee_ = Guarantee(
            "central",
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            adjacency=Adjacency.ADD_REMOVE,
            seeded=source.seeded,
        )
        self.release_ = Release(
            kind="DPKMeans",
            values={
                "centres": self.cluster_centers_,
                "sizes": self.cluster_sizes_,
                "low": box.low,
                "high": box.high,
                "rounds": self.n_iter_,
            },
            guarantee=self.guarantee_,
        )
        return self

    def predict(self, X: Any) -> npt.NDArray[np.int32]:
        """Find the nearest centre of each record; of private records, private.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Records.

        Returns
        -------
        labels : ndarray of shape (n,)
            Index of the nearest centre.
        """
        check_is_fitted(self)
        records = validate_records(X, estimator=self, reset=False)
        lattice = Lattice.box(*public_box(self.bounds, records.shape[1]), half=HALF)
        return nearest_centres(lattice.encode(records), lattice.encode(self.cluster_centers_))

    def score(self, X: Any, y: Any = None) -> float:
        """Give minus the cost: the sum of squared distances to the nearest centre; private.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Records.
        y : None
            Ignored.

        Returns
        -------
        score : float
            Larger is better. Choosing among fits by this number has no guarantee.
        """
        labels = self.predict(X)
        records = validate_records(X, estimator=self, reset=False)
        gaps = records - self.cluster_centers_[labels]
        return -float(np.einsum("ij,ij->", gaps, gaps))

    def _check(self, columns: int) -> Box:
        _numbers.count("n_clusters", self.n_clusters)
        _numbers.positive("epsilon", self.epsilon)
        _numbers.probability("delta", self.delta)
        if self.method not in METHODS:
            raise ParameterError(f"method must be one of {METHODS}, got {self.method!r}")
        for name in ("n_public", "max_iter"):
            if getattr(self, name) is not None:
                _numbers.count(name, getattr(self, name))
        if not (self.ledger is None or isinstance(self.ledger, Ledger)):
            raise ParameterError(f"ledger must be a Ledger or None, got {self.ledger!r}")
        if columns > MOST_COLUMNS:
            raise DataError(f"X must have at most {MOST_COLUMNS} columns, got {columns}")
        return public_box(self.bounds, columns)

    def _check_scales(self, noise: Noise, columns: int) -> None:
        """Refuse an epsilon so small that no lattice holds its noise, before it is spent."""
        rounds = self.max_iter or MOST_ROUNDS
        paid = (1 - COUNT_SHARE) * noise.budget / rounds
        shares = noise.split(paid, columns)
        if not shares.counts > 0:
            largest = math.inf
        else:
            largest = max(
                noise.scale(COUNT_SHARE * noise.budget, columns=1, reach=1),
                noise.scale(shares.counts, columns=1, reach=1),
                noise.scale(shares.sums, columns=columns, reach=HALF),
            )
        if largest > MAX_SCALE:
            raise ParameterError(
                f"epsilon must be larger for {columns} columns and {rounds} rounds, "
                f"got {self.epsilon!r}: its noise would be wider than the integers it is added to"
            )

    def _lloyd(
        self, records: npt.NDArray[np.int64], noise: Noise, source: RandomSource
    ) -> NoisyCentres:
        k, d = self.n_clusters, records.shape[1]
        share = noise.budget
        if self.n_public is None:
            count = np.array([len(records)])
            paid = COUNT_SHARE * noise.budget
            n = float(noise.add(count, paid, columns=1, reach=1, source=source)[0])
            share -= paid
        else:
            n = float(self.n_public)
        self.n_iter_ = self.max_iter or lloyd_rounds(n, d, k, self.epsilon)
        return noisy_lloyd(
            partial(nearest_statistics, records),
            np.rint(pack_spheres(k, d, source) * HALF).astype(np.int64),
            half=HALF,
            rounds=self.n_iter_,
            noise=noise,
            share=share,
            source=source,
        )

    def __getstate__(self) -> dict[str, Any]:
        # Labels are raw-data output: they stay with the curator's own process.
        state: dict[str, Any] = {**super().__getstate__()}
        state.pop("labels_", None)
        return state
