"""A private copy of a table, to experiment on in its stead."""

from shoal.cluster.private_copy.private_copy import PrivateCopy

__all__ = ["PrivateCopy"]
