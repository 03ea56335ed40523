"""One epsilon for all notions: the worst case for a person whose record is exchanged for any other.

A central promise under add/remove counts twice, since an exchange is a removal and an addition; a
local promise is about exchanges already; a metric one reaches its worst case over the diameter of
the public box. Columns are scaled to [-1, 1], so that the diameter is 2 sqrt(d).
"""

import math

from shoal._registry import Notion
from shoal.exceptions import GuaranteeError
from shoal.privacy import Guarantee

__all__ = ["box_diameter", "keeps_worst_case", "own_epsilon", "worst_case"]

SLACK = 1e-9  # of floats


def box_diameter(columns: int) -> float:
    """Return the diameter of [-1, 1]^d, the largest distance of two records."""
    return 2.0 * math.sqrt(columns)


def own_epsilon(notion: Notion, worst: float, columns: int) -> float:
    """Return the epsilon that a method must be run with.

    Parameters
    ----------
    notion : {"central", "local", "metric"}
        What the method's epsilon means.
    worst : float
        Worst-case epsilon that is asked for.
    columns : int
        Number of columns, scaled to [-1, 1].

    Returns
    -------
    epsilon : float
        The method's own.

    Examples
    --------
    >>> own_epsilon("central", 1.0, 2), own_epsilon("local", 1.0, 2)
    (0.5, 1.0)
    >>> round(own_epsilon("metric", 1.0, 2), 4)  # 1 / sqrt(8), for each unit of distance
    0.3536
    """
    if notion == "central":
        return worst / 2
    return worst if notion == "local" else worst / box_diameter(columns)


def worst_case(guarantee: Guarantee, columns: int) -> float:
    """Read the worst-case epsilon off a promise.

    Parameters
    ----------
    guarantee : Guarantee
        Central, local or metric.
    columns : int
        Number of columns, scaled to [-1, 1].

    Returns
    -------
    epsilon : float
        For exchanging one record for any other.

    Examples
    --------
    >>> worst_case(Guarantee("central", epsilon=0.5), 2)
    1.0
    """
    if guarantee.notion == "metric":
        return guarantee.to_local(box_diameter(columns)).epsilon
    return guarantee.to_substitute().epsilon


def keeps_worst_case(guarantee: Guarantee, worst: float, columns: int) -> bool:
    """Return whether a promise is at least as strong as the worst case that is asked for."""
    try:
        return guarantee.delta == 0 and worst_case(guarantee, columns) <= worst * (1 + SLACK)
    except GuaranteeError:
        return False
