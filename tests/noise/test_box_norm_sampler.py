import sys
from fractions import Fraction
from math import factorial, log, prod

import numpy as np
import pytest
from scipy import stats

from helpers.noise_distributions import DRAWS, FALSE_ALARM, chi_square_p
from helpers.random_sources import Scripted
from shoal.exceptions import ParameterError
from shoal.noise import SeededSource, box_norm

MODULE = sys.modules["shoal.noise.box_norm_sampler"]
FINE = 2.0**16  # lattice steps per scale: rounding moves a distribution function by 10^-5
SHAPES = [(1,), (1, 1), (1, 3, 0.5), (2, 1, 1, 4, 1, 1), (1,) * 9]


@pytest.fixture(scope="module", params=SHAPES, ids=lambda shape: f"{len(shape)} columns")
def vectors(request):
    scales = FINE * np.array(request.param)
    count = DRAWS if len(scales) <= 3 else DRAWS // 4
    return box_norm(count, scales=scales, source=SeededSource(1)) / scales


def norms_of(vectors):
    return np.abs(vectors).max(axis=1)


def near_and_far(vectors):
    near = norms_of(vectors) < np.median(norms_of(vectors))
    return vectors[near], vectors[~near]


def test_norm_is_gamma(vectors):
    assert stats.kstest(norms_of(vectors), stats.gamma(vectors.shape[1]).cdf).pvalue > FALSE_ALARM


def test_all_faces_are_equally_likely_near_and_far(vectors):
    m = vectors.shape[1]
    for part in near_and_far(vectors):
        column = np.abs(part).argmax(axis=1)
        above = part[np.arange(len(part)), column] > 0
        faces = np.bincount(2 * column + above, minlength=2 * m)
        assert stats.chisquare(faces).pvalue > FALSE_ALARM


def test_a_column_is_uniform_on_the_faces_of_the_others(vectors):
    # Closer to the origin a lattice step is no longer small.
    for part in near_and_far(vectors[norms_of(vectors) > 1e-2]):
        norms = norms_of(part)
        for column in part.T:
            inside = np.abs(column) < norms
            if part.shape[1] > 1:
                heights = column[inside] / norms[inside]
                distribution = stats.uniform(-1, 2)
                assert stats.kstest(heights, distribution.cdf).pvalue > FALSE_ALARM
            else:
                assert not inside.any()


def test_all_orthants_are_equally_likely_near_and_far(vectors):
    for part in near_and_far(vectors):
        orthants = np.bincount((part > 0) @ (1 << np.arange(part.shape[1])))
        assert stats.chisquare(orthants).pvalue > FALSE_ALARM


def test_direction_and_norm_are_independent(vectors):
    if vectors.shape[1] > 1:  # in one dimension the orthants above say it all
        norms = norms_of(vectors)
        ranks = stats.spearmanr(np.abs(vectors[:, 0]) / np.maximum(norms, 1e-9), norms)
        assert ranks.pvalue > FALSE_ALARM


def test_variance_of_each_column(vectors):
    m = vectors.shape[1]
    squares = vectors**2
    errors = squares.std(axis=0) / np.sqrt(len(squares))
    assert (np.abs(squares.mean(axis=0) - (m + 1) * (m + 2) / 3) < 5 * errors).all()


def test_one_column_against_the_exact_probabilities_of_the_cells():
    scale = 3.0

    def cells(x):
        return stats.laplace(scale=scale).cdf(x + 0.5) - stats.laplace(scale=scale).cdf(x - 0.5)

    draws = box_norm(DRAWS, scales=[scale], source=SeededSource(2))[:, 0]
    assert chi_square_p(draws, cells) > FALSE_ALARM


def test_cells_of_unequal_scales_against_numerical_integration():
    """A coarse lattice, where rounding matters: each cell holds the integral of the density."""
    scales = (2.0, 0.75)
    draws = box_norm(DRAWS, scales=scales, source=SeededSource(3))
    volume = factorial(2) * prod(2 * scale for scale in scales)
    # Midpoints of small squares: the density bends where two faces meet, which quadrature dislikes.
    fine = (np.arange(1000) + 0.5) / 1000 - 0.5
    for cell in [(0, 0), (1, 0), (0, -2), (4, 1), (-3, 2)]:
        x, y = cell[0] + fine[:, np.newaxis], cell[1] + fine
        norms = np.maximum(np.abs(x) / scales[0], np.abs(y) / scales[1])
        mass = np.exp(-norms).mean() / volume
        hits = (draws == cell).all(axis=1).sum()
        assert stats.binomtest(int(hits), DRAWS, mass).pvalue > FALSE_ALARM


