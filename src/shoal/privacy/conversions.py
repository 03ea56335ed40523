"""Conversions between kinds of promise, each the best that is proved in ``proofs/composition.md``.

Pure epsilon, zero-concentrated differential privacy (zCDP, Bun and Steinke 2016) and
(epsilon, delta); from metric privacy to the local one; from one record to a group of them, hence to
substitution, which removes one record and adds another. All results are upper bounds.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from shoal import _numbers
from shoal._numbers import rounded_up
from shoal.exceptions import GuaranteeError

__all__ = [
    "Loss",
    "boundary",
    "epsilon_to_zcdp",
    "group",
    "metric_to_local",
    "pure_to_zcdp",
    "renyi_to_epsilon",
    "zcdp_order",
    "zcdp_to_epsilon",
]

_LEAST_ORDER = math.nextafter(1, 2)  # of a Rényi divergence, which has one above 1


def pure_to_zcdp(epsilon: float) -> float:
    """Return the smallest rho such that every epsilon-DP mechanism is rho-zCDP.

    It is ``epsilon * tanh(epsilon / 2)``, attained by randomized response; the better known
    ``epsilon^2 / 2`` is larger.

    Parameters
    ----------
    epsilon : float
        Pure epsilon, > 0.

    Returns
    -------
    rho : float
        The zCDP parameter.

    Examples
    --------
    >>> round(pure_to_zcdp(1.0), 4)
    0.4621
    """
    epsilon = _numbers.positive("epsilon", epsilon)
    return epsilon * math.tanh(epsilon / 2)


def zcdp_to_epsilon(rho: float, delta: float) -> float:
    """Return the epsilon that rho-zCDP implies at this delta.

    It is the bound of Canonne, Kamath and Steinke (2020), minimized over their order alpha; never
    above ``rho + 2 sqrt(rho ln(1/delta))``.

    Parameters
    ----------
    rho : float
        The zCDP parameter, >= 0.
    delta : float
        The delta of the guarantee, in (0, 1).

    Returns
    -------
    epsilon : float
        The epsilon of the (epsilon, delta) guarantee.

    Examples
    --------
    >>> round(zcdp_to_epsilon(0.1, 1e-6), 3)
    2.142
    """
    rho = _numbers.non_negative("rho", rho)
    delta = _numbers.positive_probability("delta", delta)
    if rho == 0:
        return 0.0
    orders = (zcdp_order(rho, delta), max(1 + _simple_excess(rho, delta), _LEAST_ORDER))
    # Every order gives a valid epsilon, so rounding in the search costs no privacy.
    return max(0.0, min(renyi_to_epsilon(order * rho, order, delta) for order in orders))


def zcdp_order(rho: float, delta: float) -> float:
    """Return the Rényi order through which :func:`zcdp_to_epsilon` converts."""
    rho = _numbers.positive("rho", rho)
    delta = _numbers.positive_probability("delta", delta)
    log_inverse = -math.log(delta)
    # With t = order - 1, the derivative has the sign of rho t^2 + ln(1+t) - ln(1/delta).
    excess = boundary(
        0.0, _simple_excess(rho, delta), lambda t: rho * t * t + math.log1p(t) < log_inverse
    )
    return max(1 + excess, _LEAST_ORDER)


def renyi_to_epsilon(divergence: float, order: float, delta: float) -> float:
    """Return the epsilon that a bound on one Rényi divergence implies at this delta."""
    excess = _numbers.positive("order - 1", order - 1)
    divergence = _numbers.non_negative("divergence", divergence)
    log_inverse = -math.log(_numbers.positive_probability("delta", delta))
    return divergence + (log_inverse - math.log1p(excess)) / excess - math.log1p(1 / excess)


def epsilon_to_zcdp(epsilon: float, delta: float) -> float:
    """Return the largest rho that :func:`zcdp_to_epsilon` maps to at most epsilon.

    Parameters
    ----------
    epsilon : float
        Upper limit on epsilon, > 0.
    delta : float
        The delta of the guarantee, in (0, 1).

    Returns
    -------
    rho : float
        The zCDP parameter.

    Examples
    --------
    >>> rho = epsilon_to_zcdp(1.0, 1e-6)
    >>> zcdp_to_epsilon(rho, 1e-6) <= 1.0 < zcdp_to_epsilon(rho * 1.0001, 1e-6)
    True
    """
    epsilon = _numbers.positive("epsilon", epsilon)
    delta = _numbers.positive_probability("delta", delta)
    high = epsilon
    while zcdp_to_epsilon(high, delta) <= epsilon:
        high *= 2
    return boundary(0.0, high, lambda rho: zcdp_to_epsilon(rho, delta) <= epsilon)


def metric_to_local(epsilon: float, diameter: float) -> float:
    """Return the local epsilon of a metric guarantee over a domain of this diameter.

    Parameters
    ----------
    epsilon : float
        Metric epsilon per unit of distance, > 0.
    diameter : float
        Largest distance between two records, in the same unit, > 0.

    Returns
    -------
    epsilon : float
        ``epsilon * diameter``, which covers the two records furthest apart.

    Examples
    --------
    >>> metric_to_local(0.5, diameter=4.0)
    2.0
    """
    return _numbers.positive("epsilon", epsilon) * _numbers.positive("diameter", diameter)


def _simple_excess(rho: float, delta: float) -> float:
    """Return order - 1 of the textbook conversion, which ignores the lower terms."""
    return min(math.sqrt(-math.log(delta) / rho), 1e150)


def boundary(low: float, high: float, holds: Callable[[float], bool]) -> float:
    """Return the last float in (low, high) where ``holds``, true below and false above."""
    while True:
        middle = (low + high) / 2
        if not low < middle < high:
            return low
        if holds(middle):
            low = middle
        else:
            high = middle


_LARGEST_LOG = 700.0  # whose exponential is a float


class Loss(NamedTuple):
    """An (epsilon, delta) pair."""

    epsilon: float
    delta: float


def group(epsilon: float, delta: float = 0.0, *, size: int) -> Loss:
    """Return what an (epsilon, delta) promise for one record is worth for ``size`` records."""
    epsilon = _numbers.non_negative("epsilon", epsilon)
    delta = _numbers.probability("delta", delta)
    size = _numbers.count("size", size)
    total = 0.0
    if delta > 0:
        # The largest term alone decides whether delta stays below 1; exp may not overflow first.
        if math.log(delta) + (size - 1) * epsilon < 0:
            if size * epsilon < _LARGEST_LOG:
                ratio = math.expm1(size * epsilon) / math.expm1(epsilon) if epsilon > 0 else size
                total = delta * ratio
            else:  # the sum over its largest term, since the sum itself is beyond a float
                terms = math.expm1(-size * epsilon) / math.expm1(-epsilon)
                total = math.exp(math.log(delta) + (size - 1) * epsilon) * terms
        else:
            total = 1.0
    if total >= 1:
        raise GuaranteeError(
            f"delta must stay below 1, but {size} records at epsilon = {rounded_up(epsilon)} and "
            f"delta = {rounded_up(delta)} reach it: ask for a smaller delta or a smaller group"
        )
    return Loss(size * epsilon, total)
