"""Generated shapes: public bounds hold by construction, seeds repeat, shapes match the thesis."""

import itertools
import os
from pathlib import Path

import numpy as np
import pytest

from shoal import datasets
from shoal.datasets import make_circle, make_gaussians, make_line, make_skewed, make_spirals
from shoal.exceptions import ParameterError

COLUMNS = (2, 3, 10)
MIXED = "make_customers"  # test_customers.py
MAKERS = [
    getattr(datasets, name)
    for name in datasets.__all__
    if name.startswith("make_") and name != MIXED
]
SHAPES = {"circle": make_circle, "line": make_line, "skewed": make_skewed}
FOLDER = os.environ.get("SHOAL_DATA")


@pytest.mark.parametrize("make", MAKERS)
def test_records_lie_inside_the_declared_bounds(make):
    for n_samples, n_features in itertools.product((1, 7, 5000), COLUMNS):
        dataset = make(n_samples, n_features=n_features, random_state=0)
        low, high = dataset.bounds
        assert dataset.X.shape == (n_samples, n_features)
        assert dataset.y.shape == (n_samples,)
        assert (low <= dataset.X).all()
        assert (high >= dataset.X).all()
        assert dataset.columns == tuple(f"x{column}" for column in range(1, n_features + 1))
        assert dataset.source.startswith("shoal.datasets.make_")
        assert dataset.license


@pytest.mark.parametrize("make", MAKERS)
def test_bounds_do_not_depend_on_the_records(make):
    for n_features in COLUMNS:
        one = make(50, n_features=n_features, random_state=1)
        other = make(5000, n_features=n_features, random_state=2)
        np.testing.assert_array_equal(one.bounds, other.bounds)


@pytest.mark.parametrize("make", MAKERS)
def test_seeds_repeat_and_none_does_not(make):
    np.testing.assert_array_equal(make(random_state=3).X, make(random_state=3).X)
    assert (make(random_state=3).X != make(random_state=4).X).any()
    assert (make().X != make().X).any()
    rng = np.random.default_rng(3)
    np.testing.assert_array_equal(make(random_state=3).X, make(random_state=rng).X)
    assert (make(random_state=rng).X != make(random_state=3).X).any()


@pytest.mark.parametrize("make", MAKERS)
def test_few_values_are_clipped(make):
    """Bounds that cut off much would make another shape."""
    for n_features in COLUMNS:
        dataset = make(20_000, n_features=n_features, random_state=5)
        low, high = dataset.bounds
        assert ((low == dataset.X) | (high == dataset.X)).mean() < 0.001


@pytest.mark.parametrize("n_features", [3, 4, 10])
def test_shapes_keep_their_form_in_more_columns(n_features):
    ball = make_circle(5000, n_features=n_features, random_state=10)
    radius = np.linalg.norm(ball.X, axis=1)
    np.testing.assert_array_equal(ball.y, radius > 0.5)
    assert abs(np.mean(radius) - 0.5) < 0.02  # radii are uniform: five standard errors
    line = make_line(5000, n_features=n_features, random_state=10)
    gap = line.X[:, 1:] - line.X[:, :1]
    np.testing.assert_allclose(gap.std(axis=0), 0.05, rtol=0.06)
    np.testing.assert_array_equal(line.y, line.X[:, 0] > 0.5)
    skewed = make_skewed(5000, n_features=n_features, random_state=10)
    scales = np.linspace(0.5, 1.5, n_features)
    for label in (0, 1):
        means = skewed.X[skewed.y == label].mean(axis=0)
        np.testing.assert_allclose(means, label + scales, atol=0.15)
    spirals = make_spirals(5000, n_features=n_features, noise=0.0, random_state=10)
    turn = np.linalg.norm(spirals.X[:, :2], axis=1)
    rise = 0.9 * (2 * (turn - 0.1) / 0.8 - 1)
    np.testing.assert_allclose(spirals.X[:, 2:], np.tile(rise[:, None], n_features - 2), atol=1e-9)


def test_gaussians_in_one_column():
    blobs = make_gaussians(100, n_clusters=2, n_features=1, random_state=0)
    assert blobs.X.shape == (100, 1)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.skipif(not FOLDER, reason="set SHOAL_DATA to compare with the published shapes")
