"""Exact statistics of raw records on the lattice; no noise and no promise lives here."""

from shoal.engines.nearest import NearestStatistics, nearest_centres, nearest_statistics

__all__ = ["NearestStatistics", "nearest_centres", "nearest_statistics"]
