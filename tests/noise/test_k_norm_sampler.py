import sys
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from helpers.noise_distributions import DRAWS, FALSE_ALARM, chi_square_p
from shoal.exceptions import ParameterError
from shoal.noise import EllipticNoise, SeededSource, elliptic_k_norm, k_norm

MODULE = sys.modules["shoal.noise.k_norm_sampler"]
FINE = 2.0**16  # lattice steps per scale: rounding moves a distribution function by 10^-5


@pytest.fixture(scope="module", params=[1, 2, 3, 6, 7, (2, 0.5), (1, 3, 9, 1, 70)])
def vectors(request):
    """Vectors of scale 1, of equal scales or of scales that differ by row and column."""
    if isinstance(request.param, int):
        count = DRAWS if request.param <= 3 else DRAWS // 4
        return k_norm(count, request.param, scale=FINE, source=SeededSource(1)) / FINE
    rng, count = np.random.default_rng(1), DRAWS // 4
    scales = FINE * np.array(request.param) * rng.uniform(0.1, 10, (count, 1))
    exact = rng.integers(-(10**9), 10**9, scales.shape)
    return (elliptic_k_norm(exact, scales=scales, source=SeededSource(1)) - exact) / scales


def radii_of(vectors):
    return np.linalg.norm(vectors, axis=1)


def orthants(vectors):
    return np.bincount((vectors > 0) @ (1 << np.arange(vectors.shape[1])))


def test_radius_is_gamma(vectors):
    assert stats.kstest(radii_of(vectors), stats.gamma(vectors.shape[1]).cdf).pvalue > FALSE_ALARM


def test_each_coordinate_of_the_direction_has_the_distribution_of_the_sphere(vectors):
    d = vectors.shape[1]
    moved = vectors[radii_of(vectors) > 0]
    directions = moved / radii_of(moved)[:, None]
    if d == 1:
        assert set(directions[:, 0]) == {-1.0, 1.0}
        return
    # A squared coordinate of a uniform direction is Beta(1/2, (d-1)/2).
    for column in directions.T:
        assert stats.kstest(column**2, stats.beta(0.5, (d - 1) / 2).cdf).pvalue > FALSE_ALARM


def test_all_orthants_are_equally_likely_near_and_far(vectors):
    near = radii_of(vectors) < np.median(radii_of(vectors))
    for part in (vectors[near], vectors[~near]):
        assert stats.chisquare(orthants(part)).pvalue > FALSE_ALARM


def test_direction_and_radius_are_independent(vectors):
    if vectors.shape[1] > 1:  # in one dimension the orthants above say it all
        radii = radii_of(vectors)
        ranks = stats.spearmanr(np.abs(vectors[:, 0]) / np.maximum(radii, 1e-9), radii)
        assert ranks.pvalue > FALSE_ALARM


def test_variance_of_a_column_is_d_plus_one(vectors):
    d = vectors.shape[1]
    squares = vectors**2
    error = squares.std() / np.sqrt(squares.size)
    assert abs(squares.mean() - (d + 1)) < 5 * error


def test_one_dimension_against_the_exact_probabilities_of_the_cells():
    scale = 3.0

    def cells(x):
        return stats.laplace(scale=scale).cdf(x + 0.5) - stats.laplace(scale=scale).cdf(x - 0.5)

    draws = k_norm(DRAWS, 1, scale=scale, source=SeededSource(2))[:, 0]
    assert chi_square_p(draws, cells) > FALSE_ALARM


def test_planar_cells_against_numerical_integration():
    """A coarse lattice, where rounding matters: each cell holds the integral of the density."""
    from scipy.integrate import dblquad

    scale, draws = 2.0, k_norm(DRAWS, 2, scale=2.0, source=SeededSource(3))
    for cell in [(0, 0), (1, 0), (0, -2), (3, 2)]:
        hits = (draws == cell).all(axis=1).sum()
        mass, _ = dblquad(
            lambda y, x: np.exp(-np.hypot(x, y) / scale) / (2 * np.pi * scale**2),
            *(cell[0] - 0.5, cell[0] + 0.5, cell[1] - 0.5, cell[1] + 0.5),
        )
        assert stats.binomtest(int(hits), DRAWS, mass).pvalue > FALSE_ALARM


