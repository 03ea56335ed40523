"""Bugs of the ball method that a replay must find, each planted on purpose."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.kmeans_problems import blobs, corners
from shoal.audit import Neighbors, replay_estimator
from shoal.cluster import DPKMeans
from shoal.cluster._noise import GDPNoise, PureNoise
from shoal.cluster.kmeans import _ball, _domain, _windows
from shoal.cluster.kmeans._windows import first_windows, take_round
from shoal.engines import MOMENT_UNIT, radius_counts, window_statistics

BOX = (-1.0, 1.0)
# Directions are released here, and records projected; there is one round before the last.
GAUSSIAN = DPKMeans(2, epsilon=1.0, delta=1e-6, bounds=BOX, method="ball")
PURE = DPKMeans(2, epsilon=4.0, bounds=BOX, method="ball")
NEAR = 0.2 * blobs(200, corners(8, 2))
WIDE = np.array([2**19])
PAIRS = [Neighbors("far", NEAR, np.ones(8)), Neighbors("one other", NEAR[:1], -np.ones(8))]


def findings(estimator):
    return "\n".join(replay_estimator(estimator, PAIRS, repeats=2).findings)


@pytest.mark.parametrize("estimator", [GAUSSIAN, PURE])
def test_nothing_is_found_without_a_bug(estimator):
    assert findings(estimator) == ""


@pytest.mark.parametrize("estimator", [GAUSSIAN, PURE])
def test_radius_from_the_true_quantile(estimator, monkeypatch):
    right = _domain.noisy_radius

    def peeking(problem, engine, widest, budget):
        right(problem, engine, widest, budget)
        edges = _domain._edges(widest.radius)
        beyond = np.cumsum(radius_counts(engine, widest.center, edges)[:0:-1])
        return int(edges[len(edges) - 1 - np.flatnonzero(beyond > 0)[0]])

    for module in (_domain, _ball):
        monkeypatch.setattr(module, "noisy_radius", peeking)
    assert "the noise depends on the records" in findings(estimator)


@pytest.mark.parametrize("estimator", [GAUSSIAN, PURE])
def test_windows_from_the_true_width(estimator, monkeypatch):
    right = take_round

    def peeking(problem, space, windows, budget):
        found = right(problem, space, windows, budget)
        exact = window_statistics(space.engine, found.centers, windows.radii)
        squares = exact.moments / MOMENT_UNIT / np.maximum(exact.counts, 1) + 0.5
        return replace(found, windows=space.window(windows.radii * np.sqrt(squares)))

    monkeypatch.setattr(_ball, "take_round", peeking)
    assert "the noise depends on the records" in findings(estimator)


@pytest.mark.parametrize("estimator", [GAUSSIAN, PURE])
def test_parts_that_are_more_than_the_whole(estimator, monkeypatch):
    right = _ball._growing
    monkeypatch.setattr(_ball, "_growing", lambda budget, *rest: right(1.2 * budget, *rest))
    found = findings(estimator)
    assert "all releases cost" in found
    assert "all releases are declared to cost" in found


def test_no_noise_on_the_diagonal(monkeypatch):
    right = GDPNoise.second_moments

    def bare(self, exact, budget, **words):
        noisy = right(self, exact, budget, **words)
        matrix = noisy.matrix.copy()
        np.fill_diagonal(matrix, exact.diagonal())
        return replace(noisy, matrix=matrix)

    monkeypatch.setattr(GDPNoise, "second_moments", bare)
    found = findings(GAUSSIAN)
    assert ", declared" in found
    assert "the noise depends on the records" in found


def test_the_matrix_priced_as_if_it_were_a_vector(monkeypatch):
    """Noise for a length where one record moves the matrix by its square."""
    right = GDPNoise.second_moments

    def short(self, exact, budget, *, clip_radius, **words):
        return right(self, exact, budget, clip_radius=clip_radius // 64, **words)

    monkeypatch.setattr(GDPNoise, "second_moments", short)
    assert ", declared" in findings(GAUSSIAN)


@pytest.mark.parametrize("estimator", [GAUSSIAN, PURE])
def test_offsets_clipped_to_another_window(estimator, monkeypatch):
    right = window_statistics
    monkeypatch.setattr(
        _windows, "window_statistics", lambda engine, c, radii: right(engine, c, 2 * radii)
    )
    assert ", declared" in findings(estimator)


@pytest.mark.parametrize("estimator", [GAUSSIAN, PURE])
def test_moments_without_a_price(estimator, monkeypatch):
    """A release of windows whose moments have half the noise that they need."""
    law = GDPNoise if estimator.delta else PureNoise
    name = "window_deviations" if estimator.delta else "_window_scales"
    right = getattr(law, name)

    def cheaper(*args, **words):
        found = right(*args, **words)
        return found._replace(moments=found.moments / 8)

    monkeypatch.setattr(law, name, cheaper if estimator.delta else staticmethod(cheaper))
    assert ", declared" in findings(estimator)


def test_first_centers_from_records(monkeypatch):
    right = first_windows

    def peeking(space, k, source):
        found = right(space, k, source)
        exact = window_statistics(space.engine, np.zeros((1, space.columns), np.int64), WIDE)
        return found._replace(points=found.points + exact.sums[0] / 100)

    monkeypatch.setattr(_ball, "first_windows", peeking)
    assert ", declared" in findings(PURE)
