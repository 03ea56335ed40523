"""Results of attacks, and the ceiling that a promise sets."""

import math
import pickle

import numpy as np
import pytest
from scipy.stats import binom, norm, t

from shoal.audit.attacks import AttackResult
from shoal.audit.attacks.result import advantage_ceiling
from shoal.exceptions import ParameterError
from shoal.privacy import Guarantee

# First run: 2 of 4 members and 1 of 4 others from 0.5 on; second: 3 of 4 and 1 of 4.
RUNS = [
    ([0.9, 0.6, 0.4, 0.3], [0.7, 0.2, 0.1, 0.0]),
    ([0.8, 0.5, 0.5, 0.1], [0.6, 0.4, 0.4, 0.2]),
]


@pytest.fixture
def found():
    return AttackResult.from_runs("released centers", RUNS, threshold=0.5)


def test_rates_by_hand(found):
    assert found.runs == 2
    assert found.advantages == (0.25, 0.5)
    assert (found.tpr, found.fpr) == (5 / 8, 2 / 8)
    assert found.advantage == 3 / 8
    assert found.precision == 5 / 7
    assert found.right == 11 / 16


def test_curve_by_hand(found):
    # Above the largest score of the others, 0.7, there are 0.9 and 0.8.
    assert found.tpr_at(0.0) == 2 / 8
    assert found.tpr_at(1 / 8) == 2 / 8
    assert found.tpr_at(2 / 8) == 5 / 8
    assert found.tpr_at(1.0) == 1.0
    assert found.roc.advantage >= found.advantage
    wins = [(m > o) + (m == o) / 2 for m in found.members for o in found.others]
    assert found.roc.auc == pytest.approx(np.mean(wins))


def test_sentence(found):
    assert str(found) == (
        "released centers: right about membership in 69 of 100 guesses; "
        "without the release, 50 (advantage 0.38)"
    )
    nothing = AttackResult("guess", np.ones(1000), np.r_[np.ones(999), 2.0], 2.0, (-0.001,))
    assert str(nothing).endswith("50 of 100 guesses; without the release, 50 (advantage 0.00)")


def test_interval_over_runs(found):
    low, high = found.interval()
    # Two runs: mean 0.375, standard error 0.125, Student's 97.5% point with one degree 12.706.
    assert t.ppf(0.975, 1) == pytest.approx(12.706, abs=1e-3)
    assert (low, high) == (-1.0, 1.0)
    low, high = found.interval(0.5)  # the 75% point is 1
    assert (low, high) == pytest.approx((0.25, 0.5))


def test_interval_of_more_runs_is_narrower():
    few, many = (
        AttackResult("x", [1.0], [0.0], 0.5, tuple([0.1, 0.3] * n)).interval() for n in (2, 20)
    )
    assert few[0] < many[0] < 0.2 < many[1] < few[1]


def test_interval_of_runs_covers():
    """95% limits of five normal advantages miss 0.2 in 5% of 2000 trials, up to 5 deviations."""
    rng = np.random.default_rng(0)
    missed = 0
    for _ in range(2000):
        drawn = tuple(0.2 + 0.05 * rng.standard_normal(5))
        low, high = AttackResult("x", [1.0], [0.0], 0.5, drawn).interval()
        missed += not low <= 0.2 <= high
    assert binom.cdf(missed, 2000, 0.05) > 1e-6
    assert binom.sf(missed, 2000, 0.05) > 1e-6


def test_interval_of_one_run():
    one = AttackResult.from_runs(
        "x", [(np.ones(100), np.r_[np.ones(20), np.zeros(80)])], threshold=1
    )
    low, high = one.interval()
    assert low < 0.8 < high <= 1.0
    # Clopper-Pearson with all of 100: 1 - (0.05 / 4)^(1/100) below.
    assert low > 0.8 - 0.043 - 0.12
    wide = AttackResult.from_runs("x", [([1.0], [0.0])], threshold=1).interval()
    assert wide == pytest.approx((2 * 0.0125 - 1, 1.0))


def test_infinite_scores_are_scores():
    found = AttackResult.from_runs("x", [([math.inf, 0.0], [-math.inf])], threshold=math.inf)
    assert (found.tpr, found.fpr) == (0.5, 0.0)
    nobody = AttackResult("x", [1.0], [0.0], math.inf, (0.0,))
    assert math.isnan(nobody.precision)
    assert nobody.advantage == 0.0


def test_it_travels_and_keeps_its_scores(found):
    scores = np.array([1.0])
    one = AttackResult("x", scores, [0.0], 0.5, (1.0,))
    scores[0] = 0.0
    assert one.tpr == 1.0
    again = pickle.loads(pickle.dumps(found))
    assert str(again) == str(found)
    assert again.advantages == found.advantages


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"members": []}, r"members must be a list of at least one score .*\(0,\)"),
        ({"others": [[0.0]]}, r"others must be .*\(1, 1\)"),
        ({"others": [math.nan]}, "others must be .* without nan"),
        ({"members": ["a"]}, "members must be a list of scores, got list"),
        ({"threshold": math.nan}, "threshold must be a number, got nan"),
        ({"threshold": "0.5"}, "threshold must be a number, got '0.5'"),
        ({"advantages": ()}, "advantages must be numbers from -1 to 1"),
        ({"advantages": (1.5,)}, "advantages must be numbers from -1 to 1"),
        ({"attack": 3}, "attack must be a string"),
    ],
)
def test_bad_fields(change, message):
    fields = {"attack": "x", "members": [1.0], "others": [0.0], "threshold": 0.5}
    with pytest.raises(ParameterError, match=message):
        AttackResult(**{**fields, "advantages": (1.0,), **change})


def test_bad_calls(found):
    with pytest.raises(ParameterError, match="runs must hold at least one run"):
        AttackResult.from_runs("x", [], threshold=0.5)
    with pytest.raises(ParameterError, match=r"confidence must be a number in \(0, 1\), got 1"):
        found.interval(1)


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


def test_mu_lowers_it_to_the_gaussian():
    promise = Guarantee("central", epsilon=1.0, delta=1e-5, mu=0.25)
    apart = 2 * norm.cdf(0.125) - 1
    assert advantage_ceiling(promise) == pytest.approx(apart, rel=1e-9)


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