def cell_masses(low, high, scales):
    """Mass of density e^(-||z / scales||) / (2 pi s_1 s_2) in boxes, by 8 x 8 Gauss points."""
    points, weights = np.polynomial.legendre.leggauss(8)
    middles, halves = (high + low) / 2, (high - low) / 2
    x = middles[:, 0, None, None] + halves[:, 0, None, None] * points[:, None]
    y = middles[:, 1, None, None] + halves[:, 1, None, None] * points
    density = np.exp(-np.hypot(x / scales[0], y / scales[1])) / (2 * np.pi * np.prod(scales))
    return (density * weights[:, None] * weights).sum(axis=(1, 2)) * halves.prod(axis=1)


def test_elliptic_sums_are_rounded_after_the_noise(monkeypatch):
    """Steps as wide as the noise: the rest of an integer moves the borders of its cells."""
    monkeypatch.setattr(MODULE, "FINENESS", 0.5)
    exact, scales = np.array([[13, -6]]), np.array([[3.0, 5.0]])
    steps = MODULE.rounding_steps(scales)
    assert steps.tolist() == [[8, 16]]
    rows = np.repeat(exact, DRAWS // 4, axis=0)
    noisy = elliptic_k_norm(rows, scales=scales, source=SeededSource(3))
    assert (noisy % steps == 0).all()
    reach = np.arange(-3, 4)
    cells = np.array([(x, y) for x in 16 + 8 * reach for y in 16 * reach])
    masses = cell_masses(cells - steps / 2 - exact, cells + steps / 2 - exact, scales[0])
    hits = np.array([(noisy == cell).all(axis=1).sum() for cell in cells])
    kept = masses * len(rows) > 25
    assert kept.sum() > 10
    observed = np.append(hits[kept], len(rows) - hits[kept].sum())
    expected = np.append(masses[kept], 1 - masses[kept].sum()) * len(rows)
    assert stats.chisquare(observed, expected).pvalue > FALSE_ALARM


def test_one_elliptic_column_against_the_exact_probabilities_of_the_cells():
    noisy = elliptic_k_norm(
        np.full((DRAWS, 1), 4), scales=np.array([[3.0]]), source=SeededSource(2)
    )
    cdf = stats.laplace(scale=3.0).cdf
    assert chi_square_p(noisy[:, 0] - 4, lambda x: cdf(x + 0.5) - cdf(x - 0.5)) > FALSE_ALARM


@pytest.mark.parametrize("gap", [(1, 0), (0, 2), (-2, 3), (3, -3)])
@pytest.mark.parametrize("fineness", [2**10, 0.5])
def test_no_cell_tells_two_tables_apart_by_more_than_the_loss(gap, fineness, monkeypatch):
    """Probabilities of the rounded sums in two columns, cell by cell, near and far."""
    monkeypatch.setattr(MODULE, "FINENESS", fineness)
    noise, exact = EllipticNoise(np.array([[2.0, 3.0]])), np.array([[5, 1]])
    steps = MODULE.rounding_steps(noise.scales)[0]
    other = exact + np.array([gap])
    reach = np.arange(-12, 13)
    cells = np.array([(x * steps[0], y * steps[1]) for x in reach for y in reach])
    first, second = (
        cell_masses(cells - steps / 2 - table, cells + steps / 2 - table, noise.scales[0])
        for table in (exact, other)
    )
    seen, loss = np.abs(np.log(first / second)).max(), noise.privacy_loss(exact, other)
    assert 0.95 * loss < seen <= loss * (1 + 1e-4)


@pytest.mark.parametrize("columns", [1, 2, 5, 8])
def test_doubles_and_intervals_decide_elliptic_rows_alike(columns, monkeypatch):
    rng = np.random.default_rng(0)
    exact = rng.integers(-(10**6), 10**6, (80, columns))
    scales = 10.0 ** rng.uniform(0, 7, (80, columns))
    fast = elliptic_k_norm(exact, scales=scales, source=SeededSource(4))
    monkeypatch.setattr(MODULE, "SLACK", 1e9)  # every row is now settled by intervals
    assert (elliptic_k_norm(exact, scales=scales, source=SeededSource(4)) == fast).all()


@pytest.mark.parametrize(("rows", "columns"), [(256, 102), (64, 786)])
def test_doubles_decide_wide_rows_of_large_scales(rows, columns, monkeypatch):
    """Rounded to single lattice steps, intervals would have to decide most of these."""
    settled, real = [], MODULE.settle
    monkeypatch.setattr(MODULE, "settle", lambda *args: settled.append(1) or real(*args))
    scales = np.full((1, columns), 2.0**36)
    noisy = elliptic_k_norm(
        np.zeros((rows, columns), dtype=np.int64), scales=scales, source=SeededSource(8)
    )
    assert len(settled) <= 1
    squares = (noisy / scales) ** 2
    # The radius is Gamma(d): 5 standard errors of its square.
    error = 5 * 2 * columns**1.5 / np.sqrt(rows)
    assert abs(squares.sum(axis=1).mean() - columns * (columns + 1)) < error


def test_bad_elliptic_scales():
    exact = np.zeros((2, 3), dtype=np.int64)
    for scales, got in [([1.0, 0.0, 2.0], "0 to 2"), ([1.0, 2.0**51, 2.0], "1 to 2.2518e")]:
        with pytest.raises(ParameterError, match=f"scales must be above 0 .*, got {got}"):
            elliptic_k_norm(exact, scales=np.array([scales]), source=SeededSource(1))


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 9])
def test_doubles_and_intervals_decide_alike(dimension, monkeypatch):
    fast = k_norm(150, dimension, scale=4096.0, source=SeededSource(4))
    monkeypatch.setattr(MODULE, "SLACK", 1e9)  # every vector is now settled by intervals
    assert (k_norm(150, dimension, scale=4096.0, source=SeededSource(4)) == fast).all()


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_first_and_last_words_are_settled(dimension):
    class Extreme:
        seeded = True

        def __init__(self, word):
            self.word, self.calls, self.rest = word, 0, SeededSource(5)

        def words(self, count):
            self.calls += 1
            if self.calls > 1:
                return self.rest.words(count)
            return np.full(count, self.word, np.uint64)

    for word in (0, 2**64 - 1):
        source = Extreme(word)
        assert np.abs(k_norm(2, dimension, scale=10.0, source=source)).max() < 10_000
        assert word or source.calls > 1


