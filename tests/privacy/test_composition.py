"""Composition and calibration, against sums and integrals done without the library."""

import dataclasses
import math
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import privacy_profiles
from helpers.cases import case
from shoal.exceptions import GuaranteeError, ParameterError, UnknownEventError
from shoal.privacy import (
    ApproximateEvent,
    Composed,
    DiscreteGaussianEvent,
    Event,
    GaussianEvent,
    GDPEvent,
    MetricEvent,
    PureEvent,
    Repeated,
    ShuffledEvent,
    ZCDPEvent,
    compose,
    cost,
    gdp_to_epsilon,
    pure_to_gdp,
    pure_to_zcdp,
    scale_to_fit,
    zcdp_to_epsilon,
)
from shoal.privacy._loss_distributions import epsilon_by_losses, steps

PURE = PureEvent(epsilon=0.1)
GAUSSIAN = GaussianEvent(sigma=4.0, sensitivity=1.0)


def by_losses(*events: Event, delta: float) -> float:
    return epsilon_by_losses(steps(Composed(events=events)), delta)


def test_pure_epsilons_add_up() -> None:
    total = compose([PureEvent(epsilon=0.25), PURE, PureEvent(epsilon=0.5)])
    assert total.epsilon == pytest.approx(0.85)
    assert total.delta == 0
    assert total.rho == pytest.approx(sum(e * math.tanh(e / 2) for e in (0.25, 0.1, 0.5)))
    assert compose([]).epsilon == 0
    assert compose([], delta=1e-6).epsilon == 0


def test_one_pure_step_keeps_its_delta_of_zero() -> None:
    for step in (PURE, PureEvent(epsilon=1.0)):
        alone = compose([step], delta=1e-6)
        assert (alone.epsilon, alone.delta) == (cost(step).epsilon, 0.0)


@pytest.mark.parametrize(
    ("epsilon", "times"), [(0.1, 10), (0.1, 100), (0.05, 1000), (1.0, 20), (3.7, 3), (0.01, 9000)]
)
def test_randomized_response_matches_the_optimal_formula(epsilon: float, times: int) -> None:
    for delta in [1e-2, 1e-6, 1e-9]:
        with case(delta=delta):
            step = Repeated(event=PureEvent(epsilon=epsilon), times=times)
            result = by_losses(step, delta=delta)
            best = privacy_profiles.invert(
                lambda at: privacy_profiles.response_delta(epsilon, times, at),
                delta,
                times * epsilon,
            )
            assert result >= best
            assert result <= best * (1 + 3e-3)


def test_the_fourier_transform_is_not_trusted_beyond_its_precision() -> None:
    # Without a correction, 30,000 steps at this delta were measured to err downwards.
    step = Repeated(event=PureEvent(epsilon=0.01), times=30_000)
    assert by_losses(step, delta=5e-10) == math.inf
    result = by_losses(step, delta=2e-9)
    assert privacy_profiles.response_delta(0.01, 30_000, result) <= 2e-9


@pytest.mark.parametrize(("sigma", "times"), [(0.5, 1), (5.0, 10), (300.0, 10_000)])
def test_gaussian_steps_match_the_exact_curve(sigma: float, times: int) -> None:
    for delta in [1e-2, 1e-6, 1e-10, 1e-20]:
        with case(delta=delta):
            step = Repeated(event=GaussianEvent(sigma=sigma, sensitivity=1.0), times=times)
            ratio = math.sqrt(times) / sigma
            best = privacy_profiles.invert(
                partial(privacy_profiles.gaussian_delta, ratio), delta, 200.0
            )
            result = compose([step], delta=delta).epsilon
            assert best * (1 - 1e-9) <= result <= best * (1 + 1e-6)
            gdp = compose([GDPEvent(mu=ratio)], delta=delta)
            assert gdp.epsilon == pytest.approx(result, rel=1e-9)
            assert gdp.mu == ratio


def test_mixed_events_are_counted_by_the_best_rule() -> None:
    """Gaussian and pure steps, by convolved losses: never above what squares of mu give."""
    events = [GDPEvent(mu=0.2), GaussianEvent(sigma=5.0, sensitivity=1.0), PureEvent(epsilon=0.05)]
    result = compose(events, delta=1e-6)
    assert result.mu == pytest.approx(math.sqrt(0.04 + 0.04 + pure_to_gdp(0.05) ** 2))
    assert result.epsilon <= gdp_to_epsilon(result.mu, 1e-6)
    assert result.epsilon >= gdp_to_epsilon(math.sqrt(0.08), 1e-6)
    assert compose([GDPEvent(mu=0.2), ZCDPEvent(rho=0.01)], delta=1e-6).mu is None


