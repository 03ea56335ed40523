"""Differentially private k-means: the estimator and its methods."""

from shoal.cluster._centers import pack_spheres
from shoal.cluster.kmeans._kccm import KCCM_NOISE, KCCM_ROUNDS, KCCMNoise
from shoal.cluster.kmeans.dp_kmeans import DPKMeans

__all__ = ["KCCM_NOISE", "KCCM_ROUNDS", "DPKMeans", "KCCMNoise", "pack_spheres"]
