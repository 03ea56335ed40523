"""Telling a result from points spread over the box."""

import numpy as np
import pytest
from scipy.stats import binom

from shoal._bounds import public_box
from shoal.exceptions import ParameterError
from shoal.mechanisms import Laplace, Piecewise
from shoal.reports import GaussianChannel, NoiseAwareKMeans, spread_over_box
from shoal.reports._held_out_density import Part, held_out_density
from shoal.reports._record_channel import ProductChannel, grid_atoms
from shoal.reports.blind import FALSE_ALARM

BOX = (-1.0, 1.0)


def test_spread_centers():
    centers = spread_over_box(16, ([0.0, 0.0], [4.0, 4.0]))
    assert (centers == spread_over_box(16, ([0.0, 0.0], [4.0, 4.0]))).all()
    points = np.random.default_rng(0).uniform(0, 4, (4000, 2))
    cost = ((points[:, None] - centers) ** 2).sum(axis=2).min(axis=1).mean()
    assert cost == pytest.approx(1 / 6, rel=0.06)  # squares of side 1; hexagons have 0.160
    assert spread_over_box(3, BOX, columns=5).shape == (3, 5)
    assert spread_over_box(200, BOX, columns=1).shape == (200, 1)
    for bad in ({"n_clusters": 0}, {"columns": 0}, {"bounds": 3.0}):
        with pytest.raises(ParameterError, match=f"^{next(iter(bad))} must"):
            spread_over_box(**{"n_clusters": 2, "bounds": BOX, **bad})


def evidence(seed, *, leaked=False, n=120):
    """Evidence against evenly spread records where they are evenly spread."""
    rng = np.random.default_rng(seed)
    matrix = np.full((8, 8), 0.08) + 0.36 * np.eye(8)
    symbols = rng.integers(0, 8, n)
    channel = ProductChannel(grid_atoms(public_box(BOX, 1), (8,)), symbols[:, None], [matrix])
    one, two = (np.bincount(part, minlength=8) + 0.0 for part in (symbols[::2], symbols[1::2]))
    even = (np.full(8, 1 / 8),)
    halves = [Part(channel, one, two, even), Part(channel, two, one, even)]
    if leaked:  # a planted bug: reports judge what was estimated from them
        halves = [Part(channel, one, one, even), Part(channel, two, two, even)]
    whole = Part(channel, one + two, 0 * one, even)
    return held_out_density(whole, tuple(halves)).log_evidence


def test_evenly_spread_records_are_rarely_taken_for_clusters():
    """60 sets; 10 alarms or more have probability 6e-4 at 5%. Leaked reports are noticed."""
    honest = [evidence(seed) for seed in range(60)]
    alarms = sum(one > np.log(1 / FALSE_ALARM) for one in honest)
    assert binom.sf(alarms - 1, len(honest), FALSE_ALARM) > 5e-4
    leaked = [evidence(seed, leaked=True) for seed in range(10)]
    assert np.mean(np.exp(honest)) < 1.0 < np.mean(np.exp(leaked))


@pytest.mark.parametrize("columns", [1, 5])
def test_better_than_blind_or_not(columns):
    rng = np.random.default_rng(0)
    X = rng.choice([-0.8, 0.2], size=(1500, 1)) + 0.05 * rng.normal(size=(1500, columns))
    for epsilon, better in ((0.02, False), (8.0, True)):
        mechanism = Laplace(epsilon, bounds=BOX, random_state=0)
        model = NoiseAwareKMeans(2, mechanism=mechanism, n_init=2, random_state=0)
        model.fit(mechanism.fit_transform(X))
        assert model.better_than_blind_ is better
        assert ("not better than points spread" in model._repr_html_()) is not better


def test_better_than_blind_of_other_noise():
    rng = np.random.default_rng(0)
    X = 0.5 * rng.choice([-1.0, 1.0], size=(1500, 1)) + 0.05 * rng.normal(size=(1500, 4))
    even = rng.uniform(-1, 1, (1500, 4))
    mechanism = Piecewise(16.0, bounds=BOX, random_state=0)
    channel = GaussianChannel(0.3, bounds=BOX)
    for records, better in ((X, True), (even, False)):
        noisy = records + 0.3 * rng.normal(size=records.shape)
        for described, reports in ((mechanism, mechanism.fit_transform(records)), (channel, noisy)):
            model = NoiseAwareKMeans(2, mechanism=described, n_init=2, random_state=0).fit(reports)
            assert model.better_than_blind_ is better


def test_clusters_that_are_as_spread_as_points_are_not_better_than_these():
    """Two clusters in the middles of the halves of the box: evident, and what two points are."""
    rng = np.random.default_rng(0)
    X = rng.choice([-0.5, 0.5], size=(1500, 1)) + 0.05 * rng.normal(size=(1500, 1))
    mechanism = Laplace(8.0, bounds=BOX, random_state=0)
    reports = mechanism.fit_transform(X)
    for k, better in ((2, False), (4, True)):
        model = NoiseAwareKMeans(k, mechanism=mechanism, n_init=2, random_state=0).fit(reports)
        assert model.better_than_blind_ is better
