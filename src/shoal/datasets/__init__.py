"""Data sets with public bounds: known files, checked by their sha256, and generated shapes.

:func:`load` loads a data set by name, ``make_*`` functions draw one. The bounds of a
:class:`Dataset` are declared, never computed from its records, so they can be passed to a private
estimator.
"""

from shoal.datasets.customers import make_customers
from shoal.datasets.dataset import Dataset, DatasetInfo, Origin
from shoal.datasets.fetching import fetch
from shoal.datasets.loading import list_datasets, load
from shoal.datasets.shapes import (
    make_circle,
    make_gaussians,
    make_line,
    make_skewed,
    make_spirals,
)

__all__ = [
    "Dataset",
    "DatasetInfo",
    "Origin",
    "fetch",
    "list_datasets",
    "load",
    "make_circle",
    "make_customers",
    "make_gaussians",
    "make_line",
    "make_skewed",
    "make_spirals",
]
