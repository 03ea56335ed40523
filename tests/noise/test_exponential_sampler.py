import itertools
import sys
from collections import Counter
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats

from helpers import sizes
from helpers.cases import case
from helpers.noise_distributions import FALSE_ALARM
from helpers.random_sources import Scripted
from shoal.exceptions import ParameterError
from shoal.noise import SeededSource, exponential_choice

MODULE = sys.modules["shoal.noise.exponential_sampler"]
CALLS = sizes.draws(10_000, quick=2000)
ONES = 2**64 - 1

TABLES = {
    "equal": ([3, 3, 3, 3], 1.0),
    "ties in any order": ([2, 0, 1, 0, 2, 2, 0], 0.7),
    "below zero": ([-1.5, 0.25, -3.0, -1.5], Fraction(1, 3)),
    "far candidates": ([0.0, 3000.0, 0.5, 1e300], 2.0),
    "beyond the range of a difference": ([1.7e308, -1.7e308, 0.0], 2.0**-1000),
    "large integers": (np.array([2**63 - 1, 2**63 - 3, -(2**63), 2**63 - 2]), 1e-19),
    "neighboring integers": ([2**62 + 1, 2**62, 2**62 + 3], 0.5),
}


def exact_probabilities(penalties, rate, bits=200):
    """Probabilities to 200 bits and more, straight from the definition."""
    with mpmath.workprec(bits):
        exact = [Fraction(p) for p in np.asarray(penalties).tolist()]
        exponents = [Fraction(rate) * (p - min(exact)) for p in exact]
        weights = [mpmath.exp(-mpmath.mpf(e.numerator) / e.denominator) for e in exponents]
        return [w / sum(weights) for w in weights]


def chosen(penalties, rate, source):
    return exponential_choice(penalties, rate=rate, source=source)


@pytest.mark.parametrize("name", TABLES)
def test_chi_square_against_the_definition(name):
    penalties, rate = TABLES[name]
    source = SeededSource(1)
    counts = np.bincount([chosen(penalties, rate, source) for _ in range(CALLS)])
    expected = CALLS * np.array(exact_probabilities(penalties, rate), dtype=float)
    counts = np.append(counts, np.zeros(len(expected) - len(counts)))
    likely = expected > 5
    assert not counts[~likely].any()  # each of these has an expectation below 10^-80
    if likely.sum() > 1:
        assert stats.chisquare(counts[likely], expected[likely]).pvalue > FALSE_ALARM


def test_many_candidates_with_few_penalties():
    """One candidate in a thousand has penalty 0: together they have 1/2, and are equally likely."""
    penalties = np.full(20_000, np.log(999.0))
    better = np.arange(7, 20_000, 1000)
    penalties[better] = 0.0
    source = SeededSource(2)
    draws = np.array([chosen(penalties, 1.0, source) for _ in range(4000)])
    hits = Counter(draws[np.isin(draws, better)].tolist())
    assert stats.binomtest(hits.total(), 4000, 0.5).pvalue > FALSE_ALARM
    assert stats.chisquare([hits[i] for i in better.tolist()]).pvalue > FALSE_ALARM
    others = draws[~np.isin(draws, better)]
    assert stats.kstest(others / 20_000, stats.uniform.cdf).pvalue > FALSE_ALARM


@pytest.mark.parametrize("name", TABLES)
def test_each_word_gives_what_the_inverse_of_the_distribution_gives(name):
    """By 400-bit arithmetic, best candidates first; equal penalties count as the same."""
    penalties, rate = TABLES[name]
    table = np.asarray(penalties).tolist()
    order = sorted(range(len(table)), key=table.__getitem__)
    probabilities = exact_probabilities(penalties, rate, 400)
    words = SeededSource(3).words(300).tolist()
    for word in words:
        with mpmath.workprec(400):
            left = (mpmath.mpf(word) + 0.5) / 2**64
            for i in order:
                left -= probabilities[i]
                if left < 0:
                    break
        assert table[chosen(penalties, rate, Scripted(word))] == table[i]


def test_doubles_and_intervals_decide_alike(monkeypatch):
    for name, (penalties, rate) in TABLES.items():
        fast_source, slow_source = SeededSource(4), SeededSource(4)
        fast = [chosen(penalties, rate, fast_source) for _ in range(200)]
        with monkeypatch.context() as patch:
            patch.setattr(MODULE, "SLACK", 1e9)  # every choice is now settled by intervals
            assert [chosen(penalties, rate, slow_source) for _ in range(200)] == fast, name


def test_doubles_and_intervals_decide_alike_among_thousands(monkeypatch):
    penalties = np.random.default_rng(0).exponential(40.0, 3000)
    words = SeededSource(5).words(8).tolist()
    fast = [chosen(penalties, 0.1, Scripted(word)) for word in words]
    assert len(set(fast)) > 4
    monkeypatch.setattr(MODULE, "SLACK", 1e9)
    assert [chosen(penalties, 0.1, Scripted(word)) for word in words] == fast


def test_a_word_on_a_boundary_is_decided_by_further_bits():
    for rate in [1.0, 0.5, 0.25, 2.0, 3.0, 5.0]:
        with case(rate=rate):
            with mpmath.workprec(400):
                edge = int(
                    mpmath.floor(exact_probabilities([0, 1], rate, 400)[0] * mpmath.mpf(2) ** 128)
                )
            first, second = edge >> 64, edge & ONES
            for step, expected in ((-1, 0), (1, 1)):
                source = Scripted(first, second + step)
                assert chosen([0, 1], rate, source) == expected
                assert not source.given


