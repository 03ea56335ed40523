from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from shoal._bounds import public_box
from shoal.exceptions import DataError, ParameterError
from shoal.mechanisms import Laplace, PartitionResponse
from shoal.partitions import AxisGrids, Partitions, box_axes, default_colors
from shoal.reports import NoiseAwareKMeans, label_on_device, load_release
from shoal.reports._atoms import Cells
from shoal.reports._cross_fit import UPDATES
from shoal.reports._partition_density import HeldOut, _sparse, cell_density, choose_updates
from shoal.reports._partition_likelihood import ColorChannel, tally
from shoal.reports._report_noise import ball_radii
from shoal.schema import Category, Number, Schema

CENTERS = np.array([[-0.6, -0.6, 0.5], [0.6, -0.5, 0.0], [0.0, 0.6, -0.5]])


def records(seed, n=2000, columns=2):
    rng = np.random.default_rng(seed)
    return CENTERS[rng.integers(3, size=n), :columns] + 0.08 * rng.normal(size=(n, columns))


def response(epsilon, columns=2, seed=0):
    """Few partitions: each step is faster for it."""
    axes = box_axes(public_box((-1.0, 1.0), columns))
    grids = AxisGrids(axes, n_partitions=64, n_colors=default_colors(epsilon), cells=8)
    return PartitionResponse(epsilon, partitions=Partitions([grids]), random_state=seed)


@cache
def fitted(columns=2, epsilon=3.0):
    mechanism = response(epsilon, columns)
    reports = mechanism.fit_transform(records(0, columns=columns))
    return NoiseAwareKMeans(3, mechanism=mechanism, random_state=0).fit(reports), reports


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_recovers_clusters(columns):
    """Each center within a tenth of the box; seeds fixed, as are all draws."""
    model, reports = fitted(columns)
    near = cdist(CENTERS[:, :columns], model.cluster_centers_).min(axis=1)
    assert near.max() < 0.1
    assert model.start_ == "partitions"
    assert model.better_than_blind_
    assert model.n_features_in_ == columns
    assert model.labels_.shape == (len(reports),)
    assert model.weights_ == pytest.approx(np.full(3, 1 / 3), abs=0.08)
    assert (model.center_radius_ < 0.3).all()


def test_predicts_records_and_labels_reports():
    """Most records are labeled right; of reports, more than their noise lets one guess."""
    model, _ = fitted()
    X = records(0)
    own = cdist(X, model.cluster_centers_).argmin(axis=1)
    assert (model.predict(X) == own).all()
    assert (model.labels_ == own).mean() > 0.6
    with pytest.raises(DataError, match="3 features"):
        model.predict(np.zeros((2, 3)))


def test_order_of_reports_does_not_matter():
    model, reports = fitted()
    order = np.random.default_rng(0).permutation(len(reports))
    again = NoiseAwareKMeans(3, mechanism=model.mechanism, random_state=0).fit(reports[order])
    assert (again.cluster_centers_ == model.cluster_centers_).all()
    assert (again.labels_ == model.labels_[order]).all()


def test_says_that_noise_is_noise():
    """Evenly spread records: each of three runs is a false alarm with probability at most 5%."""
    for seed in range(3):
        mechanism = response(1.0, seed=seed)
        X = np.random.default_rng(seed).uniform(-1, 1, size=(1000, 2))
        model = NoiseAwareKMeans(3, mechanism=mechanism, n_init=2, random_state=seed)
        model.fit(mechanism.fit_transform(X))
        assert not model.better_than_blind_
        assert model.release_.values["better_than_blind"] is False


def held_out(epsilon, n, seed=0):
    mechanism = response(epsilon, seed=seed)
    counted = tally(mechanism.fit_transform(records(seed, n)), mechanism.partitions_)
    cells = Cells.regular(public_box((-1.0, 1.0), 2))
    keep = float(mechanism.keep_probability)
    channel = ColorChannel.of(mechanism.partitions_, keep, cells.points, counted.pairs)
    halves = counted.halves(np.random.RandomState(seed))
    return cells, channel, HeldOut(counted.counts, halves, cells.volumes)


def test_held_out_reports_choose_the_updates(monkeypatch):
    """The chosen number explains the other half better than the largest, which fits chance."""
    cells, channel, reports = held_out(1.0, 1000)
    chosen = choose_updates(channel, reports, cells.start)
    monkeypatch.setattr("shoal.reports._partition_density.UPDATES", UPDATES[-1:])
    assert chosen.gain > choose_updates(channel, reports, cells.start).gain + 3.0
    for weights in (chosen.whole, *chosen.halves):
        assert weights.sum() == pytest.approx(1.0)
        assert (weights >= 0.0).all()


