"""Private clustering: find the clusters, hide the individuals."""

__version__ = "0.1.0"
