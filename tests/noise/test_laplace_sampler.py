import sys
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from helpers.cases import case
from helpers.noise_distributions import DRAWS, FALSE_ALARM, chi_square_p, laplace_pmf, two_sample_p
from helpers.random_sources import Scripted
from shoal.exceptions import ParameterError
from shoal.noise import SeededSource, discrete_laplace

THEIRS = 100_000  # draws of OpenDP, which takes 15 microseconds for each
MODULE = sys.modules["shoal.noise.laplace_sampler"]


@pytest.mark.parametrize("scale", [0.2, 1.0, 3.7, 60.0])
def test_chi_square_against_the_exact_distribution(scale):
    draws = discrete_laplace(DRAWS, scale=scale, source=SeededSource(1))
    assert chi_square_p(draws, lambda x: laplace_pmf(x, scale)) > FALSE_ALARM


@pytest.mark.parametrize("scale", [1e4, 1e6, 3e8])
def test_kolmogorov_smirnov_where_the_distribution_is_nearly_continuous(scale):
    # A lattice of 10^4 steps per scale moves the distribution function by less than 10^-4.
    draws = discrete_laplace(DRAWS, scale=scale, source=SeededSource(2))
    assert stats.kstest((draws + 0.0) / scale, stats.laplace.cdf).pvalue > FALSE_ALARM


@pytest.mark.full  # their draws have no seed
@pytest.mark.parametrize("scale", [0.7, 10.0])
def test_same_distribution_as_opendp(scale):
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i32")), dp.l1_distance(T="i32")
    theirs = np.array(dp.m.make_laplace(*space, scale=scale)([0] * THEIRS))  # not seedable
    ours = discrete_laplace(DRAWS, scale=scale, source=SeededSource(3))
    assert two_sample_p(ours, theirs) > FALSE_ALARM


@pytest.mark.parametrize("scale", [0.05, 1.0, 1000.0, 2.0**30, 2.0**50])
def test_doubles_and_intervals_decide_alike(scale, monkeypatch):
    fast = discrete_laplace(400, scale=scale, source=SeededSource(4))
    monkeypatch.setattr(MODULE, "SLACK", 1e9)  # every draw is now settled by intervals
    assert (discrete_laplace(400, scale=scale, source=SeededSource(4)) == fast).all()


def test_error_of_the_doubles_is_far_below_the_slack():
    """Lemma 2 of proofs/noise.md, measured against 120-bit arithmetic."""
    import mpmath

    uniforms = SeededSource(5).words(2000) >> np.uint64(1)
    uniforms[:40] = np.uint64(2**MODULE.TRUSTED) + np.arange(40, dtype=np.uint64)
    doubles = np.log(uniforms.view(np.int64).astype(float))
    with mpmath.workprec(120):
        worst = max(
            abs(mpmath.log(mpmath.mpf(int(u)) + end) - float(log))
            for u, log in zip(uniforms, doubles, strict=True)
            for end in (0, 1)
        )
    assert float(worst) < MODULE.SLACK / 4


def test_words_of_zeros_draw_further_bits_instead_of_failing():
    # V = 0.00...0 (191 zeros) 1 ...: the magnitude is about scale * 191 ln 2.
    source = Scripted(0, 0, 1)
    draw = discrete_laplace(1, scale=100.0, source=source)[0]
    assert draw == pytest.approx(100 * (127 + 63) * np.log(2), abs=200)
    assert not source.given


def test_a_word_on_a_boundary_is_decided_by_further_bits():
    # P[|X| >= 1] = 2 q / (1 + q): put V right at it, then let the next word fall on either side.
    import mpmath

    with mpmath.workprec(400):
        odds = mpmath.exp(-1)
        edge = int(mpmath.floor(2 * odds / (1 + odds) * mpmath.mpf(2) ** 127))
    first, second = edge >> 64, edge & (2**64 - 1)
    below = discrete_laplace(1, scale=1.0, source=Scripted(first, second - 1))[0]
    above = discrete_laplace(1, scale=1.0, source=Scripted(first, second + 1))[0]
    assert (below, above) == (1, 0)


def test_shape_and_exact_rational_scale():
    draws = discrete_laplace((3, 4), scale=Fraction(10, 3), source=SeededSource(1))
    assert draws.shape == (3, 4)
    assert draws.dtype == np.int64


def test_bad_scale():
    for scale in [0.0, -1.0, float("nan"), float("inf"), 2.0**51]:
        with case(scale=scale), pytest.raises(ParameterError, match="scale must be above 0"):
            discrete_laplace(1, scale=scale, source=SeededSource(1))


def settled_words(words, scale, monkeypatch):
    """Return, for each word, whether intervals settle it rather than doubles."""
    looked_at = set()
    module = sys.modules[discrete_laplace.__module__]
    monkeypatch.setattr(
        module, "settle", lambda _evaluate, known, _bits, _source: looked_at.add(known[0]) or 0
    )
    discrete_laplace(words.size, scale=scale, source=Scripted(*words.tolist()))
    return [int(word) in looked_at for word in words]


def test_a_uniform_of_few_known_bits_is_settled(monkeypatch):
    """At a scale of which all draws are 0: it is the uniform that decides."""
    words = np.array([0, 2**44 - 1, 2**44, 2**62], dtype=np.uint64)
    assert settled_words(words, 1e-3, monkeypatch) == [True, True, False, False]


def test_intervals_settle_what_doubles_may_get_wrong_and_no_more(monkeypatch):
    """The bound of lemma 2 of proofs/noise.md; both sides of it occur."""
    import mpmath

    scale = 2.0**39  # half of the draws are closer to a border than 1/4
    words = SeededSource(9).words(400) >> np.uint64(1)
    settled = settled_words(words, scale, monkeypatch)
    decided = {True: 0, False: 0}
    for word, looked_at in zip(words.tolist(), settled, strict=True):
        with mpmath.workprec(120):
            odds = mpmath.exp(-1 / mpmath.mpf(scale))
            exponent = scale * (mpmath.log(2 / (1 + odds)) - mpmath.log(mpmath.mpf(word) / 2**63))
            off = abs(exponent - mpmath.floor(exponent) - 0.5)
        bound = 2.0**-41 * scale
        if abs(off + bound - 0.5) < 0.1 * bound:
            continue  # doubles may see it on the other side
        assert looked_at is bool(off + bound > 0.5)
        decided[looked_at] += 1
    assert min(decided.values()) > 20
