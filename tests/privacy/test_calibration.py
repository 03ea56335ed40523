"""The noise that a schedule needs, against the closed form for Gaussian noise."""

import pytest

from helpers import privacy_profiles
from shoal.exceptions import GuaranteeError, ParameterError
from shoal.privacy import (
    ApproximateEvent,
    Event,
    GaussianEvent,
    PureEvent,
    Repeated,
    compose,
    scale_to_fit,
)


def test_gaussian_noise_is_as_small_as_it_can_be() -> None:
    sigma = scale_to_fit(lambda m: [GaussianEvent(sigma=m, sensitivity=1.0)], 1.0, 1e-6)
    assert privacy_profiles.gaussian_delta(1 / sigma, 1.0) <= 1e-6
    assert privacy_profiles.gaussian_delta(1 / (sigma * 0.999), 1.0) > 1e-6


@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 40.0])
def test_pure_schedules_add_up(epsilon: float) -> None:
    scale = scale_to_fit(lambda m: [PureEvent(epsilon=1 / m)] * 4, epsilon)
    assert 4 / scale <= epsilon
    assert 4 / scale >= epsilon * 0.9998


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


def test_bad_input_is_refused() -> None:
    for arguments in ((0.0,), (-1.0,), (1.0, 1.0), ("1",)):
        with pytest.raises(ParameterError):
            scale_to_fit(lambda m: [PureEvent(epsilon=1 / m)], *arguments)  # type: ignore[arg-type]
