"""What a promise for one record is worth for several, and hence under substitution.

Substituting a record is removing one and adding another, so an add/remove promise covers it as a
group of two (``proofs/composition.md``, section 6).
"""

import math
from typing import NamedTuple

from shoal import _numbers
from shoal.exceptions import GuaranteeError

__all__ = ["Loss", "group", "group_zcdp", "substitute", "substitute_zcdp"]

_LARGEST_LOG = 700.0  # whose exponential is a float


class Loss(NamedTuple):
    """An (epsilon, delta) pair."""

    epsilon: float
    delta: float


def group(epsilon: float, delta: float = 0.0, *, size: int) -> Loss:
    """Return what an (epsilon, delta) promise for one record is worth for ``size`` records.

    Parameters
    ----------
    epsilon : float
        Promise for one record, >= 0.
    delta : float, default=0.0
        Promise for one record, in [0, 1).
    size : int
        How many records may change together, >= 1.

    Returns
    -------
    loss : Loss
        ``size * epsilon`` and ``delta * (1 + e^epsilon + ... + e^((size-1) epsilon))``.

    Raises
    ------
    GuaranteeError
        If delta would reach 1, which promises nothing.

    Examples
    --------
    >>> group(0.5, size=3)
    Loss(epsilon=1.5, delta=0.0)
    """
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
            f"delta must stay below 1, but {size} records at epsilon = {epsilon:g} and "
            f"delta = {delta:g} reach it: ask for a smaller delta or a smaller group"
        )
    return Loss(size * epsilon, total)


def group_zcdp(rho: float, *, size: int) -> float:
    """Return the rho for ``size`` records that change together: ``size^2 rho``.

    Parameters
    ----------
    rho : float
        The zCDP parameter for one record, >= 0.
    size : int
        How many records may change together, >= 1.

    Returns
    -------
    rho : float
        The zCDP parameter for the group.

    Examples
    --------
    >>> group_zcdp(0.1, size=2)
    0.4
    """
    return _numbers.count("size", size) ** 2 * _numbers.non_negative("rho", rho)


def substitute(epsilon: float, delta: float = 0.0) -> Loss:
    """Return what an add/remove promise is worth under substitution: a group of two.

    Parameters
    ----------
    epsilon : float
        Under add/remove, >= 0.
    delta : float, default=0.0
        Under add/remove, in [0, 1).

    Returns
    -------
    loss : Loss
        ``2 epsilon`` and ``(1 + e^epsilon) delta``.

    Examples
    --------
    >>> substitute(0.5).epsilon
    1.0
    """
    return group(epsilon, delta, size=2)


def substitute_zcdp(rho: float) -> float:
    """Return what add/remove rho-zCDP is worth under substitution: ``4 rho``.

    Parameters
    ----------
    rho : float
        Under add/remove, >= 0.

    Returns
    -------
    rho : float
        Under substitution.

    Examples
    --------
    >>> substitute_zcdp(0.1)
    0.4
    """
    return group_zcdp(rho, size=2)
