"""How many reports an attacker who holds the records can link back to the right one."""

from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from shoal._records import validate_records
from shoal._typing import Floats
from shoal.exceptions import DataError
from shoal.metrics._reports import CHUNK_VALUES, as_reports, report_distances

TREE_COLUMNS = 10  # Up to here a tree beats all distances, measured for 2 * 10^4 records.
TIE = 1 + 1e-9  # Distances this close are equal: rounding must not pick between equal records.


def disclosure_risk(X: Any, reports: Any) -> float:
    """Share of the reports whose nearest record is the one they came from.

    Distance-based record linkage: an attacker who holds all records, and wants to know whose each
    report is, names the record nearest to it (Euclidean distance). Where the right record is
    equally near as m others, copies of it included, the guess is right with probability 1/(m + 1)
    and counts as much. Guessing without the reports is right with probability 1/n: compare with
    that.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Records.
    reports : array-like of shape (n, d)
        Their reports, in the same order and unit. Columns of different units should be scaled
        first, both tables alike: the nearest record depends on it.

    Returns
    -------
    risk : float
        From 0 to 1.

    Raises
    ------
    DataError
        If `X` or `reports` is not a table of finite numbers, if their shapes differ, or if a
        squared distance is too large for a float.

    Notes
    -----
    A tree is searched for up to 10 columns, about n log n steps; beyond that all n^2 distances are
    computed, 8 MB of them at a time.

    Examples
    --------
    The second report lies nearest to the first record, and the last two records are the same.

    >>> disclosure_risk([[0.0], [4.0], [9.0], [9.0]], [[0.5], [1.0], [8.0], [9.5]])
    0.5
    """
    records = validate_records(X)
    noisy = as_reports(reports, records=records)
    _refuse_overflow(records, noisy)
    link = _links_by_tree if records.shape[1] <= TREE_COLUMNS else _links_by_distances
    return float(link(records, noisy).mean())


def _links_by_tree(records: Floats, reports: Floats) -> Floats:
    """Probability that the attacker names the right record, for each report."""
    # Without copies: a tree cannot split equal records and would walk through all of them.
    distinct, owners, copies = np.unique(records, axis=0, return_inverse=True, return_counts=True)
    owners = owners.reshape(-1)  # Some versions of numpy give it two dimensions.
    if len(distinct) == 1:
        return np.full(len(records), 1 / len(records))
    tree = cKDTree(distinct)
    near, found = tree.query(reports, k=2)
    reach = near[:, 0] * TIE
    tied = near[:, 1] <= reach
    links: Floats = np.where(found[:, 0] == owners, 1 / copies[owners], 0.0)
    # Only for reports that point to the right record is it worth counting who else is as near.
    for row in np.flatnonzero(tied & (report_distances(records, reports) <= reach)):
        links[row] = 1 / copies[tree.query_ball_point(reports[row], reach[row])].sum()
    return links


def _links_by_distances(records: Floats, reports: Floats) -> Floats:
    links = np.empty(len(reports))
    rows = max(1, CHUNK_VALUES // len(records))
    for start in range(0, len(reports), rows):
        part = np.arange(start, min(start + rows, len(reports)))
        distances = cdist(reports[part], records)
        nearest = distances <= distances.min(axis=1, keepdims=True) * TIE
        links[part] = nearest[np.arange(len(part)), part] / nearest.sum(axis=1)
    return links


def _refuse_overflow(records: Floats, reports: Floats) -> None:
    # Halves: the width of a table as wide as the doubles themselves stays finite.
    high = np.maximum(records.max(axis=0), reports.max(axis=0)) / 2
    low = np.minimum(records.min(axis=0), reports.min(axis=0)) / 2
    with np.errstate(over="ignore"):
        widest = 4 * np.sum((high - low) ** 2)
    if not np.isfinite(widest):
        raise DataError(
            "X and reports must be small enough for squared distances to be finite: rescale both"
        )
