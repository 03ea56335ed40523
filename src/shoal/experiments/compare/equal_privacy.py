"""One epsilon for all notions: the worst case for a person whose record is exchanged for any other.

A central promise under add/remove counts twice, since an exchange is a removal and an addition; a
local promise is about exchanges already; a metric one reaches its worst case over the diameter of
the public box. Columns are scaled to [-1, 1], so that the diameter is 2 sqrt(d). A batch of reports
behind a shuffler promises more than each of them: its epsilon is about exchanges too, at a delta.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from shoal._registry import Notion
from shoal.exceptions import GuaranteeError
from shoal.privacy import Guarantee, amplify, local_epsilon_for

__all__ = [
    "Batch",
    "amplified",
    "box_diameter",
    "checked_delta",
    "keeps_worst_case",
    "own_epsilon",
    "report_epsilon",
    "worst_case",
]

TOLERANCE = 1e-9  # of floats
ROUNDED_UP = 1e-5  # more than amplify rounds an epsilon up by, as a part of it


class Batch(NamedTuple):
    """Reports that are shuffled together: their public number, and the delta of the guarantee.

    Parameters
    ----------
    n_reports : int
        Number of honest reports, one per device; never more than were clustered.
    delta : float
        Delta of the shuffled guarantee.

    Examples
    --------
    >>> Batch(100_000, 1e-6)._asdict()
    {'n_reports': 100000, 'delta': 1e-06}
    """

    n_reports: int
    delta: float


def box_diameter(columns: int) -> float:
    """Return the diameter of [-1, 1]^d, the largest distance of two records."""
    return 2.0 * math.sqrt(columns)


def own_epsilon(notion: Notion, worst: float, columns: int) -> float:
    """Return the epsilon that a method needs for a given worst-case epsilon.

    Parameters
    ----------
    notion : {"central", "local", "metric"}
        Notion of the method's guarantee.
    worst : float
        Worst-case epsilon, for exchanging one record for any other.
    columns : int
        Number of columns, scaled to [-1, 1].

    Returns
    -------
    epsilon : float
        Epsilon to run the method with.

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
    """Return the worst-case epsilon of a guarantee: for exchanging one record for any other.

    Parameters
    ----------
    guarantee : Guarantee
        A central, local, metric or shuffled guarantee.
    columns : int
        Number of columns, scaled to [-1, 1].

    Returns
    -------
    epsilon : float
        The worst-case epsilon.

    Examples
    --------
    >>> worst_case(Guarantee("central", epsilon=0.5), 2)
    1.0
    """
    if guarantee.notion == "metric":
        return _over_the_box(guarantee, columns).epsilon
    return guarantee.to_substitute().epsilon


def amplified(
    guarantee: Guarantee, columns: int, batch: Batch, *, n_colors: int | None = None
) -> Guarantee:
    """Return the guarantee of a shuffled batch of reports.

    Parameters
    ----------
    guarantee : Guarantee
        The guarantee of each report: local, or metric, which implies a local one over the diameter
        of the bounds.
    columns : int
        Number of columns, scaled to [-1, 1].
    batch : Batch
        The reports.
    n_colors : int, optional
        Number of colors of a randomized response (:func:`shoal.privacy.amplify`); None for any
        other mechanism.

    Returns
    -------
    guarantee : Guarantee
        A guarantee of notion ``"shuffled"``.

    Raises
    ------
    GuaranteeError
        If the reports have no local epsilon.

    Examples
    --------
    >>> batch = Batch(100_000, 1e-6)
    >>> round(amplified(Guarantee("metric", epsilon=1.0), 4, batch).epsilon, 2)  # local: 4
    0.17
    """
    if guarantee.notion == "metric":
        guarantee = _over_the_box(guarantee, columns)
    return amplify(guarantee, batch.n_reports, batch.delta, n_colors=n_colors)


def _over_the_box(guarantee: Guarantee, columns: int) -> Guarantee:
    """Return the local guarantee of a metric one for records in [-1, 1]."""
    # Records are rounded to points inside the box, so its diameter covers the slack too.
    return replace(guarantee, slack=0.0).to_local(box_diameter(columns))


def checked_delta(delta: float) -> float:
    """Check the delta of shuffled batches, before anything is run or spent.

    Parameters
    ----------
    delta : float
        Delta of the shuffled guarantee.

    Returns
    -------
    delta : float
        The same value.

    Raises
    ------
    ParameterError
        If no shuffled batch can have this delta.

    Examples
    --------
    >>> checked_delta(1e-6)
    1e-06
    """
    amplify(Guarantee("local", epsilon=1.0), 1, delta)
    return delta


def report_epsilon(worst: float, batch: Batch, n_colors: Callable[[float], int]) -> float:
    """Return the local epsilon of a randomized response whose batch promises a worst case.

    Parameters
    ----------
    worst : float
        Worst-case epsilon of the shuffled batch.
    batch : Batch
        The reports.
    n_colors : callable
        Number of colors that the mechanism has at a local epsilon; it never falls.

    Returns
    -------
    epsilon : float
        Of each report: at least ``worst``.

    Examples
    --------
    >>> round(report_epsilon(1.0, Batch(10_000, 1e-6), lambda epsilon: 64), 1)
    5.7
    """
    # A larger epsilon has more colors, and these allow a larger epsilon: up to where both agree.
    colors, within = n_colors(worst), worst * (1 - ROUNDED_UP)
    while True:
        epsilon = local_epsilon_for(within, batch.n_reports, batch.delta, n_colors=colors).epsilon
        more = n_colors(epsilon)
        if more <= colors:
            return epsilon
        colors = more


def keeps_worst_case(
    guarantee: Guarantee, worst: float, columns: int, *, delta: float = 0.0
) -> bool:
    """Return whether a promise is at least as strong as the worst case that is asked for."""
    try:
        return guarantee.delta <= delta and worst_case(guarantee, columns) <= worst * (
            1 + TOLERANCE
        )
    except GuaranteeError:
        return False
