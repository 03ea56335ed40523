"""Central estimators: a curator holds the records and publishes private clusters."""

from shoal.cluster.dp_kmeans import DPKMeans

__all__ = ["DPKMeans"]
