"""WaveCluster with differential privacy: the source's figures and claims again."""

from shoal.experiments.reproduce.wavecluster.study import WaveClusterStudy

__all__ = ["WaveClusterStudy"]
