"""Central estimators: a curator holds the records and publishes private clusters."""

from shoal.cluster.dp_kmeans import DPKMeans
from shoal.cluster.dp_wavecluster import DPWaveCluster

__all__ = ["DPKMeans", "DPWaveCluster"]
