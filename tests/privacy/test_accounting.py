"""What events cost in the four accounts."""

import dataclasses
import math
from fractions import Fraction

import pytest

from shoal.exceptions import GuaranteeError, UnknownEventError
from shoal.privacy import (
    ApproximateEvent,
    Composed,
    Event,
    GDPEvent,
    MetricEvent,
    PureEvent,
    Repeated,
    ShuffledEvent,
    cost,
    pure_to_gdp,
)
from shoal.privacy.accounting import Cost, metric_cost
from shoal.privacy.conversions import pure_to_zcdp

PURE = PureEvent(epsilon=0.5)


def test_leaves() -> None:
    assert cost(PURE) == Cost(0.5, pure_to_zcdp(0.5), 0.0, pure_to_gdp(0.5) ** 2)
    assert cost(GDPEvent(mu=0.5)) == Cost(math.inf, 0.125, 0.0, 0.25)
    assert cost(GDPEvent(mu=0.5), records=3) == Cost(math.inf, 1.125, 0.0, 2.25)
    approximate = ApproximateEvent(epsilon=1.0, delta=1e-6)
    assert cost(approximate) == Cost(1.0, pure_to_zcdp(1.0), 1e-6, math.inf)


def test_structures() -> None:
    gaussian = GDPEvent(mu=0.5)
    whole = Composed(events=[PURE, Repeated(event=PureEvent(epsilon=0.1), times=3)])
    assert cost(whole).epsilon == pytest.approx(0.8)
    assert cost(Composed(events=[gaussian, gaussian])).rho == 0.25
    assert cost(Composed(events=[])) == Cost(0.0, 0.0, 0.0, 0.0)


def test_two_records() -> None:
    assert cost(PURE, records=2).epsilon == 1.0
    assert cost(PURE, records=2).rho == pure_to_zcdp(1.0)
    assert cost(GDPEvent(mu=0.5), records=2).rho == 0.5
    two = cost(ApproximateEvent(epsilon=1.0, delta=1e-6), records=2)
    assert (two.epsilon, two.delta) == (2.0, pytest.approx((1 + math.e) * 1e-6))


def test_no_step_is_free() -> None:
    for event in (GDPEvent(mu=5e-324), PureEvent(epsilon=5e-324)):
        assert cost(event).rho > 0
        assert cost(event).epsilon > 0
    assert cost(GDPEvent(mu=1e300)).rho == math.inf


def test_a_shuffled_batch_with_a_delta_has_no_mu() -> None:
    """GDP says nothing of what a delta leaves open, however small it is."""
    for delta in (0.0, 1e-300, 1e-9, 0.3):
        batch = ShuffledEvent(epsilon=0.1, delta=delta, local_epsilon=1.0, n=1000)
        price = cost(batch)
        assert (price.epsilon, price.delta) == (0.1, delta)
        assert math.isinf(price.mu_squared) is (delta > 0)


def test_metric_events_have_a_unit() -> None:
    kilometer = MetricEvent(epsilon=0.5, unit="km")
    assert metric_cost(PureEvent(epsilon=1.0)) is None
    assert metric_cost(Composed(events=[kilometer, kilometer])) == ("km", 1.0, 0)
    meters = MetricEvent(epsilon=1.0, unit="m")
    assert metric_cost(Composed(events=[kilometer, meters])) == ("km", 1000.5, 0)
    rounded = MetricEvent(epsilon=1.0, unit="m", slack=0.1)
    several = Composed(events=[kilometer, Repeated(event=rounded, times=3)])
    assert metric_cost(several) == ("km", 3000.5, 3 * Fraction(0.1))
    assert metric_cost(Repeated(event=kilometer, times=3)) == ("km", 1.5, 0)
    assert metric_cost(Composed(events=[meters, Repeated(event=meters, times=2)])) == ("m", 3, 0)
    twice = Composed(events=[Repeated(event=kilometer, times=2), meters])
    assert metric_cost(twice) == ("km", 1001, 0)
    for other in (MetricEvent(epsilon=1.0, unit="year"), PureEvent(epsilon=1.0)):
        with pytest.raises(GuaranteeError, match=r"cannot be compared|metric events only"):
            metric_cost(Composed(events=[kilometer, other]))
    with pytest.raises(GuaranteeError, match="per km"):
        cost(kilometer)


def test_an_unknown_event_is_never_free() -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Louder(PureEvent):
        pass

    for event in (Event(), Louder(epsilon=1.0), "event"):
        with pytest.raises(UnknownEventError):
            cost(event)  # type: ignore[arg-type]


@pytest.mark.parametrize("mu", [5e-324, 1.7e-162, 1.23e-160, 7.3e-156, 1e-150])
def test_squares_of_mu_keep_their_digits_or_are_larger(mu: float) -> None:
    """Rounded to a multiple of the least double, a square may be far too small."""
    assert Fraction(cost(GDPEvent(mu=mu)).mu_squared) >= Fraction(mu) ** 2 * (
        1 - Fraction(1, 2**52)
    )
    assert Fraction(cost(PureEvent(epsilon=mu)).mu_squared) >= Fraction(pure_to_gdp(mu)) ** 2 * (
        1 - Fraction(1, 2**52)
    )
