"""Tests of the tests: each bug is planted on purpose, and the suite's own check must go red."""

import os
import sys

import numpy as np
import pytest
from sklearn.base import clone

from contracts import checks
from contracts.registry import INSTANCES
from noise.laws import DRAWS, FALSE_ALARM, chi_square_p, gaussian_pmf, laplace_pmf
from noise.test_source import all_different, words_of_forked_children
from shoal.cluster import _noise
from shoal.cluster._budget import CountSum
from shoal.noise import SecureSource, SeededSource, discrete_gaussian, discrete_laplace
from shoal.noise.source import _Forks
from shoal.privacy import Ledger

LAPLACE = sys.modules["shoal.mechanisms.laplace"]

KMEANS = INSTANCES["DPKMeans"]
GAUSSIAN = INSTANCES["DPKMeans-gaussian"]
REPORTS = INSTANCES["Laplace"]


def red(check, *arguments):
    """Expect a check to notice."""
    with pytest.raises(AssertionError):
        check(*arguments)


def follows(draws, pmf):
    assert chi_square_p(draws, pmf) > FALSE_ALARM


# Half the noise


@pytest.mark.parametrize("estimator", [KMEANS, GAUSSIAN])
def test_half_the_scale_in_the_estimator(estimator, monkeypatch):
    law = _noise.GaussianNoise if estimator.delta else _noise.LaplaceNoise
    right = law.scale
    monkeypatch.setattr(law, "scale", lambda *a, **k: right(*a, **k) / 2)
    red(checks.noise_pays_for, estimator)


@pytest.mark.parametrize("factor", [0.5, 0.98])
def test_less_noise_in_the_samplers(factor):
    laplace = discrete_laplace(DRAWS, scale=5.0 * factor, source=SeededSource(1))
    red(follows, laplace, lambda x: laplace_pmf(x, 5.0))
    gaussian = discrete_gaussian(DRAWS, sigma=5.0 * factor, source=SeededSource(1))
    red(follows, gaussian, lambda x: gaussian_pmf(x, 5.0))


def test_half_the_noise_in_reports(monkeypatch):
    right = LAPLACE.k_norm
    monkeypatch.setattr(
        LAPLACE,
        "k_norm",
        lambda n, d, *, scale, source: right(n, d, scale=scale / 2, source=source),
    )
    red(checks.survives_an_audit_of_reports)


# Swapped shares


def test_swapped_shares_of_a_round(monkeypatch):
    right = _noise.split_pure
    monkeypatch.setattr(_noise, "split_pure", lambda *a: CountSum(*reversed(right(*a))))
    red(checks.divides_rounds_as_su_et_al)


def test_swapped_sensitivities(monkeypatch):
    """The mistake of a peer: the noise of the sums on the counts, and the other way round."""
    right = _noise.LaplaceNoise.scale

    def swapped(self, share, *, columns, reach):
        return right(self, share, columns=2 if reach == 1 else 1, reach=2**19 if reach == 1 else 1)

    monkeypatch.setattr(_noise.LaplaceNoise, "scale", swapped)
    red(checks.noise_pays_for, KMEANS)


# Spends that are skipped, late or too small


@pytest.mark.parametrize("estimator", [KMEANS, GAUSSIAN, REPORTS])
def test_skipped_spend(estimator, monkeypatch):
    monkeypatch.setattr(Ledger, "spend", lambda self, event, **words: None)
    red(checks.spends_before_it_draws, estimator)


@pytest.mark.parametrize("estimator", [KMEANS, REPORTS])
def test_spend_after_the_release(estimator, monkeypatch):
    late = clone(estimator)
    # A class of the same name whose work runs without the ledger, and pays afterwards.
    kind = type(estimator)
    work = "fit" if estimator is KMEANS else "transform"
    real = getattr(kind, work)

    def reversed_order(self, X, *rest):
        ledger, self.ledger = self.ledger, None
        result = real(self, X, *rest)
        self.ledger = ledger
        if ledger is not None:
            real(self, X, *rest)
        return result

    monkeypatch.setattr(kind, work, reversed_order)
    red(checks.spends_before_it_draws, late)


def test_half_the_spend(monkeypatch):
    right = _noise.LaplaceNoise.event
    monkeypatch.setattr(
        _noise.LaplaceNoise,
        "event",
        lambda self, purpose: right(_noise.LaplaceNoise(self.budget / 2), purpose),
    )
    red(checks.spends_before_it_draws, KMEANS)


# Randomness that repeats


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_child_that_reuses_the_parents_stream(monkeypatch):
    def stays_in_the_parent(source):
        assert all_different(words_of_forked_children(source))

    stays_in_the_parent(SecureSource())
    parent = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: parent)
    monkeypatch.setattr(_Forks, "depth", property(lambda self: 0))
    red(stays_in_the_parent, SecureSource())


@pytest.mark.parametrize("estimator", [KMEANS, REPORTS])
def test_noise_from_a_fixed_seed_when_none_was_asked_for(estimator, monkeypatch):
    base = sys.modules["shoal.mechanisms._base"]
    kmeans = sys.modules["shoal.cluster.dp_kmeans"]
    for module in (base, kmeans):
        monkeypatch.setattr(module, "as_source", lambda state: SeededSource(0))
    red(checks.differs_without_a_seed, estimator)


# Data-dependent noise, and noise in plain doubles


def test_no_noise_where_nothing_is(monkeypatch):
    right = _noise.LaplaceNoise.add

    def skipping(self, values, share, **words):
        return np.where(values == 0, 0, right(self, values, share, **words))

    monkeypatch.setattr(_noise.LaplaceNoise, "add", skipping)
    red(checks.survives_an_audit_of_centres)


def test_half_the_noise_in_centres(monkeypatch):
    right = _noise.LaplaceNoise.scale
    monkeypatch.setattr(_noise.LaplaceNoise, "scale", lambda *a, **k: right(*a, **k) / 3)
    red(checks.survives_an_audit_of_centres)


def test_reports_in_plain_doubles(monkeypatch):
    rng = np.random.default_rng(3)

    def naive(self, records, source):
        directions = rng.standard_normal(records.shape)
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        radii = rng.gamma(records.shape[1], 1 / self.epsilon, (len(records), 1))
        return records + radii * directions

    monkeypatch.setattr(LAPLACE.Laplace, "_perturb", naive)
    red(checks.survives_an_audit_of_reports)
