"""The parts of NoiseAwareKMeans: the noise as a scale mixture, EM, the grid."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from helpers.cases import case
from shoal._bounds import public_box
from shoal.mechanisms import Laplace, Piecewise
from shoal.remap.geometry import RegularGrid
from shoal.reports import GaussianChannel
from shoal.reports._grid_density import GridDensity, deconvolve
from shoal.reports._mixture import Mixture, draw_records, fit_mixture, mean_covariances
from shoal.reports._record_distributions import posterior_draws
from shoal.reports._report_grid import Product
from shoal.reports._report_noise import ball_radii, report_noise


@pytest.mark.parametrize("columns", [1, 2, 3, 8])
def test_scale_mixture_has_the_moments_of_the_noise(columns):
    mechanism = Laplace(3.0, bounds=(-1.0, 1.0), random_state=0)
    noise = mechanism.fit_transform(np.zeros((200_000, columns)))
    distribution = report_noise(mechanism, columns)
    variances = distribution.variances(np.zeros((1, columns)))[:, 0, 0]
    assert distribution.weights.sum() == pytest.approx(1)
    assert distribution.weights @ variances == pytest.approx(mechanism.variance())
    # Fourth moment of one column: 3 E[s^2]; 200,000 draws give it within 10% (5 sigma).
    assert 3 * distribution.weights @ variances**2 == pytest.approx(
        (noise[:, 0] ** 4).mean(), rel=0.1
    )


def test_scale_mixture_has_the_density_of_smoothed_noise():
    """Laplace noise plus a Gaussian of a third of its spread, in one column, by integration."""
    distribution = report_noise(Laplace(1.0, bounds=(-1.0, 1.0)), 1)
    width = np.sqrt(2.0) / 3
    grid = np.linspace(-40, 40, 80_001)
    for z in (0.0, 0.5, 2.0, 6.0):
        exact = (0.5 * np.exp(-abs(grid)) * norm.pdf(z - grid, scale=width)).sum() * 0.001
        scales = np.sqrt(distribution.variances(np.zeros((1, 1)))[:, 0, 0] + width**2)
        assert distribution.weights @ norm.pdf(z, scale=scales) == pytest.approx(exact, rel=0.05)


def test_em_is_the_plain_gaussian_fit_when_one_component_meets_gaussian_noise():
    rng = np.random.default_rng(0)
    spread = np.array([[0.5, 0.2], [0.2, 0.3]])
    records = rng.multivariate_normal([1.0, -1.0], spread, size=40_000)
    reports = records + 0.4 * rng.normal(size=records.shape)
    distribution = report_noise(GaussianChannel(0.4, bounds=(-5.0, 5.0)), 2)
    start = Mixture(np.ones(1), np.zeros((1, 2)), np.eye(2)[None], np.empty(0))
    fit = fit_mixture(reports, start, distribution, floor=np.full(2, 1e-6), max_iter=500, tol=1e-9)
    np.testing.assert_allclose(fit.means[0], reports.mean(axis=0), atol=1e-3)
    expected = np.cov(reports.T) - 0.16 * np.eye(2)
    np.testing.assert_allclose(fit.covariances[0], expected, atol=2e-3)
    # The mean of n reports has covariance (records + noise) / n.
    result = mean_covariances(reports, fit, distribution)[0] * len(reports)
    np.testing.assert_allclose(result, expected + 0.16 * np.eye(2), rtol=0.1, atol=0.02)


def test_likelihood_is_that_of_the_reports():
    rng = np.random.default_rng(1)
    reports = rng.normal(size=(50, 2))
    distribution = report_noise(GaussianChannel(0.5, bounds=(-5.0, 5.0)), 2)
    means = np.array([[0.0, 0.0], [1.0, 1.0]])
    start = Mixture(np.array([0.3, 0.7]), means, np.stack([np.eye(2)] * 2), np.empty(0))
    fit = fit_mixture(reports, start, distribution, floor=np.full(2, 1e-300), max_iter=1, tol=0.0)
    densities = [multivariate_normal(mean, 1.25 * np.eye(2)).pdf(reports) for mean in means]
    exact = np.log(0.3 * densities[0] + 0.7 * densities[1]).sum()
    assert fit.objective[0] == pytest.approx(exact + np.log(0.3 * 0.7))


def test_em_never_lowers_its_objective():
    for seed in range(3):
        with case(seed=seed):
            rng = np.random.default_rng(seed)
            reports = rng.normal(size=(500, 3))
            distribution = report_noise(Laplace(3.0, bounds=(-3.0, 3.0)), 3)
            start = Mixture(
                np.full(4, 0.25), rng.normal(size=(4, 3)), np.stack([np.eye(3)] * 4), np.empty(0)
            )
            fit = fit_mixture(
                reports, start, distribution, floor=np.full(3, 1e-4), max_iter=200, tol=-np.inf
            )
            assert len(fit.objective) == 200
            assert (np.diff(fit.objective) > -1e-8).all()


def test_chunks_change_nothing(monkeypatch):
    from shoal.reports import _mixture

    rng = np.random.default_rng(0)
    reports = rng.normal(size=(300, 2))
    distribution = report_noise(Laplace(3.0, bounds=(-3.0, 3.0)), 2)
    start = Mixture(np.full(2, 0.5), np.eye(2), np.stack([np.eye(2)] * 2), np.empty(0))
    one = fit_mixture(reports, start, distribution, floor=np.ones(2), max_iter=5, tol=0.0)
    monkeypatch.setattr(_mixture, "CHUNK_VALUES", 100)
    other = fit_mixture(reports, start, distribution, floor=np.ones(2), max_iter=5, tol=0.0)
    np.testing.assert_allclose(one.means, other.means)


def test_product_channel_and_its_adjoint():
    distribution = report_noise(Piecewise(3.0, bounds=(-1.0, 1.0)), 2)
    grid = RegularGrid(public_box((-1.0, 1.0), 2), np.array([8, 9]), np.array([20, 20]))
    channel = Product(distribution, grid)
    rng = np.random.default_rng(0)
    prior, weights = rng.random((8, 9)), rng.random(tuple(grid.outer))
    forward = channel.forward(prior)
    assert forward.shape == tuple(grid.outer)
    assert forward.sum() == pytest.approx(prior.sum())
    assert (forward * weights).sum() == pytest.approx((prior * channel.backward(weights)).sum())


def test_deconvolved_distribution_is_nearer_to_the_records_than_the_reports_are():
    rng = np.random.default_rng(0)
    records = rng.choice([-0.5, 0.5], size=(4000, 1))
    mechanism = Laplace(4.0, bounds=(-1.0, 1.0), random_state=0)
    reports = mechanism.fit_transform(records)
    first = np.arange(4000) % 2 == 0
    distribution = report_noise(mechanism, 1)
    result = deconvolve(reports, distribution, public_box((-1.0, 1.0), 1), 2, first=first)
    for density in (result.whole, *result.halves):
        assert isinstance(density, GridDensity)
        assert density.weights.sum() == pytest.approx(1)
        # Posterior means average to the mean: exactly so where updates have ended.
        assert density.expected(density.points[:, 0]).mean == pytest.approx(0.0, abs=0.03)
        assert density.expected(density.points[:, 0]).counts.sum() == density.counts.sum()
    assert result.misfit < 0
    whole = result.whole
    near = np.abs(np.abs(whole.points[:, 0]) - 0.5) < 0.15
    inside = np.abs(np.abs(reports[:, 0]) - 0.5) < 0.15
    assert whole.weights[near].sum() > 0.75 > inside.mean() + 0.2


def test_draws_follow_the_distribution_of_the_record_given_its_report():
    """One Gaussian seen through Gaussian noise: 100,000 draws, moments within 0.01 (5 sigma)."""
    distribution = report_noise(GaussianChannel(0.4, bounds=(-5.0, 5.0)), 2)
    spread = np.array([[0.5, 0.2], [0.2, 0.3]])
    prior = Mixture(np.ones(1), np.array([[1.0, -1.0]]), spread[None], np.empty(0))
    report = np.array([[2.0, 0.0]])
    draws = draw_records(report, prior, distribution, 100_000, np.random.RandomState(0))[0]
    gain = spread @ np.linalg.inv(spread + 0.16 * np.eye(2))
    expected = prior.means[0] + gain @ (report - prior.means)[0]
    np.testing.assert_allclose(draws.mean(axis=0), expected, atol=0.01)
    np.testing.assert_allclose(np.cov(draws.T), spread - gain @ spread, atol=0.01)


def test_draws_become_the_reports_as_the_noise_vanishes():
    rng = np.random.default_rng(0)
    reports = rng.uniform(-1, 1, (200, 4))
    distribution = report_noise(Laplace(1e6, bounds=(-1.0, 1.0)), 4)
    prior = Mixture(np.full(3, 1 / 3), reports[:3], np.stack([0.1 * np.eye(4)] * 3), np.empty(0))
    drawn = posterior_draws(
        reports, prior, distribution, public_box((-1.0, 1.0), 4), np.random.RandomState(0)
    )
    np.testing.assert_allclose(drawn.points, np.repeat(reports, drawn.draws, axis=0), atol=1e-4)
    values = drawn.points[:, 0]
    assert drawn.expected(values).mean == pytest.approx(reports[:, 0].mean(), abs=1e-4)


def test_balls_hold_what_they_say():
    """100,000 draws: within 1.5% for any shape."""
    for covariance in [np.eye(2), np.diag([1.0, 0.1]), np.diag([1, 0.5, 0.1])]:
        with case(covariance=covariance):
            (radius,) = ball_radii(covariance[None], 0.95)
            rng = np.random.default_rng(0)
            draws = rng.multivariate_normal(np.zeros(len(covariance)), covariance, size=100_000)
            assert (np.linalg.norm(draws, axis=1) <= radius).mean() == pytest.approx(
                0.95, abs=0.015
            )
