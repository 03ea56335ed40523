"""What a device that lies weighs among honest ones.

A device that lies sends the report that says most for the place it wants, and leaves out the noise.
Reports are estimated as if they had noise, so the lie weighs as several honest devices there (Cheu,
Smith & Ullman 2021, "Manipulation attacks in local differential privacy": by about 1/epsilon).
"""

import math
from typing import Any

import numpy as np

from shoal import _numbers
from shoal._report_channel import ColumnChannel, PartitionChannel, ReportChannel, ReportedColumn
from shoal.exceptions import ParameterError
from shoal.reports._report_noise import checked_copy
from shoal.reports.gaussian_channel import GaussianChannel

__all__ = ["liars_weight"]

METRIC_WEIGHT = 1.5  # of the Laplace family: 1.4 was measured at epsilon 4 on a box of side 2
INTERVALS = 4096  # of a column's reports


def liars_weight(mechanism: Any, columns: int) -> float:
    """Return the number of honest devices that weigh as much in an estimate as one that lies.

    A report depends on the record with some probability lam, and otherwise does not. A lie then
    weighs 1/lam, for the colors of ``PartitionResponse`` and for columns, whose lams multiply. For
    ``Duchi`` it is the weight in binary randomized response; for the Laplace family, about what was
    measured.

    Parameters
    ----------
    mechanism : Mechanism or GaussianChannel
        The mechanism that makes the reports.
    columns : int
        Number of columns of a record.

    Returns
    -------
    weight : float
        At least 1. A share f of the devices can fake a cluster with a share of about f times this
        weight, which no analysis can tell from a true one.

    Examples
    --------
    >>> from shoal.mechanisms import PartitionResponse
    >>> from shoal.reports import liars_weight
    >>> round(0.01 * liars_weight(PartitionResponse(1.0, bounds=(0.0, 1.0)), 2), 3)
    0.033
    """
    _numbers.count("columns", columns)
    if isinstance(mechanism, PartitionChannel):
        return 1.0 / float(mechanism.keep_probability)
    if isinstance(mechanism, ColumnChannel):
        copy = checked_copy(mechanism, columns)
        many = copy.reported_columns(columns)
        informed = [_informed(copy.column_distribution(column, columns)) for column in range(many)]
        return 1.0 / math.prod(informed)
    if not isinstance(mechanism, ReportChannel | GaussianChannel):
        raise ParameterError(
            "mechanism must be the one that made the reports, or a GaussianChannel, "
            f"got {type(mechanism).__name__}",
            parameter="mechanism",
            code="type",
        )
    if isinstance(mechanism, ReportChannel) and mechanism.noise_kind == "corners":
        return 1.0 / math.tanh(float(mechanism.guarantee_.epsilon) / 2)
    return METRIC_WEIGHT


def _informed(distribution: ReportedColumn) -> float:
    """Return the probability that a column's report depends on the record."""
    edges = np.linspace(distribution.low, distribution.high, INTERVALS + 1)
    some = np.array(
        [distribution.low, distribution.low / 2 + distribution.high / 2, distribution.high]
    )
    return 1.0 - float(np.diff(distribution.cdf(edges, some), axis=0).min(axis=1).sum())
