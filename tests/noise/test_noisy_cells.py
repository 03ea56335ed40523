import itertools
import math
import sys
from fractions import Fraction
from functools import partial

import mpmath
import numpy as np
import pytest
from mpmath.ctx_iv import MPIntervalContext
from scipy import stats

from helpers import sizes
from helpers.cases import case
from helpers.noise_distributions import DRAWS, FALSE_ALARM, chi_square_p, two_sample_p
from helpers.random_sources import Scripted
from shoal.exceptions import ParameterError
from shoal.noise import (
    SeededSource,
    SparseCounts,
    SparseLaplaceNoise,
    discrete_laplace,
    noisy_cells_above,
)

MODULE = sys.modules["shoal.noise.noisy_cells"]
ONES = 2**64 - 1
CALLS = sizes.draws(4000, quick=1000)
SMALL_CALLS = sizes.draws(6000, quick=3000)  # of five cells


def chance_of(threshold, scale, bits=200):
    """The chance q to 200 bits and more, as a difference of sums of discrete Laplace masses."""
    with mpmath.workprec(bits):
        exact = Fraction(scale)
        a = mpmath.exp(-mpmath.mpf(exact.denominator) / exact.numerator)
        return a**threshold / (1 + a)


def geometric_pmf(chance):
    return lambda g: np.where(g >= 0, chance * (1 - chance) ** np.maximum(g, 0), 0.0)


def gaps_of(result):
    return np.diff(result.positions, prepend=-1) - 1


@pytest.mark.parametrize(("threshold", "scale"), [(1, 2.0), (2, 1.5), (3, 5.0)])
def test_which_of_five_cells_are_reported(threshold, scale):
    """All 32 outcomes, against the probabilities of independent cells."""
    source = SeededSource(1)
    seen = np.zeros(32)
    for _ in range(SMALL_CALLS):
        result = noisy_cells_above(5, threshold=threshold, scale=scale, source=source)
        seen[(1 << result.positions).sum()] += 1
    q = float(chance_of(threshold, scale))
    sizes = np.array([bin(outcome).count("1") for outcome in range(32)])
    expected = seen.sum() * q**sizes * (1 - q) ** (5 - sizes)
    assert stats.chisquare(seen, expected).pvalue > FALSE_ALARM


