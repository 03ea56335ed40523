"""Conversions, against divergences computed without the library."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.cases import case
from helpers.privacy_profiles import gaussian_delta, renyi
from shoal.exceptions import GuaranteeError, ParameterError
from shoal.privacy import metric_to_local
from shoal.privacy.conversions import epsilon_to_zcdp, group, pure_to_zcdp, zcdp_to_epsilon

ORDERS = 1 + np.geomspace(1e-5, 300, 60)


def test_pure_to_zcdp_is_the_smallest_valid_rho() -> None:
    for epsilon in [0.01, 0.3, 1.0, 3.0, 8.0]:
        with case(epsilon=epsilon):
            high = 1 / (1 + math.exp(-epsilon))
            p, q = np.array([high, 1 - high]), np.array([1 - high, high])
            rho = pure_to_zcdp(epsilon)
            ratios = [renyi(p, q, order) / order for order in ORDERS]
            assert max(ratios) <= rho * (1 + 1e-6)
            assert max(ratios) >= rho * 0.995
            assert rho <= epsilon**2 / 2


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.floats(1e-8, 50), st.floats(-30, -0.1))
def test_zcdp_to_epsilon_lies_between_the_gaussian_and_the_simple_bound(
    rho: float, log_delta: float
) -> None:
    delta = math.exp(log_delta)
    epsilon = zcdp_to_epsilon(rho, delta)
    assert epsilon <= rho + 2 * math.sqrt(rho * -log_delta) + 1e-12
    # A Gaussian step is exactly rho-zCDP, so its own delta there cannot be larger.
    if epsilon < 600:
        assert gaussian_delta(math.sqrt(2 * rho), epsilon) <= delta * (1 + 1e-6)


def test_zcdp_to_epsilon_agrees_with_a_plain_search_over_orders() -> None:
    for rho in (1e-6, 0.01, 0.5, 5.0):
        for delta in (1e-12, 1e-6, 1e-2):
            orders = 1 + np.geomspace(1e-4, 1e7, 400_000)
            bound = (
                rho * orders - np.log(delta * orders) / (orders - 1) + np.log1p(-1 / orders)
            ).min()
            assert zcdp_to_epsilon(rho, delta) == pytest.approx(max(0, bound), rel=1e-6, abs=1e-9)


@settings(deadline=None, max_examples=40, derandomize=True)
@given(st.floats(1e-4, 50), st.floats(-30, -0.5))
def test_epsilon_to_zcdp_is_the_largest_rho_that_fits(epsilon: float, log_delta: float) -> None:
    delta = math.exp(log_delta)
    rho = epsilon_to_zcdp(epsilon, delta)
    assert zcdp_to_epsilon(rho, delta) <= epsilon
    assert zcdp_to_epsilon(rho * (1 + 1e-9) + 1e-300, delta) >= epsilon * (1 - 1e-9)


def test_nothing_spent_costs_nothing() -> None:
    assert zcdp_to_epsilon(0.0, 1e-6) == 0


def test_group_of_gaussian_records_is_covered() -> None:
    # m records shift a Gaussian m times as far: compare with its exact curve.
    sigma, epsilon = 5.0, 0.8
    delta = gaussian_delta(1 / sigma, epsilon)
    for size in (2, 3, 5):
        loss = group(epsilon, delta, size=size)
        assert loss.epsilon == pytest.approx(size * epsilon)
        assert gaussian_delta(size / sigma, loss.epsilon) <= loss.delta


def test_substitution_is_a_group_of_two() -> None:
    assert group(0.5, 1e-6, size=2) == (1.0, pytest.approx((1 + math.exp(0.5)) * 1e-6))
    assert group(0.5, size=2) == (1.0, 0.0)
    assert group(0.0, 1e-6, size=2) == (0.0, 2e-6)


def test_a_group_that_loses_everything_is_refused() -> None:
    with pytest.raises(GuaranteeError, match="delta must stay below 1"):
        group(10.0, 1e-3, size=2)
    with pytest.raises(GuaranteeError, match="delta must stay below 1"):
        group(1.0, 1e-3, size=10_000)


def test_a_group_beyond_what_exp_holds() -> None:
    """It raised an OverflowError: e^800 is no float, 1e-300 times it is e^-291."""
    loss = group(400.0, 1e-300, size=2)
    assert loss.epsilon == 800.0
    assert loss.delta == pytest.approx(math.exp(400.0 + math.log(1e-300)), rel=1e-9)


def test_metric_to_local_multiplies() -> None:
    assert metric_to_local(0.5, 3.0) == 1.5


def test_bad_numbers_are_refused() -> None:
    for call in [
        lambda: pure_to_zcdp(0),
        lambda: pure_to_zcdp(float("nan")),
        lambda: zcdp_to_epsilon(-1, 0.1),
        lambda: zcdp_to_epsilon(1, 0),
        lambda: zcdp_to_epsilon(1, 1),
        lambda: epsilon_to_zcdp(0, 0.1),
        lambda: epsilon_to_zcdp(1, 0.0),
        lambda: group(1, 0.1, size=0),
        lambda: group(-1, size=2),
        lambda: metric_to_local(1, 0),
        lambda: metric_to_local(0, 1),
    ]:
        with case(call=call), pytest.raises(ParameterError):
            call()  # type: ignore[operator]
