"""BayesRemap against dense matrices and numerical minimization, and what it learns."""

import numpy as np
import pytest

from helpers.brute_force_remap import (
    best_point,
    densities,
    expected_loss,
    points_of,
    posterior,
    update,
)
from helpers.cases import case
from shoal.exceptions import ParameterError
from shoal.mechanisms import (
    Duchi,
    Hybrid,
    Laplace,
    Piecewise,
    PlanarLaplace,
    SphericalLaplace,
    SquareWave,
)
from shoal.remap import BayesRemap, Clip

BOX = ([-1.0, 0.0, 2.0], [1.0, 3.0, 3.0])
CELLS = {1: (12,), 2: (7, 9), 3: (4, 6, 3)}


def box(d):
    return BOX[0][:d], BOX[1][:d]


def outer_reports(remap, count, seed=0):
    """Reports at centers of the outer grid, where nothing is interpolated."""
    centers = points_of(remap._posterior.grid.outer_centers())
    return centers[np.random.default_rng(seed).permutation(len(centers))[:count]]


@pytest.mark.parametrize("d", [1, 2, 3])
def test_squared_loss_is_the_posterior_mean(d):
    for epsilon in [1.0, 4.0]:
        with case(epsilon=epsilon):
            mechanism = Laplace(epsilon, bounds=box(d))
            prior = np.random.default_rng(d).random(CELLS[d])
            remap = BayesRemap(mechanism, cells=CELLS[d], prior=prior).fit(np.zeros((1, d)))
            reports = outer_reports(remap, 400)
            candidates = points_of(remap.grid_)
            weights = posterior(mechanism, reports, candidates, prior.ravel())
            assert np.allclose(remap.transform(reports), weights @ candidates, atol=1e-8)
            assert np.allclose(remap.prior_, prior / prior.sum())


@pytest.mark.parametrize("d", [1, 2, 3])
def test_no_other_point_has_a_smaller_expected_loss(d):
    for loss in ["squared", "linear"]:
        with case(loss=loss):
            mechanism = Laplace(2.0, bounds=box(d))
            prior = np.random.default_rng(d).random(CELLS[d]) ** 8  # a few heavy candidates
            remap = BayesRemap(mechanism, cells=CELLS[d], prior=prior, loss=loss).fit(
                np.zeros((1, d))
            )
            reports = outer_reports(remap, 12)
            candidates = points_of(remap.grid_)
            power = 2 if loss == "squared" else 1
            rows = posterior(mechanism, reports, candidates, prior.ravel())
            for weights, point in zip(rows, remap.transform(reports), strict=True):
                ours = expected_loss(weights, candidates, point, power)
                # Medians stop within a thousandth of a cell.
                assert ours <= best_point(weights, candidates, power).fun * (1 + 1e-3)


def test_the_median_minds_the_far_candidate_less_than_the_mean():
    mechanism = Laplace(0.1, bounds=(0.0, 10.0))
    prior = np.zeros((10, 10))
    prior[0, 0], prior[0, 1], prior[9, 9] = 0.35, 0.35, 0.3
    moved = {
        loss: BayesRemap(mechanism, cells=10, prior=prior, loss=loss)
        .fit(np.zeros((1, 2)))
        .transform([[5.0, 5.0]])[0]
        for loss in ("squared", "linear")
    }
    assert np.linalg.norm(moved["linear"] - [0.5, 1.0]) < 1.0
    assert np.linalg.norm(moved["squared"] - [0.5, 1.0]) > 1.5


@pytest.mark.parametrize("loss", ["squared", "linear"])
def test_radius_leaves_far_candidates_out(loss):
    mechanism = Laplace(1.0, bounds=(0.0, 10.0))
    prior = np.zeros((10, 10))
    prior[2, 2] = prior[8, 8] = 0.5
    kwargs = {"cells": 10, "prior": prior, "loss": loss}
    near = BayesRemap(mechanism, radius=4.0, **kwargs).fit(np.zeros((1, 2)))
    assert np.allclose(near.transform([[3.5, 3.5]]), 2.5, atol=1e-2)
    # Nothing within reach: the report itself, in the box.
    assert np.allclose(near.transform([[9.5, -1.5]]), [[9.5, 0.0]], atol=1e-2)
    if loss == "squared":
        everything = BayesRemap(mechanism, **kwargs).fit(np.zeros((1, 2)))
        assert (everything.transform([[3.5, 3.5]]) > 2.515).all()


