"""Clusters of any shape: the peaks of a differentially private density estimate."""

from shoal.cluster.density.dp_density import DPDensity

__all__ = ["DPDensity"]
