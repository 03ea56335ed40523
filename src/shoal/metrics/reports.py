"""Measures of reports: how far they lie from the records they came from."""

from typing import Any

import numpy as np

from shoal._records import validate_records
from shoal._typing import Floats
from shoal.exceptions import DataError

CHUNK_VALUES = 1 << 20  # Numbers held at a time: 8 MB.


def as_reports(reports: Any, *, records: Floats) -> Floats:
    """Turn reports into float64, or refuse them.

    >>> import numpy as np
    >>> as_reports([[1, 2]], records=np.zeros((1, 2))).tolist()
    [[1.0, 2.0]]
    """
    try:
        table = validate_records(reports)
    except DataError:
        raise DataError(
            f"reports must be a table of finite numbers of the shape of X, {records.shape}",
            parameter="reports",
            code="shape",
        ) from None
    if table.shape != records.shape:
        raise DataError(
            f"reports must have the shape of X, {records.shape}, got {table.shape}",
            parameter="reports",
            code="shape",
        )
    return table


def report_distances(records: Floats, reports: Floats) -> Floats:
    """Compute the Euclidean distance of each record to its report."""
    squared = np.empty(len(records))
    rows = max(1, CHUNK_VALUES // records.shape[1])
    with np.errstate(over="ignore"):
        for start in range(0, len(records), rows):
            part = slice(start, start + rows)
            differences = records[part] - reports[part]
            np.einsum("ij,ij->i", differences, differences, out=squared[part])
    if not np.isfinite(squared).all():
        raise DataError(
            "X and reports must be small enough for squared distances to be finite: rescale both",
            parameter="reports",
            code="shape",
        )
    return np.sqrt(squared)


def privacy_distance(X: Any, reports: Any) -> float:
    """Return the mean Euclidean distance between records and their reports.

    This is the measure of privacy in the KD-Laplace thesis: the error of an attacker who takes each
    report for the record. A better attacker, who uses the mechanism and the distribution of the
    records, has a smaller error, so this measures noise and is no guarantee.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Records.
    reports : array-like of shape (n, d)
        Reports of the records, in the same order and unit; they may be remapped.

    Returns
    -------
    distance : float
        Mean distance, in the unit of the records; larger is more private.

    Raises
    ------
    DataError
        If `X` or `reports` is not a table of finite numbers, if their shapes differ, or if a
        squared distance is too large for a float.

    Examples
    --------
    >>> privacy_distance([[0.0, 0.0], [1.0, 1.0]], [[3.0, 4.0], [1.0, 2.0]])
    3.0
    """
    records = validate_records(X)
    return float(report_distances(records, as_reports(reports, records=records)).mean())