def test_a_record_that_moves_all_columns_costs_epsilon_and_not_less():
    """Where both columns lie beyond the moved point, the ratio is e^epsilon but for rounding."""
    epsilon, moves = 0.5, np.array([1, 40])
    noise = box_norm(DRAWS, scales=moves / epsilon, source=SeededSource(4))
    without = (noise >= moves).all(axis=1).sum()
    with_it = (noise + moves >= moves).all(axis=1).sum()
    error = 5 * np.sqrt(1 / without + 1 / with_it)  # each side: 5 standard errors, or 3e-7
    assert 0.9 * epsilon < log(with_it / without) - error
    assert log(with_it / without) - error < epsilon


@pytest.mark.parametrize("columns", [1, 2, 3, 9, 40])
def test_doubles_and_intervals_decide_alike(columns, monkeypatch):
    scales = [4096.0 * (1 + j % 3) for j in range(columns)]
    fast = box_norm(150, scales=scales, source=SeededSource(5))
    monkeypatch.setattr(MODULE, "SLACK", 1e9)  # every vector is now settled by intervals
    assert (box_norm(150, scales=scales, source=SeededSource(5)) == fast).all()


def test_kinds_of_numbers_draw_alike_by_doubles_and_by_intervals(monkeypatch):
    plain = box_norm(50, scales=(3.0, 1024.0), source=SeededSource(6))
    for slack in (MODULE.SLACK, 1e9):
        monkeypatch.setattr(MODULE, "SLACK", slack)
        for kind in (Fraction, int, np.int64, np.float32):
            scales = (kind(3), kind(1024))
            draws = box_norm(50, scales=scales, source=SeededSource(6))
            assert (draws == plain).all(), (kind, slack)


def test_a_fraction_is_taken_exactly():
    """At this scale the rounding of a third to a double moves some draws by a lattice step."""
    import mpmath

    third = Fraction(2**50, 3)
    words = SeededSource(7).words(600).reshape(3, 200) >> np.uint64(1)
    draws = box_norm(200, scales=[third], source=SeededSource(7))[:, 0]
    with mpmath.workprec(200):
        expected = []
        for prefixes in words.T:
            uniform, *chances = [(2 * mpmath.mpf(int(k)) + 1) / 2**64 for k in prefixes]
            gamma = -mpmath.log(chances[0] * chances[1])
            expected.append(int(mpmath.nint(mpmath.mpf(2**50) / 3 * gamma * (2 * uniform - 1))))
    assert draws.tolist() == expected
    rounded = box_norm(200, scales=[float(third)], source=SeededSource(7))[:, 0]
    assert (rounded != draws).any()


@pytest.mark.parametrize("columns", [3, 40])
def test_words_of_zeros_draw_further_bits(columns):
    class Zeros:
        seeded = True

        def __init__(self):
            self.calls, self.rest = 0, SeededSource(8)

        def words(self, count):
            self.calls += 1
            return np.zeros(count, np.uint64) if self.calls == 1 else self.rest.words(count)

    source = Zeros()
    noise = box_norm(2, scales=[10.0] * columns, source=source)
    assert source.calls == 3  # one further word for each uniform, vector by vector
    # A uniform whose first 63 bits are 0 is near the left end, and its exponential above 63 ln 2.
    assert (noise < -10 * (columns + 1) * 43).all()
    assert (noise > -10 * (columns + 1) * 100).all()


def test_no_vectors_need_no_words():
    assert box_norm(0, scales=(1.0, 2.0), source=None).shape == (0, 2)


def test_bad_scales():
    for scales, message in [
        ((), "scales must have 1 to 256 entries, got 0"),
        ((1.0,) * 257, "scales must have 1 to 256 entries, got 257"),
        ((1.0, 0.0), r"scales\[1\] must be above 0 and at most 2\^50, got 0.0"),
        ((-1.0, 1.0), r"scales\[0\] must be above 0"),
        ((1.0, float("nan")), r"scales\[1\] must be above 0 .* got nan"),
        ((1.0, 1.0, 2.0**51), r"scales\[2\] must be above 0 and at most 2\^50"),
    ]:
        with pytest.raises(ParameterError, match=message):
            box_norm(1, scales=scales, source=SeededSource(1))