def test_shapes_of_the_thesis(name, subtests):
    """Per-column quantiles are near those of the published sets, in units of their spread."""
    for n_features in [2, 3]:
        with subtests.test(n_features=n_features):
            file = Path(FOLDER) / "kd_laplace" / f"{name}_{n_features}d.csv"
            published = np.loadtxt(file, delimiter=",", skiprows=1)[:, :-1]
            ours = SHAPES[name](20_000, n_features=n_features, random_state=6).X
            shares = [0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98]
            gap = np.quantile(ours, shares, axis=0) - np.quantile(published, shares, axis=0)
            assert (np.abs(gap) / published.std(axis=0)).max() < 0.25
            np.testing.assert_allclose(np.corrcoef(ours.T), np.corrcoef(published.T), atol=0.15)


def test_gaussians_are_apart_and_as_wide_as_asked():
    blobs = make_gaussians(
        20_000, n_clusters=6, bounds=([0.0, 0.0], [10.0, 1000.0]), spread=0.02, random_state=7
    )
    share = blobs.X / [10.0, 1000.0]
    centers = np.array([share[blobs.y == label].mean(axis=0) for label in range(6)])
    deviations = np.array([share[blobs.y == label].std(axis=0) for label in range(6)])
    np.testing.assert_allclose(deviations, 0.02, rtol=0.1)
    gaps = np.linalg.norm(centers[:, None] - centers[None], axis=2)[~np.eye(6, dtype=bool)]
    assert gaps.min() > 0.9 * 4 * 0.02
    assert np.bincount(blobs.y).tolist() == [3334, 3334, 3333, 3333, 3333, 3333]


def test_wide_gaussians_still_lie_inside():
    blobs = make_gaussians(2000, n_clusters=2, spread=50.0, separation=0.0, random_state=8)
    assert np.abs(blobs.X).max() <= 1.0
    assert blobs.X.std() > 0.5


def test_centers_that_do_not_fit():
    with pytest.raises(ParameterError, match="separation must leave room for n_clusters=50"):
        make_gaussians(n_clusters=50, spread=0.2, random_state=0)


def test_arms_of_the_spirals_are_apart():
    spirals = make_spirals(2000, n_arms=4, noise=0.0, random_state=9)
    radius = np.linalg.norm(spirals.X, axis=1)
    angle = np.arctan2(spirals.X[:, 1], spirals.X[:, 0]) / (2 * np.pi)
    phase = (angle - (radius - 0.1) / 0.8) % 1.0
    wrapped = np.abs((phase - spirals.y / 4 + 0.5) % 1.0 - 0.5)
    assert wrapped.max() < 1e-9


def test_bad_sizes_and_seeds(subtests):
    for make in MAKERS:
        with subtests.test(make=make):
            for n_samples in (0, -1, 1.5, "10", None, True):
                with pytest.raises(
                    ParameterError, match="n_samples must be a whole number from 1 to"
                ):
                    make(n_samples)
            for random_state in (-1, 1.0, "seed", True, np.random.RandomState(0)):
                with pytest.raises(ParameterError, match="random_state must be None"):
                    make(random_state=random_state)


@pytest.mark.parametrize("make", [make_circle, make_line, make_skewed, make_spirals])
def test_number_of_columns(make):
    for n_features in (1, 0, -2, 2.5, 3.0, "2", None, True):
        with pytest.raises(ParameterError, match="n_features must be a whole number >= 2, got"):
            make(n_features=n_features)


def test_parameters_of_gaussians(subtests):
    for parameter, value in [
        ("n_clusters", 0),
        ("n_features", 0),
        ("spread", 0.0),
        ("spread", np.nan),
        ("separation", -1.0),
        ("separation", np.inf),
        ("bounds", None),
        ("bounds", (1.0, -1.0)),
        ("bounds", (0.0, np.inf)),
        ("bounds", ([0.0, 0.0, 0.0], 1.0)),
        ("bounds", ("a", "b")),
        ("bounds", (0.0, 1.0, 2.0)),
    ]:
        with (
            subtests.test(parameter=parameter, value=value),
            pytest.raises(ParameterError, match=f"{parameter} must"),
        ):
            make_gaussians(**{parameter: value})


@pytest.mark.parametrize(
    ("parameter", "value"), [("n_arms", 0), ("turns", 0.0), ("noise", -0.1), ("noise", "low")]
)
def test_parameters_of_spirals(parameter, value):
    with pytest.raises(ParameterError, match=f"{parameter} must"):
        make_spirals(**{parameter: value})
