"""Conversions between kinds of promise, each the best that is proved in ``proofs/composition.md``.

Pure epsilon, zero-concentrated differential privacy (zCDP, Bun and Steinke 2016) and
(epsilon, delta); and from metric privacy to the local one. From one record to several, and from
add/remove to substitution: :mod:`shoal.privacy.groups`. All results are upper bounds on what is
lost.
"""

import math
from collections.abc import Callable

from shoal import _numbers

__all__ = [
    "epsilon_to_zcdp",
    "laplace_to_zcdp",
    "metric_to_local",
    "pure_to_zcdp",
    "renyi_to_epsilon",
    "zcdp_order",
    "zcdp_to_delta",
    "zcdp_to_epsilon",
]


def pure_to_zcdp(epsilon: float) -> float:
    """Return the smallest rho such that every epsilon-private step is rho-zCDP.

    It is ``epsilon * tanh(epsilon / 2)``, which randomized response reaches; the better known
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


def laplace_to_zcdp(epsilon: float) -> float:
    """Return the smallest rho such that Laplace noise of pure epsilon is rho-zCDP.

    It is ``epsilon + exp(-epsilon) - 1``. It holds for vectors with an L1 sensitivity and for
    noise of density ``exp(-||z||/scale)`` in any norm too.

    Parameters
    ----------
    epsilon : float
        Sensitivity divided by scale, > 0.

    Returns
    -------
    rho : float
        The zCDP parameter.

    Examples
    --------
    >>> round(laplace_to_zcdp(1.0), 4)
    0.3679
    """
    epsilon = _numbers.positive("epsilon", epsilon)
    if epsilon < 1e-3:
        # The closed form cancels; the series alternates, so ending on a plus keeps it above.
        return epsilon * epsilon * (1 / 2 - epsilon / 6 + epsilon * epsilon / 24)
    return epsilon + math.expm1(-epsilon)


def zcdp_to_epsilon(rho: float, delta: float) -> float:
    """Return the epsilon that rho-zCDP implies at this delta.

    The minimum over the order alpha of Canonne, Kamath and Steinke (2020), never
    above ``rho + 2 sqrt(rho ln(1/delta))``.

    Parameters
    ----------
    rho : float
        The zCDP parameter, >= 0.
    delta : float
        In (0, 1).

    Returns
    -------
    epsilon : float
        The promise is (epsilon, delta).

    Examples
    --------
    >>> round(zcdp_to_epsilon(0.1, 1e-6), 3)
    2.142
    """
    rho = _numbers.non_negative("rho", rho)
    delta = _numbers.positive_probability("delta", delta)
    if rho == 0:
        return 0.0
    orders = (zcdp_order(rho, delta), 1 + _simple_excess(rho, delta))
    # Every order gives a valid epsilon, so rounding in the search costs no privacy.
    return max(0.0, min(renyi_to_epsilon(order * rho, order, delta) for order in orders))


def zcdp_order(rho: float, delta: float) -> float:
    """Return the Rényi order through which :func:`zcdp_to_epsilon` converts.

    Parameters
    ----------
    rho : float
        The zCDP parameter, > 0.
    delta : float
        In (0, 1).

    Returns
    -------
    order : float
        Above 1.

    Examples
    --------
    >>> round(zcdp_order(0.1, 1e-6), 2)
    11.66
    """
    rho = _numbers.positive("rho", rho)
    delta = _numbers.positive_probability("delta", delta)
    log_inverse = -math.log(delta)
    # With t = order - 1, the derivative has the sign of rho t^2 + ln(1+t) - ln(1/delta).
    excess = _boundary(
        0.0, _simple_excess(rho, delta), lambda t: rho * t * t + math.log1p(t) < log_inverse
    )
    return max(1 + excess, math.nextafter(1, 2))


def renyi_to_epsilon(divergence: float, order: float, delta: float) -> float:
    """Return the epsilon that a bound on one Rényi divergence implies at this delta.

    Parameters
    ----------
    divergence : float
        Bound on the divergence of this order, >= 0.
    order : float
        Above 1.
    delta : float
        In (0, 1).

    Returns
    -------
    epsilon : float
        The promise is (epsilon, delta); negative values mean that 0 will do.

    Examples
    --------
    >>> round(renyi_to_epsilon(1.0, 11.0, 1e-6), 3)
    2.046
    """
    excess = _numbers.positive("order - 1", order - 1)
    divergence = _numbers.non_negative("divergence", divergence)
    log_inverse = -math.log(_numbers.positive_probability("delta", delta))
    return divergence + (log_inverse - math.log1p(excess)) / excess - math.log1p(1 / excess)


def zcdp_to_delta(rho: float, epsilon: float) -> float:
    """Return a delta for which rho-zCDP implies (epsilon, delta).

    Parameters
    ----------
    rho : float
        The zCDP parameter, >= 0.
    epsilon : float
        The epsilon wanted, >= 0.

    Returns
    -------
    delta : float
        At most 1.

    Examples
    --------
    >>> zcdp_to_delta(0.1, 2.22) < 1e-6
    True
    """
    rho = _numbers.non_negative("rho", rho)
    epsilon = _numbers.non_negative("epsilon", epsilon)
    if rho == 0:
        return 0.0
    # With t = alpha - 1, the derivative of ln(delta) is rho (2t+1) + ln(t/(1+t)) - epsilon.
    low, high = 0.0, 1.0
    while rho * (2 * high + 1) - math.log1p(1 / high) < epsilon:
        low, high = high, 2 * high
    t = _boundary(low, high, lambda t: rho * (2 * t + 1) - math.log1p(1 / t) < epsilon)
    exponent = t * (rho * (t + 1) - epsilon) - math.log1p(t) - t * math.log1p(1 / t)
    return math.exp(min(0.0, exponent))


def epsilon_to_zcdp(epsilon: float, delta: float) -> float:
    """Return the largest rho that :func:`zcdp_to_epsilon` maps to at most epsilon.

    Parameters
    ----------
    epsilon : float
        The epsilon allowed, > 0.
    delta : float
        In (0, 1).

    Returns
    -------
    rho : float
        The zCDP budget.

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
    return _boundary(0.0, high, lambda rho: zcdp_to_epsilon(rho, delta) <= epsilon)


def metric_to_local(epsilon: float, diameter: float) -> float:
    """Return the local epsilon of a metric promise over a domain of this diameter.

    Parameters
    ----------
    epsilon : float
        Metric epsilon per unit of distance, > 0.
    diameter : float
        Largest distance between two records, in the same unit, > 0.

    Returns
    -------
    epsilon : float
        ``epsilon * diameter``: no two records are easier to tell apart than that.

    Examples
    --------
    >>> metric_to_local(0.5, diameter=4.0)
    2.0
    """
    return _numbers.positive("epsilon", epsilon) * _numbers.positive("diameter", diameter)


def _simple_excess(rho: float, delta: float) -> float:
    """Return order - 1 of the textbook conversion, which ignores the lower terms."""
    return min(math.sqrt(-math.log(delta) / rho), 1e150)


def _boundary(low: float, high: float, holds: Callable[[float], bool]) -> float:
    """Return the last float in (low, high) where ``holds``, true below and false above."""
    while True:
        middle = (low + high) / 2
        if not low < middle < high:
            return low
        if holds(middle):
            low = middle
        else:
            high = middle
