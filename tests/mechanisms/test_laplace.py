"""Laplace: its distribution, its audits, and reports drawn again until they lie in the box."""

import numpy as np
import pytest
from scipy import integrate, stats

from contracts.audits import survives_an_audit_of_reports
from helpers import sizes
from helpers.cases import case
from helpers.ledgers import roomy_ledger
from shoal._bounds import Box
from shoal.audit import epsilon_lower_bound, metric_epsilon_lower_bound
from shoal.mechanisms import Laplace
from shoal.mechanisms.laplace import corner_mass, truncated
from shoal.privacy import Ledger

FALSE_ALARM = 1e-6  # of each test of a distribution, when its seed was chosen
DRAWS = sizes.draws(1_000_000, quick=100_000)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_radius_distribution_and_unbiasedness(d):
    mechanism = Laplace(2.5, bounds=(-3.0, 3.0), random_state=d)
    record = np.linspace(-1.3, 2.9, d)
    noise = mechanism.fit_transform(np.tile(record, (DRAWS, 1))) - record
    radii = np.linalg.norm(noise, axis=1)
    assert stats.kstest(radii, stats.gamma(d, scale=1 / 2.5).cdf).pvalue > FALSE_ALARM
    assert np.abs(noise.mean(axis=0)).max() < 6 * np.sqrt(mechanism.variance() / DRAWS)
    # The relative error of the variance is at most sqrt(5 / draws), in one column.
    assert noise.var() == pytest.approx(mechanism.variance(), rel=5 * np.sqrt(5 / DRAWS))
    assert (mechanism.variance(np.zeros((4, d))) == mechanism.variance()).all()


@pytest.mark.parametrize("d", [2, 3, 5])
def test_directions_are_uniform(d):
    noise = Laplace(2.5, bounds=(-3.0, 3.0), random_state=d).fit_transform(np.zeros((DRAWS, d)))
    far = noise[np.linalg.norm(noise, axis=1) > 0.05]  # nearer points have few directions
    units = far / np.linalg.norm(far, axis=1, keepdims=True)
    distribution = stats.beta((d - 1) / 2, (d - 1) / 2, loc=-1, scale=2)
    for axis in [*np.eye(d), np.arange(1.0, d + 1)]:
        heights = units @ (axis / np.linalg.norm(axis))
        assert stats.kstest(heights, distribution.cdf).pvalue > FALSE_ALARM


def test_log_density_integrates_to_one_in_the_plane():
    mechanism = Laplace(1.7, bounds=(-1.0, 1.0))

    def density(y, x):
        return float(np.exp(mechanism.log_density([[x, y]], [0.2, -0.4]))[0])

    mass, _ = integrate.dblquad(density, -15, 15, -15, 15, epsabs=1e-4)
    assert mass == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("d", [1, 3, 7])
def test_log_density_is_normalized_over_shells(d):
    """In polar coordinates: surface of the sphere times the density along one ray."""
    from scipy.special import gamma

    mechanism = Laplace(0.8, bounds=(-1.0, 1.0))
    surface = 2 * np.pi ** (d / 2) / gamma(d / 2)

    def shell(r):
        z = np.zeros((1, d))
        z[0, 0] = r
        return surface * r ** (d - 1) * np.exp(mechanism.log_density(z, np.zeros(d))[0])

    assert integrate.quad(shell, 0, 400, limit=400)[0] == pytest.approx(1.0, abs=1e-6)


def test_planar_reports_keep_epsilon_and_the_audit_comes_within_a_tenth():
    survives_an_audit_of_reports()


@pytest.mark.parametrize("d", [1, 3])
def test_other_dimensions_keep_epsilon(d):
    mechanism = Laplace(2.0, bounds=(-1.0, 1.0), random_state=1).fit(np.zeros((1, d)))
    first, second = np.zeros(d), np.zeros(d)
    second[0] = 0.8
    result = metric_epsilon_lower_bound(mechanism, first, second, samples=200_000)
    assert not result.exceeds(2.0), str(result)
    assert result.epsilon > 1.6


