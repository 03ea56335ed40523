"""All measures of a clustering in one call."""

from dataclasses import asdict, dataclass
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
from shoal.metrics._dispersion import Codes, label_codes, mean_silhouette, measure_dispersion
from shoal.metrics.centers import (
    as_centers,
    center_distances,
    matched_distance,
    mean_squared_distance,
    most_orphans,
    spread_of,
)

# How each measure is called and in which direction it is better.
TITLES = {
    "n_records": "records",
    "n_clusters": "clusters",
    "noise_share": "share of noise",
    "ami": "AMI (more is better, 1 at most)",
    "ari": "ARI (more, 1)",
    "nmi": "NMI (more, 1)",
    "silhouette": "silhouette (more, 1)",
    "calinski_harabasz": "Calinski-Harabasz (more)",
    "davies_bouldin": "Davies-Bouldin (less, 0)",
    "nicv": "NICV (less, 0)",
    "cost": "cost (less, 0)",
    "centroid_relative_error": "centroid relative error (less, 0)",
    "centroid_index": "centroid index (less, 0)",
}


@dataclass(frozen=True)
class ClusteringScores:
    """Results of :func:`~shoal.metrics.score_clustering`; None for a measure that does not exist.

    It prints as a small table. All values are computed from raw records and have no guarantee.

    Attributes
    ----------
    n_records, n_clusters : int
        Number of records, and of clusters among their labels, not counting noise.
    noise_share : float
        Share of the records with label -1.
    ami, ari, nmi : float or None
        Adjusted mutual information, adjusted Rand index and normalized mutual information with the
        reference labels: 1 for equal clusters; the adjusted ones are 0 on average for random
        labels.
    silhouette : float or None
        Silhouette, from -1 to 1; larger is better.
    silhouette_sampled : int or None
        Number of records in the sample of which the silhouette was computed; None if it is exact.
    calinski_harabasz, davies_bouldin : float or None
        Larger is better for the first, smaller for the second.
    nicv, cost : float or None
        Mean and sum of the squared distances to the nearest center; smaller is better.
    centroid_relative_error : float or None
        Distance to the reference centers, relative to their spread; smaller is better.
    centroid_index : int or None
        Number of clusters in the wrong place.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.metrics import score_clustering
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> scores = score_clustering(X, [0, 0, 1, 1], reference_labels=[1, 1, 0, 0])
    >>> scores.n_clusters, scores.ami
    (2, 1.0)
    """

    n_records: int
    n_clusters: int
    noise_share: float
    ami: float | None
    ari: float | None
    nmi: float | None
    silhouette: float | None
    silhouette_sampled: int | None
    calinski_harabasz: float | None
    davies_bouldin: float | None
    nicv: float | None
    cost: float | None
    centroid_relative_error: float | None
    centroid_index: int | None

    def to_dict(self) -> dict[str, float | int | None]:
        """Return all values by name, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        values = self.to_dict()
        titles = dict(TITLES)
        if self.silhouette_sampled is not None:
            titles["silhouette"] += f", from {self.silhouette_sampled} records"
        width = max(map(len, titles.values()))
        return "\n".join(
            f"{title:<{width}}  {_shown(values[name])}" for name, title in titles.items()
        )


def _shown(value: float | int | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.4g}"


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
    """Measure a clustering: its shape, its cost, and its agreement with a reference.

    Records with the label -1 are noise (from WaveCluster or DBSCAN): they are excluded from
    silhouette, Calinski-Harabasz, Davies-Bouldin, NICV and cost, and are one more group in AMI, ARI
    and NMI. Records are processed in chunks: beside the input the call needs about 50 bytes for
    each record, less than the input from 8 columns on, or 40 MB if that is more. AMI takes a step
    for each pair of clusters of the two labelings, which is slow for thousands of clusters on both
    sides.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Records.
    labels : array-like of integers or strings, shape (n,)
        Cluster of each record.
    centers : array-like of shape (k, d), optional
        Centers of the clusters, for example released ones; by default the mean of the records of
        each label. NICV and cost use the nearest center, not that of the label.
    reference_labels : array-like of integers or strings, shape (n,), optional
        Labels to compare with, for AMI, ARI and NMI.
    reference_centers : array-like of shape (k', d), optional
        Centers to compare with, for :func:`~shoal.metrics.centroid_relative_error` and
        :func:`~shoal.metrics.centroid_index`.
    silhouette_limit : int, default=10_000
        Largest number of records for an exact silhouette, which needs the distances of all pairs.
        With more records, a sample of this size is drawn, with at least two records of each
        cluster.
    random_state : int, RandomState or None, default=0
        Seed of that sample.

    Returns
    -------
    scores : ClusteringScores
        None for a measure that was not requested or does not exist, such as the silhouette of a
        single cluster or of as many clusters as records.

    Raises
    ------
    DataError
        If `X` is not a table of finite numbers, or too large to be squared.
    ParameterError
        If another parameter is invalid.

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
    points = None if centers is None else as_centers(centers, name="centers", n_features=columns)
    targets = (
        None
        if reference_centers is None
        else as_centers(reference_centers, name="reference_centers", n_features=columns)
    )
    limit = count("silhouette_limit", silhouette_limit)
    rng = _as_rng(random_state)

    dispersion = measure_dispersion(records, codes)
    clustered = int(dispersion.sizes.sum())
    if points is None and clustered:
        points = dispersion.means
    silhouette = mean_silhouette(records, codes, limit=limit, rng=rng)
    agreement = _Agreement() if truth is None else _agree(truth, codes)
    placement = _Placement() if targets is None or points is None else _place(points, targets)
    cost = None
    if points is not None and clustered:
        cost = mean_squared_distance(records, points, kept=codes >= 0)
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
