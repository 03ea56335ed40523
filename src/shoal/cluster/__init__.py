"""Central estimators: a curator holds the records and publishes private clusters."""

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
