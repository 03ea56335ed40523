"""DP-WaveCluster as published, no guarantee, and its figures with the promises kept.

L. Chen, T. Yu, R. Chirkova, "WaveCluster with Differential Privacy" (2015). The corrected
techniques, and a better one, are :class:`shoal.cluster.DPWaveCluster`.

===============================  ===================================================================
here                             what it is
===============================  ===================================================================
:class:`PublishedWaveCluster`    PrivQT, PrivTHR, PrivTHR_EM and Baseline as printed
:func:`threshold_partitions`     the exponential mechanism whose range ends at the true maximum
:func:`adaptive_grid_records`    the synthetic records of Baseline
:func:`load_figure_set`          a set of the figures, with its grid and threshold
:class:`TechniqueComparison`     one set, on which techniques are measured
:func:`compare_techniques`       k', DSG_C, F-measure, OCM and 2CE, as published and corrected
:func:`judge_claims`             which of the source's claims hold
===============================  ===================================================================
"""

from shoal.papers.wavecluster.adaptive_grid import adaptive_grid_records
from shoal.papers.wavecluster.claim import CLAIMS, PUBLISHED_K, Claim
from shoal.papers.wavecluster.compare_techniques import EPSILONS, compare_techniques
from shoal.papers.wavecluster.figure_set import FIGURE_SETS, FOURTH, FigureSet, load_figure_set
from shoal.papers.wavecluster.haar_band import haar_band
from shoal.papers.wavecluster.judge_claims import Verdict, judge_claims
from shoal.papers.wavecluster.mean_measure import Mean, Measure, mean_measure
from shoal.papers.wavecluster.measurement import METHODS, Measurement, Method
from shoal.papers.wavecluster.published_threshold import (
    Partitions,
    draw_threshold,
    threshold_partitions,
)
from shoal.papers.wavecluster.published_wavecluster import TECHNIQUES, PublishedWaveCluster
from shoal.papers.wavecluster.technique_comparison import TechniqueComparison

__all__ = [
    "CLAIMS",
    "EPSILONS",
    "FIGURE_SETS",
    "FOURTH",
    "METHODS",
    "PUBLISHED_K",
    "TECHNIQUES",
    "Claim",
    "FigureSet",
    "Mean",
    "Measure",
    "Measurement",
    "Method",
    "Partitions",
    "PublishedWaveCluster",
    "TechniqueComparison",
    "Verdict",
    "adaptive_grid_records",
    "compare_techniques",
    "draw_threshold",
    "haar_band",
    "judge_claims",
    "load_figure_set",
    "mean_measure",
    "threshold_partitions",
]
