"""Laplace(truncate="resample"): inside the box, at half of epsilon, and why half."""

import numpy as np
import pytest
from scipy import stats

from helpers.estimator_checks import roomy_ledger
from shoal.audit import metric_epsilon_lower_bound
from shoal.exceptions import ParameterError
from shoal.mechanisms import Laplace

FALSE_ALARM = 1e-6
DRAWS = 1_000_000
BOX = (0.0, 2.0)


def redrawn(epsilon, **words):
    return Laplace(epsilon, bounds=words.pop("bounds", BOX), truncate="resample", **words)


def test_reports_lie_inside_and_on_the_lattice():
    records = np.random.default_rng(0).uniform(-1.0, 3.0, (20_000, 3))
    mechanism = redrawn(2.0, random_state=0)
    reports = mechanism.fit_transform(records)
    assert reports.min() >= 0.0
    assert reports.max() <= 2.0
    steps = reports / mechanism.lattice(3).step
    assert (steps == np.rint(steps)).all()


@pytest.mark.parametrize("x", [0.0, 0.5, 1.0])
def test_law_in_one_column(x):
    rate = 1.5  # half of epsilon
    reports = redrawn(3.0, random_state=1).fit_transform(np.full((DRAWS, 1), x))[:, 0]
    law = stats.laplace(x, 1 / rate)
    inside = law.cdf(2.0) - law.cdf(0.0)
    found = stats.kstest(reports, lambda z: (law.cdf(z) - law.cdf(0.0)) / inside)
    assert found.pvalue > FALSE_ALARM


@pytest.mark.parametrize("record", [[0.0], [0.7], [0.0, 2.0], [1.0, 1.3], [0.1, 0.0, 1.0]])
def test_variance_of_each_entry(record):
    mechanism = redrawn(3.0, random_state=2)
    reports = mechanism.fit_transform(np.tile(record, (DRAWS, 1)))
    expected = mechanism.variance([record])[0]
    # Reports lie in a box of width 2: the error of a variance is below 1/sqrt(draws).
    assert np.abs(reports.var(axis=0) - expected).max() < 5.0 / np.sqrt(DRAWS)
    assert (expected <= mechanism.variance()).all()


def test_variance_bound_holds_everywhere():
    grid = np.stack(np.meshgrid(*[np.linspace(0, 2, 9)] * 2), axis=-1).reshape(-1, 2)
    for epsilon in (0.5, 4.0, 40.0):
        mechanism = redrawn(epsilon).fit(grid)
        assert (mechanism.variance(grid) <= mechanism.variance() * (1 + 1e-9)).all()


@pytest.mark.parametrize("x", [[0.0, 0.0], [0.3, 1.9]])
def test_log_density_integrates_to_one_in_the_plane(x):
    mechanism = redrawn(3.0)
    middles = (np.arange(500) + 0.5) / 250  # the midpoint rule: the law has a cusp at the record
    grid = np.stack(np.meshgrid(middles, middles), axis=-1).reshape(-1, 2)
    mass = np.exp(mechanism.log_density(grid, x)).sum() / 250**2
    assert mass == pytest.approx(1.0, abs=1e-4)
    assert mechanism.log_density([[2.1, 1.0]], x)[0] == -np.inf


@pytest.mark.parametrize("x", [0.0, 0.02, 1.0])
def test_log_density_in_one_column_against_the_closed_form(x):
    law = stats.laplace(x, 1 / 1.5)
    z = np.linspace(0.0, 2.0, 7)
    expected = law.logpdf(z) - np.log(law.cdf(2.0) - law.cdf(0.0))
    found = redrawn(3.0).log_density(z[:, np.newaxis], [x])
    assert found == pytest.approx(expected, abs=2e-4)


def test_the_promise_says_so():
    ledger = roomy_ledger()
    mechanism = redrawn(3.0, unit="m", ledger=ledger)
    mechanism.randomize([0.5, 0.5])
    assert mechanism.guarantee_.epsilon == 3.0
    assert "epsilon/2" in mechanism.guarantee_.reason
    assert "epsilon/2" in ledger.entries[0].event.purpose
    assert ledger.spent[0].epsilon == 3.0


# Two records at a border, near each other: there the chance of landing inside costs most.
NEAR_A_BORDER = {1: ([0.0], [0.4]), 2: ([0.0, 0.0], [0.3, 0.3])}


@pytest.mark.parametrize("d", NEAR_A_BORDER)
def test_redrawing_at_half_of_epsilon_keeps_the_promise(d):
    mechanism = redrawn(2.0, random_state=5).fit(np.zeros((1, d)))
    found = metric_epsilon_lower_bound(mechanism, *NEAR_A_BORDER[d], samples=400_000)
    assert not found.exceeds(2.0), str(found)
    assert d == 2 or found.epsilon > 1.0  # more than its noise alone would cost


@pytest.mark.parametrize("d", NEAR_A_BORDER)
def test_redrawing_at_full_epsilon_is_caught(d, monkeypatch):
    """The drafts' claim that truncation is free: planted, and seen to fail."""
    mechanism = redrawn(2.0, random_state=5).fit(np.zeros((1, d)))
    monkeypatch.setattr(Laplace, "_rate", lambda self: self.epsilon)
    found = metric_epsilon_lower_bound(mechanism, *NEAR_A_BORDER[d], samples=400_000)
    assert found.exceeds(2.0), str(found)


@pytest.mark.parametrize(
    ("words", "d"), [({"epsilon": 1e-3}, 9), ({"epsilon": 1e4}, 30), ({"epsilon": 1e-9}, 9)]
)
def test_boxes_that_are_never_hit_are_refused_and_nothing_is_spent(words, d):
    ledger = roomy_ledger()
    mechanism = Laplace(**words, unit="m", bounds=BOX, truncate="resample", ledger=ledger)
    with pytest.raises(ParameterError, match=r"truncate must be None .* clip the reports"):
        mechanism.transform(np.zeros((1, d)))
    assert len(ledger) == 0


def test_bad_word():
    with pytest.raises(ParameterError, match="truncate must be None or 'resample', got 'clip'"):
        Laplace(bounds=BOX, truncate="clip").fit(np.zeros((1, 2)))
