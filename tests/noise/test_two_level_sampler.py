import itertools
import sys
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from helpers.cases import case
from helpers.noise_distributions import DRAWS, FALSE_ALARM
from helpers.random_sources import Scripted
from shoal.exceptions import ParameterError
from shoal.noise import SeededSource, two_level

MODULE = sys.modules["shoal.noise.two_level_sampler"]


@pytest.mark.parametrize("epsilon", [0.01, 1.0, Fraction(10, 3), 20.0])
def test_probability(epsilon):
    for rest in [0, 1, Fraction(1, 3), Fraction(10**7, 3)]:
        with case(rest=rest):
            high = two_level(DRAWS, epsilon=epsilon, rest=rest, source=SeededSource(1))
            odds = np.exp(-float(epsilon))
            expected = (1 - odds) / (1 + float(rest) * odds)
            assert stats.binomtest(int(high.sum()), DRAWS, expected).pvalue > FALSE_ALARM


@pytest.mark.parametrize("epsilon", [1e-9, 0.5, 40.0, 5000.0])
def test_doubles_and_intervals_decide_alike(epsilon, monkeypatch):
    kwargs = {"epsilon": epsilon, "rest": Fraction(22, 7)}
    fast = two_level(500, **kwargs, source=SeededSource(4))
    monkeypatch.setattr(MODULE, "SLACK", 1e9)  # every choice is now settled by intervals
    assert (two_level(500, **kwargs, source=SeededSource(4)) == fast).all()


def test_a_word_on_the_boundary_is_decided_by_further_bits():
    import mpmath

    with mpmath.workprec(400):
        edge = int(mpmath.floor(mpmath.tanh(mpmath.mpf(0.5)) * mpmath.mpf(2) ** 128))
    first, second = edge >> 64, edge & (2**64 - 1)
    for step, expected in ((-1, True), (1, False)):
        source = Scripted(first, second + step)
        assert two_level(1, epsilon=1.0, rest=1, source=source)[0] == expected
        assert not source.given


def test_error_of_the_doubles_is_far_below_the_slack():
    """Lemma 1 of proofs/piecewise.md, measured against 120-bit arithmetic."""
    import math

    import mpmath

    rng = np.random.default_rng(0)
    worst = 0.0
    with mpmath.workprec(120):
        for epsilon, rest in zip(rng.exponential(3, 500), rng.exponential(1e3, 500), strict=True):
            odds = math.exp(-epsilon)
            double = -math.expm1(-epsilon) / (1 + rest * odds)
            q = mpmath.exp(-mpmath.mpf(epsilon))
            worst = max(worst, abs(float((1 - q) / (1 + mpmath.mpf(rest) * q) - double)))
    assert worst < MODULE.SLACK / 4


def test_bad_parameters():
    for name, value in itertools.product(
        ["epsilon", "rest"], [-1.0, float("nan"), float("inf"), "1"]
    ):
        with case(name=name, value=value):
            kwargs = {"epsilon": 1.0, "rest": 1, name: value}
            with pytest.raises(ParameterError, match=f"{name} must be a finite number"):
                two_level(1, **kwargs, source=SeededSource(1))
