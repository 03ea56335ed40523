"""Conversions and the ledger against dp-accounting, which shares no code with them."""

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.pld.common import DifferentialPrivacyParameters
from dp_accounting.rdp import rdp_privacy_accountant as rdp

from helpers.cases import case
from shoal.exceptions import BudgetExceededError
from shoal.privacy import GDPEvent, Guarantee, Ledger, PureEvent, gdp_to_epsilon
from shoal.privacy.conversions import zcdp_to_epsilon

DELTAS = (1e-9, 1e-6, 1e-3)


def test_gaussian_noise_is_converted_exactly() -> None:
    for mu in (0.05, 0.3, 1.0, 4.0):
        losses = pld.from_gaussian_mechanism(1 / mu, value_discretization_interval=1e-4 * mu)
        for delta in DELTAS:
            with case(mu=mu, delta=delta):
                epsilon = gdp_to_epsilon(mu, delta)
                assert epsilon == pytest.approx(losses.get_epsilon_for_delta(delta), rel=2e-4)


def test_zcdp_is_converted_as_well_as_by_many_orders() -> None:
    orders = 1 + np.geomspace(1e-3, 1e5, 100_000)
    for rho in (1e-4, 0.01, 0.3, 3.0):
        for delta in DELTAS:
            with case(rho=rho, delta=delta):
                epsilon, _ = rdp.compute_epsilon(orders, rho * orders, delta)
                assert zcdp_to_epsilon(rho, delta) == pytest.approx(epsilon, rel=1e-6)


def test_a_pure_promise_is_traded_for_a_delta_exactly() -> None:
    for epsilon in (0.1, 1.0, 3.0):
        losses = pld.from_privacy_parameters(
            DifferentialPrivacyParameters(epsilon), value_discretization_interval=1e-4 * epsilon
        )
        for delta in (1e-6, 1e-3, 0.05):
            with case(epsilon=epsilon, delta=delta):
                traded = Guarantee("central", epsilon).to_approximate(delta)
                reference = losses.get_epsilon_for_delta(delta)
                assert traded.epsilon == pytest.approx(reference, rel=1e-3)


def spends(ledger: Ledger, event: PureEvent | GDPEvent) -> int:
    """Spend an event until the ledger refuses it, and return how often it was allowed."""
    for times in range(10_000):
        try:
            ledger.spend(event)
        except BudgetExceededError:
            return times
    raise AssertionError("the ledger never refuses")


def test_a_ledger_lets_no_more_pass_than_losses_allow() -> None:
    """Its rule holds for schedules chosen on the way; a fixed one, convolved, may not cost more."""
    ledger = Ledger(epsilon=1.0, delta=1e-6, approximate_delta=0.0)
    times = spends(ledger, PureEvent(epsilon=0.01))
    step = pld.from_privacy_parameters(
        DifferentialPrivacyParameters(0.01), value_discretization_interval=1e-3
    )
    assert times > 400, "adding epsilons allows a hundred"
    assert 0.9 < step.self_compose(times).get_epsilon_for_delta(1e-6) <= 1.0


def test_a_ledger_for_gaussian_noise_wastes_nothing() -> None:
    times = spends(Ledger(epsilon=1.0, delta=1e-6, gdp_delta=1e-6), GDPEvent(mu=0.02))
    for steps, fits in ((times, True), (times + 1, False)):
        losses = pld.from_gaussian_mechanism(1 / (0.02 * steps**0.5))
        assert (losses.get_epsilon_for_delta(1e-6) <= 1.0) is fits