@pytest.mark.parametrize(("sigma", "shift"), [(0.7, 1), (3.0, 2), (20.0, 5)])
def test_discrete_gaussian_matches_a_sum(sigma: float, shift: int) -> None:
    event = DiscreteGaussianEvent(sigma=sigma, sensitivity=shift)
    best = privacy_profiles.invert(
        lambda at: privacy_profiles.lattice_gaussian_delta(sigma, (shift,), at), 1e-5, 50.0
    )
    result = compose([event], delta=1e-5).epsilon
    assert best * (1 - 1e-6) <= result <= best * (1 + 2e-3)


def test_discrete_gaussian_vectors_get_what_is_proved_for_vectors() -> None:
    sigma, shift = 0.6, (1, 1, 1, 1)
    event = DiscreteGaussianEvent(sigma=sigma, sensitivity=2.0, dimension=4)
    promised = compose([event], delta=1e-5)
    assert promised.epsilon == zcdp_to_epsilon(cost(event).rho, 1e-5)
    assert privacy_profiles.lattice_gaussian_delta(sigma, shift, promised.epsilon) <= 1e-5


def test_mixtures_are_between_the_best_and_the_worst_accounting() -> None:
    events = [
        GAUSSIAN,
        Repeated(event=PURE, times=10),
        DiscreteGaussianEvent(sigma=20.0, sensitivity=1),
        PureEvent(epsilon=0.1),
        ApproximateEvent(epsilon=0.1, delta=1e-8),
    ]
    total = compose(events, delta=1e-6)
    price = cost(Composed(events=events))
    assert total.delta == 1e-6
    assert total.epsilon < zcdp_to_epsilon(price.rho, 1e-6 - price.delta)
    assert total.epsilon > compose([GAUSSIAN], delta=1e-6).epsilon
    vector = DiscreteGaussianEvent(sigma=50.0, sensitivity=1.0, dimension=8)
    assert total.epsilon < compose([*events, vector], delta=1e-6).epsilon < math.inf


EVENTS = st.one_of(
    st.builds(PureEvent, epsilon=st.floats(1e-3, 5)),
    st.builds(ApproximateEvent, epsilon=st.floats(1e-3, 5), delta=st.just(1e-8)),
)


@settings(deadline=None, max_examples=30, derandomize=True)
@given(
    st.lists(st.builds(Repeated, event=EVENTS, times=st.integers(1, 60)), min_size=1, max_size=3),
    st.sampled_from([1e-5, 1e-3]),
)
def test_never_looser_than_adding(events: list[Event], delta: float) -> None:
    price = cost(Composed(events=events))
    if price.delta > delta:
        return
    total = compose(events, delta=delta)
    assert total.epsilon <= price.epsilon * (1 + 1e-12)
    assert total.delta in (delta, price.delta)
    assert total.epsilon > 0


def test_more_noise_or_fewer_steps_never_cost_more() -> None:
    epsilons = [
        compose([Repeated(event=PureEvent(epsilon=1 / s), times=50)], delta=1e-6)
        for s in (5.0, 10.0, 20.0, 40.0)
    ]
    assert sorted(epsilons, key=lambda g: -g.epsilon) == epsilons


def test_metric_events_stay_among_themselves() -> None:
    kilometer = MetricEvent(epsilon=0.5, unit="km")
    total = compose([kilometer, kilometer], notion="metric")
    assert (total.notion, total.epsilon, total.unit) == ("metric", 1.0, "km")
    with pytest.raises(GuaranteeError, match="metric events only"):
        compose([kilometer, PURE])
    with pytest.raises(GuaranteeError, match="MetricEvent"):
        compose([PURE], notion="metric")


def test_what_has_no_promise_says_the_way_out() -> None:
    with pytest.raises(GuaranteeError, match="give delta > 0"):
        compose([GAUSSIAN])
    with pytest.raises(GuaranteeError, match="at least the 1e-05"):
        compose([ApproximateEvent(epsilon=1.0, delta=1e-5)], delta=1e-6)
    with pytest.raises(GuaranteeError, match="no finite epsilon"):
        compose([GaussianEvent(sigma=1e-200, sensitivity=1.0)], delta=1e-6)


def test_events_with_a_delta() -> None:
    event = ApproximateEvent(epsilon=1.0, delta=1e-6)
    assert compose([event], delta=1e-6) == compose([event], delta=1e-5)
    ten = compose(
        [Repeated(event=ApproximateEvent(epsilon=0.1, delta=1e-8), times=100)], delta=1e-5
    )
    assert ten.epsilon < 5.0


def test_zcdp_events_use_their_rho() -> None:
    total = compose([ZCDPEvent(rho=0.05)] * 2, delta=1e-6)
    assert total.epsilon == zcdp_to_epsilon(0.1, 1e-6)


