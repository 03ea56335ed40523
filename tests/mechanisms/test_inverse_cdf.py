"""Mechanisms for two or three columns: the distribution of Laplace, and their contracts."""

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, special, stats
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from helpers import sizes
from shoal.mechanisms import Laplace, PlanarLaplace, SphericalLaplace
from subjects import subject

FALSE_ALARM = 1e-6
DRAWS = sizes.draws(1_000_000, quick=100_000)
KINDS = {2: PlanarLaplace, 3: SphericalLaplace}


@pytest.fixture(scope="module", params=KINDS)
def drawn(request):
    """Mechanism, record and many reports of it."""
    d = request.param
    mechanism = KINDS[d](2.5, bounds=(-3.0, 3.0), random_state=d)
    record = np.linspace(-1.3, 2.9, d)
    return mechanism, record, mechanism.fit_transform(np.tile(record, (DRAWS, 1)))


def test_radius_distribution_unbiasedness_and_variance(drawn):
    mechanism, record, reports = drawn
    noise = reports - mechanism.lattice(len(record)).decode(
        mechanism.lattice(len(record)).encode(record[np.newaxis])
    )
    radii = np.linalg.norm(noise, axis=1)
    distribution = stats.gamma(len(record), scale=1 / 2.5)
    assert stats.kstest(radii, distribution.cdf).pvalue > FALSE_ALARM
    assert np.abs(noise.mean(axis=0)).max() < 6 * np.sqrt(mechanism.variance() / DRAWS)
    # The relative error of the variance is below sqrt(3 / draws): the false alarm is below 1e-6.
    assert noise.var() == pytest.approx(mechanism.variance(), rel=5 * np.sqrt(3 / DRAWS))


def test_directions_are_uniform(drawn):
    _, record, reports = drawn
    d = len(record)
    noise = reports - record
    far = noise[np.linalg.norm(noise, axis=1) > 0.05]
    units = far / np.linalg.norm(far, axis=1, keepdims=True)
    distribution = stats.beta((d - 1) / 2, (d - 1) / 2, loc=-1, scale=2)
    for axis in [*np.eye(d), np.arange(1.0, d + 1)]:
        heights = units @ (axis / np.linalg.norm(axis))
        assert stats.kstest(heights, distribution.cdf).pvalue > FALSE_ALARM
    turns = np.arctan2(units[:, 1], units[:, 0])
    assert stats.kstest(turns, stats.uniform(-np.pi, 2 * np.pi).cdf).pvalue > FALSE_ALARM


def test_agrees_with_the_sampler_by_gamma(drawn):
    """Must show: inverse distribution function and gamma radius, two samples."""
    _, record, reports = drawn
    other = Laplace(2.5, bounds=(-3.0, 3.0), random_state=99)
    theirs = other.fit_transform(np.tile(record, (DRAWS, 1)))
    radii = [np.linalg.norm(z - record, axis=1) for z in (reports, theirs)]
    assert stats.ks_2samp(*radii).pvalue > FALSE_ALARM
    for column in range(len(record)):
        assert stats.ks_2samp(reports[:, column], theirs[:, column]).pvalue > FALSE_ALARM


def test_log_density_is_that_of_laplace_and_normalized(drawn):
    mechanism, record, reports = drawn
    d = len(record)
    other = Laplace(2.5, bounds=(-3.0, 3.0))
    some = reports[:50]
    assert (mechanism.log_density(some, record) == other.log_density(some, record)).all()
    surface = 2 * np.pi ** (d / 2) / special.gamma(d / 2)

    def shell(r):
        z = record + r * np.eye(d)[0]
        return surface * r ** (d - 1) * np.exp(mechanism.log_density([z], record)[0])

    assert integrate.quad(shell, 0, 60, limit=400)[0] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("d", KINDS)
def test_scikit_learn_checks_fail_for_their_number_of_columns_only(d):
    results = check_estimator(subject(KINDS[d].__name__).make(), on_skip=None, on_fail=None)
    failed = [r for r in results if r["status"] == "failed"]
    assert sum(r["status"] == "passed" for r in results) >= 15
    for result in failed:
        said = f"{result['exception']!r} {result['exception'].__cause__!r}"
        assert "columns for" in said or "Expected" in said, result["check_name"]


@pytest.mark.parametrize("d", KINDS)
def test_tables_give_the_bits_of_arrays(d):
    mechanism = KINDS[d](5.0, bounds=(-1.0, 1.0), random_state=0)
    records = np.random.default_rng(0).uniform(-1.0, 1.0, (40, d))
    frame = pd.DataFrame(records, columns=list("abc")[:d])
    named = clone(mechanism).set_output(transform="pandas").fit_transform(frame)
    assert list(named.columns) == list("abc")[:d]
    assert (named.to_numpy() == mechanism.fit_transform(records)).all()
