import sys
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from helpers.noise_distributions import DRAWS, FALSE_ALARM, chi_square_p
from shoal.exceptions import ParameterError
from shoal.noise import SeededSource, k_norm

MODULE = sys.modules["shoal.noise.k_norm_sampler"]
FINE = 2.0**16  # lattice steps per scale: rounding moves a distribution function by 10^-5


@pytest.fixture(scope="module", params=[1, 2, 3, 6, 7])
def vectors(request):
    count = DRAWS if request.param <= 3 else DRAWS // 4
    return k_norm(count, request.param, scale=FINE, source=SeededSource(1)) / FINE


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


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 9])
def test_doubles_and_intervals_decide_alike(dimension, monkeypatch):
    fast = k_norm(150, dimension, scale=4096.0, source=SeededSource(4))
    monkeypatch.setattr(MODULE, "SLACK", 1e9)  # every vector is now settled by intervals
    assert (k_norm(150, dimension, scale=4096.0, source=SeededSource(4)) == fast).all()


def test_words_of_zeros_draw_further_bits():
    class Zeros:
        seeded = True

        def __init__(self):
            self.calls, self.rest = 0, SeededSource(5)

        def words(self, count):
            self.calls += 1
            return np.zeros(count, np.uint64) if self.calls == 1 else self.rest.words(count)

    source = Zeros()
    assert np.isfinite(k_norm(2, 3, scale=10.0, source=source)).all()
    assert source.calls > 1


def test_bad_dimension_and_scale():
    with pytest.raises(ParameterError, match="dimension must be at least 1, got 0"):
        k_norm(1, 0, scale=1.0, source=SeededSource(1))
    with pytest.raises(ParameterError, match="scale must be above 0"):
        k_norm(1, 2, scale=0.0, source=SeededSource(1))


@pytest.mark.parametrize("dimension", [1, 2, 5, 40])
def test_error_of_the_doubles_is_below_the_slack(dimension, monkeypatch):
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
    words = SeededSource(6).words(60 * (pairs + dimension)).reshape(pairs + dimension, 60)
    kept = (words >> np.uint64(1)).copy()
    monkeypatch.setattr(MODULE, "np", Spy())
    MODULE._fill(np.empty((dimension, 60), np.int64), words, Fraction(1), SeededSource(7))
    worst = 0.0
    with mpmath.workprec(120):
        for row in range(60):
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
            for i, g in enumerate(normals):
                worst = max(worst, float(abs(stretch * g - float(caught[0][i, row])) / bound))
    assert worst < 0.25
