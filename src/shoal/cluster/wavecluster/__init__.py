"""Differentially private WaveCluster: clusters of any shape from a noisy grid."""

from shoal.cluster.wavecluster._components import label_grid
from shoal.cluster.wavecluster._problem import top_cells
from shoal.cluster.wavecluster.dp_wavecluster import DPWaveCluster

__all__ = ["DPWaveCluster", "label_grid", "top_cells"]
