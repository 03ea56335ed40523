"""Private clusters of any shape, from a noisy density."""

from shoal.cluster.density.dp_density import DPDensity

__all__ = ["DPDensity"]
