"""Private WaveCluster, one technique a file."""

from shoal.cluster.wavecluster.dp_wavecluster import DPWaveCluster

__all__ = ["DPWaveCluster"]
