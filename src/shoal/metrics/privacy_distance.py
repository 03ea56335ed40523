"""How far reports lie from the records they came from."""

from typing import Any

from shoal._records import validate_records
from shoal.metrics._reports import as_reports, report_distances


def privacy_distance(X: Any, reports: Any) -> float:
    """Mean Euclidean distance between records and their reports.

    The measure of privacy of the KD-Laplace thesis: the error of an attacker who takes each report
    for the record. A better attacker knows the mechanism and the crowd and comes closer, so it is
    a measure of noise, not a guarantee.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Records.
    reports : array-like of shape (n, d)
        Their reports, in the same order and unit; also reports after a remap.

    Returns
    -------
    distance : float
        In the records' unit; larger is more private.

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
