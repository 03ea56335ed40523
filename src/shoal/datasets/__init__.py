"""Data sets with public bounds: known files checked by their sha256, and generated shapes.

Every :class:`Dataset` carries bounds that were declared, never computed from its records, so it can
be handed to a private estimator as it is.
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