def test_a_candidate_whose_weight_underflows_can_be_chosen():
    """e^-2000 = 2^-2885.4: a uniform that starts with 47 words of ones gets there, 44 do not."""
    assert np.exp(-2000.0) == 0.0
    far = [Scripted(*[ONES] * words) for words in (44, 47)]
    assert [chosen([2000, 0], 1.0, source) for source in far] == [1, 0]
    assert not far[1].given


def test_the_uniform_next_to_a_weight_that_was_lost_is_settled():
    with mpmath.workprec(4000):
        bits = 64 * 46
        near = mpmath.mpf(1) / (1 + mpmath.exp(-2000))
        edge = int(mpmath.floor(near * mpmath.mpf(2) ** bits))
    words = [(edge >> (bits - 64 * i)) & ONES for i in range(1, 47)]
    for step, expected in ((-1, 0), (1, 1)):
        source = Scripted(*words[:-1], words[-1] + step)
        assert chosen([0, 2000], 1.0, source) == expected
        assert not source.given


def test_extreme_parameters():
    tables: list[Any] = [[1e300, -1e300], [5e-324, 0.0], [2**63, 0], [0.0, -0.0]]
    rates: list[Any] = [2.0**-1000, 1, Fraction(2**1000)]
    for penalties, rate in itertools.product(tables, rates):
        with case(penalties=penalties, rate=rate):
            best = int(np.argmin(penalties))
            source = SeededSource(6)
            draws = {chosen(penalties, rate, source) for _ in range(60)}
            gap = float(Fraction(rate) * abs(Fraction(penalties[0]) - Fraction(penalties[1])) > 50)
            assert draws == ({best} if gap else {0, 1})


def test_kinds_of_numbers_draw_alike():
    for kind in [np.int8, np.uint8, np.int64, np.uint64, np.float16, np.float32]:
        with case(kind=kind):
            plain, other = SeededSource(7), SeededSource(7)
            penalties = np.array([100, 3, 127, 3, 0])
            expected = [chosen(penalties, 0.125, plain) for _ in range(50)]
            assert [
                chosen(penalties.astype(kind), np.float32(0.125), other) for _ in range(50)
            ] == expected


def test_differences_of_small_integers_do_not_wrap():
    penalties = np.array([-128, 127], dtype=np.int8)
    source = SeededSource(8)
    assert {chosen(penalties, 1.0, source) for _ in range(100)} == {0}


def test_error_of_the_doubles_is_far_below_the_slack():
    """Lemma 10 of proofs/noise.md: boundaries over the total, against 200-bit arithmetic."""
    rng = np.random.default_rng(0)
    shares = []
    for spread, rate in [(1.0, 1.0), (700.0, 1.0), (1e-300, 1e300), (1e5, 0.003)]:
        distinct = np.unique(rng.uniform(-spread, spread, 500))
        counts = rng.integers(1, 10**6, distinct.size)
        sums = np.cumsum(counts * np.exp(-MODULE._exponents(distinct, rate)))
        with mpmath.workprec(200):
            exact = [Fraction(rate) * (Fraction(p) - Fraction(distinct[0])) for p in distinct]
            weights = [
                int(n) * mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator)
                for n, x in zip(counts, exact, strict=True)
            ]
            total, below = sum(weights), mpmath.mpf(0)
            for weight, double in zip(weights, sums, strict=True):
                below += weight
                shares.append(abs(float(below / total - mpmath.mpf(float(double)) / sums[-1])))
    assert max(shares) < MODULE.SLACK / 4


def test_privacy_of_a_choice_by_counts_is_epsilon_under_add_remove():
    """Penalties that fall by at most 1: the ratio of all probabilities is at most e^rate."""
    rng = np.random.default_rng(1)
    for rate in (0.1, 1.0, 3.0):
        for _ in range(50):
            before = rng.integers(-5, 5, 6)
            both = rng.integers(-1, 2, 6)
            for after, cost in ((before - np.abs(both), rate), (before + both, 2 * rate)):
                ratios = [
                    a / b
                    for a, b in zip(
                        exact_probabilities(before, rate),
                        exact_probabilities(after, rate),
                        strict=True,
                    )
                ]
                assert max(abs(float(mpmath.log(ratio))) for ratio in ratios) <= cost + 1e-12


def test_bad_penalties_are_refused_without_naming_them():
    for penalties, message in [
        ([], r"penalties must be one row of at least one number, got shape \(0,\)"),
        ([[1.0, 2.0]], r"penalties must be one row .* got shape \(1, 2\)"),
        (3.0, r"penalties must be one row .* got shape \(\)"),
        ([1.0, float("nan")], "penalties must be finite, got NaN or infinity; leave such"),
        ([1.0, float("inf")], "penalties must be finite"),
        (["a"], "penalties must be integers or floats of at most 64 bits, got <U1; convert"),
        ([2**70, 1], "penalties must be integers or floats of at most 64 bits, got object"),
        ([1j], "penalties must be integers or floats"),
    ]:
        with pytest.raises(ParameterError, match=message):
            chosen(penalties, 1.0, SeededSource(1))


def test_bad_rate():
    for rate in [0, -1.0, float("nan"), float("inf"), "1", 2**1001, 2.0**-1001]:
        with (
            case(rate=rate),
            pytest.raises(ParameterError, match=r"rate must be a number from 2\^-1000 to 2\^1000"),
        ):
            chosen([1, 2], rate, SeededSource(1))
