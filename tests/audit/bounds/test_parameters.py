"""Bad input is refused with a ParameterError, before the mechanism runs where that is possible."""

import numpy as np
import pytest

from shoal.audit import (
    AuditResult,
    Frequency,
    epsilon_lower_bound,
    metric_epsilon_lower_bound,
)
from shoal.audit.bounds import _measure
from shoal.exceptions import ParameterError

BOUNDS = [epsilon_lower_bound, metric_epsilon_lower_bound]


def never(record, n):
    raise AssertionError("the mechanism ran")


def echo(record, n):
    return np.full(n, float(np.sum(record)))


@pytest.mark.parametrize("bound", BOUNDS)
def test_samples(bound):
    for samples in [0, 99, -5, 1000.0, "1000", None, True]:
        with pytest.raises(ParameterError, match="samples must be an integer >= 100, got"):
            bound(never, 0.0, 1.0, samples=samples)


@pytest.mark.parametrize("bound", BOUNDS)
def test_confidence(bound):
    for confidence in [0.0, 1.0, -0.1, 99.9, float("nan"), "high", None]:
        with pytest.raises(ParameterError, match="confidence must be between 0 and 1, got"):
            bound(never, 0.0, 1.0, confidence=confidence)


@pytest.mark.parametrize("delta", [-1e-9, 1.0, float("nan"), "0", None])
def test_delta(delta):
    with pytest.raises(ParameterError, match=r"delta must be in \[0, 1\), got"):
        epsilon_lower_bound(never, 0.0, 1.0, delta=delta)


@pytest.mark.parametrize("record", ["a", None, [], [[0.0]], np.nan, [np.inf], [1, "b"], [1j]])
def test_metric_records_are_vectors(record):
    with pytest.raises(ParameterError, match="first must be a number or a vector of finite"):
        metric_epsilon_lower_bound(never, record, 1.0)
    with pytest.raises(ParameterError, match="second must be a number or a vector of finite"):
        metric_epsilon_lower_bound(never, 1.0, record)


def test_ragged_record():
    with pytest.raises(ParameterError, match="first must be"):
        metric_epsilon_lower_bound(never, [[1.0], [1.0, 2.0]], 1.0)


def test_metric_records_of_different_length():
    with pytest.raises(ParameterError, match="the same length, got 1 and 2"):
        metric_epsilon_lower_bound(never, [0.0], [0.0, 1.0])


def test_metric_records_that_are_the_same():
    with pytest.raises(ParameterError, match=r"two different records .*, got distance 0\.0"):
        metric_epsilon_lower_bound(never, [1.0, 2.0], [1.0, 2.0])


def test_messages_do_not_show_the_records():
    with pytest.raises(ParameterError) as caught:
        metric_epsilon_lower_bound(never, [1234.5, np.nan], [0.0, 0.0])
    assert "1234" not in str(caught.value)


@pytest.mark.parametrize("bound", BOUNDS)
def test_mechanism_that_cannot_be_run(bound):
    with pytest.raises(ParameterError, match=r"transform, or be a callable .*, got float"):
        bound(1.5, 0.0, 1.0)


@pytest.mark.parametrize(
    "outputs", [1.0, np.zeros(99), np.zeros((100, 2, 2)), np.zeros((100, 0)), np.zeros(0)]
)
def test_outputs_of_the_wrong_shape(outputs):
    with pytest.raises(ParameterError, match="mechanism must give 100 outputs"):
        epsilon_lower_bound(lambda record, n: outputs, 0.0, 1.0, samples=100)


@pytest.mark.parametrize("outputs", [["a"] * 100, [None] * 100, [1j] * 100, [[1], [1, 2]] * 50])
def test_outputs_that_are_not_numbers(outputs):
    with pytest.raises(ParameterError, match="mechanism must give numbers"):
        epsilon_lower_bound(lambda record, n: outputs, 0.0, 1.0, samples=100)


