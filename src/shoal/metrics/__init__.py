"""Measures of how good clusters are, and of what an attacker learns, on plain arrays.

Clusters: :func:`score_clustering` gives them all at once; :func:`nicv`, :func:`cost_ratio`,
:func:`centroid_relative_error` and :func:`centroid_index` judge centers, :func:`dsg`, :func:`ocm`,
:func:`two_ce` and :func:`f_measure` labels and cells. Privacy: :func:`privacy_distance`,
:func:`distance_by_epsilon` and :func:`disclosure_risk` judge reports, :func:`adversary_advantage`
and :func:`roc` attacks.

A measure that reads the records is itself an output about them and carries no guarantee: it is for
the curator and for experiments, not for a release.
"""

from shoal.metrics.adversary_advantage import adversary_advantage
from shoal.metrics.centroid_index import centroid_index
from shoal.metrics.centroid_relative_error import centroid_relative_error
from shoal.metrics.classify_with_cells import classify_with_cells
from shoal.metrics.clustering_scores import ClusteringScores
from shoal.metrics.cost_ratio import cost_ratio
from shoal.metrics.disclosure_risk import disclosure_risk
from shoal.metrics.distance_by_epsilon import DistanceAtEpsilon, distance_by_epsilon
from shoal.metrics.dsg import dsg
from shoal.metrics.f_measure import f_measure
from shoal.metrics.nicv import nicv
from shoal.metrics.ocm import ocm, unmatched_share
from shoal.metrics.privacy_distance import privacy_distance
from shoal.metrics.roc import Roc, roc
from shoal.metrics.scoring import score_clustering
from shoal.metrics.two_ce import two_ce

__all__ = [
    "ClusteringScores",
    "DistanceAtEpsilon",
    "Roc",
    "adversary_advantage",
    "centroid_index",
    "centroid_relative_error",
    "classify_with_cells",
    "cost_ratio",
    "disclosure_risk",
    "distance_by_epsilon",
    "dsg",
    "f_measure",
    "nicv",
    "ocm",
    "privacy_distance",
    "roc",
    "score_clustering",
    "two_ce",
    "unmatched_share",
]
