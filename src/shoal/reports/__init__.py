"""Clusters from reports: what an analyst can do who never sees a record.

Everything here is post-processing: it takes reports and public values, and promises what the
reports promise.
"""

from shoal.reports.blind import spread_over_box
from shoal.reports.clustering import ReportClusters, cluster_reports
from shoal.reports.gaussian_channel import GaussianChannel
from shoal.reports.noise_aware_density import NoiseAwareDensity
from shoal.reports.noise_aware_kmeans import NoiseAwareKMeans
from shoal.reports.on_device import label_encoded, label_on_device
from shoal.reports.released_clusters import ReleasedClusters, load_release
from shoal.reports.selection import ClusterCount, DBSCANEps, select_dbscan_eps, select_n_clusters
from shoal.reports.two_rounds import CampaignPlan, TwoRoundCampaign

__all__ = [
    "CampaignPlan",
    "ClusterCount",
    "DBSCANEps",
    "GaussianChannel",
    "NoiseAwareDensity",
    "NoiseAwareKMeans",
    "ReleasedClusters",
    "ReportClusters",
    "TwoRoundCampaign",
    "cluster_reports",
    "label_encoded",
    "label_on_device",
    "load_release",
    "select_dbscan_eps",
    "select_n_clusters",
    "spread_over_box",
]
