"""What a promise allows an attacker: against laws whose distance is known."""

import numpy as np
import pytest
from scipy.stats import norm

from shoal.audit.attacks.advantage_ceiling import advantage_ceiling
from shoal.exceptions import ParameterError
from shoal.privacy import Guarantee


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 5.0])
def test_the_discrete_laplace_law_reaches_it(epsilon):
    steps = np.arange(-2000, 2001)
    law = np.exp(-epsilon * np.abs(steps)) / np.exp(-epsilon * np.abs(steps)).sum()
    apart = np.abs(law[1:] - law[:-1]).sum() / 2
    ceiling = advantage_ceiling(Guarantee("central", epsilon=epsilon))
    assert ceiling == pytest.approx(apart, abs=1e-3 if epsilon == 0 else 1e-12)


def test_delta_is_what_an_attacker_may_know_for_sure():
    # With probability delta the answer itself, else randomized response at epsilon.
    epsilon, delta = 1.5, 0.1
    truth = np.exp(epsilon) / (1 + np.exp(epsilon))
    apart = delta + (1 - delta) * (2 * truth - 1)
    promise = Guarantee("central", epsilon=epsilon, delta=delta)
    assert advantage_ceiling(promise) == pytest.approx(apart, rel=1e-12)


def test_zcdp_lowers_it_but_not_below_the_gaussian():
    rho = 0.02
    promise = Guarantee("central", epsilon=1.0, delta=1e-5, rho=rho)
    # Noise of deviation s on a number that moves by 1 has rho = 1 / (2 s^2).
    deviation = np.sqrt(1 / (2 * rho))
    apart = 2 * norm.cdf(1 / (2 * deviation)) - 1
    ceiling = advantage_ceiling(promise)
    assert apart <= ceiling < advantage_ceiling(Guarantee("central", epsilon=1.0, delta=1e-5))


def test_it_grows_to_one_and_does_not_overflow():
    found = [advantage_ceiling(Guarantee("local", epsilon=e)) for e in (0.5, 1.0, 10.0, 1e4)]
    assert found == sorted(found)
    assert found[-1] == 1.0


def test_a_metric_promise_needs_a_diameter():
    promise = Guarantee("metric", epsilon=0.5)
    assert advantage_ceiling(promise) is None
    local = advantage_ceiling(Guarantee("local", epsilon=1.5))
    assert advantage_ceiling(promise, diameter=3.0) == local


def test_no_promise_has_no_ceiling():
    assert advantage_ceiling(Guarantee.none("for a test")) is None


def test_bad_parameters_are_refused():
    with pytest.raises(ParameterError, match="guarantee must be a Guarantee, got float"):
        advantage_ceiling(1.0)
    with pytest.raises(ParameterError, match="diameter must be a finite number > 0, got -1"):
        advantage_ceiling(Guarantee("metric", epsilon=0.5), diameter=-1)
