"""Clusters from reports, for an analyst who never sees a record.

A report is a record after local randomization (:mod:`shoal.mechanisms`). Everything here is
post-processing: it takes reports and public values only, so the result has the guarantee of the
reports. :class:`NoiseAwareKMeans` finds centers, :class:`NoiseAwareDensity` finds clusters of any
shape, :class:`TwoRoundCampaign` plans a collection in two rounds, and :func:`load_release` opens
clusters that were released. :func:`cluster_reports` runs scikit-learn's clusterers on reports.
"""

# Where to find what:
#
# * noise_aware_kmeans chooses by the mechanism how clusters are found; each way returns
#   _found_clusters. Record plus noise: _additive_clusters. Columns with another distribution
#   (SquareWave, Hybrid, Duchi, sampled columns): _channel_clusters. Colors of cells:
#   _partition_clusters in up to three columns, _drawn_clusters in more or of categories.
# * Record plus noise: _report_noise (which noise), _grid_density on _report_grid and _mixture
#   (distributions of the records), _record_distributions and _starts (centers, and the choice
#   between them), _additive_evidence (held-out reports).
# * Distributions of columns: _report_distributions and _column_tables (probabilities),
#   _record_channel (records at atoms), _held_out_density (weights of the atoms).
# * Colors of cells: _partition_likelihood (tally and channel), _atoms and _drawn_atoms (positions
#   of records), _partition_density and _cross_fit (their weights), two_rounds.
# * With atoms of either kind: _atom_clusters (shares, radii, labels). For all: blind.
# * Devices that lie: _unexplained (left out), _trimming (centers of the rest), lies.
# * Shapes: noise_aware_density with _shape_density, _partition_shapes, _false_peaks.
# * Releases: released_clusters; their labels: shoal.labels.
# * Other clusterers: clustering, selection.
# * By name, for the command line and a collector: analyses. Repeated reports: counted_reports.

import importlib
from typing import TYPE_CHECKING, Any

from shoal.labels import label_encoded, label_on_device
from shoal.reports.released_clusters import ReleasedClusters, load_release

if TYPE_CHECKING:
    from shoal.reports.analyses import (
        ANALYSES,
        AnalysisMethod,
        AnalysisParameter,
        analyze_reports,
        check_analysis,
    )
    from shoal.reports.blind import spread_over_box
    from shoal.reports.clustering import ReportClusters, cluster_reports
    from shoal.reports.counted_reports import CountedReports
    from shoal.reports.gaussian_channel import GaussianChannel
    from shoal.reports.lies import liars_weight
    from shoal.reports.noise_aware_density import NoiseAwareDensity
    from shoal.reports.noise_aware_kmeans import NoiseAwareKMeans
    from shoal.reports.selection import (
        ClusterCount,
        DBSCANEps,
        select_dbscan_eps,
        select_n_clusters,
    )
    from shoal.reports.two_rounds import CampaignPlan, TwoRoundCampaign

__all__ = [
    "ANALYSES",
    "AnalysisMethod",
    "AnalysisParameter",
    "CampaignPlan",
    "ClusterCount",
    "CountedReports",
    "DBSCANEps",
    "GaussianChannel",
    "NoiseAwareDensity",
    "NoiseAwareKMeans",
    "ReleasedClusters",
    "ReportClusters",
    "TwoRoundCampaign",
    "analyze_reports",
    "check_analysis",
    "cluster_reports",
    "label_encoded",
    "label_on_device",
    "liars_weight",
    "load_release",
    "select_dbscan_eps",
    "select_n_clusters",
    "spread_over_box",
]

# Estimators are loaded when first asked for: whoever reads a release needs none of them.
_MODULES = {
    "ANALYSES": "analyses",
    "AnalysisMethod": "analyses",
    "AnalysisParameter": "analyses",
    "CampaignPlan": "two_rounds",
    "ClusterCount": "selection",
    "CountedReports": "counted_reports",
    "DBSCANEps": "selection",
    "GaussianChannel": "gaussian_channel",
    "NoiseAwareDensity": "noise_aware_density",
    "NoiseAwareKMeans": "noise_aware_kmeans",
    "ReportClusters": "clustering",
    "TwoRoundCampaign": "two_rounds",
    "analyze_reports": "analyses",
    "check_analysis": "analyses",
    "cluster_reports": "clustering",
    "liars_weight": "lies",
    "select_dbscan_eps": "selection",
    "select_n_clusters": "selection",
    "spread_over_box": "blind",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module 'shoal.reports' has no attribute {name!r}")
        return getattr(importlib.import_module(f"shoal.reports.{_MODULES[name]}"), name)
