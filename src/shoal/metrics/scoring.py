"""All measures of a clustering in one call."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    normalized_mutual_info_score,
)
from sklearn.utils import check_random_state

from shoal._numbers import count
from shoal._records import validate_records
from shoal._typing import Floats, RandomState
from shoal.exceptions import ParameterError
from shoal.metrics._centers import as_centers
from shoal.metrics._dispersion import measure_dispersion
from shoal.metrics._label_codes import Codes, label_codes
from shoal.metrics._silhouette import mean_silhouette
from shoal.metrics.centroid_index import center_distances, most_orphans
from shoal.metrics.centroid_relative_error import matched_distance, spread_of
from shoal.metrics.clustering_scores import ClusteringScores
from shoal.metrics.nicv import mean_squared_distance


class _Agreement(NamedTuple):
    ami: float | None = None
    ari: float | None = None
    nmi: float | None = None


class _Placement(NamedTuple):
    relative_error: float | None = None
    orphans: int | None = None


def score_clustering(
    X: Any,
    labels: Any,
    *,
    centers: Any = None,
    reference_labels: Any = None,
    reference_centers: Any = None,
    silhouette_limit: int = 10_000,
    random_state: int | np.random.RandomState | None = 0,
) -> ClusteringScores:
    """Measure a clustering: its shape, its cost, and how it agrees with a reference.

    Records with the label -1 are noise (of WaveCluster or DBSCAN): they are left out of silhouette,
    Calinski-Harabasz, Davies-Bouldin, NICV and cost, and are one more group in AMI, ARI and NMI.
    Records are read in chunks: beyond the input the call holds about 50 bytes a record, less than
    the input from 8 columns on, or 40 MB if that is more. AMI takes a step for each pair of
    clusters of the two labelings: thousands of clusters on both sides take long.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Records.
    labels : array-like of integers or strings, shape (n,)
        Cluster of each record.
    centers : array-like of shape (k, d), optional
        Centers of the clusters, the released ones, say; by default the means of the records of each
        label. NICV and cost take the nearest center, whatever the label.
    reference_labels : array-like of integers or strings, shape (n,), optional
        Labels to compare with (AMI, ARI, NMI).
    reference_centers : array-like of shape (k', d), optional
        Centers to compare with (:func:`~shoal.metrics.centroid_relative_error` and
        :func:`~shoal.metrics.centroid_index`).
    silhouette_limit : int, default=10_000
        Most records to compute the silhouette of, which needs the distances of all pairs. Of more,
        a sample of that size is drawn, with two records or more of each cluster.
    random_state : int, RandomState or None, default=0
        Draws that sample.

    Returns
    -------
    scores : ClusteringScores
        None stands for a measure that was not asked for or does not exist: with a single cluster,
        with as many clusters as records, with nothing to divide by.

    Raises
    ------
    DataError
        If `X` is not a table of finite numbers, or too large to be squared.
    ParameterError
        If another parameter breaks its rule.

    Examples
    --------
    >>> X = [[0.0], [2.0], [10.0], [12.0], [99.0]]
    >>> scores = score_clustering(X, [0, 0, 1, 1, -1], reference_labels=["a", "a", "b", "b", "c"])
    >>> scores.nicv, scores.ari, scores.noise_share, scores.centroid_index
    (1.0, 1.0, 0.2, None)
    """
    records = validate_records(X)
    n, columns = records.shape
    codes = label_codes("labels", labels, n=n)
    truth = (
        None if reference_labels is None else label_codes("reference_labels", reference_labels, n=n)
    )
    places = None if centers is None else as_centers(centers, name="centers", n_features=columns)
    targets = (
        None
        if reference_centers is None
        else as_centers(reference_centers, name="reference_centers", n_features=columns)
    )
    limit = count("silhouette_limit", silhouette_limit)
    rng = _as_rng(random_state)

    dispersion = measure_dispersion(records, codes)
    clustered = int(dispersion.sizes.sum())
    if places is None and clustered:
        places = dispersion.means
    silhouette = mean_silhouette(records, codes, limit=limit, rng=rng)
    agreement = _Agreement() if truth is None else _agree(truth, codes)
    placement = _Placement() if targets is None or places is None else _place(places, targets)
    cost = None
    if places is not None and clustered:
        cost = mean_squared_distance(records, places, kept=codes >= 0)
    return ClusteringScores(
        n_records=n,
        n_clusters=len(dispersion.sizes),
        noise_share=(n - clustered) / n,
        ami=agreement.ami,
        ari=agreement.ari,
        nmi=agreement.nmi,
        silhouette=silhouette.value,
        silhouette_sampled=silhouette.sampled,
        calinski_harabasz=dispersion.calinski_harabasz(),
        davies_bouldin=dispersion.davies_bouldin(),
        nicv=cost,
        cost=None if cost is None else cost * clustered,
        centroid_relative_error=placement.relative_error,
        centroid_index=placement.orphans,
    )


def _agree(truth: Codes, codes: Codes) -> _Agreement:
    return _Agreement(
        ami=float(adjusted_mutual_info_score(truth, codes)),
        ari=float(adjusted_rand_score(truth, codes)),
        nmi=float(normalized_mutual_info_score(truth, codes)),
    )


def _place(centers: Floats, reference: Floats) -> _Placement:
    distances = center_distances(centers, reference, names=("centers", "reference_centers"))
    spread = spread_of(reference)
    return _Placement(
        relative_error=matched_distance(distances) / spread if spread else None,
        orphans=most_orphans(distances),
    )


def _as_rng(random_state: RandomState) -> np.random.RandomState:
    try:
        rng: np.random.RandomState = check_random_state(random_state)
    except ValueError:
        raise ParameterError(
            f"random_state must be an integer >= 0, a RandomState or None, got {random_state!r}"
        ) from None
    return rng
