"""Measures of how good clusters are, on plain arrays.

A measure that reads the records is itself an output about them and carries no guarantee: it is for
the curator and for experiments, not for a release.
"""

from shoal.metrics.classify_with_cells import classify_with_cells
from shoal.metrics.cost_ratio import cost_ratio
from shoal.metrics.dsg import dsg
from shoal.metrics.f_measure import f_measure
from shoal.metrics.nicv import nicv
from shoal.metrics.ocm import ocm
from shoal.metrics.two_ce import two_ce

__all__ = ["classify_with_cells", "cost_ratio", "dsg", "f_measure", "nicv", "ocm", "two_ce"]