def test_gains_are_of_the_other_half():
    """A half explains itself better than the other half: chance is fitted."""
    cells, channel, reports = held_out(1.0, 1000)
    chosen = choose_updates(channel, reports, cells.start)
    swapped = reports._replace(halves=reports.halves[::-1])
    assert sum(reports.gains(channel, chosen.halves)) == pytest.approx(chosen.gain)
    assert sum(swapped.gains(channel, chosen.halves)) > chosen.gain + 3.0


def test_cells_are_halved_where_records_are():
    """Records at one point: its cell ends up far smaller, and the box is still divided."""
    mechanism = response(4.0)
    X = np.tile([[0.31, -0.22]], (3000, 1))
    counted = tally(mechanism.fit_transform(X), mechanism.partitions_)
    keep, box = float(mechanism.keep_probability), public_box((-1.0, 1.0), 2)
    density = cell_density(
        lambda atoms: ColorChannel.of(mechanism.partitions_, keep, atoms, counted.pairs),
        counted,
        box,
        1,
        np.random.RandomState(0),
    )
    mean = density.weights.whole @ density.cells.points
    assert mean == pytest.approx(X[0], abs=0.02)
    assert density.cells.sides.min() < density.cells.sides.max() / 8
    assert (density.cells.sides**2).sum() == pytest.approx(1.0)
    assert density.cells.width(density.weights.whole).max() < 2 / 200


def test_halved_cells_divide_their_parents():
    cells = Cells.regular(public_box(([0.0, 10.0], [1.0, 30.0]), 2))
    chosen = np.zeros(len(cells.sides), dtype=bool)
    chosen[[5, 900]] = True
    halved, parents = cells.halved(chosen)
    assert halved.volumes.sum() == pytest.approx(1.0)
    for cell in (5, 900):
        parts = halved.middles[parents == cell]
        assert len(parts) == 4
        assert parts.mean(axis=0) == pytest.approx(cells.middles[cell])
        assert (np.abs(parts - cells.middles[cell]) < cells.sides[cell] / 2).all()
    assert (halved.points >= [0.0, 10.0]).all()
    assert (halved.points <= [1.0, 30.0]).all()


@pytest.mark.parametrize("reports", [[[0.0, 0.0]], [[0.0, 1.0], [63.0, 0.0]]])
def test_few_reports_say_nothing(reports):
    model = NoiseAwareKMeans(3, mechanism=response(1.0).fit(np.zeros((1, 2))), random_state=0)
    model.fit(np.array(reports))
    assert not model.better_than_blind_
    assert model.cluster_centers_.shape == (3, 2)
    assert (np.abs(model.cluster_centers_) <= 1.0).all()
    assert np.isfinite(model.center_radius_).all()


@pytest.mark.parametrize(
    "reports",
    [
        [[64.0, 0.0]],
        [[0.0, 4.0]],
        [[0.0, -1.0]],
        [[0.5, 0.0]],
        [[0.0, 0.0, 0.0]],
        [[0.25, -0.75], [0.1, 0.2]],
        [[np.nan, 0.0]],
        [],
    ],
)
def test_what_is_no_report_is_refused(reports):
    model = NoiseAwareKMeans(3, mechanism=response(1.0).fit(np.zeros((1, 2))), random_state=0)
    with pytest.raises((ParameterError, DataError)):
        model.fit(np.array(reports))
    assert not hasattr(model, "release_")
    assert not hasattr(model, "n_features_in_")


def test_fit_after_another_mechanism_knows_its_own_columns():
    """Names and numbers of columns of the table before do not stay."""
    model = NoiseAwareKMeans(3, random_state=0)
    X = pd.DataFrame(records(0, 200), columns=["a", "b"])
    laplace = Laplace(8.0, bounds=(-1.0, 1.0), random_state=0)
    model.set_params(mechanism=laplace).fit(laplace.fit_transform(X[["a"]]))
    mechanism = response(3.0)
    model.set_params(mechanism=mechanism).fit(mechanism.fit_transform(X.to_numpy()))
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")
    assert model.predict(X.to_numpy()).shape == (200,)