def test_outputs_that_differ_in_shape():
    with pytest.raises(ParameterError, match="one shape for both records"):
        epsilon_lower_bound(lambda d, n: np.zeros((n, d)), 2, 3, samples=100)


@pytest.mark.parametrize("shape", [(100, 2), (7,)])
def test_score_of_the_wrong_shape(shape):
    with pytest.raises(ParameterError, match="score must give one number"):
        epsilon_lower_bound(echo, 0.0, 1.0, samples=200, score=lambda z, a, b: np.zeros(shape))


def test_score_that_cannot_be_called():
    with pytest.raises(ParameterError, match="score must be a callable or None, got 'best'"):
        epsilon_lower_bound(never, 0.0, 1.0, score="best")


class Additive:
    """Adds noise; a seeded one starts its noise again with every call."""

    def __init__(self, seed=None):
        self.seed = seed
        self.rng = np.random.default_rng(0)
        self.sizes = []

    def transform(self, X):
        self.sizes.append(X.shape)
        rng = self.rng if self.seed is None else np.random.default_rng(self.seed)
        return np.round((X + rng.laplace(size=X.shape)) * 1024) / 1024


def test_transform_is_called_in_pieces(monkeypatch):
    monkeypatch.setattr(_measure, "CHUNK_VALUES", 2000)
    mechanism = Additive()
    found = epsilon_lower_bound(mechanism, [0.0, 0.0], [1.0, 0.0], samples=2500)
    assert mechanism.sizes[:3] == [(1000, 2), (1000, 2), (500, 2)]
    assert 0.3 < found.epsilon <= 1.0


def test_noise_that_starts_again_is_refused(monkeypatch):
    """Pieces with the same noise would let the search see the half that is counted."""
    monkeypatch.setattr(_measure, "CHUNK_VALUES", 1000)
    with pytest.raises(ParameterError, match="fresh noise in every call"):
        epsilon_lower_bound(Additive(seed=1), 0.0, 1.0, samples=2000)


def test_no_noise_at_all_is_not_mistaken_for_a_seed(monkeypatch):
    monkeypatch.setattr(_measure, "CHUNK_VALUES", 1000)
    identity = type("Identity", (), {"transform": lambda self, X: X})()
    assert epsilon_lower_bound(identity, 0.0, 1.0, samples=5000).epsilon > 5


def test_fewest_samples_and_outputs_that_are_not_finite():
    values = np.array([np.nan, np.inf, -np.inf, 0.0])
    mechanism = lambda record, n: np.resize(values, n)  # noqa: E731
    assert epsilon_lower_bound(mechanism, 0.0, 1.0, samples=100).epsilon == 0.0
    broken = lambda record, n: np.full((n, 2), np.nan if record else 1.0)  # noqa: E731
    assert epsilon_lower_bound(broken, 0, 1, samples=101).epsilon > 1.0


RESULT = AuditResult(
    epsilon=1.93,
    confidence=0.999,
    samples=1000,
    event="output >= 1, more likely under the first record",
    p_first=Frequency(value=0.5, low=0.4, high=0.6),
    p_second=Frequency(value=0.1, low=0.05, high=0.2),
)


def test_result_is_a_sentence():
    assert str(RESULT) == "at 99.9% confidence epsilon is at least 1.93"


def test_result_is_frozen():
    with pytest.raises(AttributeError):
        RESULT.epsilon = 0.0


def test_exceeds_is_strict():
    assert RESULT.exceeds(1.92) is True
    assert RESULT.exceeds(np.float64(1.93)) is False
    assert RESULT.exceeds(float("inf")) is False


@pytest.mark.parametrize("claimed", [-1.0, float("nan"), "1", True])
def test_claims_that_are_no_numbers(claimed):
    with pytest.raises(ParameterError, match="claimed must be a number >= 0"):
        RESULT.exceeds(claimed)


def test_no_claim_to_compare_with():
    assert RESULT.claimed is None
    with pytest.raises(ParameterError, match="what was audited claims no epsilon"):
        RESULT.exceeds()
