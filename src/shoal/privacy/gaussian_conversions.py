"""Gaussian differential privacy (GDP; Dong, Roth and Su 2022) in other terms, and back.

A step is mu-GDP if its outputs are no easier to tell apart than N(0, 1) and N(mu, 1). Squares of mu
add up, also over steps that earlier outputs choose, and what they add up to is (epsilon, delta)
for a whole curve of pairs. Proof: ``proofs/gdp.md``. Rounding is always toward less privacy.
"""

import functools
import math
import sys
from fractions import Fraction

from shoal import _numbers
from shoal.privacy.conversions import boundary

__all__ = ["epsilon_to_gdp", "gdp_to_delta", "gdp_to_epsilon", "gdp_to_pure", "pure_to_gdp"]

_SURE = -8.0  # further down a normal variable is never, as far as doubles go
_FAR = 40.0  # further up its tail is below any double
_TAIL = 3.0  # from here on the continued fraction converges fast
_TERMS = 60
_ERROR = 2.0**-44  # relative, of Mills ratios (proofs/gdp.md)
_SAFETY = 1e-11  # relative, of delta: what all other rounding amounts to, and much more


def gdp_to_delta(mu: float, epsilon: float) -> float:
    """Return the delta of the (epsilon, delta) guarantee that mu-GDP implies at this epsilon.

    It is Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), attained by Gaussian noise.

    Parameters
    ----------
    mu : float
        The GDP parameter, >= 0.
    epsilon : float
        The epsilon of the guarantee, >= 0.

    Returns
    -------
    delta : float
        The smallest delta that is guaranteed, rounded up.

    Examples
    --------
    >>> round(gdp_to_delta(1.0, 1.0), 4)
    0.1269
    """
    mu = _numbers.non_negative("mu", mu)
    epsilon = _numbers.non_negative("epsilon", epsilon)
    if mu == 0:
        return 0.0
    # One step up: a delta too small for a double is not 0, which would promise pure privacy.
    return min(math.nextafter(math.exp(_log_delta(mu, epsilon)), math.inf), 1.0)


def gdp_to_epsilon(mu: float, delta: float) -> float:
    """Return the epsilon of the (epsilon, delta) guarantee that mu-GDP implies at this delta.

    Parameters
    ----------
    mu : float
        The GDP parameter, >= 0.
    delta : float
        The delta of the guarantee, in (0, 1).

    Returns
    -------
    epsilon : float
        The smallest epsilon that is guaranteed, rounded up; infinite if too large for a float.

    Examples
    --------
    >>> round(gdp_to_epsilon(0.2367, 1e-6), 3)
    1.0
    """
    return _gdp_to_epsilon(
        _numbers.non_negative("mu", mu), _numbers.positive_probability("delta", delta)
    )


@functools.lru_cache(maxsize=256)  # a fit and its audit ask for the same again and again
def _gdp_to_epsilon(mu: float, delta: float) -> float:
    wanted = math.log(delta)
    if mu == 0 or _log_delta(mu, 0.0) <= wanted:
        return 0.0
    high = mu * (mu / 2 + math.sqrt(-2 * wanted))  # where the first term alone is below delta
    if 4 * high > sys.float_info.max:
        return math.inf
    while not _log_delta(mu, high) <= wanted:
        high *= 2
    below = boundary(0.0, high, lambda epsilon: _log_delta(mu, epsilon) > wanted)
    return math.nextafter(below, math.inf)


def epsilon_to_gdp(epsilon: float, delta: float) -> float:
    """Return the largest mu such that mu-GDP implies (epsilon, delta)-differential privacy.

    Parameters
    ----------
    epsilon : float
        Upper limit on epsilon, > 0.
    delta : float
        The delta of the guarantee, in (0, 1).

    Returns
    -------
    mu : float
        The GDP parameter, rounded down. Gaussian noise of standard deviation s / mu on values of L2
        sensitivity s is mu-GDP.

    Examples
    --------
    >>> round(epsilon_to_gdp(1.0, 1e-6), 4)
    0.2367
    """
    return _epsilon_to_gdp(
        _numbers.positive("epsilon", epsilon), _numbers.positive_probability("delta", delta)
    )