@pytest.mark.parametrize(
    ("columns", "dropped"), [(1, 0), (2, 15), (5, 40), (40, 0), (256, 15), (1, 40)]
)
def test_error_of_the_doubles_is_below_the_slack(columns, dropped, monkeypatch):
    """Lemma 8 of proofs/noise.md: vectors before rounding, against 200-bit arithmetic.

    Zeros in front make a uniform small, so that the bits that were not drawn matter.
    """
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

    rows = 2 * columns + 1
    words = SeededSource(9).words(20 * rows).reshape(rows, 20)
    words[columns:] >>= np.uint64(dropped)
    kept = (words >> np.uint64(1)).copy()
    unknown = SeededSource(10).words(20 * rows).reshape(rows, 20)
    monkeypatch.setattr(MODULE, "np", Spy())
    MODULE._fill(np.empty((columns, 20), np.int64), words, [1.0] * columns, SeededSource(11))
    shares = []
    with mpmath.workprec(200):
        for row in range(20):
            prefixes = [mpmath.mpf(int(k)) for k in kept[:, row]]
            ends = [mpmath.mpf(int(w)) / 2**64 for w in unknown[:, row]]
            u = [(k + end) / 2**63 for k, end in zip(prefixes, ends, strict=True)]
            gamma = -sum(mpmath.log(x) for x in u[columns:])
            doubt = MODULE.ROUNDING + MODULE.UNKNOWN * 2**63 / min(prefixes[columns:])
            bound = MODULE.SLACK * gamma + (columns + 1) * doubt
            for i, x in enumerate(u[:columns]):
                z = gamma * (2 * x - 1)
                shares.append(float(abs(z - float(caught[0][i, row])) / bound))
    assert np.max(shares) < 0.51


def words_of_chances(columns, chances, count=400):
    """Return words of which, in each other vector, one chance or all of them are given."""
    words = SeededSource(9).words((2 * columns + 1) * count).reshape(-1, count)
    given = np.arange(0, count, 2)
    for_each = np.arange(count // 2, dtype=np.uint64)
    if chances == "near 1":  # the sum of their logarithms is small, and errors of it are not
        words[columns:, given] = (
            np.uint64(2**63) - (for_each + np.uint64(1)) * np.uint64(2**40)
        ) << np.uint64(1)
    else:  # few of the bits are known
        small = for_each * np.uint64(16) + np.uint64(chances)
        words[columns + given % (columns + 1), given] = small << np.uint64(1)
    return words


@pytest.mark.parametrize(
    ("scales", "chances"),
    [
        ((2.0**44,), 2**40),
        ((2.0**41, 2.0**42, 2.0), 2**40),
        ((2.0**39,) * 9, 2**40),
        ((2.0**48,), "near 1"),
        ((2.0**46, 2.0**47), "near 1"),
        ((2.0**9,), 2**12),
        ((2.0**8, 2.0**9, 2.0), 2**12),
        ((2.0**7,) * 9, 2**12),
    ],
)
def test_intervals_settle_what_doubles_may_get_wrong_and_no_more(scales, chances, monkeypatch):
    """The bound of lemma 8 of proofs/noise.md, term by term; both sides of it occur."""
    import mpmath

    columns = len(scales)
    words = words_of_chances(columns, chances)
    looked_at = []
    monkeypatch.setattr(
        MODULE,
        "settle",
        lambda _evaluate, known, _bits, _source: looked_at.append(tuple(known)) or [0] * columns,
    )
    box_norm(words.shape[1], scales=scales, source=Scripted(*words.ravel().tolist()))
    decided = {True: 0, False: 0}
    for prefixes in (words >> np.uint64(1)).T.tolist():
        with mpmath.workprec(120):
            uniforms = [mpmath.mpf(prefix) / 2**63 for prefix in prefixes]
            gamma = -sum(mpmath.log(chance) for chance in uniforms[columns:])
            off = max(
                abs(side - mpmath.nint(side))
                for side in (
                    2 * scale * gamma * (uniform - 0.5)
                    for scale, uniform in zip(scales, uniforms[:columns], strict=True)
                )
            )
            bound = 2.0**-62 / min(uniforms[columns:]) + 2.0**-51
            bound = max(scales) * (bound * (columns + 1) + 2.0**-46 * gamma)
        if abs(off + bound - 0.5) < 0.1 * bound:
            continue  # doubles may see it on the other side
        unsure = bool(off + bound > 0.5)
        assert (tuple(prefixes) in looked_at) is unsure
        decided[unsure] += 1
    assert min(decided.values()) > 20
