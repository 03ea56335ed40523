"""Post-processing of reports: back into the public domain, and nearer to the records.

Nothing here sees a record, except through the mechanism inside :class:`KdLaplace`: remaps are
fitted on reports and public values alone, so the guarantee of the reports stays as it is
(proofs/remap.md).
"""

from shoal.remap.bayes import BayesRemap
from shoal.remap.clip import Clip
from shoal.remap.grid import GridRemap
from shoal.remap.ibu import iterative_bayesian_update
from shoal.remap.kd_laplace import KdLaplace

__all__ = ["BayesRemap", "Clip", "GridRemap", "KdLaplace", "iterative_bayesian_update"]
