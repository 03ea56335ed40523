"""Tests of the tests: each bug is planted on purpose, and the suite's own check must go red."""

import os
import sys
from dataclasses import replace

import numpy as np
import pytest

from contracts import audits, promises
from helpers.noise_distributions import (
    FALSE_ALARM,
    chi_square_p,
    laplace_pmf,
    rounded_gaussian_pmf,
)
from helpers.random_sources import all_different, words_of_forked_children
from shoal.cluster import _engines, _noise
from shoal.cluster._budget import CountSum, split_pure
from shoal.cluster._noise import pure
from shoal.cluster.kmeans import _lloyd, dp_kmeans
from shoal.noise import SecureSource, SeededSource, discrete_laplace, rounded_gaussian
from shoal.noise.source import _Forks
from subjects import subject

LAPLACE = sys.modules["shoal.mechanisms.laplace"]

KMEANS = subject("DPKMeans-grid")
LLOYD = subject("DPKMeans-lloyd-analytic")
REPORTS = subject("Laplace")


def red(check, *arguments):
    """Expect a check to notice."""
    with pytest.raises(AssertionError):
        check(*arguments)


def follows(draws, pmf):
    assert chi_square_p(draws, pmf) > FALSE_ALARM


# Half the noise


MANY = 1_000_000  # draws: fewer do not show two percent


@pytest.mark.parametrize("factor", [0.5, 0.98])
def test_less_noise_in_the_samplers(factor):
    laplace = discrete_laplace(MANY, scale=5.0 * factor, source=SeededSource(1))
    red(follows, laplace, lambda x: laplace_pmf(x, 5.0))
    gaussian = rounded_gaussian(MANY, sigmas=5.0 * factor, source=SeededSource(1))
    red(follows, gaussian, lambda x: rounded_gaussian_pmf(x, 5.0))


def test_half_the_noise_in_reports(monkeypatch):
    right = LAPLACE.k_norm
    monkeypatch.setattr(
        LAPLACE,
        "k_norm",
        lambda n, d, *, scale, source: right(n, d, scale=scale / 2, source=source),
    )
    red(audits.survives_an_audit_of_reports)


# Swapped shares


def test_swapped_shares_of_a_round(monkeypatch):
    right = split_pure
    monkeypatch.setattr(pure, "split_pure", lambda *a: CountSum(*reversed(right(*a))))
    red(audits.divides_rounds_as_su_et_al)


def test_first_centers_from_the_records(monkeypatch):
    seen = []
    right = _engines.lattice_records

    def peeking(X, lattice, **words):
        seen[:] = right(X, lattice, **words)[-8:]
        return np.array(right(X, lattice, **words))

    monkeypatch.setattr(_engines, "lattice_records", peeking)
    monkeypatch.setattr(
        _lloyd, "pack_spheres", lambda k, d, source: np.resize(np.array(seen), (k, d)) / 2**19
    )
    red(promises.replays_on_neighbors, LLOYD)


@pytest.mark.full  # a minute; `test_sampled` and `test_replayed` see such bugs in seconds
def test_centers_without_records_left_out(monkeypatch):
    """No noise where nothing is: an audit of the centers sees other releases."""
    right = _noise.PureNoise.counts

    def skipping(self, values, share, **words):
        return np.where(values == 0, 0, right(self, values, share, **words))

    monkeypatch.setattr(_noise.PureNoise, "counts", skipping)
    red(audits.survives_an_audit_of_centers, 1.0, 4000, "grid")


# Spends that are skipped, late or too small


@pytest.mark.parametrize("row", [KMEANS, REPORTS])
def test_spend_after_the_release(row, monkeypatch):
    # A class of the same name whose work runs without the ledger, and pays afterwards.
    kind = type(row.make())
    work = "fit" if row is KMEANS else "transform"
    real = getattr(kind, work)

    def reversed_order(self, X, *rest):
        ledger, self.ledger = self.ledger, None
        result = real(self, X, *rest)
        self.ledger = ledger
        if ledger is not None:
            real(self, X, *rest)
        return result

    monkeypatch.setattr(kind, work, reversed_order)
    red(promises.spends_before_it_draws, row)


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


@pytest.mark.parametrize("row", [KMEANS, REPORTS])
def test_noise_from_a_fixed_seed_when_none_was_asked_for(row, monkeypatch):
    sources = sys.modules["shoal.mechanisms._sources"]
    for module in (sources, dp_kmeans):
        monkeypatch.setattr(module, "as_source", lambda state: SeededSource(0))
    red(promises.differs_without_a_seed, row)


# Data-dependent noise, and noise in plain doubles


def test_no_noise_where_nothing_is(monkeypatch):
    right = _noise.PureNoise.pairs

    def skipping(self, exact, share, **words):
        noisy = right(self, exact, share, **words)
        sums = np.where(exact.sums == 0, 0, noisy.sums)
        return replace(noisy, sums=sums)

    monkeypatch.setattr(_noise.PureNoise, "pairs", skipping)
    red(audits.survives_an_audit_of_centers, 1.0, 1000)


def test_half_the_noise_in_centers(monkeypatch):
    right = _noise.PureNoise.scales
    monkeypatch.setattr(
        _noise.PureNoise, "scales", lambda *a, **k: CountSum(*(s / 3 for s in right(*a, **k)))
    )
    red(audits.survives_an_audit_of_centers, 1.0, 1000)


def test_reports_in_plain_doubles(monkeypatch):
    rng = np.random.default_rng(3)

    def naive(self, records, source):
        directions = rng.standard_normal(records.shape)
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        radii = rng.gamma(records.shape[1], 1 / self.epsilon, (len(records), 1))
        return records + radii * directions

    monkeypatch.setattr(LAPLACE.Laplace, "_perturb", naive)
    red(audits.survives_an_audit_of_reports)
