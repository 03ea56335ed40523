"""Clusters of any shape from reports: what is found, what is refused, and what is not there."""

import pickle

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import check_estimator

from shoal._bounds import public_box
from shoal.density import DensityEstimate, GridCells, find_merges
from shoal.exceptions import DataError, ParameterError
from shoal.mechanisms import (
    Duchi,
    Hybrid,
    KdLaplace,
    Laplace,
    PartitionResponse,
    Piecewise,
    SquareWave,
)
from shoal.privacy import Ledger, Release
from shoal.reports import (
    GaussianChannel,
    NoiseAwareDensity,
    _false_peaks,
    _partition_shapes,
    label_on_device,
    noise_aware_density,
)
from shoal.reports._false_peaks import cut_peaks
from shoal.reports._partition_shapes import open_partition_estimator
from shoal.reports._report_grid import make_grid, open_channel
from shoal.reports._report_noise import report_noise

BOX = (-1.0, 1.0)


@pytest.fixture(autouse=True)
def few_runs(monkeypatch):
    """Simulate less: these tests ask for clear shapes, and one asks how often chance makes two."""
    monkeypatch.setattr(_false_peaks, "RUNS", 8)


def bars(seed, n=3000):
    """Two long bars, nearer to each other than they are long."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    records = rng.uniform(-0.9, 0.9, (n, 2)) * [1.0, 0.15]
    records[:, 1] += np.where(labels, 0.5, -0.5)
    return records, labels


def fitted(mechanism, X, **kwargs):
    reports = mechanism.fit_transform(X)
    return NoiseAwareDensity(mechanism=mechanism, random_state=0, **kwargs).fit(reports), reports


def perturbed(name):
    """Return a mechanism of about the same noise."""
    return {
        "laplace": Laplace(10.0, bounds=BOX, random_state=0),
        "piecewise": Piecewise(8.0, bounds=BOX, random_state=0),
        "square wave": SquareWave(6.0, bounds=BOX, random_state=0),
    }[name]


@pytest.mark.parametrize("name", ["laplace", "piecewise", "square wave"])
def test_finds_shapes_behind_reports(name):
    X, labels = bars(0)
    model, _ = fitted(perturbed(name), X)
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(labels, model.predict(X)) > 0.8
    assert model.cluster_sizes_.sum() == pytest.approx(len(X), rel=0.15)
    assert model.density_.shape == model.cells_.shape


def test_gaussian_noise_and_one_column():
    rng = np.random.default_rng(0)
    X = rng.choice([-0.5, 0.5], size=(3000, 1)) + 0.05 * rng.normal(size=(3000, 1))
    channel = GaussianChannel(0.2, bounds=BOX)
    Z = X + 0.2 * rng.normal(size=X.shape)
    model = NoiseAwareDensity(mechanism=channel, random_state=0).fit(Z)
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(X[:, 0] > 0, model.predict(X)) > 0.95


@pytest.mark.parametrize(
    "mechanism",
    [
        SquareWave(20.0, bounds=BOX, random_state=0),
        Piecewise(20.0, bounds=BOX, random_state=0),
        Laplace(1e7, bounds=BOX, random_state=0),
    ],
)
def test_noise_that_is_far_narrower_than_a_cell(mechanism):
    rng = np.random.default_rng(0)
    X = rng.choice([-0.5, 0.5], size=(1000, 1)) + 0.05 * rng.normal(size=(1000, 1))
    model, _ = fitted(mechanism, X)
    assert model.n_clusters_ >= 2
    assert model.cluster_sizes_[:2].sum() > 900
    assert adjusted_rand_score(X[:, 0] > 0, model.predict(X)) > 0.9


def test_reports_that_stay_in_the_cell_of_their_record():
    """Fixed seed; the standard deviation of the part that stays is 0.003."""
    mechanism = SquareWave(20.0, bounds=BOX, random_state=0)
    noise = report_noise(mechanism, 1, biased=True)
    grid = make_grid(noise, public_box(BOX, 1))
    (centers,) = grid.centers()
    reports = mechanism.fit_transform(np.full((4000, 1), centers[40]))
    stayed = (np.abs(reports - centers[40]) < grid.width / 2).mean()
    record = np.zeros(grid.cells)
    record[40] = 1.0
    chances = open_channel(noise, grid).forward(record)
    assert chances[40 + grid.margin[0]] == pytest.approx(stayed, abs=0.015)


def test_simulations_draw_as_many_reports_as_were_counted(monkeypatch):
    drawn = []

    def spy(estimator, density, reports, **kwargs):
        drawn.append(reports)
        return _false_peaks.simulate(estimator, density, reports, **kwargs)

    monkeypatch.setattr(noise_aware_density, "simulate", spy)
    Z = np.random.default_rng(0).uniform(-1, 1, (300, 1))
    Z[:100] = 50.0  # far from the box
    NoiseAwareDensity(mechanism=Laplace(20.0, bounds=BOX), random_state=0).fit(Z)
    assert set(drawn) == {200}


@pytest.mark.parametrize("runs", [2, pytest.param(40, marks=pytest.mark.full)], ids=["few", "many"])
def test_a_single_peak_is_one_cluster(runs):
    """Fixed seeds; at alpha 0.05, 7 of 40 by chance have probability 0.003, and 2 of 2 as well."""
    false = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        even = rng.uniform(-1, 1, (1000, 2))
        X = even if seed % 2 else 0.3 * rng.normal(size=(1000, 2))
        model, _ = fitted(SquareWave(4.0, bounds=BOX, random_state=seed), X)
        false += model.n_clusters_ > 1
    assert false < (7 if runs > 2 else 2)


def test_labels_on_the_device_are_those_of_predict():
    rng = np.random.default_rng(0)
    low, high = np.array([0.0, -5.0]), np.array([10.0, -1.0])
    X, _ = bars(0)
    X = low + (X + 1) / 2 * (high - low)
    reports = X + 0.5 * rng.normal(size=X.shape)
    channel = GaussianChannel(0.5, bounds=(low, high))
    model = NoiseAwareDensity(mechanism=channel, random_state=0).fit(reports)
    assert model.cells_.shape[0] != model.cells_.shape[1]
    release = Release.from_json(model.release_.to_json())
    edges = [low, high, low - 1e9, high + 1e9]
    points = np.concatenate([X[:200], reports[:200], rng.uniform(-9, 12, (200, 2)), edges])
    labels = model.predict(points)
    assert (label_on_device(release, points) == labels).all()
    assert (model.predict(reports) == model.labels_).all()
    cells = np.clip((points - low) / (high - low), 0, 1) * model.cells_.shape
    inside = np.minimum(cells.astype(int), np.array(model.cells_.shape) - 1)
    # The lattice rounds by 2^-20 of the box: a point may lie on the other side of a border.
    assert (model.cells_[tuple(inside.T)] == labels).mean() > 0.99


def test_refine_finds_other_clusters_in_the_same_density():
    X, _ = bars(0)
    model, _ = fitted(perturbed("square wave"), X)
    one = model.refine(n_clusters=1)
    assert (one.n_clusters_, model.n_clusters_) == (1, 2)
    assert one.density_ is model.density_
    assert one.guarantee_ == model.guarantee_
    joined = model.refine(min_cluster_size=1.5 * model.cluster_sizes_.min())
    assert joined.n_clusters_ == 1
    none = model.refine(min_cluster_size=2 * len(X))
    assert (none.n_clusters_, set(none.predict(X))) == (0, {-1})
    again = one.refine()
    assert (again.cells_ == model.cells_).all()


def test_same_seed_same_bits_and_nothing_is_spent():
    X, _ = bars(0, n=400)
    ledger = Ledger(epsilon=100.0)
    mechanism = Piecewise(8.0, bounds=BOX, ledger=ledger, random_state=0)
    reports = mechanism.fit_transform(X)
    spent = len(ledger.entries)
    models = [NoiseAwareDensity(mechanism=mechanism, random_state=1).fit(reports) for _ in range(2)]
    assert len(ledger.entries) == spent
    assert (models[0].density_ == models[1].density_).all()
    assert models[0].guarantee_ == mechanism.guarantee_


def test_a_fitted_model_travels():
    X, _ = bars(0, n=400)
    model, _ = fitted(perturbed("square wave"), X)
    copied = pickle.loads(pickle.dumps(model))
    assert (copied.predict(X) == model.predict(X)).all()


@pytest.mark.parametrize(
    "mechanism",
    [
        None,
        Duchi(2.0, bounds=BOX),
        Hybrid(2.0, bounds=BOX),
        KdLaplace(2.0, bounds=BOX),
        Laplace(2.0, bounds=BOX, truncate="resample"),
        Piecewise(2.0, bounds=BOX, columns="sample"),
    ],
)
def test_refuses_reports_whose_density_is_unknown(mechanism):
    with pytest.raises(ParameterError, match="mechanism must"):
        NoiseAwareDensity(mechanism=mechanism).fit(np.zeros((10, 2)))


def test_a_fit_that_fails_leaves_the_one_before():
    model, reports = fitted(Laplace(10.0, bounds=BOX, random_state=0), bars(0, n=200)[0])
    with pytest.raises(DataError, match="at most 3 columns"):
        model.fit(np.zeros((10, 4)))
    assert (model.predict(reports) == model.labels_).all()


def test_one_report_is_one_cluster_or_none():
    model = NoiseAwareDensity(mechanism=Laplace(4.0, bounds=BOX), random_state=0).fit([[0.1, 0.2]])
    assert model.n_clusters_ <= 1


def test_reports_far_from_the_box_are_drawn_in():
    channel = GaussianChannel(0.3, bounds=BOX)
    model = NoiseAwareDensity(mechanism=channel, random_state=0).fit(np.full((20, 2), 50.0))
    assert model.n_clusters_ <= 1


# Of more than three columns, or three clusters in 50 records.
REFUSED = {
    "check_clustering",
    "check_dtype_object",
    "check_estimators_dtypes",
    "check_fit2d_1sample",
    "check_n_features_in_after_fitting",
    "check_positive_only_tag_during_fit",
}


@pytest.mark.full
def test_scikit_learn_checks():
    model = NoiseAwareDensity(mechanism=GaussianChannel(2.0, bounds=(-10.0, 10.0)), random_state=0)
    results = check_estimator(model, on_skip=None, on_fail=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed <= REFUSED
    assert sum(result["status"] == "passed" for result in results) >= 35


def test_cut_peaks_leave_the_most_prominent_ones():
    density = np.array([9.0, 1.0, 8.0, 5.0, 6.0, 2.0, 3.0])
    cells = GridCells((7,))
    merges = find_merges(DensityEstimate(density, np.ones(7)), cells.edges)
    assert cut_peaks(density, merges, 2).tolist() == [9.0, 1.0, 8.0, 5.0, 5.0, 2.0, 2.0]
    assert cut_peaks(density, merges, 1).tolist() == [9.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    for peaks in (1, 2, 3, 4, 9):
        left = cut_peaks(density, merges, peaks)
        found = find_merges(DensityEstimate(left, np.ones(7)), cells.edges)
        assert 1 + (found.prominence > 0).sum() == min(peaks, 4)


def test_partition_responses(monkeypatch):
    """Two long bars at local epsilon 4: fixed seeds."""
    monkeypatch.setitem(_partition_shapes.CELLS, 2, 40)
    X, truth = bars(0, n=4000)
    mechanism = PartitionResponse(4.0, bounds=([-1.0, -1.0], [1.0, 1.0]), random_state=0)
    reports = mechanism.fit_transform(X)
    model = NoiseAwareDensity(mechanism=mechanism, random_state=0).fit(reports)
    assert adjusted_rand_score(truth, label_on_device(model.release_, X)) > 0.9
    assert model.n_features_in_ == 2
    assert model.labels_.shape == (4000,)
    # Of reports, half of which hold the color of the record; labels by chance have 0.00.
    assert adjusted_rand_score(truth, model.labels_) > 0.1
    assert model.density_.sum() == pytest.approx(4000)


def test_channel_of_partition_responses_and_its_adjoint():
    mechanism = PartitionResponse(2.0, bounds=([-1.0], [1.0]), random_state=0)
    reports = mechanism.fit_transform(np.full((500, 1), 0.3))
    estimator, counts = open_partition_estimator(
        reports, mechanism, public_box((-1.0, 1.0), 1), np.random.default_rng(0)
    )
    rng = np.random.default_rng(0)
    prior, values = rng.random(estimator.cells), rng.random(counts.shape)
    prior /= prior.sum()
    forward = estimator.channel.forward(prior)
    assert forward.sum() == pytest.approx(1)
    assert forward @ values == pytest.approx((prior * estimator.channel.backward(values)).sum())
    # One record: probabilities of reports are those of the mechanism, given the partition.
    point = np.zeros(estimator.cells)
    point[100] = 1.0
    record = -1.0 + 100.5 / estimator.cells[0] * 2
    pairs = np.array([[j, s] for j in range(4) for s in range(mechanism.n_colors)], dtype=float)
    exact = np.exp(mechanism.log_density(pairs, [record])).reshape(4, -1)
    found = estimator.channel.forward(point).reshape(-1, mechanism.n_colors)[:4]
    np.testing.assert_allclose(
        found / found.sum(axis=1)[:, None], exact / exact.sum(axis=1)[:, None], rtol=1e-9
    )