@pytest.mark.parametrize(("threshold", "scale"), [(1, 1e6), (1, 0.3), (4, 1.0), (60, 12.0)])
def test_same_distribution_as_noise_on_every_cell(threshold, scale):
    cells = 2 * DRAWS
    result = noisy_cells_above(cells, threshold=threshold, scale=scale, source=SeededSource(2))
    noise = discrete_laplace(cells, scale=scale, source=SeededSource(3))
    positions = np.flatnonzero(noise >= threshold)
    values = noise[positions]
    q = float(chance_of(threshold, scale))
    for number in (len(result.positions), len(positions)):
        assert stats.binomtest(number, cells, q).pvalue > FALSE_ALARM
    assert stats.kstest(result.positions / cells, stats.uniform.cdf).pvalue > FALSE_ALARM
    assert two_sample_p(gaps_of(result), np.diff(positions, prepend=-1) - 1) > FALSE_ALARM
    coarse = max(1, round(scale / 50))  # values of a distribution nearly continuous hardly repeat
    assert two_sample_p(result.values // coarse, values // coarse) > FALSE_ALARM


@pytest.mark.parametrize(
    ("threshold", "scale"), [(1, 2.0**40), (1, 0.5), (2, 1.0), (10, 3.0), (6, Fraction(2, 3))]
)
def test_gaps_are_geometric(threshold, scale):
    q = float(chance_of(threshold, scale))
    reports = CALLS if scale > 2.0**30 else 400_000  # at such a scale, values need intervals
    cells = round(reports / q)
    result = noisy_cells_above(cells, threshold=threshold, scale=scale, source=SeededSource(4))
    assert chi_square_p(gaps_of(result), geometric_pmf(q)) > FALSE_ALARM


@pytest.mark.parametrize("scale", [0.5, 1.0, 30.0])
def test_values_are_geometric_and_independent_of_gaps(scale):
    threshold = round(3 * scale) + 1
    result = noisy_cells_above(40 * DRAWS, threshold=threshold, scale=scale, source=SeededSource(5))
    above = result.values - threshold
    assert chi_square_p(above, geometric_pmf(1 - math.exp(-1 / scale))) > FALSE_ALARM
    if scale >= 1:
        assert stats.spearmanr(above, gaps_of(result)).pvalue > FALSE_ALARM


def test_a_chance_of_2_to_the_minus_60():
    """About five reports in 2^62 cells, anywhere, to the last bit of the position."""
    source = SeededSource(6)
    calls = [noisy_cells_above(2**62, threshold=41, scale=1.0, source=source) for _ in range(CALLS)]
    expected = 2**62 * float(chance_of(41, 1.0))
    assert 5 < expected < 6
    numbers = np.array([call.positions.size for call in calls])
    assert chi_square_p(numbers, stats.poisson(expected).pmf) > FALSE_ALARM
    positions = np.concatenate([call.positions for call in calls])
    assert stats.kstest(positions / 2**62, stats.uniform.cdf).pvalue > FALSE_ALARM
    for factor in (2, 3, 16, 49):
        assert stats.chisquare(np.bincount(positions % factor)).pvalue > FALSE_ALARM


@pytest.mark.parametrize(("bits", "threshold"), [(48, 20), (62, 29)])
def test_half_a_million_reports_in_a_sparse_grid(bits, threshold):
    result = noisy_cells_above(2**bits, threshold=threshold, scale=0.99, source=SeededSource(7))
    rate = -float(mpmath.log1p(-chance_of(threshold, 0.99)))
    gaps = gaps_of(result)
    assert (gaps >= 0).all()
    assert result.positions[-1] < 2**bits
    assert stats.kstest(rate * (gaps + 0.5), stats.expon.cdf).pvalue > FALSE_ALARM
    assert stats.chisquare(np.bincount(gaps % 64)).pvalue > FALSE_ALARM
    variance = 2.0**bits * rate
    assert abs(result.positions.size - variance) < 5 * math.sqrt(variance)


CASES = {
    "half": (500, 1, 1e9),
    "few": (10**4, 5, 1.5),
    "wide": (300, 1, 2.0**50),
    "fraction": (10**6, 20, Fraction(10, 3)),
    "sparse": (2**62, 36, 1.0),
    "tiny": (2**62, 44, 1.0),
    "below a double's relative precision": (2**62, 60, 1.0),
    "below all doubles": (2**62, 10**6, 1.0),
    "no scale left": (2**62, 2**61, Fraction(1, 10**400)),
}


@pytest.mark.parametrize("name", CASES)
def test_doubles_and_intervals_decide_alike(name, monkeypatch):
    cells, threshold, scale = CASES[name]
    fast = noisy_cells_above(cells, threshold=threshold, scale=scale, source=SeededSource(8))
    monkeypatch.setattr(MODULE, "SLACK", 1e9)  # every draw is now settled by intervals
    slow = noisy_cells_above(cells, threshold=threshold, scale=scale, source=SeededSource(8))
    assert (fast.positions == slow.positions).all()
    assert (fast.values == slow.values).all()
    if name in {"half", "few", "wide", "fraction", "sparse"}:
        assert fast.positions.size > 40


def test_a_gap_on_a_boundary_is_decided_by_further_bits():
    """A cell is passed over if V <= 1 - q."""
    with mpmath.workprec(400):
        edge = int(mpmath.floor((1 - chance_of(1, 3.0, 400)) * mpmath.mpf(2) ** 127))
    first, second = edge >> 64, edge & ONES
    for step, expected in ((-1, []), (1, [0])):
        # Four gaps are drawn at once, of which the first is settled.
        source = Scripted(first << 1, *[2**62] * 3, second + step)
        result = noisy_cells_above(1, threshold=1, scale=3.0, source=source)
        assert result.positions.tolist() == expected
        assert not source.given


def test_an_offset_on_a_boundary_is_decided_by_further_bits():
    enclose = partial(MODULE._rate, threshold=8, scale=Fraction(1))
    rate = -math.log1p(-float(chance_of(8, 1.0)))
    with mpmath.workprec(400):
        edge = int(mpmath.floor((1 - chance_of(8, 1.0, 400)) ** 1000 * mpmath.mpf(2) ** 128))
    first, second = edge >> 64, edge & ONES
    for step, accepted in ((-1, True), (1, False)):
        source = Scripted(1000 << 53, first, second + step, 7 << 53, 0)
        assert MODULE._offsets(1, 11, rate, enclose, source)[0] == (1000 if accepted else 7)
        assert len(source.given) == (2 if accepted else 0)


def test_a_report_whose_chance_underflows_can_occur():
    """2^62 e^-2000 is about 2^-2824: a uniform that starts with 46 words of ones gets there."""
    assert MODULE._chance(2000, 1.0) == 0.0
    for words, reports in ((43, 0), (46, 1)):
        source = Scripted(*[ONES] * words)
        assert (
            noisy_cells_above(2**62, threshold=2000, scale=1.0, source=source).positions.size
            == reports
        )


def test_words_of_zeros_draw_further_bits():
    """V = 0.00...0 (190 zeros) 1 ...: the first gap is about 190 ln 2 / -ln(1 - q) = 190."""
    count = 1 + int(500 + 4 * math.sqrt(500))
    source = Scripted(0, *[2**63] * (count - 1), 0, 1)
    result = noisy_cells_above(1000, threshold=1, scale=1e9, source=source)
    assert result.positions[0] == pytest.approx(190, abs=2)
    assert not source.given


def test_a_small_uniform_draws_further_bits():
    """V is from 2^-63 to 2^-62: 63 bits leave open which, and by 69 what the value is."""
    for second, zeros in [(0, 63), (ONES, 62)]:
        with case(second=second, zeros=zeros):
            mean = partial(MODULE.exact, value=Fraction(100))
            value = MODULE._geometric(1, 100.0, mean, 2**61, Scripted(2, second))[0]
            assert value == math.floor(100 * zeros * math.log(2))


def test_a_fraction_is_taken_exactly():
    """At this scale the rounding of a third to a double moves some values by a step."""
    for threshold in [1, 2, 17]:
        with case(threshold=threshold):
            third = Fraction(2**50, 3)
            result = noisy_cells_above(
                300, threshold=threshold, scale=third, source=SeededSource(9)
            )
            double = noisy_cells_above(
                300, threshold=threshold, scale=float(third), source=SeededSource(9)
            )
            assert (result.positions == double.positions).all()
            assert (result.values != double.values).any()
            above, count = result.values - threshold, result.positions.size
            words = _words_of_values(SeededSource(9), 300, threshold, third, count)
            with mpmath.workprec(200):
                uniforms = [(mpmath.mpf(int(k)) + 0.5) / 2**63 for k in words]
                floors = [int(mpmath.floor(-mpmath.log(v) * 2**50 / 3)) for v in uniforms]
            # The bits beyond the 63 known ones decide the last two digits of values near 2^50.
            assert max(abs(a - b) for a, b in zip(above.tolist(), floors, strict=True)) < 2**10
            assert len(floors) == count > 100


def _words_of_values(source, cells, threshold, scale, count):
    """Words that a call spends on values: the ones after those of the positions."""
    enclose = partial(MODULE._rate, threshold=threshold, scale=scale)
    MODULE._positions(cells, MODULE._chance(threshold, float(scale)), enclose, source)
    return source.words(count) >> np.uint64(1)


def test_error_of_the_doubles_is_below_the_slack():
    """Lemma 12 of proofs/noise.md, against 200-bit arithmetic."""
    for threshold, scale in [(1, 0.01), (1, 1e12), (3, 0.75), (30, 1.0), (68, 1.0), (700, 11.3)]:
        with case(threshold=threshold, scale=scale):
            chance = MODULE._chance(threshold, scale)
            with mpmath.workprec(200):
                rate = -mpmath.log(1 - chance_of(threshold, scale, 400))
                off = abs(mpmath.mpf(-math.log1p(-chance)) / rate - 1)
            assert float(off) < 9.8 * 2.0**-48


def test_intervals_enclose_the_rate_closely():
    for precision, threshold in itertools.product(
        [96, 160, 500], [1, 20, 66, 67, 300, 5000, 10**6]
    ):
        with case(precision=precision, threshold=threshold):
            context = MPIntervalContext()
            context.prec = precision
            rate = MODULE._rate(context, threshold=threshold, scale=Fraction(1))
            assert context.prec == precision
            with mpmath.workprec(2000):
                chance = chance_of(threshold, 1, 2000)
                series = chance + chance**2 / 2 + chance**3 / 3
                true = series if threshold >= 300 else -mpmath.log(1 - chance)
                low, high = mpmath.mpf(rate.a._mpi_[0]), mpmath.mpf(rate.b._mpi_[1])
                assert low <= true <= high
                assert (high - low) / true < mpmath.mpf(2) ** (8 - precision)


def test_no_cells_need_no_words():
    result = noisy_cells_above(0, threshold=1, scale=1.0, source=SeededSource(1))
    assert result.positions.shape == result.values.shape == (0,)
    assert result.positions.dtype == result.values.dtype == np.int64


def test_places_up_to_the_last_of_2_to_the_62_cells(monkeypatch):
    """Sums wrap beyond the last cell; what is kept must not."""
    gaps = [np.array([2**62 - 1, 2**62, 5]), np.array([2**62 - 3, 0, 0, 0])]
    for given in gaps:
        monkeypatch.setattr(MODULE, "_geometric", lambda *_, given=given: given.copy())
        monkeypatch.setattr(MODULE, "_offsets", lambda *_: 0)
        positions = MODULE._positions(2**62, 0.0, None, None)
        expected = [2**62 - 1] if given[1] else [2**62 - 3, 2**62 - 2, 2**62 - 1]
        assert positions.tolist() == expected


def test_kinds_of_numbers_draw_alike():
    for kind in [int, np.int32, np.uint64]:
        with case(kind=kind):
            plain = noisy_cells_above(5000, threshold=4, scale=3.0, source=SeededSource(10))
            kwargs = {"threshold": kind(4), "scale": np.float32(3.0), "source": SeededSource(10)}
            other = noisy_cells_above(kind(5000), **kwargs)
            assert (plain.positions == other.positions).all()
            assert (plain.values == other.values).all()
            assert other.values.dtype == np.int64


def test_bad_parameters():
    good = {"cells": 10, "threshold": 3, "scale": 1.0}
    for bad, message in [
        ({"cells": -1}, r"cells must be a whole number from 0 to 2\^62, got -1"),
        ({"cells": 2**62 + 1}, r"cells must be a whole number from 0 to 2\^62"),
        ({"cells": 10.0}, r"cells must be a whole number .* got 10.0"),
        ({"threshold": 0}, r"threshold must be a whole number from 1 to 2\^61, got 0"),
        ({"threshold": 1.5}, "threshold must be a whole number"),
        ({"threshold": 2**61 + 1}, "threshold must be a whole number"),
        ({"scale": 0.0}, r"scale must be above 0 and at most 2\^50, got 0.0"),
        ({"scale": float("nan")}, "scale must be above 0"),
        ({"scale": 2.0**51}, "scale must be above 0"),
    ]:
        kwargs = {**good, **bad}
        with pytest.raises(ParameterError, match=message):
            noisy_cells_above(kwargs.pop("cells"), **kwargs, source=SeededSource(1))


def test_too_many_reports_are_refused_with_a_threshold_that_will_do():
    message = (
        r"threshold must leave at most 2\^26 reports to expect, got 3; take 50 or more, or fewer"
    )
    kwargs = {"scale": 2.0, "source": SeededSource(1)}
    with pytest.raises(ParameterError, match=message):
        noisy_cells_above(2**62, threshold=3, **kwargs)
    assert 2**62 * MODULE._chance(50, 2.0) <= MODULE.MAX_REPORTS
    assert 2**62 * MODULE._chance(48, 2.0) > MODULE.MAX_REPORTS


def test_whether_too_many_are_to_be_expected_is_decided_by_public_numbers(monkeypatch):
    """One cell more than may be, with and without enough occupied ones to fall below."""
    monkeypatch.setattr(MODULE, "MAX_REPORTS", 100)
    most = math.floor(100 / MODULE._chance(1, 50.0))
    for occupied in (0, 1, 5):
        exact = SparseCounts(np.arange(occupied), np.ones(occupied, dtype=np.int64))
        assert SparseLaplaceNoise(most, 1, 50.0).sample(exact, SeededSource(1)).codes.size
        with pytest.raises(ParameterError, match="threshold must leave at most"):
            SparseLaplaceNoise(most + 1, 1, 50.0).sample(exact, SeededSource(1))
