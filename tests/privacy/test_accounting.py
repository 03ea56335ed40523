"""What events cost in the three accounts."""

import dataclasses
import math

import pytest

from privacy.laws import laplace_delta, lattice_laplace_delta
from shoal.exceptions import GuaranteeError, UnknownEventError
from shoal.privacy import (
    ApproximateEvent,
    Composed,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    GaussianEvent,
    KNormEvent,
    LaplaceEvent,
    MetricEvent,
    Parallel,
    PureEvent,
    Repeated,
    ZCDPEvent,
    cost,
    laplace_to_zcdp,
    metric_cost,
    pure_epsilon,
    pure_to_zcdp,
    zcdp_rho,
)
from shoal.privacy.accounting import dominating_laplace

LAPLACE = LaplaceEvent(scale=4.0, sensitivity=2.0, dimension=7)


def test_leaves() -> None:
    assert pure_epsilon(LAPLACE) == 0.5
    assert zcdp_rho(LAPLACE) == laplace_to_zcdp(0.5)
    assert zcdp_rho(KNormEvent(scale=4.0, sensitivity=2.0)) == laplace_to_zcdp(0.5)
    assert zcdp_rho(PureEvent(epsilon=0.5)) == pure_to_zcdp(0.5)
    assert zcdp_rho(GaussianEvent(sigma=2.0, sensitivity=1.0)) == 0.125
    assert zcdp_rho(DiscreteGaussianEvent(sigma=2.0, sensitivity=1.0, dimension=9)) == 0.125
    assert zcdp_rho(ZCDPEvent(rho=0.3)) == 0.3
    assert pure_epsilon(ZCDPEvent(rho=0.3)) == math.inf
    assert pure_epsilon(GaussianEvent(sigma=2.0, sensitivity=1.0)) == math.inf
    approximate = ApproximateEvent(epsilon=1.0, delta=1e-6)
    assert pure_epsilon(approximate) == zcdp_rho(approximate) == math.inf
    assert cost(approximate).epsilon == 1.0


def test_structures() -> None:
    gaussian = GaussianEvent(sigma=2.0, sensitivity=1.0)
    whole = Composed(events=[LAPLACE, Repeated(event=PureEvent(epsilon=0.1), times=3)])
    assert pure_epsilon(whole) == pytest.approx(0.8)
    assert zcdp_rho(Composed(events=[gaussian, gaussian])) == 0.25
    assert pure_epsilon(Parallel(events=[LAPLACE, PureEvent(epsilon=0.1)])) == 0.5
    assert cost(Parallel(events=[LAPLACE, gaussian])).rho == 0.125
    assert cost(Composed(events=[])).epsilon == cost(Parallel(events=[])).rho == 0.0


def test_two_records() -> None:
    assert cost(LAPLACE, records=2).epsilon == 1.0
    assert cost(LAPLACE, records=2).rho == laplace_to_zcdp(1.0)
    assert cost(GaussianEvent(sigma=2.0, sensitivity=1.0), records=2).rho == 0.5
    assert cost(ZCDPEvent(rho=0.1), records=2).rho == 0.4
    two = cost(ApproximateEvent(epsilon=1.0, delta=1e-6), records=2)
    assert (two.epsilon, two.delta) == (2.0, pytest.approx((1 + math.e) * 1e-6))
    parts = Parallel(events=[LAPLACE, PureEvent(epsilon=0.1)])
    assert cost(Repeated(event=parts, times=2), records=2).epsilon == 2.0


@pytest.mark.parametrize(("scale", "shift"), [(0.3, 1), (1.0, 1), (2.0, 3), (10.0, 25), (50.0, 7)])
def test_the_continuous_law_dominates_the_discrete_one(scale: float, shift: int) -> None:
    epsilon = dominating_laplace(DiscreteLaplaceEvent(scale=scale, sensitivity=shift))
    assert epsilon >= shift / scale
    for i in range(-40, 41):
        at = i / 40 * epsilon
        assert lattice_laplace_delta(scale, shift, at) <= laplace_delta(epsilon, at) + 1e-12
    # ... and is not much worse: a quarter of a step per step.
    assert epsilon <= shift / scale * (1 + 1 / scale)


def test_a_broken_lattice_step_gets_the_pure_price() -> None:
    event = DiscreteLaplaceEvent(scale=2.0, sensitivity=1.5)
    assert zcdp_rho(event) == pure_to_zcdp(0.75)


def test_no_step_is_free() -> None:
    for event in (
        LaplaceEvent(scale=1e300, sensitivity=1e-300),
        GaussianEvent(sigma=1e300, sensitivity=1e-300),
        DiscreteLaplaceEvent(scale=1e300, sensitivity=1.0),
        PureEvent(epsilon=5e-324),
    ):
        assert cost(event).rho > 0
        assert cost(event).epsilon > 0
    assert cost(LaplaceEvent(scale=1e-300, sensitivity=1e300)).rho == math.inf


def test_metric_events_have_a_unit() -> None:
    kilometer = MetricEvent(epsilon=0.5, unit="km")
    assert metric_cost(PureEvent(epsilon=1.0)) is None
    assert metric_cost(Composed(events=[kilometer, kilometer])) == ("km", 1.0)
    assert metric_cost(Parallel(events=[kilometer, kilometer])) == ("km", 1.0)
    meters = MetricEvent(epsilon=1.0, unit="m")
    assert metric_cost(Composed(events=[kilometer, meters])) == ("km", 1000.5)
    for other in (MetricEvent(epsilon=1.0, unit="year"), PureEvent(epsilon=1.0)):
        with pytest.raises(GuaranteeError, match=r"cannot be compared|metric events only"):
            metric_cost(Composed(events=[kilometer, other]))
    with pytest.raises(GuaranteeError, match="per km"):
        cost(kilometer)


def test_an_unknown_event_is_never_free() -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Louder(LaplaceEvent):
        pass

    for event in (Event(), Louder(scale=1.0, sensitivity=1.0), "event"):
        with pytest.raises(UnknownEventError):
            cost(event)  # type: ignore[arg-type]