@pytest.mark.parametrize("d", [1, 2])
def test_prior_is_that_of_dense_matrices(d):
    """Counts and update of one report after the other, K averaged over cells by many points."""
    mechanism = Laplace(2.0, bounds=box(d), random_state=d)
    low, high = box(d)
    records = np.random.default_rng(d).uniform(low, high, (300, d)) ** 2
    reports = mechanism.fit_transform(records)
    remap = BayesRemap(mechanism, cells=CELLS[d], max_iter=2, tol=0.0).fit(reports)
    grid = remap._posterior.grid
    counts = grid.count(reports).ravel()
    assert counts.sum() == 300
    candidates = points_of(remap.grid_)
    parts = points_of([(np.arange(15) + 0.5) / 15 - 0.5] * d) * grid.width
    cells = points_of(grid.outer_centers())
    matrix = np.mean([densities(mechanism, cells + part, candidates) for part in parts], axis=0)
    prior = np.full(len(candidates), 1 / len(candidates))
    for _ in range(2):
        prior = update(counts, matrix, prior)
    assert np.allclose(remap.prior_.ravel(), prior, atol=0.01 * prior.max())


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8])
def test_remapped_reports_are_nearer_to_the_records(d):
    """Five places: mean squared error at most 0.8 of that of clipped reports."""
    rng = np.random.default_rng(d)
    records = rng.uniform(-0.8, 0.8, (5, d))[rng.integers(0, 5, 2000)]
    mechanism = Laplace(4.0, bounds=(-1.0, 1.0), random_state=d)
    reports = mechanism.fit_transform(records)
    moved = BayesRemap(mechanism).fit_transform(reports)
    clipped = Clip((-1.0, 1.0)).transform(reports)
    assert ((moved - records) ** 2).sum() < 0.8 * ((clipped - records) ** 2).sum()
    assert (np.abs(moved) <= 1.0).all()


@pytest.mark.parametrize("d", [1, 2, 3, 4, 9])
def test_little_noise_changes_little(d):
    """Where noise is far below a cell or the gaps between candidates, reports stay put."""
    for loss in ["squared", "linear"]:
        with case(loss=loss):
            records = np.random.default_rng(0).uniform(-0.8, 0.8, (500, d))
            mechanism = Laplace(1e5, bounds=(-1.0, 1.0), random_state=0)
            reports = mechanism.fit_transform(records)
            cells = {1: 64, 2: 32}.get(d, 8)
            moved = BayesRemap(mechanism, cells=cells, loss=loss).fit_transform(reports)
            assert np.abs(moved - reports).max() < 0.02


def test_far_reports_keep_their_direction():
    mechanism = Laplace(1.0, bounds=(-1.0, 1.0))
    remap = BayesRemap(mechanism, cells=16, prior=np.ones((16, 16))).fit(np.zeros((1, 2)))
    candidates = points_of(remap.grid_)
    angles = np.linspace(0, 2 * np.pi, 40)
    far = 1e3 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    exact = posterior_mean_far(mechanism, far, candidates)
    assert np.abs(remap.transform(far) - exact).max() < 0.1
    assert np.isfinite(remap.transform([[1e300, -1e300]])).all()


def posterior_mean_far(mechanism, reports, candidates):
    logs = np.stack([mechanism.log_density(reports, q) for q in candidates], axis=1)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return weights @ candidates / weights.sum(axis=1, keepdims=True)


def test_interpolation_is_close_to_the_exact_posterior():
    """Mean error below a hundredth of the noise, and below half of that of nearest cells."""
    mechanism = Laplace(3.0, bounds=(-1.0, 1.0), random_state=0)
    records = np.repeat([[-0.5, 0.0], [0.5, 0.3]], 500, axis=0)
    reports = mechanism.fit_transform(records)
    remap = BayesRemap(mechanism).fit(reports)
    candidates = points_of(remap.grid_)
    inside = (np.abs(reports) < 1.5).all(axis=1)
    exact = posterior(mechanism, reports[inside], candidates, remap.prior_.ravel()) @ candidates
    error = np.abs(remap.transform(reports[inside]) - exact)
    assert error.mean() < np.sqrt(mechanism.variance()) / 100
    grid = remap._posterior.grid
    centers = (
        grid.box.low + (np.floor((reports[inside] - grid.box.low) / grid.width) + 0.5) * grid.width
    )
    nearest = np.abs(remap.transform(centers) - exact)
    assert error.mean() < nearest.mean() / 2


def test_estimates_come_from_reports_not_from_their_order():
    mechanism = Laplace(3.0, bounds=(-1.0, 1.0), random_state=0)
    reports = mechanism.fit_transform(np.random.default_rng(0).uniform(-1, 1, (800, 2)))
    order = np.random.default_rng(1).permutation(800)
    one, two = BayesRemap(mechanism).fit(reports), BayesRemap(mechanism).fit(reports[order])
    assert np.allclose(one.prior_, two.prior_, atol=1e-12)


def test_likelihood_rises_in_many_columns_too():
    mechanism = Laplace(3.0, bounds=(-1.0, 1.0), random_state=0)
    reports = mechanism.fit_transform(np.random.default_rng(0).uniform(-1, 1, (800, 6)) ** 3)
    remap = BayesRemap(mechanism, tol=0.0, max_iter=200).fit(reports)
    assert (np.diff(remap.log_likelihood_) >= -1e-8).all()
    assert remap.prior_.sum() == pytest.approx(1.0)
    assert len(remap.prior_) == 2 * len(remap.candidates_) + 1
    assert len(remap.candidates_) <= 256


