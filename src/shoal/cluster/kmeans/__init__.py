"""Private k-means, one method a file."""

from shoal.cluster._centers import pack_spheres
from shoal.cluster.kmeans._kccm import KCCM_NOISE, KCCM_ROUNDS, KCCMNoise
from shoal.cluster.kmeans.dp_kmeans import DPKMeans

__all__ = ["KCCM_NOISE", "KCCM_ROUNDS", "DPKMeans", "KCCMNoise", "pack_spheres"]
