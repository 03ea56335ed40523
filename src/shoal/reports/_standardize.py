"""Columns of reports on one scale, and checks that several functions share."""

from typing import Any

import numpy as np

from shoal._records import validate_records
from shoal._typing import Floats
from shoal.exceptions import ParameterError

__all__ = ["as_table"]


def as_table(reports: Any, standardize: Any) -> Floats:
    """Check reports and divide each column by its standard deviation, if asked to.

    Parameters
    ----------
    reports : array-like of shape (n, d)
        Reports; standardized after perturbation, their scale promises what they promise.
    standardize : bool
        Whether columns get mean 0 and variance 1.

    Returns
    -------
    table : ndarray of float64, shape (n, d)
        A column of equal values becomes zero.
    """
    if not isinstance(standardize, bool | np.bool_):
        raise ParameterError(f"standardize must be True or False, got {standardize!r}")
    table = validate_records(reports)
    if not standardize:
        return table
    spread = table.std(axis=0)
    scaled: Floats = (table - table.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return scaled
