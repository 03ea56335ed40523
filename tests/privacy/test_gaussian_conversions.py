"""Gaussian differential privacy against 400-bit arithmetic and against published values."""

import math
import random
import sys

import mpmath
import pytest

from helpers.cases import case
from helpers.privacy_profiles import response_delta
from shoal.exceptions import ParameterError
from shoal.privacy import epsilon_to_gdp, gdp_to_delta, gdp_to_epsilon, pure_to_gdp
from shoal.privacy.gaussian_conversions import gdp_to_pure

# Without a proof of their own, from the formula and a table of the normal distribution.
KNOWN = {0.1: 0.0275, 0.5: 0.1241, 1.0: 0.2367, 2.0: 0.4483, 4.0: 0.8379}


def exact_delta(mu: float, epsilon: float) -> mpmath.mpf:
    """The formula as it stands; 400 bits hold what cancels."""
    with mpmath.workprec(400):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


def test_published_values() -> None:
    for epsilon, mu in KNOWN.items():
        assert epsilon_to_gdp(epsilon, 1e-6) == pytest.approx(mu, abs=6e-5)


@pytest.mark.full
def test_delta_is_never_too_small_and_hardly_too_large() -> None:
    """Over fifteen decades of mu, up to the largest epsilon whose exponential 400 bits hold."""
    rng = random.Random(0)
    for _ in range(1500):
        mu = 10 ** rng.uniform(-12, 3)
        epsilon = mu * (rng.uniform(-9, 37) + mu / 2)
        if not 0 <= epsilon <= 1e7:
            epsilon = mu * 10 ** rng.uniform(-10, 0)
        with case(mu=mu, epsilon=epsilon):
            exact = exact_delta(mu, epsilon)
            assert exact <= gdp_to_delta(mu, epsilon) <= max(float(exact) * (1 + 1e-5), 1e-300)


@pytest.mark.parametrize("delta", [1e-300, 1e-30, 1e-12, 1e-6, 0.01, 0.5, 0.99])
def test_mu_keeps_its_promise_and_the_next_does_not(delta: float) -> None:
    for epsilon in [1e-9, 1e-3, 0.1, 1.0, 4.0, 30.0, 800.0, 1e6]:
        with case(epsilon=epsilon):
            mu = epsilon_to_gdp(epsilon, delta)
            assert exact_delta(mu, epsilon) <= delta
            assert exact_delta(mu * (1 + 1e-6), epsilon) > delta
            back = gdp_to_epsilon(mu, delta)
            assert exact_delta(mu, back) <= delta
            assert back == pytest.approx(epsilon, rel=1e-6)


def test_large_budgets_do_not_overflow() -> None:
    for epsilon in (1e9, 1e12):
        mu = epsilon_to_gdp(epsilon, 1e-6)
        assert 0.99 * math.sqrt(2 * epsilon) < mu < math.sqrt(2 * epsilon)
        assert gdp_to_epsilon(mu, 1e-6) == pytest.approx(epsilon)
        assert pure_to_gdp(epsilon) == pytest.approx(2 * math.sqrt(2 * epsilon), rel=1e-6)


def test_nothing_promises_everything() -> None:
    assert gdp_to_delta(0.0, 1.0) == 0.0
    assert gdp_to_epsilon(0.0, 1e-9) == 0.0
    assert gdp_to_epsilon(0.01, 0.5) == 0.0
    assert gdp_to_delta(100.0, 0.0) == 1.0


def test_a_delta_too_small_for_a_double_is_not_called_pure() -> None:
    assert gdp_to_delta(1e-300, 1e300) == math.ulp(0.0)
    for x in (38.2, 38.4, 38.46, 38.5, 41.0, 100.0):  # on both sides of the least double
        with case(x=x):
            assert exact_delta(0.1, 0.1 * x) <= gdp_to_delta(0.1, 0.1 * x)


def test_the_largest_epsilons_have_the_largest_mu() -> None:
    """mu is about sqrt(8 epsilon), also where 2 epsilon is no double."""
    for epsilon in (1e300, 8e307, 1e308, sys.float_info.max):
        with case(epsilon=epsilon):
            assert pure_to_gdp(epsilon) == pytest.approx(math.sqrt(8) * math.sqrt(epsilon))


def test_an_epsilon_beyond_doubles_is_infinite() -> None:
    assert gdp_to_epsilon(1e200, 1e-6) == math.inf
    assert gdp_to_epsilon(1e308, 0.99) == math.inf
    assert math.isfinite(gdp_to_epsilon(1e153, 1e-6))


def test_pure_steps_are_gaussian_and_no_less() -> None:
    """Randomized response lies below the curve of its mu at every epsilon, and touches it."""
    for epsilon in [1e-3, 0.1, 1.0, 5.0]:
        with case(epsilon=epsilon):
            mu = pure_to_gdp(epsilon)
            grid = [epsilon * part / 50 for part in range(51)]
            assert all(response_delta(epsilon, 1, at) <= gdp_to_delta(mu, at) for at in grid)
            less = mu * (1 - 1e-6)
            assert any(response_delta(epsilon, 1, at) > gdp_to_delta(less, at) for at in grid)
    for epsilon in [1e-6, 0.3, 3.0, 30.0, 600.0]:
        with case(epsilon=epsilon), mpmath.workprec(200):
            mu = pure_to_gdp(epsilon)
            odds = mpmath.exp(-mpmath.mpf(epsilon))
            assert mpmath.ncdf(-mpmath.mpf(mu) / 2) <= odds / (1 + odds)
            assert mpmath.ncdf(-mpmath.mpf(mu * (1 - 1e-9)) / 2) > odds / (1 + odds)
            assert gdp_to_pure(mu) == pytest.approx(epsilon, rel=1e-9)
            assert gdp_to_pure(mu) <= epsilon


def test_bad_input_is_refused() -> None:
    for call in (
        lambda: epsilon_to_gdp(0.0, 1e-6),
        lambda: epsilon_to_gdp(1.0, 0.0),
        lambda: gdp_to_epsilon(-1.0, 1e-6),
        lambda: gdp_to_epsilon(1.0, 1.0),
        lambda: gdp_to_delta(math.nan, 1.0),
        lambda: gdp_to_delta(1.0, -1.0),
        lambda: pure_to_gdp(0.0),
    ):
        with pytest.raises(ParameterError):
            call()
