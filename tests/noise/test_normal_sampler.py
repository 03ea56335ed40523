"""Rounded normals against the normal distribution, and doubles against intervals."""

import sys
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from helpers.noise_distributions import DRAWS, FALSE_ALARM, chi_square_p, rounded_gaussian_pmf
from shoal.exceptions import ParameterError
from shoal.noise import SeededSource, rounded_gaussian

MODULE = sys.modules["shoal.noise.normal_sampler"]


@pytest.mark.parametrize("sigma", [0.15, 0.3, 1.0, 4.5, 80.0])
def test_chi_square_against_the_exact_distribution(sigma):
    draws = rounded_gaussian(DRAWS, sigmas=sigma, source=SeededSource(1))
    assert chi_square_p(draws, lambda x: rounded_gaussian_pmf(x, sigma)) > FALSE_ALARM


@pytest.mark.parametrize("sigma", [1e5, 1e9, 2.0**36])
def test_kolmogorov_smirnov_where_the_distribution_is_nearly_continuous(sigma):
    count = DRAWS if sigma < 2.0**32 else 100_000
    draws = rounded_gaussian(count, sigmas=sigma, source=SeededSource(2))
    assert stats.kstest(draws / sigma, stats.norm.cdf).pvalue > FALSE_ALARM


def test_both_of_a_pair_are_normal_and_independent():
    draws = rounded_gaussian(2 * MODULE.CHUNK, sigmas=1e6, source=SeededSource(3)) / 1e6
    pairs = draws.reshape(2, -1)
    assert stats.kstest((pairs**2).sum(axis=0), stats.chi2(2).cdf).pvalue > FALSE_ALARM
    angles = np.arctan2(*pairs) / (2 * np.pi) + 0.5
    assert stats.kstest(angles, stats.uniform.cdf).pvalue > FALSE_ALARM
    assert stats.spearmanr(*np.abs(pairs)).pvalue > FALSE_ALARM


def test_each_entry_has_its_own_sigma():
    sigmas = np.array([0.5, 3.0, 1e4])
    draws = rounded_gaussian((300_000, 3), sigmas=sigmas, source=SeededSource(4))
    for column, sigma in zip(draws.T, sigmas, strict=True):
        if sigma < 100:
            assert chi_square_p(column, lambda x, s=sigma: rounded_gaussian_pmf(x, s)) > FALSE_ALARM
        else:
            assert stats.kstest(column / sigma, stats.norm.cdf).pvalue > FALSE_ALARM


@pytest.mark.parametrize("size", [1, 2, 7, 301])
def test_doubles_and_intervals_decide_alike(size, monkeypatch):
    sigmas = np.geomspace(0.1, 2.0**40, size)
    fast = rounded_gaussian(size, sigmas=sigmas, source=SeededSource(5))
    monkeypatch.setattr(MODULE, "SLACK", 1e9)  # every pair is now settled by intervals
    assert (rounded_gaussian(size, sigmas=sigmas, source=SeededSource(5)) == fast).all()


def test_wide_noise_is_settled_and_normal():
    draws = rounded_gaussian(400, sigmas=2.0**50, source=SeededSource(6))
    assert stats.kstest(draws / 2.0**50, stats.norm.cdf).pvalue > FALSE_ALARM


def test_words_of_zeros_draw_further_bits():
    class Zeros:
        seeded = True

        def __init__(self):
            self.calls, self.rest = 0, SeededSource(5)

        def words(self, count):
            self.calls += 1
            return np.zeros(count, np.uint64) if self.calls == 1 else self.rest.words(count)

    source = Zeros()
    draws = rounded_gaussian(3, sigmas=10.0, source=source)
    assert source.calls > 1
    assert (np.abs(draws) < 10 * 20).all()


def test_error_of_the_doubles_is_below_the_slack(monkeypatch):
    """Lemma 14 of proofs/noise.md: values before rounding, against 120-bit arithmetic."""
    import mpmath

    caught = []
    real = MODULE.np.rint

    class Spy:
        def __getattr__(self, name):
            return (
                (lambda v: caught.append(v.copy()) or real(v))
                if name == "rint"
                else getattr(np, name)
            )

    class Edges:
        """Words at the ends that the lemma allows for, and ordinary ones."""

        seeded = True

        def words(self, count):
            words = SeededSource(6).words(count)
            pairs = count // 2
            words[pairs : pairs + 100] = np.uint64(2**48) + (words[:100] >> np.uint64(16))
            from_one = np.geomspace(2**48.1, 2**60, 100).astype(np.uint64)
            words[pairs + 100 : pairs + 200] = np.uint64(2**64 - 1) - from_one
            self.kept = words >> np.uint64(1)
            return words

    source = Edges()
    monkeypatch.setattr(MODULE, "np", Spy())
    MODULE._fill(np.empty(800, np.int64), np.ones(800), source)
    worst = 0.0
    with mpmath.workprec(120):
        for i in range(400):
            turn, chance = (mpmath.mpf(int(source.kept[j])) / 2**63 for j in (i, 400 + i))
            length = mpmath.sqrt(-2 * mpmath.log(chance))
            if length**2 / 2 < MODULE.SHORTEST:
                continue
            angle = 2 * mpmath.pi * (turn - 0.5)
            for j, true in ((i, mpmath.cos(angle)), (400 + i, mpmath.sin(angle))):
                worst = max(worst, float(abs(length * true - float(caught[0][j]))))
    assert worst < MODULE.SLACK / 4


def test_shapes():
    assert rounded_gaussian((3, 5001), sigmas=2.0, source=SeededSource(1)).shape == (3, 5001)
    assert rounded_gaussian(0, sigmas=2.0, source=SeededSource(1)).shape == (0,)
    with pytest.raises(ValueError, match="broadcast"):
        rounded_gaussian(2, sigmas=np.ones(3), source=SeededSource(1))


def test_bad_sigmas():
    for bad in [0.0, -1.0, float("nan"), 2.0**51, np.array([1.0, 0.0])]:
        with pytest.raises(ParameterError, match="sigmas must be above 0 and at most 2"):
            rounded_gaussian(2, sigmas=bad, source=SeededSource(1))


def test_a_pair_is_what_its_words_say():
    """One value by hand: the first words of a seed, in rational and 200-bit arithmetic."""
    import mpmath

    first, second = (int(word) >> 1 for word in SeededSource(9).words(2))
    with mpmath.workprec(200):
        turn, chance = (mpmath.mpf(k) / 2**63 for k in (first, second))
        length = mpmath.sqrt(-2 * mpmath.log(chance))
        value = 1000 * length * mpmath.cos(2 * mpmath.pi * (turn - Fraction(1, 2)))
        expected = int(mpmath.floor(value + mpmath.mpf(1) / 2))
    assert rounded_gaussian(1, sigmas=1000.0, source=SeededSource(9))[0] == expected
