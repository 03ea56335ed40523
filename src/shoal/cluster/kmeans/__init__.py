"""Private k-means, one method a file."""

from shoal.cluster.kmeans.dp_kmeans import DPKMeans

__all__ = ["DPKMeans"]
