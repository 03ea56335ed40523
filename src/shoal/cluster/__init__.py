"""Estimators for the central model: a trusted curator holds the records and publishes clusters.

:class:`DPKMeans` is the one to start with; :class:`DPDensity` and :class:`DPWaveCluster` find
clusters of any shape, :class:`PrivateCopy` draws synthetic records, and :class:`ClusterProfile`
describes clusters that were published.
"""

from shoal._bounds import Ball
from shoal.cluster.density import DPDensity
from shoal.cluster.kmeans import DPKMeans
from shoal.cluster.private_copy import PrivateCopy
from shoal.cluster.private_schema import LearnedSchema, learn_schema
from shoal.cluster.profile import ClusterProfile, profile_noise
from shoal.cluster.wavecluster import DPWaveCluster

__all__ = [
    "Ball",
    "ClusterProfile",
    "DPDensity",
    "DPKMeans",
    "DPWaveCluster",
    "LearnedSchema",
    "PrivateCopy",
    "learn_schema",
    "profile_noise",
]
