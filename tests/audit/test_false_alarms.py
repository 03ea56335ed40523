"""How often an audit says too much: simulated on mechanisms whose epsilon is known exactly.

Each test runs many audits with small samples at a confidence that leaves room for errors, and
counts the bounds above the true epsilon. It is red by chance once in 1,000 runs even if every audit
were wrong as often as its confidence allows; the seeds are fixed.
"""

import numpy as np
import pytest
from scipy.stats import binom

from helpers.toy_estimators import NoisyCount, two_sided_geometric
from helpers.toy_samplers import randomized_response
from shoal.audit import Neighbors, audit_estimator, audit_mechanism, epsilon_lower_bound
from shoal.privacy import Guarantee

EPSILON = 2.0
# Equal but for their names: the search has nothing to find, and errors of all to choose from.
PAIRS = [Neighbors(f"n = {n}", records=np.zeros((n, 1)), added=[0.0]) for n in range(1, 6)]

FEW_AND_MANY = [
    pytest.param(0.95, 1, id="few"),
    pytest.param(0.95, 10, id="many", marks=pytest.mark.full),
    pytest.param(0.99, 10, id="many-0.99", marks=pytest.mark.full),
]


def assert_few(alarms, audits, confidence):
    allowed = binom.ppf(0.999, audits, 1 - confidence)
    print(f"{alarms} of {audits} bounds too high at {confidence}")  # noqa: T201
    assert alarms <= allowed, f"{alarms} of {audits} bounds too high, {allowed} allowed"


def generators(audits, seed):
    return [np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(audits)]


@pytest.mark.parametrize(("confidence", "times"), FEW_AND_MANY)
def test_randomized_response(confidence, times):
    audits = 150 * times
    bounds = [
        epsilon_lower_bound(
            randomized_response(EPSILON, rng), 0, 1, samples=400, confidence=confidence
        ).epsilon
        for rng in generators(audits, 1)
    ]
    assert_few(np.sum(np.array(bounds) > EPSILON), audits, confidence)
    assert np.median(bounds) > 0.5 * EPSILON


@pytest.mark.parametrize(("confidence", "times"), FEW_AND_MANY)
def test_noise_alone(confidence, times):
    """Epsilon 0 in twenty columns: every bound above 0 is wrong, and there is much to choose from.

    An audit that counts the half on which it chose its event is wrong every time.
    """
    audits = 40 * times
    bounds = [
        epsilon_lower_bound(
            lambda record, n, rng=rng: rng.integers(0, 9, size=(n, 20)),
            0,
            1,
            samples=200,
            confidence=confidence,
        ).epsilon
        for rng in generators(audits, 5)
    ]
    assert_few(np.sum(np.array(bounds) > 0), audits, confidence)


@pytest.mark.full
@pytest.mark.parametrize(("confidence", "times"), FEW_AND_MANY)
def test_discrete_laplace_with_the_search_over_distances(confidence, times):
    """Integers 0 to 8, the noise that epsilon per unit of distance needs."""
    audits, epsilon = 50 * times, 0.5
    bounds = []
    for rng in generators(audits, 2):

        def mechanism(record, n, rng=rng):
            return record + two_sided_geometric(rng, epsilon, n)

        audit = audit_mechanism(
            mechanism,
            columns=1,
            bounds=(0.0, 8.0),
            claim=Guarantee("metric", epsilon=epsilon),
            distances=[1.0, 2.0, 4.0],
            samples=600,
            search_samples=100,
            confidence=confidence,
        )
        bounds.append(audit.epsilon)
    assert_few(np.sum(np.array(bounds) > epsilon), audits, confidence)
    assert np.median(bounds) > 0.4 * epsilon


@pytest.mark.full
@pytest.mark.parametrize(("confidence", "times"), FEW_AND_MANY)
def test_estimator_with_the_search_over_pairs(confidence, times):
    """A noisy count is exactly epsilon on every pair; the search's own estimates are too high."""
    audits = 40 * times
    bounds, searched = [], []
    for rng in generators(audits, 3):
        model = NoisyCount(EPSILON, rng=rng)
        audit = audit_estimator(model, PAIRS, runs=200, search_runs=20, confidence=confidence)
        bounds.append(audit.epsilon)
        searched.append(max(audit.searched.values()))
    assert_few(np.sum(np.array(bounds) > EPSILON), audits, confidence)
    assert np.median(bounds) > 0.4 * EPSILON
    # What fresh fits are for: the largest of the estimates would raise an alarm far too often.
    with pytest.raises(AssertionError, match="bounds too high"):
        assert_few(np.sum(np.array(searched) > EPSILON), audits, confidence)


@pytest.mark.full
@pytest.mark.parametrize(("confidence", "times"), FEW_AND_MANY)
def test_every_pair_counted(confidence, times):
    audits = 40 * times
    alarms = 0
    for rng in generators(audits, 4):
        model = NoisyCount(EPSILON, rng=rng)
        alarms += audit_estimator(
            model, PAIRS, runs=100, search=False, confidence=confidence
        ).exceeds()
    assert_few(alarms, audits, confidence)
