"""Composition, against sums and integrals done without the library."""

import dataclasses
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy import laws
from shoal.exceptions import GuaranteeError, ParameterError, UnknownEventError
from shoal.privacy import (
    Adjacency,
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
    compose,
    cost,
    laplace_to_zcdp,
    zcdp_to_epsilon,
)
from shoal.privacy.dominating import steps
from shoal.privacy.losses import epsilon_by_losses

LAPLACE = LaplaceEvent(scale=10.0, sensitivity=1.0)
GAUSSIAN = GaussianEvent(sigma=4.0, sensitivity=1.0)


def by_losses(*events: Event, delta: float) -> float:
    return epsilon_by_losses(steps(Composed(events=events)), delta)


def test_pure_epsilons_add_up() -> None:
    total = compose([PureEvent(epsilon=0.25), LAPLACE, KNormEvent(scale=2.0, sensitivity=1.0)])
    assert total.epsilon == pytest.approx(0.85)
    assert total.delta == 0
    assert total.rho == pytest.approx(cost(PureEvent(epsilon=0.25)).rho + 0.0048374 + 0.1065307)
    assert compose([]).epsilon == 0
    assert compose([], delta=1e-6).epsilon == 0


def test_one_pure_step_keeps_its_delta_of_zero() -> None:
    for step in (LAPLACE, PureEvent(epsilon=1.0), DiscreteLaplaceEvent(scale=3.0, sensitivity=1)):
        alone = compose([step], delta=1e-6)
        assert (alone.epsilon, alone.delta) == (cost(step).epsilon, 0.0)


@pytest.mark.parametrize(
    ("epsilon", "times"), [(0.1, 10), (0.1, 100), (0.05, 1000), (1.0, 20), (3.7, 3), (0.01, 9000)]
)
@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-9])
def test_randomized_response_matches_the_optimal_formula(
    epsilon: float, times: int, delta: float
) -> None:
    step = Repeated(event=PureEvent(epsilon=epsilon), times=times)
    found = by_losses(step, delta=delta)
    best = laws.invert(lambda at: laws.response_delta(epsilon, times, at), delta, times * epsilon)
    assert found >= best
    assert found <= best * (1 + 3e-3)


def test_the_fourier_transform_is_not_trusted_beyond_its_precision() -> None:
    # Without a correction, 30,000 steps at this delta were measured to err downwards.
    step = Repeated(event=PureEvent(epsilon=0.01), times=30_000)
    assert by_losses(step, delta=5e-10) == math.inf
    found = by_losses(step, delta=2e-9)
    assert laws.response_delta(0.01, 30_000, found) <= 2e-9


@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-10, 1e-20])
@pytest.mark.parametrize(("sigma", "times"), [(0.5, 1), (5.0, 10), (300.0, 10_000)])
def test_gaussian_steps_match_the_exact_curve(sigma: float, times: int, delta: float) -> None:
    step = Repeated(event=GaussianEvent(sigma=sigma, sensitivity=1.0), times=times)
    ratio = math.sqrt(times) / sigma
    best = laws.invert(lambda at: laws.gaussian_delta(ratio, at), delta, 200.0)
    found = compose([step], delta=delta).epsilon
    assert best * (1 - 1e-9) <= found <= best * (1 + 2e-3)


def test_two_laplace_steps_match_an_integral() -> None:
    first, second = 0.8, 0.5
    events = [LaplaceEvent(scale=1 / e, sensitivity=1.0) for e in (first, second)]
    for delta in (1e-4, 1e-2, 0.1):
        best = laws.invert(lambda at: laws.product_laplace_delta((first, second), at), delta, 1.3)
        found = by_losses(*events, delta=delta)
        assert best * (1 - 1e-6) <= found <= best * (1 + 2e-3)


@pytest.mark.parametrize(("scale", "shift"), [(0.5, 1), (2.0, 3), (20.0, 30)])
def test_discrete_laplace_matches_a_sum(scale: float, shift: int) -> None:
    event = DiscreteLaplaceEvent(scale=scale, sensitivity=shift)
    best = laws.invert(lambda at: laws.lattice_laplace_delta(scale, shift, at), 1e-3, shift / scale)
    found = by_losses(event, delta=1e-3)
    assert best * (1 - 1e-6) <= found <= best * (1 + 1e-3)


@pytest.mark.parametrize(("sigma", "shift"), [(0.7, 1), (3.0, 2), (20.0, 5)])
def test_discrete_gaussian_matches_a_sum(sigma: float, shift: int) -> None:
    event = DiscreteGaussianEvent(sigma=sigma, sensitivity=shift)
    best = laws.invert(lambda at: laws.lattice_gaussian_delta(sigma, (shift,), at), 1e-5, 50.0)
    found = compose([event], delta=1e-5).epsilon
    assert best * (1 - 1e-6) <= found <= best * (1 + 2e-3)


def test_discrete_gaussian_vectors_get_what_is_proved_for_vectors() -> None:
    sigma, shift = 0.6, (1, 1, 1, 1)
    event = DiscreteGaussianEvent(sigma=sigma, sensitivity=2.0, dimension=4)
    promised = compose([event], delta=1e-5)
    assert promised.epsilon == zcdp_to_epsilon(cost(event).rho, 1e-5)
    assert laws.lattice_gaussian_delta(sigma, shift, promised.epsilon) <= 1e-5


