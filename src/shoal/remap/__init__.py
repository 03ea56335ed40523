"""Post-processing of reports: move them back into the public box, and nearer to their records.

Nothing here sees a record, and no import leads to code that could read one: remaps are fitted on
reports and public values alone, so the guarantee of the reports is unchanged (proofs/remap.md).
"""

from shoal.remap.bayes import BayesRemap
from shoal.remap.geometry import (
    CellChannel,
    Cloud,
    Convolution,
    RegularGrid,
    geometric_medians,
    squared_distances,
)
from shoal.remap.grid import Clip, GridRemap
from shoal.remap.ibu import iterative_bayesian_update

__all__ = [
    "BayesRemap",
    "CellChannel",
    "Clip",
    "Cloud",
    "Convolution",
    "GridRemap",
    "RegularGrid",
    "geometric_medians",
    "iterative_bayesian_update",
    "squared_distances",
]
