"""Conversions and the ledger against dp-accounting, which shares no code with them."""

import functools
import math

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.pld.common import DifferentialPrivacyParameters
from dp_accounting.rdp import rdp_privacy_accountant as rdp

from helpers.cases import case
from shoal.exceptions import BudgetExceededError
from shoal.privacy import ApproximateEvent, GDPEvent, Guarantee, Ledger, PureEvent, gdp_to_epsilon
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


Spend = PureEvent | GDPEvent | ApproximateEvent
STEP = 5e-4  # of the losses: what is above a multiple of it is rounded


def random_spend(rng: np.random.Generator) -> Spend:
    """Return an event of any kind that a ledger adds up with the others."""
    size = float(rng.uniform(0.002, 0.03))
    kinds = (
        PureEvent(epsilon=size),
        GDPEvent(mu=size),
        ApproximateEvent(epsilon=size, delta=float(rng.uniform(1e-9, 1e-7))),
    )
    return kinds[rng.integers(len(kinds))]


def losses_of(event: Spend, *, pessimistic: bool) -> pld.PrivacyLossDistribution:
    """Return the losses of an event, rounded up or down; the worst, where a promise is all."""
    steps = {"value_discretization_interval": STEP}
    if isinstance(event, GDPEvent):
        return pld.from_gaussian_mechanism(1 / event.mu, pessimistic_estimate=pessimistic, **steps)
    if pessimistic:
        delta = getattr(event, "delta", 0.0)
        return pld.from_privacy_parameters(
            DifferentialPrivacyParameters(event.epsilon, delta), **steps
        )
    # Randomized response is all that an epsilon allows; less than a delta with it.
    return pld.from_randomized_response(
        2 / (1 + math.exp(event.epsilon)), 2, pessimistic_estimate=False, **steps
    )


def composed(events: list[Spend], *, pessimistic: bool) -> float:
    """Return the epsilon of all events together at delta 1e-6."""
    losses = [losses_of(event, pessimistic=pessimistic) for event in events]
    whole = functools.reduce(lambda one, other: one.compose(other), losses)
    return float(whole.get_epsilon_for_delta(1e-6))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("gdp_delta", [None, 5e-7])
def test_events_of_all_kinds_add_up_to_what_losses_allow(
    seed: int, gdp_delta: float | None
) -> None:
    """A ledger that is full of events in any order: their cost is bracketed, and within its limit.

    It adds up each kind by one rule for all, so that some of the limit is left; never a half.
    """
    rng = np.random.default_rng(seed)
    ledger = Ledger(epsilon=1.0, delta=1e-6, approximate_delta=3e-7, gdp_delta=gdp_delta)
    events: list[Spend] = []
    for _ in range(2000):
        event = random_spend(rng)
        try:
            ledger.spend(event)
        except BudgetExceededError:
            continue
        events.append(event)
    assert len({type(event) for event in events}) >= 2
    low, high = (composed(events, pessimistic=rounded_up) for rounded_up in (False, True))
    assert low <= high <= 1.1 * low
    assert high <= 1.0, "more passes than the limit allows"
    assert high >= 0.5, "more than half of the limit is wasted"
