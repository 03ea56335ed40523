"""Records and their reports, row by row, as arguments of the privacy measures."""

from typing import Any

import numpy as np

from shoal._records import validate_records
from shoal._typing import Floats
from shoal.exceptions import DataError

CHUNK_VALUES = 1 << 20  # Numbers held at a time: 8 MB.


def as_reports(reports: Any, *, records: Floats) -> Floats:
    """Turn reports into float64, or refuse them.

    Parameters
    ----------
    reports : array-like of shape (n, d)
        Report of each record, in the order of the records.
    records : ndarray of float64, shape (n, d)
        Checked records.

    Returns
    -------
    reports : ndarray of float64, shape (n, d)

    Raises
    ------
    DataError
        If they are not a table of finite numbers of the records' shape.

    Examples
    --------
    >>> import numpy as np
    >>> as_reports([[1, 2]], records=np.zeros((1, 2))).tolist()
    [[1.0, 2.0]]
    """
    try:
        table = validate_records(reports)
    except DataError:
        raise DataError(
            f"reports must be a table of finite numbers of the shape of X, {records.shape}"
        ) from None
    if table.shape != records.shape:
        raise DataError(f"reports must have the shape of X, {records.shape}, got {table.shape}")
    return table


def report_distances(records: Floats, reports: Floats) -> Floats:
    """Compute the Euclidean distance of each record to its report.

    Parameters
    ----------
    records, reports : ndarray of float64, shape (n, d)
        Checked tables.

    Returns
    -------
    distances : ndarray of float64, shape (n,)

    Raises
    ------
    DataError
        If a squared distance is too large for a float.
    """
    squared = np.empty(len(records))
    rows = max(1, CHUNK_VALUES // records.shape[1])
    with np.errstate(over="ignore"):
        for start in range(0, len(records), rows):
            part = slice(start, start + rows)
            differences = records[part] - reports[part]
            np.einsum("ij,ij->i", differences, differences, out=squared[part])
    if not np.isfinite(squared).all():
        raise DataError(
            "X and reports must be small enough for squared distances to be finite: rescale both"
        )
    return np.sqrt(squared)
