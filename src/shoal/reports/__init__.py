"""Clusters from reports: what an analyst can do who never sees a record.

Everything here is post-processing: it takes reports and public values, and promises what the
reports promise.
"""

from shoal.reports.cluster_reports import ReportClusters, cluster_reports
from shoal.reports.gaussian_channel import GaussianChannel
from shoal.reports.noise_aware_kmeans import NoiseAwareKMeans
from shoal.reports.on_device import label_on_device
from shoal.reports.select_dbscan_eps import DBSCANEps, select_dbscan_eps
from shoal.reports.select_n_clusters import ClusterCount, select_n_clusters

__all__ = [
    "ClusterCount",
    "DBSCANEps",
    "GaussianChannel",
    "NoiseAwareKMeans",
    "ReportClusters",
    "cluster_reports",
    "label_on_device",
    "select_dbscan_eps",
    "select_n_clusters",
]
