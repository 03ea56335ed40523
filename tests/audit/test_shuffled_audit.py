"""Batches that were drawn show what enumeration says, and shufflers that do not shuffle show more.

Bounds have 99.9% confidence: an honest case fails for one seed in a thousand, and seeds are fixed.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from helpers.shuffled_views import randomized_response, true_delta
from shoal.audit import audit_shuffled
from shoal.exceptions import GuaranteeError, ParameterError
from shoal.mechanisms import PartitionResponse, Piecewise, PlanarLaplace
from shoal.privacy import Guarantee, Ledger, amplify

LOG_3 = math.log(3)


def in_random_order(batches, rng):
    order = rng.permuted(np.tile(np.arange(batches.shape[1]), (len(batches), 1)), axis=1)
    return np.take_along_axis(batches, order[:, :, None], axis=1)


@pytest.mark.parametrize(
    ("epsilon", "n_colors", "n", "delta"), [(2.0, 2, 10, 0.02), (1.5, 4, 8, 0.02)]
)
def test_the_bound_is_near_the_exact_epsilon_and_below_the_promise(epsilon, n_colors, n, delta):
    audit = audit_shuffled((epsilon, n_colors), n, delta, random_state=0)
    assert 0.8 * audit.exact < audit.epsilon <= audit.exact <= audit.claim.epsilon < epsilon
    assert not audit.exceeds()
    assert "exactly" in str(audit)
    assert f"batches of {n} reports" in str(audit)


@pytest.mark.parametrize(("n_colors", "others"), [(2, (1,) * 4), (3, (2,) * 5), (5, (2,) * 3)])
def test_the_exact_epsilon_is_that_of_enumeration_in_whole_numbers(n_colors, others):
    delta, n = 0.02, len(others) + 1
    audit = audit_shuffled((LOG_3, n_colors), n, delta, samples=100, random_state=0)
    ratio = Fraction(math.exp(audit.exact))
    reached = true_delta(randomized_response(n_colors, 3), others, ratio)
    assert float(reached) == pytest.approx(delta, rel=1e-9)


@pytest.mark.parametrize(
    "shuffler",
    [
        lambda batches, rng: batches,
        lambda batches, rng: batches[:, ::-1],
        lambda batches, rng: in_random_order(batches[:, :20], rng),
    ],
    ids=["keeps the order", "turns the order around", "sends half of the batch"],
)
def test_planted_shufflers_are_found_out(shuffler):
    options = {"samples": 20_000, "random_state": 0}
    assert not audit_shuffled((2.0, 4), 40, 0.03, **options).exceeds()
    audit = audit_shuffled((2.0, 4), 40, 0.03, shuffler=shuffler, **options)
    assert audit.exceeds()
    assert "more than claimed" in str(audit)


def test_a_mechanism_of_shoal():
    ledger = Ledger(epsilon=9.0)
    device = PartitionResponse(2.0, bounds=(0.0, 1.0), n_clusters=5, ledger=ledger)
    records = ([0.1, 0.1], [0.9, 0.9], [0.5, 0.1])
    options = {"records": records, "samples": 5_000, "random_state": 0}
    audit = audit_shuffled(device, 10, 0.01, **options)
    assert audit.claim.local_epsilon == 2.0
    assert 0 < audit.epsilon < audit.claim.epsilon
    assert audit.exact is None
    assert len(ledger) == 0
    assert audit_shuffled(device, 10, 0.01, **options, shuffler=lambda b, rng: b).exceeds()


@pytest.mark.parametrize(
    ("mechanism", "kwargs", "error", "message"),
    [
        ((1.0,), {}, ParameterError, "mechanism must be"),
        ((0.0, 4), {}, ParameterError, "epsilon must be"),
        ((1.0, 4), {"records": (0, 1, 9)}, ParameterError, "three colors below 4"),
        ((1.0, 4), {"samples": 5}, ParameterError, "samples must be"),
        ((1.0, 4), {"n": 0}, ParameterError, "n must be"),
        ((1.0, 4), {"shuffler": lambda b, rng: b[0]}, ParameterError, "shuffler must give"),
        (len, {}, ParameterError, "mechanism must be"),
        (PartitionResponse(1.0, bounds=(0, 1)), {}, ParameterError, "records must be"),
        (
            PlanarLaplace(1.0, bounds=(0, 1)),
            {"records": 3 * ([0.5, 0.5],)},
            GuaranteeError,
            "only a pure local promise",
        ),
    ],
)
def test_refusals(mechanism, kwargs, error, message):
    with pytest.raises(error, match=message):
        audit_shuffled(mechanism, **{"n": 5, "delta": 0.01, "samples": 100, **kwargs})


class Colored(Piecewise):
    """Has a number of colors, and is no randomized response."""

    n_colors = 4096


def test_only_a_randomized_response_is_claimed_by_its_colors():
    options = {"records": ([0.0], [1.0], [0.5]), "samples": 100, "random_state": 0}
    audit = audit_shuffled(Colored(2.0, bounds=(0.0, 1.0)), 50, 0.01, **options)
    assert audit.claim == replace(amplify(Guarantee("local", 2.0), 50, 0.01), seeded=True)
