"""The measures of one clustering, side by side."""

from dataclasses import asdict, dataclass

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
    """What :func:`~shoal.metrics.score_clustering` measured; None where a measure does not exist.

    Printed, it is a small table. All of it is about raw records and carries no guarantee.

    Attributes
    ----------
    n_records, n_clusters : int
        Records, and clusters among their labels, noise not counted.
    noise_share : float
        Share of the records with label -1.
    ami, ari, nmi : float or None
        Adjusted mutual information, adjusted Rand index and normalized mutual information with the
        reference labels: 1 for the same clusters; the adjusted ones are 0 on average for labels by
        chance.
    silhouette : float or None
        From -1 to 1, larger is better.
    silhouette_sampled : int or None
        Number of records in the sample that gave the silhouette; None if it is exact.
    calinski_harabasz, davies_bouldin : float or None
        Larger is better; smaller is better.
    nicv, cost : float or None
        Mean and sum of the squared distances to the nearest center; smaller is better.
    centroid_relative_error : float or None
        Distance to the reference centers, relative to their spread; smaller is better.
    centroid_index : int or None
        Number of clusters in the wrong place.
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
