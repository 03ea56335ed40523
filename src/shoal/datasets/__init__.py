"""Data sets with public bounds: known files checked by their sha256, and generated shapes.

Every :class:`Dataset` carries bounds that were declared, never computed from its records, so it can
be handed to a private estimator as it is.
"""

from shoal.datasets.circle import make_circle
from shoal.datasets.dataset import Dataset
from shoal.datasets.fetch import fetch
from shoal.datasets.gaussians import make_gaussians
from shoal.datasets.info import DatasetInfo
from shoal.datasets.line import make_line
from shoal.datasets.load import list_datasets, load
from shoal.datasets.origin import Origin
from shoal.datasets.read_table import Table, read_table
from shoal.datasets.skewed import make_skewed
from shoal.datasets.spirals import make_spirals
from shoal.datasets.write_table import check_table_path, write_table

__all__ = [
    "Dataset",
    "DatasetInfo",
    "Origin",
    "Table",
    "check_table_path",
    "fetch",
    "list_datasets",
    "load",
    "make_circle",
    "make_gaussians",
    "make_line",
    "make_skewed",
    "make_spirals",
    "read_table",
    "write_table",
]