def test_large_and_small_and_many_steps() -> None:
    large = compose([Repeated(event=PureEvent(epsilon=200.0), times=3)], delta=1e-6)
    assert (large.epsilon, large.delta) == (600.0, 0.0)
    many = Repeated(event=PureEvent(epsilon=1e-4), times=10**9)
    assert compose([many], delta=1e-6).epsilon == zcdp_to_epsilon(10**9 * pure_to_zcdp(1e-4), 1e-6)
    tiny = PureEvent(epsilon=5e-324)
    assert compose([tiny, PureEvent(epsilon=1.0)], delta=1e-6).epsilon == 1.0
    uneven = [PureEvent(epsilon=20.0), Repeated(event=PURE, times=1000)]
    assert compose(uneven, delta=1e-6).epsilon < 120


def test_bad_input_is_refused() -> None:
    for bad in (-1.0, 1.0, "0", math.nan):
        with pytest.raises(ParameterError, match="delta"):
            compose([PURE], delta=bad)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="notion"):
        compose([PURE], notion="none")
    with pytest.raises(ParameterError, match="adjacency"):
        compose([PURE], adjacency="add/remove")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="events"):
        compose(PURE)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="events"):
        compose([1])  # type: ignore[list-item]

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Mine(Event):
        pass

    with pytest.raises(UnknownEventError):
        compose([Mine()], delta=1e-6)
    with pytest.raises(UnknownEventError):
        steps(Mine())


def test_gaussian_noise_is_as_small_as_it_can_be() -> None:
    sigma = scale_to_fit(lambda m: [GaussianEvent(sigma=m, sensitivity=1.0)], 1.0, 1e-6)
    assert privacy_profiles.gaussian_delta(1 / sigma, 1.0) <= 1e-6
    assert privacy_profiles.gaussian_delta(1 / (sigma * 0.999), 1.0) > 1e-6


def test_pure_schedules_add_up() -> None:
    for epsilon in [1e-3, 0.5, 40.0]:
        with case(epsilon=epsilon):
            scale = scale_to_fit(lambda m: [PureEvent(epsilon=1 / m)] * 4, epsilon)
            assert 4 / scale <= epsilon
            assert 4 / scale >= epsilon * 0.9998


@pytest.mark.full
def test_mixed_schedules_fit_and_hardly_more() -> None:
    def schedule(multiplier: float) -> list[Event]:
        step = PureEvent(epsilon=1 / (8 * multiplier))
        return [
            GaussianEvent(sigma=5 * multiplier, sensitivity=1.0),
            Repeated(event=step, times=20),
        ]

    multiplier = scale_to_fit(schedule, 1.0, 1e-6, tolerance=1e-3)
    assert compose(schedule(multiplier), delta=1e-6).epsilon <= 1.0
    assert compose(schedule(multiplier * 0.995), delta=1e-6).epsilon > 1.0


def test_a_schedule_that_cannot_fit_says_why() -> None:
    with pytest.raises(GuaranteeError, match="above 2"):
        scale_to_fit(lambda m: [PureEvent(epsilon=2.0)], 1.0)
    with pytest.raises(GuaranteeError, match="give delta > 0"):
        scale_to_fit(lambda m: [GaussianEvent(sigma=m, sensitivity=1.0)], 1.0)
    with pytest.raises(GuaranteeError, match="bring along"):
        scale_to_fit(lambda m: [ApproximateEvent(epsilon=1 / m, delta=1e-3)], 1.0, 1e-6)


def test_bad_schedules_are_refused() -> None:
    for arguments in ((0.0,), (-1.0,), (1.0, 1.0), ("1",)):
        with pytest.raises(ParameterError):
            scale_to_fit(lambda m: [PureEvent(epsilon=1 / m)], *arguments)  # type: ignore[arg-type]


def test_shuffled_batches_compose_among_themselves() -> None:
    batch = ShuffledEvent(epsilon=0.1, delta=1e-9, local_epsilon=3.0, n=1000)
    both = compose([batch, dataclasses.replace(batch, n=70)], delta=1e-6)
    assert (both.notion, both.local_epsilon, both.n_reports) == ("shuffled", 6.0, 70)
    assert both.epsilon <= 0.2
    many = compose([Repeated(event=batch, times=100)], delta=1e-6, notion="shuffled")
    assert many.epsilon < 6
    assert many.local_epsilon == 300.0
    for events, notion, message in [
        ([batch, PURE], "central", "shuffled events only"),
        ([PURE], "shuffled", "give ShuffledEvent"),
    ]:
        with pytest.raises(GuaranteeError, match=message):
            compose(events, delta=1e-6, notion=notion)
