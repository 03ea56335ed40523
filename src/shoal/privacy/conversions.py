"""Conversions between kinds of promise, each the best that is proved in ``proofs/composition.md``.

Pure epsilon, zero-concentrated differential privacy (zCDP, Bun and Steinke 2016) and
(epsilon, delta); from add/remove to substitution and to groups; from metric privacy to the local
one. All results are upper bounds on what is lost.
"""

import math
from typing import NamedTuple

from shoal.exceptions import GuaranteeError
from shoal.privacy import _numbers

__all__ = [
    "Loss",
    "epsilon_to_zcdp",
    "group",
    "group_zcdp",
    "laplace_to_zcdp",
    "metric_to_local",
    "pure_to_zcdp",
    "substitute",
    "substitute_zcdp",
    "zcdp_to_delta",
    "zcdp_to_epsilon",
]


class Loss(NamedTuple):
    """An (epsilon, delta) pair."""

    epsilon: float
    delta: float


def pure_to_zcdp(epsilon: float) -> float:
    """Return the smallest rho such that every epsilon-private step is rho-zCDP.

    It is ``epsilon * tanh(epsilon / 2)``, which randomised response reaches; the better known
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

    The minimum over the order alpha of Canonne, Kamath and Steinke (2020, Proposition 12), never
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
    2.219
    """
    rho = _numbers.non_negative("rho", rho)
    delta = _numbers.positive_probability("delta", delta)
    if rho == 0:
        return 0.0
    log_inverse = -math.log(delta)
    # The derivative has the sign of rho (alpha-1)^2 - ln(1/(alpha delta)), which only grows.
    low, high = 0.0, math.sqrt(log_inverse / rho)
    simple = high
    while True:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if rho * middle * middle < log_inverse - math.log1p(middle):
            low = middle
        else:
            high = middle
    # Every order gives a valid epsilon, so rounding in the search costs no privacy.
    return max(
        0.0, min(_epsilon_at(rho, log_inverse, order) for order in (low, high, simple) if order > 0)
    )


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
    low, high = -800.0, 0.0  # natural logarithm of delta
    if rho == 0 or zcdp_to_epsilon(rho, math.exp(-700)) <= epsilon:
        return 0.0 if rho == 0 else math.exp(-700)
    low = -700.0
    for _ in range(100):
        middle = (low + high) / 2
        if middle >= -1e-16 or zcdp_to_epsilon(rho, math.exp(middle)) <= epsilon:
            high = middle
        else:
            low = middle
    return math.exp(high)


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
    low, high = 0.0, epsilon
    while zcdp_to_epsilon(high, delta) <= epsilon:
        low, high = high, 2 * high
    while True:
        middle = (low + high) / 2
        if not low < middle < high:
            return low
        if zcdp_to_epsilon(middle, delta) <= epsilon:
            low = middle
        else:
            high = middle