def test_plain_doubles_are_caught_where_the_lattice_is_not():
    """Must show: x + Laplace noise in doubles fails at its claim, the mechanism does not."""
    rng = np.random.default_rng(0)
    naive = epsilon_lower_bound(lambda x, n: x + rng.laplace(0.0, 1.0, n), 0.0, 1.0)
    assert naive.epsilon > 2.0
    ours = Laplace(1.0, bounds=(-2.0, 2.0), random_state=0).fit(np.zeros((1, 1)))
    result = epsilon_lower_bound(ours, [0.0], [1.0])
    assert not result.exceeds(1.0), str(result)
    assert result.epsilon > 0.8


def test_reports_lie_on_a_lattice_made_of_public_values():
    mechanism = Laplace(3.0, bounds=([-1.0, 0.0], [1.0, 100.0]), random_state=0)
    step = mechanism.lattice(2).step[0]
    reports = mechanism.fit_transform(np.random.default_rng(0).uniform(-1, 100, (1000, 2)))
    assert (reports / step == np.rint(reports / step)).all()
    assert step <= 1 / (4096 * 3.0)
    other = Laplace(3.0, bounds=([-1.0, 0.0], [1.0, 100.0])).fit(np.zeros((5, 2)))
    assert other.lattice(2).step[0] == step


def test_extreme_boxes_and_epsilons():
    for epsilon, bounds in [
        (1e-6, (0.0, 1.0)),
        (1e6, (-1e6, 1e6)),
        (1.0, (1e9, 1e9 + 1)),
        (1.0, (-1e-9, 1e-9)),
    ]:
        with case(epsilon=epsilon, bounds=bounds):
            mechanism = Laplace(epsilon, bounds=bounds, random_state=0)
            records = np.full((4000, 2), (bounds[0] + bounds[1]) / 2)
            noise = mechanism.fit_transform(records) - records
            assert noise.var() == pytest.approx(mechanism.variance(), rel=0.2)


def test_metric_promise_converts_to_local_over_the_box():
    mechanism = Laplace(2.0, bounds=([0.0, 0.0], [3.0, 4.0]))
    promise = mechanism.guarantee_
    assert promise.to_local(5.0).epsilon == 10.0 + promise.slack
    assert mechanism.lattice(2).diameter <= 5.0


def test_one_record_on_the_device_without_fit():
    ledger = Ledger(epsilon=1.0, metric_epsilon=5.0, metric_unit="m")
    mechanism = Laplace(2.0, unit="m", bounds=(-1.0, 1.0), ledger=ledger)
    assert mechanism.randomize([0.1, 0.2, 0.3]).shape == (3,)
    assert mechanism.randomize([0.1, 0.2]).shape == (2,)
    assert len(ledger) == 2
    assert not hasattr(mechanism, "n_features_in_")


def test_seeded_stream_goes_on_between_transforms_and_restarts_at_fit():
    mechanism = Laplace(1.0, bounds=(-1.0, 1.0), random_state=0)
    records = np.zeros((5, 2))
    first, second = mechanism.fit(records).transform(records), mechanism.transform(records)
    assert (first != second).all()
    assert (mechanism.fit(records).transform(records) == first).all()


BOX = (0.0, 2.0)


def resampling(epsilon, **kwargs):
    return Laplace(epsilon, bounds=kwargs.pop("bounds", BOX), truncate="resample", **kwargs)


def test_resampled_reports_lie_inside_and_on_the_lattice():
    records = np.random.default_rng(0).uniform(-1.0, 3.0, (20_000, 3))
    mechanism = resampling(2.0, random_state=0)
    reports = mechanism.fit_transform(records)
    assert reports.min() >= 0.0
    assert reports.max() <= 2.0
    steps = reports / mechanism.lattice(3).step
    assert (steps == np.rint(steps)).all()


@pytest.mark.parametrize("x", [0.0, 0.5, 1.0])
def test_resampled_distribution_in_one_column(x):
    rate = 1.5  # half of epsilon
    reports = resampling(3.0, random_state=1).fit_transform(np.full((DRAWS, 1), x))[:, 0]
    distribution = stats.laplace(x, 1 / rate)
    inside = distribution.cdf(2.0) - distribution.cdf(0.0)
    result = stats.kstest(reports, lambda z: (distribution.cdf(z) - distribution.cdf(0.0)) / inside)
    assert result.pvalue > FALSE_ALARM