def test_bad_dimension_and_scale():
    with pytest.raises(ParameterError, match="dimension must be at least 1, got 0"):
        k_norm(1, 0, scale=1.0, source=SeededSource(1))
    with pytest.raises(ParameterError, match="scale must be above 0"):
        k_norm(1, 2, scale=0.0, source=SeededSource(1))


@pytest.mark.parametrize(("dimension", "count"), [(1, 60), (2, 60), (5, 60), (40, 60), (801, 4)])
def test_error_of_the_doubles_is_below_the_slack(dimension, count, monkeypatch):
    """Lemma 5 of proofs/noise.md: vectors before rounding, against 120-bit arithmetic."""
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

    pairs = (dimension + 1) // 2
    words = SeededSource(6).words(count * (pairs + dimension)).reshape(pairs + dimension, -1)
    kept = (words >> np.uint64(1)).copy()
    monkeypatch.setattr(MODULE, "np", Spy())
    MODULE._fill(np.empty((dimension, count), np.int64), words, Fraction(1), SeededSource(7))
    worst = 0.0
    with mpmath.workprec(120):
        for row in range(count):
            u = [mpmath.mpf(int(k)) / 2**63 for k in kept[:, row]]
            exponentials = [-mpmath.log(x) for x in u[pairs:]]
            normals = []
            for x, e in zip(u[:pairs], exponentials[:pairs], strict=True):
                angle = 2 * mpmath.pi * (x - 0.5)
                normals += [mpmath.sqrt(e) * mpmath.cos(angle), mpmath.sqrt(e) * mpmath.sin(angle)]
            normals = normals[:dimension]
            norm = mpmath.sqrt(sum(g * g for g in normals))
            stretch = sum(exponentials) / norm
            bound = MODULE.SLACK * (dimension + 4 * mpmath.sqrt(dimension) * stretch)
            bound *= max(1, dimension / 512)
            for i, g in enumerate(normals):
                worst = max(worst, float(abs(stretch * g - float(caught[0][i, row])) / bound))
    assert worst < 0.25