@pytest.mark.parametrize("parts", [(0.5, 0.5), (0.9, 0.1), (2.0, 1.0)])
def test_the_scalar_laplace_law_dominates_vectors(parts: tuple[float, float]) -> None:
    total = sum(parts)
    for i in range(-8, 9):
        at = i / 8 * total
        vector = laws.product_laplace_delta(parts, at)
        assert vector <= laws.laplace_delta(total, at) + 1e-9


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_the_scalar_laplace_law_dominates_the_plane(epsilon: float) -> None:
    for i in range(5):
        at = i / 4 * epsilon
        assert laws.planar_delta(epsilon, at) <= laws.laplace_delta(epsilon, at) + 1e-7


def test_mixtures_are_between_the_best_and_the_worst_accounting() -> None:
    events = [
        GAUSSIAN,
        Repeated(event=LAPLACE, times=10),
        KNormEvent(scale=5.0, sensitivity=1.0),
        DiscreteLaplaceEvent(scale=8.0, sensitivity=1),
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
    st.builds(LaplaceEvent, scale=st.floats(0.2, 1e3), sensitivity=st.floats(0.5, 2)),
    st.builds(KNormEvent, scale=st.floats(0.2, 1e3), sensitivity=st.floats(0.5, 2)),
    st.builds(DiscreteLaplaceEvent, scale=st.floats(0.2, 1e3), sensitivity=st.integers(1, 5000)),
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
        compose([Repeated(event=LaplaceEvent(scale=s, sensitivity=1), times=50)], delta=1e-6)
        for s in (5.0, 10.0, 20.0, 40.0)
    ]
    assert sorted(epsilons, key=lambda g: -g.epsilon) == epsilons


def test_parallel_parts_count_once() -> None:
    parts = Parallel(events=[LAPLACE] * 8)
    one, all_parts = Repeated(event=LAPLACE, times=50), Repeated(event=parts, times=50)
    assert compose([all_parts], delta=1e-6) == compose([one], delta=1e-6)
    louder = LaplaceEvent(scale=5.0, sensitivity=1.0)
    assert steps(Parallel(events=[LAPLACE, louder])) == steps(louder)
    assert steps(Parallel(events=[GAUSSIAN, GaussianEvent(sigma=9.0, sensitivity=1.0)])) == steps(
        GAUSSIAN
    )
    mixed = Parallel(events=[LAPLACE, PureEvent(epsilon=0.3)])
    assert steps(mixed) == steps(PureEvent(epsilon=0.3))
    assert steps(Parallel(events=[GAUSSIAN, PureEvent(epsilon=0.1)])) == steps(
        ZCDPEvent(rho=cost(GAUSSIAN).rho)
    )
    assert not steps(Parallel(events=[]))


def test_parallel_parts_need_add_remove() -> None:
    parts = [Parallel(events=[LAPLACE, LAPLACE])]
    with pytest.raises(GuaranteeError, match="to_substitute"):
        compose(parts, adjacency=Adjacency.SUBSTITUTE)
    with pytest.raises(GuaranteeError, match="to_substitute"):
        compose(parts, notion="local")
    assert compose(parts).to_substitute().epsilon == pytest.approx(0.2)


def test_metric_events_stay_among_themselves() -> None:
    kilometer = MetricEvent(epsilon=0.5, unit="km")
    total = compose([kilometer, kilometer], notion="metric")
    assert (total.notion, total.epsilon, total.unit) == ("metric", 1.0, "km")
    with pytest.raises(GuaranteeError, match="metric events only"):
        compose([kilometer, LAPLACE])
    with pytest.raises(GuaranteeError, match="MetricEvent"):
        compose([LAPLACE], notion="metric")


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
    many = Repeated(event=LaplaceEvent(scale=1e4, sensitivity=1.0), times=10**9)
    assert compose([many], delta=1e-6).epsilon == zcdp_to_epsilon(
        10**9 * laplace_to_zcdp(1e-4), 1e-6
    )
    tiny = LaplaceEvent(scale=1e300, sensitivity=1e-300)
    assert compose([tiny, PureEvent(epsilon=1.0)], delta=1e-6).epsilon == 1.0
    uneven = [PureEvent(epsilon=20.0), Repeated(event=LAPLACE, times=1000)]
    assert compose(uneven, delta=1e-6).epsilon < 120
    wide = Repeated(event=DiscreteLaplaceEvent(scale=1e7, sensitivity=2.0**20), times=30)
    assert compose([wide], delta=1e-6).epsilon < 2.6


def test_bad_input_is_refused() -> None:
    for bad in (-1.0, 1.0, "0", math.nan):
        with pytest.raises(ParameterError, match="delta"):
            compose([LAPLACE], delta=bad)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="notion"):
        compose([LAPLACE], notion="none")
    with pytest.raises(ParameterError, match="adjacency"):
        compose([LAPLACE], adjacency="add/remove")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="events"):
        compose(LAPLACE)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="events"):
        compose([1])  # type: ignore[list-item]

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Mine(Event):
        pass

    with pytest.raises(UnknownEventError):
        compose([Mine()], delta=1e-6)
    with pytest.raises(UnknownEventError):
        steps(Mine())
