"""Private k-means, one method a file."""

from shoal.cluster._centers import pack_spheres
from shoal.cluster.kmeans._kccm import KCCM_NOISE, KccmNoise
from shoal.cluster.kmeans._kccm import ROUNDS as KCCM_ROUNDS
from shoal.cluster.kmeans.dp_kmeans import DPKMeans

__all__ = ["KCCM_NOISE", "KCCM_ROUNDS", "DPKMeans", "KccmNoise", "pack_spheres"]
