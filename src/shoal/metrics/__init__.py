"""Measures of how good clusters are, on plain arrays.

A measure that reads the records is itself an output about them and carries no guarantee: it is for
the curator and for experiments, not for a release.
"""

from shoal.metrics.cost_ratio import cost_ratio
from shoal.metrics.nicv import nicv

__all__ = ["cost_ratio", "nicv"]
