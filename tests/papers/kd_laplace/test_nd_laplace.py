"""The published methods promise nothing, and their noise is what the thesis and its code say."""

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
from shoal.papers.kd_laplace.nd_laplace import draw_noise

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


def test_nothing_is_promised_and_the_reason_says_so(subtests):
    for method in METHODS:
        with subtests.test(method=method):
            tables = [np.random.default_rng(0).random((30, columns)) for columns in (2, 3, 5)]
            promises = [clone(method).fit(table).guarantee_ for table in tables]
            for promise in (clone(method).guarantee_, *promises):
                assert promise.notion == "none"
                assert not promise.holds
                assert promise.reason.startswith("as published, no guarantee: ")
            for table in tables:
                assert clone(method).fit_transform(table).shape == table.shape


def test_they_work_in_a_pipeline_and_follow_a_seed(subtests):
    for method in METHODS:
        with subtests.test(method=method):
            seeded = clone(method).set_params(random_state=1)
            kmeans = KMeans(3, n_init=1, random_state=0)
            one, two = (
                make_pipeline(clone(seeded), StandardScaler(), kmeans).fit_predict(X)
                for _ in range(2)
            )
            assert (one == two).all()
            assert set(one) == {0, 1, 2}


def test_pickles_hold_no_raw_record():
    fitted = GridNdLaplace(random_state=0).fit(X)
    assert X.tobytes() not in pickle.dumps(fitted)
    with pytest.raises(DataError, match="call fit"):
        pickle.loads(pickle.dumps(fitted)).transform(X)


def test_bad_parameters(subtests):
    for method, message in [
        (NdLaplace(0.0), "epsilon must be"),
        (
            GridNdLaplace(source="paper"),
            "source must be 'thesis' or 'code', got 'paper'",
        ),
        (GridNdLaplace(grid_points=0), "grid_points must be"),
        (DraftLaplace(radius=-1.0), "radius must be"),
        (DraftLaplace(bounds=(1.0, 0.0)), "bounds must have low < high"),
        (ComparedPiecewise(np.inf), "epsilon must be"),
        (NdLaplace(random_state="seed"), "random_state must be"),
    ]:
        with (
            subtests.test(method=method, message=message),
            pytest.raises(ParameterError, match=message),
        ):
            method.fit(X)


def test_one_column_is_refused():
    with pytest.raises(DataError, match="at least 2 columns"):
        NdLaplace().fit(X[:, :1])


@pytest.mark.parametrize("source", ["thesis", "code"])
def test_the_radius_has_the_right_distribution(source, subtests):
    """Kolmogorov-Smirnov at level 10^-4; lengths lose at most 2% in the published angles."""
    for columns in [2, 3, 5]:
        with subtests.test(columns=columns):
            noise = draw_noise(
                20_000, columns, epsilon=2.0, source=source, generator=np.random.default_rng(1)
            )
            expected = stats.gamma(columns, scale=0.5)
            assert stats.kstest(noise.radius, expected.cdf).pvalue > 1e-4
            lengths = np.linalg.norm(noise.direction, axis=1)
            assert (lengths <= 1 + 1e-12).all()
            assert lengths.mean() > 0.98


def test_planar_angles_are_uniform():
    noise = draw_noise(20_000, 2, epsilon=1.0, source="code", generator=np.random.default_rng(2))
    angles = np.arctan2(noise.direction[:, 1], noise.direction[:, 0])
    assert stats.kstest(angles, stats.uniform(-np.pi, 2 * np.pi).cdf).pvalue > 1e-4


@pytest.mark.parametrize("source", ["thesis", "code"])
def test_flaw_1_the_poles_are_crowded(source):
    """The cosine of the polar angle should be uniform; it has the arcsine distribution."""
    noise = draw_noise(20_000, 3, epsilon=1.0, source=source, generator=np.random.default_rng(3))
    cosine = noise.direction[:, 2]
    assert stats.kstest(cosine, stats.uniform(-1, 2).cdf).pvalue < 1e-12
    assert stats.kstest(cosine, stats.arcsine(-1, 2).cdf).pvalue > 1e-4


@pytest.mark.parametrize("columns", [4, 9])
def test_flaw_2_the_first_coordinate_is_positive(columns):
    noise = draw_noise(
        20_000, columns, epsilon=1.0, source="thesis", generator=np.random.default_rng(4)
    )
    assert noise.direction[:, 0].min() >= np.cos(1.0)
