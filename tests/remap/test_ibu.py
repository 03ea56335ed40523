import numpy as np
import pytest

from helpers.brute_force_remap import points_of, update
from helpers.cases import case
from shoal.exceptions import ParameterError
from shoal.remap import iterative_bayesian_update
from shoal.remap.geometry import Convolution

RNG = np.random.default_rng(0)


def matrix_of(kernel, cells, outer):
    """K[z, x] from a centered kernel, by looking every offset up."""
    margin = (np.array(outer) - cells) // 2
    x = points_of([np.arange(c) + m for c, m in zip(cells, margin, strict=True)])
    z = points_of([np.arange(e) for e in outer])
    offsets = z[:, None, :] - x + np.array(kernel.shape) // 2
    inside = ((offsets >= 0) & (offsets < kernel.shape)).all(axis=2)
    offsets[~inside] = 0
    return np.where(inside, kernel[tuple(np.moveaxis(offsets, -1, 0))], 0.0)


SHAPES = [((5,), (9,), (13,)), ((4, 3), (8, 9), (5, 7)), ((3, 4, 2), (5, 6, 8), (5, 3, 21))]


@pytest.mark.parametrize(("cells", "outer", "side"), SHAPES)
def test_convolution_is_the_matrix_and_its_transpose(cells, outer, side):
    kernel = RNG.random(side)  # not symmetric
    channel = Convolution(kernel, cells, outer)
    matrix = matrix_of(kernel, cells, outer)
    prior, weights = RNG.random(cells), RNG.random(outer)
    assert np.allclose(channel.forward(prior).ravel(), matrix @ prior.ravel(), atol=1e-12)
    assert np.allclose(channel.backward(weights).ravel(), matrix.T @ weights.ravel(), atol=1e-12)


@pytest.mark.parametrize(("cells", "outer", "side"), SHAPES)
def test_two_updates_are_those_of_dense_matrices(cells, outer, side):
    """One update and the next start from the same prior in both: nothing is extrapolated yet."""
    kernel = RNG.random(side) + 0.1
    matrix = matrix_of(kernel, cells, outer)
    counts = RNG.integers(0, 9, outer) * (matrix.sum(axis=1).reshape(outer) > 0)
    prior = np.full(np.prod(cells), 1 / np.prod(cells))
    for rounds in (1, 2):
        with np.errstate(invalid="ignore", divide="ignore"):
            prior = update(counts.ravel()[matrix.any(axis=1)], matrix[matrix.any(axis=1)], prior)
        result = iterative_bayesian_update(counts, kernel, cells, max_iter=rounds, tol=0.0)
        assert np.allclose(result.prior.ravel(), prior, atol=1e-12)


def test_likelihood_never_falls():
    for seed in range(5):
        with case(seed=seed):
            rng = np.random.default_rng(seed)
            sides = np.arange(-20, 21) / 4
            kernel = np.exp(-np.hypot(sides[:, None], sides))
            counts = rng.poisson(rng.gamma(0.3, 3.0, (30, 30)))
            result = iterative_bayesian_update(counts, kernel, (16, 16), max_iter=300, tol=0.0)
            rises = np.diff(result.log_likelihood)
            assert (rises >= -1e-9 * abs(result.log_likelihood[0])).all()
            assert result.log_likelihood[-1] > result.log_likelihood[0] + 10
            assert result.prior.shape == (16, 16)
            assert result.prior.min() >= 0
            assert result.prior.sum() == pytest.approx(1.0)


def test_going_ahead_climbs_faster_than_plain_updates():
    """100 plain updates by matrices reach no more than 30 of ours."""
    kernel = np.exp(-np.abs(np.arange(-60, 61)) / 6)
    cells, outer = (40,), (80,)
    matrix = matrix_of(kernel, cells, outer)
    truth = np.zeros(40)
    truth[[8, 9, 30]] = 0.3, 0.3, 0.4
    counts = np.random.default_rng(0).multinomial(20_000, matrix @ truth / (matrix @ truth).sum())
    prior = np.full(40, 1 / 40)
    for _ in range(100):
        prior = update(counts, matrix, prior)
    plain = counts @ np.log(matrix @ prior)
    ours = iterative_bayesian_update(counts, kernel, cells, max_iter=30, tol=0.0).prior
    assert counts @ np.log(matrix @ ours) > plain


def test_it_finds_where_records_lie():
    """Total variation to the truth falls to below a third of that of the counts themselves."""
    kernel = np.exp(-np.abs(np.arange(-60, 61)) / 4)
    truth = np.zeros(31)
    truth[[5, 20]] = 0.5
    matrix = matrix_of(kernel, (31,), (91,))
    counts = np.random.default_rng(1).multinomial(100_000, matrix @ truth / (matrix @ truth).sum())
    result = iterative_bayesian_update(counts, kernel, (31,), max_iter=200, tol=1.0).prior
    near = truth.cumsum(), result.cumsum(), (counts[30:61] / counts.sum()).cumsum()
    assert np.abs(near[1] - near[0]).mean() < np.abs(near[2] - near[0]).mean() / 3


def test_it_stops_when_nothing_is_gained():
    kernel = np.exp(-np.abs(np.arange(-30, 31)) / 4)
    counts = np.random.default_rng(0).poisson(3.0, 40)
    lazy = iterative_bayesian_update(counts, kernel, (20,), tol=5.0)
    eager = iterative_bayesian_update(counts, kernel, (20,), tol=1e-3, max_iter=1000)
    assert lazy.n_iter < eager.n_iter < 1000
    assert np.diff(lazy.log_likelihood)[-1] < 5.0


def test_bad_input():
    for name, kwargs in [
        ("counts", {"counts": [0.0, 0.0]}),
        ("counts", {"counts": [1.0, -1.0]}),
        ("counts", {"counts": [1.0, np.nan]}),
        ("counts", {"counts": ["a"]}),
        ("counts", {"counts": 3.0}),
        ("kernel", {"kernel": [0.5, 0.5]}),
        ("kernel", {"kernel": [[1.0]]}),
        ("kernel", {"kernel": [0.0]}),
        ("cells", {"cells": [2]}),
        ("cells", {"cells": [5]}),
        ("cells", {"cells": [1, 1]}),
        ("cells", {"cells": [1.5]}),
        ("max_iter", {"max_iter": 0}),
        ("tol", {"tol": -1.0}),
    ]:
        with case(name=name, kwargs=kwargs):
            good = {"counts": [1.0, 2.0, 3.0], "kernel": [0.25, 0.5, 0.25], "cells": [1]}
            with pytest.raises(ParameterError, match=f"^{name} must") as refused:
                iterative_bayesian_update(**{**good, **kwargs})
            assert "\n" not in str(refused.value)
            assert refused.value.__suppress_context__ or refused.value.__context__ is None


def test_reports_that_no_record_explains_change_nothing():
    """All of the first are beyond the reach of the noise; the one of the second is not."""
    for counts, prior in (([9, 0, 0, 0, 0], [1.0]), ([9, 0, 1, 0, 0], [1.0])):
        result = iterative_bayesian_update(counts, [0.25, 0.5, 0.25], [1], tol=0.0)
        assert result.prior.tolist() == prior
