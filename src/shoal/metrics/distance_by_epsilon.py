"""The distance between records and reports, epsilon by epsilon."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal._numbers import positive
from shoal._records import validate_records
from shoal.exceptions import DataError, ParameterError
from shoal.metrics._reports import as_reports, report_distances


@dataclass(frozen=True)
class DistanceAtEpsilon:
    """Distances between records and their reports at one epsilon.

    Attributes
    ----------
    epsilon : float
        Of the mechanism, per unit of distance for a metric one.
    mean, median, quantile_90 : float
        Of the Euclidean distances, in the records' unit.
    standard_error : float or None
        Of the mean; None for a single record.
    mean_times_epsilon : float
        What can be compared between epsilons. A mechanism with metric privacy in the Euclidean
        metric draws its distance from a Gamma law of shape d (the number of columns) and scale
        1 / epsilon: its mean is d / epsilon, and this product is d at every epsilon. Less says
        that a box or a remap pulled the reports back, by more at small epsilon.
    """

    epsilon: float
    mean: float
    standard_error: float | None
    median: float
    quantile_90: float
    mean_times_epsilon: float


def distance_by_epsilon(X: Any, reports: Mapping[float, Any]) -> tuple[DistanceAtEpsilon, ...]:
    """Summarize the distances between records and reports for several epsilons.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Records.
    reports : mapping from float to array-like of shape (n, d)
        For each epsilon > 0 the reports, in the order and unit of the records.

    Returns
    -------
    rows : tuple of DistanceAtEpsilon
        In the order of epsilon, smallest first.

    Raises
    ------
    DataError
        If `X` or some reports are not a table of finite numbers, if shapes differ, or if a squared
        distance is too large for a float.
    ParameterError
        If `reports` is no mapping, or empty, or an epsilon is not a finite number > 0.

    Examples
    --------
    >>> X = [[0.0, 0.0], [1.0, 1.0]]
    >>> reports = {2.0: [[0.0, 1.0], [1.0, 2.0]], 0.5: [[3.0, 4.0], [4.0, 5.0]]}
    >>> rows = distance_by_epsilon(X, reports)
    >>> [(row.epsilon, row.mean, row.mean_times_epsilon) for row in rows]
    [(0.5, 5.0, 2.5), (2.0, 1.0, 2.0)]
    """
    if not isinstance(reports, Mapping) or not reports:
        raise ParameterError(
            f"reports must be a mapping from one epsilon or more to a table, got {_kind(reports)}"
        )
    records = validate_records(X)
    rows = []
    for key, table in reports.items():
        epsilon = positive("epsilon", key)
        try:
            distances = report_distances(records, as_reports(table, records=records))
        except DataError as error:
            raise DataError(f"at epsilon {epsilon:g}: {error}") from None
        n, mean = len(distances), float(distances.mean())
        rows.append(
            DistanceAtEpsilon(
                epsilon=epsilon,
                mean=mean,
                standard_error=float(distances.std(ddof=1)) / math.sqrt(n) if n > 1 else None,
                median=float(np.median(distances)),
                quantile_90=float(np.quantile(distances, 0.9)),
                mean_times_epsilon=mean * epsilon,
            )
        )
    return tuple(sorted(rows, key=lambda row: row.epsilon))


def _kind(value: Any) -> str:
    return "an empty one" if isinstance(value, Mapping) else type(value).__name__
