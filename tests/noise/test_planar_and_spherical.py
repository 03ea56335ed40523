"""Two other ways to draw what k_norm draws: inverse CDF and spherical coordinates."""

import itertools
import sys

import numpy as np
import pytest
from scipy import stats

from helpers.cases import case
from helpers.noise_distributions import DRAWS, FALSE_ALARM
from helpers.random_sources import Scripted
from shoal.exceptions import ParameterError
from shoal.noise import SeededSource, k_norm, planar_laplace, spherical_laplace

SAMPLERS = {2: planar_laplace, 3: spherical_laplace}
SCALE = 4096.0


@pytest.fixture(scope="module", params=[2, 3])
def draws(request):
    return SAMPLERS[request.param](DRAWS, scale=SCALE, source=SeededSource(1)) / SCALE


def test_radius_distribution(draws):
    radii = np.linalg.norm(draws, axis=1)
    assert stats.kstest(radii, stats.gamma(draws.shape[1]).cdf).pvalue > FALSE_ALARM


def test_directions_are_uniform(draws):
    d = draws.shape[1]
    rng = np.random.default_rng(0)
    # A lattice point at the very center has no direction; its neighbors have one of few.
    far = draws[np.linalg.norm(draws, axis=1) > 0.05]
    units = far / np.linalg.norm(far, axis=1, keepdims=True)
    for axis in [*np.eye(d), *rng.normal(size=(3, d))]:
        heights = units @ (axis / np.linalg.norm(axis))
        distribution = stats.beta((d - 1) / 2, (d - 1) / 2, loc=-1, scale=2)
        assert stats.kstest(heights, distribution.cdf).pvalue > FALSE_ALARM / 10


def test_same_distribution_as_by_gamma(draws):
    d = draws.shape[1]
    other = k_norm(DRAWS, d, scale=SCALE, source=SeededSource(2)) / SCALE
    radii = [np.linalg.norm(z, axis=1) for z in (draws, other)]
    assert stats.ks_2samp(*radii).pvalue > FALSE_ALARM
    for column in range(d):
        assert stats.ks_2samp(draws[:, column], other[:, column]).pvalue > FALSE_ALARM


@pytest.mark.parametrize(
    ("d", "scale"), [(2, 0.05), (3, 1.0), (2, 1000.0), (3, 2.0**30), (2, 2.0**36), (3, 2.0**36)]
)
def test_doubles_and_intervals_decide_alike(d, scale, monkeypatch):
    sampler = SAMPLERS[d]
    fast = sampler(100, scale=scale, source=SeededSource(4))
    monkeypatch.setattr(sys.modules[sampler.__module__], "SLACK", 1e9)
    assert (sampler(100, scale=scale, source=SeededSource(4)) == fast).all()


@pytest.mark.parametrize("d", SAMPLERS)
def test_error_of_the_doubles_is_within_its_bound(d, monkeypatch):
    """Lemma 2 of proofs/planar.md and proofs/spherical.md: at 2^40 steps every error shows."""
    sampler = SAMPLERS[d]
    module = sys.modules[sampler.__module__]
    scale = 2.0**40  # an error of the bound, 2^-40 and more, is a step or more
    settled = sampler(300, scale=scale, source=SeededSource(5))
    monkeypatch.setattr(module, "settle", lambda evaluate, known, bits, source: np.zeros(d))
    monkeypatch.setattr(module, "SLACK", -1e9)  # doubles alone
    doubles = sampler(300, scale=scale, source=SeededSource(5))
    radii = np.linalg.norm(settled, axis=1) / scale
    trusted = radii > 2.0**-9
    errors = np.abs(doubles - settled).max(axis=1) / scale
    assert (errors < 2.0**-40 * (1 + radii) * (1 + 1 / radii))[trusted].all()


@pytest.mark.parametrize("d", SAMPLERS)
def test_rare_words_draw_further_bits_instead_of_failing(d):
    class Extreme:
        """All words at one end of the range, then those of a seed."""

        seeded = True

        def __init__(self, word):
            self.word, self.rest, self.first = word, SeededSource(6), True

        def words(self, count):
            if self.first:
                self.first = False
                return np.full(count, self.word, dtype=np.uint64)
            return self.rest.words(count)

    for word in (0, 1, 2**64 - 1):
        draw = SAMPLERS[d](1, scale=100.0, source=Extreme(word))
        assert np.abs(draw).max() < 100 * 300


def test_bad_scale():
    for d, scale in itertools.product(SAMPLERS, [0.0, -1.0, float("nan"), 2.0**51]):
        with case(d=d, scale=scale), pytest.raises(ParameterError, match="must be above 0"):
            SAMPLERS[d](1, scale=scale, source=SeededSource(1))


def settled_words(words, scale, monkeypatch):
    """Return, for each vector, whether intervals settle it rather than doubles."""
    looked_at = set()
    module = sys.modules[spherical_laplace.__module__]
    monkeypatch.setattr(
        module,
        "settle",
        lambda _evaluate, known, _bits, _source: looked_at.add(tuple(known)) or [0] * 3,
    )
    spherical_laplace(words.shape[1], scale=scale, source=Scripted(*words.ravel().tolist()))
    return [tuple(column) in looked_at for column in (words >> np.uint64(1)).T.tolist()]


@pytest.mark.parametrize("row", range(5))
def test_a_uniform_of_few_known_bits_is_settled(row, monkeypatch):
    """At a scale of which all vectors round to 0: it is the uniform that decides."""
    usual = np.array([2**61, 2**62 - 1, 2**61, 2**62, 2**62 + 3], dtype=np.uint64)
    words = np.tile(usual[:, np.newaxis], 5)
    ends = [0, 2**43 - 1, 2**43, 2**63 - 2**43, 2**63 - 2**43 + 1]
    words[row] = ends
    settled = settled_words(words << np.uint64(1), 2.0**-60, monkeypatch)
    # A height close to 1 leaves as little known of the other side.
    assert settled == [True, True, False, False, row == 1]


def test_intervals_settle_what_doubles_may_get_wrong_and_no_more(monkeypatch):
    """The bound of lemma 2 of proofs/spherical.md; both sides of it occur."""
    import mpmath

    scale = 2.0**35
    words = SeededSource(9).words(5 * 400).reshape(5, 400)
    settled = settled_words(words, scale, monkeypatch)
    decided = {True: 0, False: 0}
    for prefixes, looked_at in zip((words >> np.uint64(1)).T.tolist(), settled, strict=True):
        with mpmath.workprec(120):
            turn, height, *chances = (mpmath.mpf(prefix) / 2**63 for prefix in prefixes)
            radius = -sum(mpmath.log(chance) for chance in chances)
            angle, across = 2 * mpmath.pi * (turn - 0.5), mpmath.sqrt(height * (1 - height))
            sides = [2 * across * mpmath.cos(angle), 2 * across * mpmath.sin(angle), 2 * height - 1]
            ends = [scale * radius * side for side in sides]
            off = max(abs(end - mpmath.nint(end)) for end in ends)
            bound = 2.0**-40 * scale * (1 + radius)
        if abs(off + bound - 0.5) < 0.1 * bound:
            continue  # doubles may see it on the other side
        assert looked_at is bool(off + bound > 0.5)
        decided[looked_at] += 1
    assert min(decided.values()) > 20
