"""A private copy of a table, to experiment on in its stead."""

from shoal.cluster.stand_in.private_copy import PrivateCopy

__all__ = ["PrivateCopy"]