@pytest.mark.parametrize("record", [[0.0], [0.7], [0.0, 2.0], [1.0, 1.3], [0.1, 0.0, 1.0]])
def test_resampled_variance_of_each_entry(record):
    mechanism = resampling(3.0, random_state=2)
    reports = mechanism.fit_transform(np.tile(record, (DRAWS, 1)))
    expected = mechanism.variance([record])[0]
    # Reports lie in a box of width 2: the error of a variance is below 1/sqrt(draws).
    assert np.abs(reports.var(axis=0) - expected).max() < 5.0 / np.sqrt(DRAWS)
    assert (expected <= mechanism.variance()).all()


def test_resampled_variance_bound_holds_everywhere():
    grid = np.stack(np.meshgrid(*[np.linspace(0, 2, 9)] * 2), axis=-1).reshape(-1, 2)
    for epsilon in (0.5, 4.0, 40.0):
        mechanism = resampling(epsilon).fit(grid)
        assert (mechanism.variance(grid) <= mechanism.variance() * (1 + 1e-9)).all()


def test_resampled_log_density_integrates_to_one_in_the_plane():
    for x in [[0.0, 0.0], [0.3, 1.9]]:
        with case(x=x):
            mechanism = resampling(3.0)
            middles = (
                np.arange(500) + 0.5
            ) / 250  # the midpoint rule: the distribution has a cusp at the record
            grid = np.stack(np.meshgrid(middles, middles), axis=-1).reshape(-1, 2)
            mass = np.exp(mechanism.log_density(grid, x)).sum() / 250**2
            assert mass == pytest.approx(1.0, abs=1e-4)
            assert mechanism.log_density([[2.1, 1.0]], x)[0] == -np.inf


def test_resampled_log_density_in_one_column_against_the_closed_form():
    for x in [0.0, 0.02, 1.0]:
        with case(x=x):
            distribution = stats.laplace(x, 1 / 1.5)
            z = np.linspace(0.0, 2.0, 7)
            expected = distribution.logpdf(z) - np.log(
                distribution.cdf(2.0) - distribution.cdf(0.0)
            )
            result = resampling(3.0).log_density(z[:, np.newaxis], [x])
            assert result == pytest.approx(expected, abs=2e-4)


def test_the_guarantee_states_half_of_epsilon():
    ledger = roomy_ledger()
    mechanism = resampling(3.0, unit="m", ledger=ledger, bounds=([0.0, 0.0], [2.0, 2.0]))
    mechanism.randomize([0.5, 0.5])
    assert mechanism.guarantee_.epsilon == 3.0
    assert "epsilon/2" in mechanism.guarantee_.reason
    assert "epsilon/2" in ledger.entries[0].event.purpose
    assert ledger.spent[0].epsilon == 3.0


# Two records at a border, near each other: there the chance of landing inside costs most.
NEAR_A_BORDER = {1: ([0.0], [0.4]), 2: ([0.0, 0.0], [0.3, 0.3])}


@pytest.mark.parametrize("d", NEAR_A_BORDER)
def test_resampling_at_half_of_epsilon_keeps_the_guarantee(d):
    mechanism = resampling(2.0, random_state=5).fit(np.zeros((1, d)))
    result = metric_epsilon_lower_bound(mechanism, *NEAR_A_BORDER[d], samples=400_000)
    assert not result.exceeds(2.0), str(result)
    assert d == 2 or result.epsilon > 1.0  # more than its noise alone would cost


@pytest.mark.parametrize("d", NEAR_A_BORDER)
def test_resampling_at_full_epsilon_is_caught(d, monkeypatch):
    """The drafts' claim that truncation is free: planted, and seen to fail."""
    mechanism = resampling(2.0, random_state=5).fit(np.zeros((1, d)))
    monkeypatch.setattr(Laplace, "_rate", lambda self: self.epsilon)
    result = metric_epsilon_lower_bound(mechanism, *NEAR_A_BORDER[d], samples=400_000)
    assert result.exceeds(2.0), str(result)


@pytest.mark.parametrize("widths", [(1.0,), (2.0, 2.0), (0.5, 3.0, 3.0), (4.0,) * 20])
def test_the_mass_in_a_corner_is_that_of_the_integral(widths):
    """What a device computes without scipy, beside what a server computes with it."""
    corner = np.zeros((1, len(widths)))
    for rate in (0.3, 2.0, 50.0):
        expected = truncated(corner, Box(corner[0], np.array(widths)), rate).mass[0]
        assert corner_mass(widths, rate) == pytest.approx(expected, rel=1e-12)