@functools.lru_cache(maxsize=256)  # every fit with the same promise asks for the same
def _epsilon_to_gdp(epsilon: float, delta: float) -> float:
    wanted = math.log(delta)
    high = 1.0
    while _log_delta(high, epsilon) <= wanted:
        high *= 2
    return boundary(0.0, high, lambda mu: _log_delta(mu, epsilon) <= wanted)


def pure_to_gdp(epsilon: float) -> float:
    """Return the smallest mu such that every epsilon-DP mechanism is mu-GDP.

    It is 2 Phi^-1(e^epsilon / (1 + e^epsilon)), attained by randomized response.

    Parameters
    ----------
    epsilon : float
        Pure epsilon, > 0.

    Returns
    -------
    mu : float
        The GDP parameter, rounded up.

    Examples
    --------
    >>> round(pure_to_gdp(1.0), 4)
    1.232
    """
    return _pure_to_gdp(_numbers.positive("epsilon", epsilon))


@functools.lru_cache(maxsize=256)  # a ledger asks for each of its entries
def _pure_to_gdp(epsilon: float) -> float:
    # A normal tail beyond x is at most e^(-x^2/2) / 2, so mu^2/8 is at most epsilon.
    high = 1.0 + 3 * math.sqrt(epsilon)
    below = boundary(0.0, high, lambda mu: _pure_epsilon(mu) < epsilon * (1 + _SAFETY))
    return math.nextafter(below, math.inf)


def gdp_to_pure(mu: float) -> float:
    """Return the largest epsilon that :func:`pure_to_gdp` maps to at most mu."""
    mu = _numbers.non_negative("mu", mu)
    epsilon = _pure_epsilon(mu) * (1 - 2 * _SAFETY)
    return epsilon if epsilon > 0 and pure_to_gdp(epsilon) <= mu else 0.0


def _pure_epsilon(mu: float) -> float:
    """Return the epsilon of the randomized response that is exactly mu-GDP."""
    if mu / 2 < _TAIL:  # Phi(mu/2) = e^epsilon / (1 + e^epsilon), whose distance from 1/2 is known
        return 2 * math.atanh(math.erf(mu / 2 / math.sqrt(2)))
    lower = _log_density(mu / 2) + math.log(_mills(mu / 2))
    return math.log1p(-math.exp(lower)) - lower


def _log_delta(mu: float, epsilon: float) -> float:
    """Return an upper bound of the logarithm of delta, for mu > 0.

    With x and y = epsilon/mu -+ mu/2 and R the Mills ratio, (1 - Phi)/phi, delta is
    phi(x) (R(x) - R(y)), since e^epsilon phi(y) = phi(x).
    """
    exact = Fraction(mu)
    ratio = Fraction(epsilon) / exact
    x = float(min(ratio - exact / 2, Fraction(10**150)))
    if x < _SURE:
        return 0.0
    if x > _FAR:  # R(x) < 1/x
        return _log_density(x) - math.log(x)
    first = _mills(x)
    # R falls and is convex: where the difference drowns in rounding, its tangent bounds it.
    second = _mills(float(min(ratio + exact / 2, Fraction(10**150))))
    difference = first - second + _ERROR * (first + second)
    tangent = mu * (_slope(x) * (1 + _ERROR) + _ERROR * abs(x) * first * (x < _TAIL))
    return min(0.0, _log_density(x) + math.log(min(difference, tangent)) + _SAFETY)


def _log_density(x: float) -> float:
    return -x * (x / 2) - math.log(2 * math.pi) / 2  # x * x may be no double


def _mills(x: float) -> float:
    """Return (1 - Phi(x)) / phi(x)."""
    if x < _TAIL:
        return math.sqrt(math.pi / 2) * math.exp(x * x / 2) * math.erfc(x / math.sqrt(2))
    return 1 / (x + _rest(x))


def _slope(x: float) -> float:
    """Return minus the derivative of the Mills ratio R, which is 1 - x R(x)."""
    if x < _TAIL:
        return 1 - x * _mills(x)
    rest = _rest(x)
    return rest / (x + rest)


def _rest(x: float) -> float:
    """Return the continued fraction 1/(x + 2/(x + 3/(x + ...)))."""
    rest = 0.0
    for term in range(_TERMS, 0, -1):
        rest = term / (x + rest)
    return rest
