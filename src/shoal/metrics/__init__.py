"""Measures of the quality of clusters, and of what an attacker learns, on plain arrays.

Clusters: :func:`score_clustering` computes the usual measures at once; :func:`nicv`,
:func:`cost_ratio`, :func:`centroid_relative_error` and :func:`centroid_index` judge centers,
:func:`match_centers` pairs the centers of two solutions, and :func:`dsg`, :func:`ocm`,
:func:`two_ce` and :func:`f_measure` judge labels and grid cells. Privacy: :func:`privacy_distance`
judges reports, :func:`adversary_advantage` and :func:`roc` judge attacks.

A measure that reads the records reveals something about them and has no guarantee: use it in
experiments or as the curator, not in a release.
"""

from shoal.metrics.attacks import Roc, adversary_advantage, roc
from shoal.metrics.cells import classify_with_cells, dsg, ocm, unmatched_share
from shoal.metrics.centers import (
    MatchedCenters,
    centroid_index,
    centroid_relative_error,
    cost_ratio,
    match_centers,
    nicv,
)
from shoal.metrics.labels import f_measure, two_ce
from shoal.metrics.reports import privacy_distance
from shoal.metrics.scoring import ClusteringScores, score_clustering

__all__ = [
    "ClusteringScores",
    "MatchedCenters",
    "Roc",
    "adversary_advantage",
    "centroid_index",
    "centroid_relative_error",
    "classify_with_cells",
    "cost_ratio",
    "dsg",
    "f_measure",
    "match_centers",
    "nicv",
    "ocm",
    "privacy_distance",
    "roc",
    "score_clustering",
    "two_ce",
    "unmatched_share",
]
