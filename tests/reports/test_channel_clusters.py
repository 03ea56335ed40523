"""NoiseAwareKMeans for SquareWave, Hybrid, Duchi and sampled columns."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from helpers.cases import case
from shoal.exceptions import ParameterError
from shoal.mechanisms import Duchi, Hybrid, Piecewise, SquareWave
from shoal.privacy import Ledger, Release
from shoal.reports import NoiseAwareKMeans, label_on_device

BOX = (-1.0, 1.0)
CENTERS = np.array([[-0.6, -0.6], [0.6, -0.5], [0.0, 0.6]])


def records(seed, n=3000, columns=2):
    rng = np.random.default_rng(seed)
    centers = np.hstack([CENTERS, np.zeros((3, columns))])[:, :columns]
    return centers[rng.integers(0, 3, n)] + 0.08 * rng.normal(size=(n, columns))


def fitted(mechanism, X, k=3, **kwargs):
    reports = mechanism.set_params(random_state=0).fit_transform(X)
    return NoiseAwareKMeans(k, mechanism=mechanism, n_init=3, random_state=0, **kwargs).fit(reports)


@pytest.mark.parametrize(
    "mechanism",
    [
        SquareWave(8.0, bounds=BOX),
        Hybrid(8.0, bounds=BOX),
        Piecewise(5.0, bounds=BOX, columns="sample"),
    ],
)
def test_finds_centers(mechanism):
    X = records(0)
    model = fitted(mechanism, X)
    assert cdist(CENTERS, model.cluster_centers_).min(axis=1).max() < 0.1
    np.testing.assert_allclose(model.weights_, 1 / 3, atol=0.08)
    assert model.better_than_blind_
    assert model.start_ == "channel"
    assert (model.labels_[:20] < 3).all()
    assert model.labels_.shape == (3000,)
    assert (model.predict(X[:9]) == label_on_device(model.release_, X[:9])).all()
    release = Release.from_json(model.release_.to_json())
    assert release == model.release_
    assert release.values["better_than_blind"] is True


def test_duchi_tells_means_and_products_alone():
    """Two corners of the box: signs of the columns go together, so the clusters are found."""
    rng = np.random.default_rng(0)
    X = 0.7 * rng.choice([-1.0, 1.0], size=(6000, 1)) * np.ones(2)
    model = fitted(Duchi(4.0, bounds=BOX), X, k=2)
    assert model.better_than_blind_
    assert np.prod(model.cluster_centers_, axis=1).min() > 0.05
    # One column has the same mean as evenly spread records: nothing is seen.
    assert fitted(Duchi(4.0, bounds=BOX), X[:, :1], k=2).start_ == "blind"


def test_radii_cover():
    """9 centers at 95%: 6 or more hits but for 6e-4."""
    hits = []
    for seed in range(3):
        mechanism = SquareWave(6.0, bounds=BOX, random_state=seed)
        X = records(seed, n=2000)
        model = NoiseAwareKMeans(3, mechanism=mechanism, n_init=2, random_state=seed)
        model.fit(mechanism.fit_transform(X))
        gaps = cdist(CENTERS, model.cluster_centers_)
        hits.extend(gaps.min(axis=1) <= model.center_radius_[gaps.argmin(axis=1)])
    assert sum(hits) >= 6


def test_labels_are_those_of_the_most_probable_cluster():
    """Of clusters that the reports tell apart, most labels are right."""
    X = records(0)
    model = fitted(SquareWave(12.0, bounds=BOX), X)
    assert (model.labels_ == model.predict(X)).mean() > 0.8


@pytest.mark.parametrize("columns", [1, 4])
def test_few_reports(columns):
    for kind, n in ((SquareWave, 1), (Hybrid, 2), (Duchi, 5)):
        with case(kind=kind, n=n):
            model = fitted(kind(4.0, bounds=BOX), np.zeros((n, columns)), k=8)
            assert model.cluster_centers_.shape == (8, columns)
            assert (np.abs(model.cluster_centers_) <= 1).all()
            assert model.weights_.sum() == pytest.approx(1)
            assert model.labels_.shape == (n,)
            assert not model.better_than_blind_


@pytest.mark.full
@pytest.mark.parametrize("mechanism", [SquareWave(16.0, bounds=BOX), Hybrid(16.0, bounds=BOX)])
def test_many_columns(mechanism):
    X = records(0, n=6000, columns=5)
    model = fitted(mechanism, X)
    centers = np.hstack([CENTERS, np.zeros((3, 3))])
    assert cdist(centers, model.cluster_centers_).min(axis=1).max() < 0.45
    assert model.better_than_blind_


def test_fitting_spends_nothing_and_checks_the_mechanism():
    ledger = Ledger(epsilon=10.0)
    mechanism = SquareWave(4.0, bounds=BOX, ledger=ledger)
    reports = mechanism.fit_transform(records(0, n=200))
    NoiseAwareKMeans(2, mechanism=mechanism, n_init=1).fit(reports)
    assert len(ledger) == 1
    with pytest.raises(ParameterError, match="epsilon must"):
        NoiseAwareKMeans(2, mechanism=SquareWave(-1.0, bounds=BOX)).fit(reports)
    with pytest.raises(ParameterError, match="columns must"):
        NoiseAwareKMeans(2, mechanism=Hybrid(1.0, bounds=BOX, columns="some")).fit(reports)