@pytest.mark.parametrize(
    ("kind", "d", "loss"), [(PlanarLaplace, 2, "linear"), (SphericalLaplace, 3, "squared")]
)
def test_the_whole_laplace_family_has_one_remap(kind, d, loss):
    reports = np.random.default_rng(0).normal(size=(200, d))
    kwargs = {"loss": loss, "cells": 8}
    moved = BayesRemap(kind(2.0, bounds=(-1.0, 1.0)), **kwargs).fit_transform(reports)
    same = BayesRemap(Laplace(2.0, bounds=(-1.0, 1.0)), **kwargs).fit_transform(reports)
    assert np.allclose(moved, same, atol=1e-9)


@pytest.mark.parametrize("kind", [Duchi, Hybrid, Piecewise, SquareWave])
def test_noise_that_depends_on_the_record_is_refused(kind):
    for d in [1, 2, 3, 5]:
        with case(d=d), pytest.raises(ParameterError, match="does not depend on the record"):
            BayesRemap(kind(2.0, bounds=(-1.0, 1.0))).fit(np.zeros((5, d)))


def test_truncated_noise_is_refused():
    mechanism = Laplace(2.0, bounds=(-1.0, 1.0), truncate="resample")
    with pytest.raises(ParameterError, match="noise that does not depend on the record"):
        BayesRemap(mechanism).fit(np.zeros((5, 2)))


@pytest.mark.parametrize("d", [4, 7])
def test_many_columns_give_the_posterior_mean_of_their_own_prior(d):
    """Records drawn from the learned prior: no linear correction of the remap helps.

    Errors of an optimal estimate are uncorrelated with everything computed from the report; with
    40,000 draws a correlation above 0.03 has a probability below 1e-8 per pair.
    """
    rng = np.random.default_rng(d)
    mechanism = Laplace(3.0, bounds=(-50.0, 50.0), random_state=d)
    records = rng.normal(size=(4, d))[rng.integers(0, 4, 3000)] * 2
    remap = BayesRemap(mechanism).fit(mechanism.fit_transform(records))
    layers = remap._posterior._layers
    which = rng.choice(len(remap.prior_), size=40_000, p=remap.prior_)
    centers = np.concatenate([layer.centers for layer in layers])
    sizes = np.cumsum([0, *(len(layer.centers) for layer in layers)])
    x = centers[which].copy()
    noise = mechanism.variance()
    for layer, low, high in zip(layers, sizes[:-1], sizes[1:], strict=True):
        # gain = C (C + noise)^-1, so the layer's own covariance is C = noise (1 - gain)^-1 gain
        spread = noise * np.linalg.solve(np.eye(d) - layer.gain, layer.gain)
        inside = (which >= low) & (which < high)
        draws = rng.multivariate_normal(np.zeros(d), spread, size=inside.sum(), method="eigh")
        x[inside] += draws
    z = x + rng.normal(0.0, np.sqrt(noise), x.shape)
    moved = remap.transform(z)
    error = x - moved
    for known in (z, moved, np.tanh(z), moved**2):
        both = np.corrcoef(error.T, known.T)[:d, d:]
        assert np.abs(both).max() < 0.03
    assert (error**2).sum() < ((x - z) ** 2).sum()


@pytest.mark.parametrize("d", [4, 7])
def test_radius_and_median_work_in_many_columns(d):
    mechanism = Laplace(6.0, bounds=(-1.0, 1.0), random_state=0)
    records = np.repeat([[-0.5] * d, [0.5] * d], 400, axis=0)
    reports = mechanism.fit_transform(records)
    errors = {
        kwargs: np.linalg.norm(
            BayesRemap(mechanism, **dict(kwargs)).fit_transform(reports) - records, axis=1
        ).mean()
        for kwargs in ((), (("loss", "linear"),), (("radius", 2.0),))
    }
    plain = np.linalg.norm(reports - records, axis=1).mean()
    assert max(errors.values()) < 0.8 * plain


@pytest.mark.parametrize(
    ("epsilon", "bounds"),
    [(1e3, (1e9, 1e9 + 1)), (1e-6, (0.0, 1.0)), (1e6, (-1e6, 1e6)), (1.0, (-1e-9, 1e-9))],
)
def test_extreme_boxes_and_epsilons(epsilon, bounds):
    for d in [2, 5]:
        with case(d=d):
            mechanism = Laplace(epsilon, bounds=bounds, random_state=0)
            reports = mechanism.fit_transform(
                np.random.default_rng(0).uniform(bounds[0], bounds[1], (300, d))
            )
            for loss in ("squared", "linear"):
                moved = BayesRemap(mechanism, loss=loss, cells=8).fit_transform(reports)
                assert ((moved >= bounds[0]) & (moved <= bounds[1])).all()