@pytest.mark.full
def test_radii_cover_the_means():
    """3 x 40 balls of level 95%: fewer than 104 cover with probability 1.1e-4 if exact."""
    covered = 0
    for seed in range(40):
        mechanism = response(2.0, seed=seed)
        model = NoiseAwareKMeans(3, mechanism=mechanism, n_init=5, random_state=seed)
        model.fit(mechanism.fit_transform(records(seed, 5000)))
        gaps = cdist(CENTERS[:, :2], model.cluster_centers_)
        covered += int((gaps.min(axis=1) <= model.center_radius_[gaps.argmin(axis=1)]).sum())
    assert covered >= 104


def test_names_of_records_are_those_of_the_mechanism():
    """Records with columns in another order are refused, not labeled wrongly."""
    table = pd.DataFrame(records(0, n=200), columns=["lon", "lat"])
    mechanism = response(3.0)
    model = NoiseAwareKMeans(3, mechanism=mechanism, random_state=0)
    model.fit(mechanism.fit_transform(table))
    assert model.release_.values["columns"] == ["lon", "lat"]
    assert model.predict(table).shape == (200,)
    with pytest.raises(DataError, match="feature names"):
        model.predict(table[["lat", "lon"]])


def scaled_fit(low, width):
    X = (records(0) + 1.0) / 2.0
    bounds = ([low, low], [low + width, low + width])
    mechanism = PartitionResponse(4.0, bounds=bounds, n_clusters=3, random_state=0)
    reports = mechanism.fit_transform(low + width * X)
    return NoiseAwareKMeans(3, mechanism=mechanism, random_state=0).fit(reports)


@pytest.mark.parametrize(("low", "width"), [(0.0, 1e-9), (0.0, 1e150), (1e9, 1.0)])
def test_the_unit_of_the_box_does_not_matter(low, width):
    """Radii and labels are those of the unit box; a far box has fewer digits."""
    unit, model = scaled_fit(0.0, 1.0), scaled_fit(low, width)
    order, own = unit.cluster_centers_[:, 0].argsort(), model.cluster_centers_[:, 0].argsort()
    assert model.center_radius_[own] / width == pytest.approx(unit.center_radius_[order], rel=1e-3)
    assert np.bincount(model.labels_)[own] == pytest.approx(
        np.bincount(unit.labels_)[order], rel=0.01
    )


@pytest.mark.parametrize("n", [3, 10])
def test_radii_of_few_reports_are_not_small(n):
    """What reports do not tell is unknown, not certain."""
    mechanism = response(2.0)
    reports = mechanism.fit_transform(records(0, n=n))
    model = NoiseAwareKMeans(3, mechanism=mechanism, random_state=0).fit(reports)
    assert model.center_radius_.min() > 1.0


def test_a_release_of_mixed_records_carries_their_schema():
    """A device labels its record as it is, and the clusters are shown in the words of the table."""
    schema = Schema([Number("age", minimum=0, maximum=120), Category("city", ["A", "B"])])
    table = {"age": [20.0, 90.0] * 300, "city": ["A", "B"] * 300}
    mechanism = PartitionResponse(4.0, schema=schema, n_clusters=2, random_state=0)
    model = NoiseAwareKMeans(2, mechanism=mechanism, random_state=0)
    release = model.fit(mechanism.fit_transform(table)).release_
    labels = label_on_device(release, table)
    assert (labels == model.predict(schema.encode(table))).all()
    assert len(set(labels[::2])) == len(set(labels[1::2])) == 1
    assert labels[0] != labels[1]
    frame = load_release(release).to_frame()
    assert set(frame["city"]) == {"A", "B"}
    assert frame["share"].sum() == pytest.approx(1.0)


def test_radii_of_next_to_no_knowledge_are_finite_numbers():
    """Squares of such variances are none."""
    wide = np.array([np.eye(2) * 1e200, np.eye(2)])
    assert ball_radii(wide, 0.95)[0] == pytest.approx(1e100 * ball_radii(wide, 0.95)[1])


def test_cells_far_from_all_records_overflow_nothing():
    """With few reports, weights can underflow: 60 of six clusters warned in one of 60 runs."""
    cells = SimpleNamespace(middles=np.zeros((256, 2)))
    weights = np.full(256, 1e-300)
    weights[0] = 1.0
    sparse = _sparse(weights, cells, 6, 0.1)
    assert sparse.sum() == pytest.approx(1.0)
    assert sparse[255] == 0.0
