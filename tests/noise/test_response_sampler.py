"""Randomized response: T is rounded down, and answers have exactly the probabilities of T."""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from helpers.cases import case
from helpers.noise_distributions import FALSE_ALARM
from helpers.partition_laws import WORDS, GivenWords, exponential, threshold
from shoal.exceptions import ParameterError
from shoal.noise import SeededSource, keep_threshold, odds_between, randomized_response

EPSILONS = [2.0**-40, 1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 20.0, 50.0, 700.0]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_epsilon_that_is_reached_is_never_above_the_nominal_one(epsilon):
    """Exact rationals, against an interval around e^epsilon."""
    low, high = exponential(epsilon)
    for choices in (2, 3, 4, 8, 64, 4096, 2**40):
        with case(choices=choices):
            t = keep_threshold(epsilon, choices)
            assert 0 <= t < WORDS
            assert int(np.uint64(t)) == t, "no overflow where words are compared with it"
            assert 1 + Fraction(choices * t, WORDS - t) <= low
            assert t == threshold(epsilon, choices)
            if t + 1 < WORDS:  # the next one would break the promise
                assert 1 + Fraction(choices * (t + 1), WORDS - t - 1) > high


def test_odds_are_enclosed():
    for epsilon in (Fraction(1, 3), *map(Fraction, EPSILONS), Fraction(999, 7), Fraction(5000)):
        low, high = odds_between(epsilon)
        with case(epsilon=epsilon), mpmath.workprec(4000):
            exponent = min(epsilon, Fraction(1000))
            odds = mpmath.exp(-mpmath.mpf(exponent.numerator) / exponent.denominator)
            below, above = (mpmath.mpf(q.numerator) / q.denominator for q in (low, high))
            assert below < odds < above
            assert above - below < odds * mpmath.mpf(10) ** -150


def test_little_is_lost():
    for epsilon in (0.5, 1.0, 2.0, 4.0, 8.0):
        t = keep_threshold(epsilon, 8)
        with mpmath.workprec(200):
            reached = mpmath.log1p(mpmath.mpf(8 * t) / (WORDS - t))
            assert 0 <= mpmath.mpf(epsilon) - reached < mpmath.ldexp(1, -48)


def test_threads_that_change_the_precision_change_nothing():
    """mpmath has one precision for all threads: a threshold must not use it."""
    keep_threshold.cache_clear()
    expected = {epsilon: threshold(epsilon, 8) for epsilon in EPSILONS}

    def one(epsilon):
        with mpmath.workprec(20):
            return keep_threshold(epsilon, 8)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(one, EPSILONS)) == list(expected.values())


def test_words_decide():
    t = keep_threshold(1.0, 4)
    answers = np.array([[2, 2], [2, 2]])
    source = GivenWords([0, t - 1, t, WORDS - 1, 0, 1, 3, 4])
    said = randomized_response(answers, epsilon=1.0, choices=4, source=source)
    assert said.tolist() == [[2, 2], [3, 0]]


def test_answers_follow_their_probabilities():
    """Chi-square at fixed seeds: false alarm 1e-6 for each."""
    for choices, epsilon in ((2, 0.5), (5, 1.0), (8, 3.0)):
        said = randomized_response(
            np.full(200_000, 1), epsilon=epsilon, choices=choices, source=SeededSource(choices)
        )
        keep = np.expm1(epsilon) / (np.exp(epsilon) + choices - 1)
        expected = np.full(choices, (1 - keep) / choices)
        expected[1] += keep
        counts = np.bincount(said, minlength=choices)
        assert stats.chisquare(counts, 200_000 * expected).pvalue > FALSE_ALARM


@pytest.mark.parametrize(
    ("epsilon", "choices", "text"),
    [
        (2.0**-41, 2, "epsilon must be at least 2\\^-40"),
        (0.0, 2, "epsilon must be a finite number > 0"),
        (np.nan, 2, "epsilon must be a finite number > 0"),
        (1.0, 1, "choices must be a whole number from 2"),
        (1.0, 2.0, "choices must be a whole number from 2"),
    ],
)
def test_bad_parameters(epsilon, choices, text):
    with pytest.raises(ParameterError, match=text):
        keep_threshold(epsilon, choices)
