"""DP-WaveCluster as published, without any guarantee, and its figures with corrected techniques.

L. Chen, T. Yu, R. Chirkova, "WaveCluster with Differential Privacy" (2015). The corrected
techniques, and a better one, are :class:`shoal.cluster.DPWaveCluster`.

===============================  ===================================================================
here                             what it is
===============================  ===================================================================
:class:`PublishedWaveCluster`    PrivQT, PrivTHR, PrivTHR_EM and Baseline as printed
``threshold_partitions``         the exponential mechanism whose range ends at the true maximum
``adaptive_grid_records``        the synthetic records of Baseline
``load_figure_set``              a set of the figures, with its grid and threshold
``TechniqueComparison``          k', DSG_C, F-measure, OCM and 2CE of a technique on one set
``WaveClusterStudy``             the source's figures again, and which of its claims hold
===============================  ===================================================================
"""

from shoal.papers.wavecluster.adaptive_grid import adaptive_grid_records
from shoal.papers.wavecluster.figure_sets import FIGURE_SETS, FOURTH, FigureSet, load_figure_set
from shoal.papers.wavecluster.published import (
    TECHNIQUES,
    Partitions,
    PublishedWaveCluster,
    draw_threshold,
    haar_band,
    threshold_partitions,
)
from shoal.papers.wavecluster.study import WaveClusterStudy
from shoal.papers.wavecluster.techniques import METHODS, Method, TechniqueComparison

__all__ = [
    "FIGURE_SETS",
    "FOURTH",
    "METHODS",
    "TECHNIQUES",
    "FigureSet",
    "Method",
    "Partitions",
    "PublishedWaveCluster",
    "TechniqueComparison",
    "WaveClusterStudy",
    "adaptive_grid_records",
    "draw_threshold",
    "haar_band",
    "load_figure_set",
    "threshold_partitions",
]
