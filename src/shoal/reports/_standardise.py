"""Columns of reports on one scale, and checks that several functions share."""

from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._records import validate_records
from shoal.exceptions import ParameterError

__all__ = ["as_table"]

Floats = npt.NDArray[np.float64]


def as_table(reports: Any, standardise: Any) -> Floats:
    """Check reports and divide each column by its standard deviation, if asked to.

    Parameters
    ----------
    reports : array-like of shape (n, d)
        Reports; standardised after perturbation, their scale promises what they promise.
    standardise : bool
        Whether columns get mean 0 and variance 1.

    Returns
    -------
    table : ndarray of float64, shape (n, d)
        A column of equal values becomes zero.
    """
    if not isinstance(standardise, bool | np.bool_):
        raise ParameterError(f"standardise must be True or False, got {standardise!r}")
    table = validate_records(reports)
    if not standardise:
        return table
    spread = table.std(axis=0)
    scaled: Floats = (table - table.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return scaled
