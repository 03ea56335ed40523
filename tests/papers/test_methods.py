"""The published methods are what the sources say, and promise nothing."""

import pickle

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from shoal.exceptions import DataError, ParameterError
from shoal.papers.kd_laplace import (
    ComparedPiecewise,
    DensityNdLaplace,
    DraftLaplace,
    GridNdLaplace,
    NdLaplace,
)
from shoal.papers.kd_laplace.noise import nd_noise

METHODS = [
    NdLaplace(),
    NdLaplace(source="code"),
    GridNdLaplace(),
    GridNdLaplace(source="code"),
    DensityNdLaplace(),
    DensityNdLaplace(source="code"),
    DraftLaplace(),
    ComparedPiecewise(),
]
X = np.random.default_rng(3).random((60, 2))


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("columns", [2, 3, 5])
def test_nothing_is_promised_and_the_reason_says_so(method, columns):
    table = np.random.default_rng(0).random((30, columns))
    for promise in (clone(method).guarantee_, clone(method).fit(table).guarantee_):
        assert promise.notion == "none"
        assert not promise.holds
        assert promise.reason.startswith("as published, no guarantee: ")
    assert clone(method).fit_transform(table).shape == table.shape


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_they_work_in_a_pipeline_and_follow_a_seed(method):
    def labels(seed):
        seeded = clone(method).set_params(random_state=seed)
        kmeans = KMeans(3, n_init=1, random_state=0)
        return make_pipeline(seeded, StandardScaler(), kmeans).fit_predict(X)

    assert (labels(1) == labels(1)).all()
    assert set(labels(1)) == {0, 1, 2}


def test_pickles_hold_no_raw_record():
    fitted = GridNdLaplace(random_state=0).fit(X)
    assert X.tobytes() not in pickle.dumps(fitted)
    with pytest.raises(DataError, match="call fit"):
        pickle.loads(pickle.dumps(fitted)).transform(X)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (NdLaplace(0.0), "epsilon must be"),
        (GridNdLaplace(source="paper"), "source must be 'thesis' or 'code', got 'paper'"),
        (GridNdLaplace(grid_points=0), "grid_points must be"),
        (DraftLaplace(radius=-1.0), "radius must be"),
        (DraftLaplace(bounds=(1.0, 0.0)), "bounds must have low < high"),
        (ComparedPiecewise(np.inf), "epsilon must be"),
        (NdLaplace(random_state="seed"), "random_state must be"),
    ],
)
def test_bad_parameters(method, message):
    with pytest.raises(ParameterError, match=message):
        method.fit(X)


def test_one_column_is_refused():
    with pytest.raises(DataError, match="at least 2 columns"):
        NdLaplace().fit(X[:, :1])


@pytest.mark.parametrize("source", ["thesis", "code"])
@pytest.mark.parametrize("columns", [2, 3, 5])
def test_the_radius_has_the_right_law(columns, source):
    """Kolmogorov-Smirnov at level 10^-4; lengths lose at most 2% in the published angles."""
    noise = nd_noise(
        20_000, columns, epsilon=2.0, source=source, generator=np.random.default_rng(1)
    )
    law = stats.gamma(columns, scale=0.5)
    assert stats.kstest(noise.radius, law.cdf).pvalue > 1e-4
    lengths = np.linalg.norm(noise.direction, axis=1)
    assert (lengths <= 1 + 1e-12).all()
    assert lengths.mean() > 0.98


def test_planar_angles_are_uniform():
    noise = nd_noise(20_000, 2, epsilon=1.0, source="code", generator=np.random.default_rng(2))
    angles = np.arctan2(noise.direction[:, 1], noise.direction[:, 0])
    assert stats.kstest(angles, stats.uniform(-np.pi, 2 * np.pi).cdf).pvalue > 1e-4


@pytest.mark.parametrize("source", ["thesis", "code"])
def test_flaw_1_the_poles_are_crowded(source):
    """The cosine of the polar angle should be uniform; it has the arcsine law."""
    noise = nd_noise(20_000, 3, epsilon=1.0, source=source, generator=np.random.default_rng(3))
    cosine = noise.direction[:, 2]
    assert stats.kstest(cosine, stats.uniform(-1, 2).cdf).pvalue < 1e-12
    assert stats.kstest(cosine, stats.arcsine(-1, 2).cdf).pvalue > 1e-4


@pytest.mark.parametrize("columns", [4, 9])
def test_flaw_2_the_first_coordinate_is_positive(columns):
    noise = nd_noise(
        20_000, columns, epsilon=1.0, source="thesis", generator=np.random.default_rng(4)
    )
    assert noise.direction[:, 0].min() >= np.cos(1.0)


def test_thesis_grid_remap_stays_on_the_grid_of_the_raw_box():
    reports = GridNdLaplace(0.1, grid_points=5, random_state=0).fit_transform(X)
    cells = (reports - X.min(axis=0)) / np.ptp(X, axis=0) * 4
    on_grid = (np.abs(cells - cells.round()) < 1e-9).all(axis=1)
    assert on_grid.mean() > 0.95  # epsilon 0.1: next to all reports fall outside the box
    assert (reports >= X.min(axis=0)).all()


def test_grid_remap_of_the_code_gives_the_record_away():
    """At small epsilon the report is a function of the record: two seeds agree."""
    one, other = (
        GridNdLaplace(1e-3, source="code", random_state=seed).fit_transform(X) for seed in (0, 1)
    )
    assert np.array_equal(one, other)


def test_density_remap_reports_means_of_raw_records():
    reports = DensityNdLaplace(0.1, random_state=0).fit_transform(X)
    assert (reports >= X.min(axis=0)).all()
    assert (reports <= X.max(axis=0)).all()


def test_density_remap_of_the_code_does_nothing_beyond_three_columns():
    table = np.random.default_rng(5).random((40, 4))
    density = DensityNdLaplace(1.0, source="code", random_state=7).fit_transform(table)
    plain = NdLaplace(1.0, source="code", random_state=7).fit_transform(table)
    assert np.array_equal(density, plain)


def test_drafts_read_sigma_and_the_box():
    method = DraftLaplace(level=2.0, random_state=0).fit(X)
    sigma = np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
    assert method.epsilon_ == pytest.approx(2.0 / (sigma / 2))
    reports = method.transform(X)
    # Records on the rim may keep a report outside after 1000 draws; here none does.
    assert (reports > X.min(axis=0)).all()
    assert (reports < X.max(axis=0)).all()


def test_piecewise_is_unbiased_and_bounded():
    table = np.tile([[0.0, 0.0], [1.0, 1.0], [0.8, 0.3]], (20_000, 1))
    reports = ComparedPiecewise(2.0, random_state=1).fit_transform(table)
    reach = (np.e + 1) / (np.e - 1)
    assert np.abs(reports - 0.5).max() <= 0.5005 * reach
    means = reports.reshape(-1, 3, 2).mean(axis=0)
    # Standard error below 0.006: six of them.
    assert np.abs(means - table[:3]).max() < 0.036
