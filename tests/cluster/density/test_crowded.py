"""Cells where records crowd: windows, what is found in them, and bugs that a replay must find."""

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_rand_score

from helpers.charts import layers
from shoal._cluster_table import cluster_table
from shoal.audit import Neighbors, replay_estimator
from shoal.audit.attacks._shadow_releases import release_features
from shoal.cluster import DPDensity
from shoal.cluster._leaves import release_shape
from shoal.cluster._noise import PureNoise
from shoal.cluster.density import _crowded
from shoal.cluster.density._crowded import (
    LEVELS,
    BoxKernel,
    WantedCells,
    plan_windows,
    release_crowded,
)
from shoal.density import BoxCells, find_boxes, place_cells
from shoal.engines import HALF, ArrayEngine
from shoal.noise import SeededSource
from shoal.plotting import draw_release
from shoal.privacy import Release
from shoal.reports import label_on_device

BOX = (0.0, 1.0)
RINGS, TRUTH = make_circles(6000, noise=0.04, factor=0.4, random_state=0)
CITY = 0.613 + RINGS / 200  # in a hundredth of each column


def model(**kwargs):
    return DPDensity(
        **{"epsilon": 2.0, "bounds": BOX, "n_clusters": 2, "random_state": 0, **kwargs}
    )


@pytest.fixture(scope="module")
def fitted():
    return model().fit(CITY)


def halved(rng, columns, splits):
    """Leaves of a tree that is split again and again near one place, and what they want."""
    place = rng.integers(0, 2 * HALF, columns)
    leaves = [(np.zeros(columns, int), np.full(columns, 2 * HALF), 0)]
    for _ in range(splits):
        held = [index for index, (low, high, _) in enumerate(leaves) if np.all(low <= place)]
        low, high, depth = leaves.pop(held[-1] if rng.random() < 0.8 else 0)
        middle = (low + high) // 2
        for upper in (False, True):
            one, two = low.copy(), high.copy()
            column = depth % columns
            (one if upper else two)[column] = middle[column]
            leaves.append((one, two, depth + 1))
    level = np.array([min(depth // columns + 3, LEVELS) for *_, depth in leaves])
    return WantedCells(
        np.array([low for low, *_ in leaves]), np.array([high for _, high, _ in leaves]), level
    )


# Windows


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_windows_lie_within_each_other_and_are_finer(columns, seed):
    windows = plan_windows(halved(np.random.default_rng(seed), columns, 30))
    assert windows[0].parent == -1
    assert windows[0].shape == (2 ** windows[0].level,) * columns
    replaced = [np.zeros(window.shape, dtype=int) for window in windows]
    for index, window in enumerate(windows[1:], start=1):
        assert window.parent < index
        around = windows[window.parent]
        assert window.level > around.level
        place = window.place(around)
        replaced[window.parent][place] += 1
        assert all(
            0 <= one.start < one.stop <= side for one, side in zip(place, around.shape, strict=True)
        )
        # It replaces whole cells.
        step = 2 ** (window.level - around.level)
        assert [step * (one.stop - one.start) for one in place] == list(window.shape)
    assert all(times.max() <= 1 for times in replaced)


def test_an_even_table_has_one_window_as_fine_as_its_leaves_want():
    side = 2 * HALF // 8
    start = np.stack(np.meshgrid(*[np.arange(8) * side] * 2), axis=-1).reshape(-1, 2)
    windows = plan_windows(WantedCells(start, start + side, np.full(64, 6)))
    assert [(window.level, window.shape) for window in windows] == [(6, (64, 64))]


def test_a_few_leaves_by_chance_get_no_window():
    side = 2 * HALF // 8
    start = np.stack(np.meshgrid(*[np.arange(8) * side] * 2), axis=-1).reshape(-1, 2)
    level = np.full(64, 6)
    level[:3] = 12
    assert len(plan_windows(WantedCells(start, start + side, level))) == 1


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_cells_fill_the_box_and_every_record_is_in_one(columns):
    rng = np.random.default_rng(columns)
    records = rng.normal(HALF / 3, HALF / 300, (3000, columns)).astype(np.int32)
    records[0], records[1] = -HALF, HALF
    engine = ArrayEngine(records)
    crowded = release_crowded(engine, 3000.0, PureNoise(50.0), 50.0, source=SeededSource(0))
    assert len(crowded.windows) > 1
    assert crowded.cells.volumes.sum() == 1.0
    assert (find_boxes(crowded.low, crowded.high, crowded.low) == np.arange(len(crowded.low))).all()
    (exact,) = engine.add_up(BoxKernel(crowded.low, crowded.high))
    index = crowded.find(records)
    inside = (records >= crowded.low[index]) & (records <= crowded.high[index])
    assert inside.all()
    assert (exact == np.bincount(index, minlength=len(exact))).all()
    # The noise of this budget is next to none.
    assert np.abs(crowded.counts - exact).max() <= 3
    estimate = crowded.estimate()
    held = estimate.density @ BoxCells(crowded.low, crowded.high).volumes
    assert held == pytest.approx(3000, rel=0.03)


# What is found


def test_a_ring_in_a_ring_in_a_city_of_a_country(fitted):
    assert fitted.release_.values["metric"] == "boxes"
    assert adjusted_rand_score(TRUTH, fitted.labels_) > 0.9
    found = model(n_clusters=None).fit(CITY)
    assert found.n_clusters_ == 2
    assert adjusted_rand_score(TRUTH, found.labels_) > 0.9


def test_the_same_rings_in_the_whole_box_have_one_grid():
    spread = model().fit(0.5 + RINGS / 3)
    assert spread.release_.values["metric"] == "cells"


def test_two_cities_of_different_sizes():
    other = 0.2 + RINGS / 40
    X, y = np.concatenate([CITY, other]), np.concatenate([TRUTH, TRUTH + 2])
    assert adjusted_rand_score(y, model(n_clusters=4).fit(X).labels_) > 0.85


def test_labels_are_the_same_everywhere(fitted, tmp_path):
    np.testing.assert_array_equal(fitted.predict(CITY), fitted.labels_)
    np.testing.assert_array_equal(label_on_device(fitted.release_, CITY), fitted.labels_)
    read = Release.from_json(fitted.release_.to_json())
    assert read == fitted.release_
    np.testing.assert_array_equal(label_on_device(read, CITY[:50]), fitted.labels_[:50])
    pq.write_table(pa.table({"x": CITY[:, 0], "y": CITY[:, 1]}), tmp_path / "city.parquet")
    streamed = model().fit(ds.dataset(tmp_path / "city.parquet"))
    for name in ("counts", "cell_low", "cell_high", "clusters"):
        np.testing.assert_array_equal(streamed.release_.values[name], fitted.release_.values[name])


def test_refine_finds_other_clusters_in_the_same_counts(fitted):
    one = fitted.refine(n_clusters=1)
    assert (one.n_clusters_, fitted.n_clusters_) == (1, 2)
    assert (one.release_.values["counts"] == fitted.release_.values["counts"]).all()


def test_a_release_is_enough_to_refine(fitted):
    again = DPDensity.from_release(Release.from_json(fitted.release_.to_json()))
    assert again.refine(n_clusters=2).release_ == fitted.refine(n_clusters=2).release_
    np.testing.assert_array_equal(again.refine(n_clusters=2).predict(CITY), fitted.labels_)


def test_outlines_are_where_the_city_is(fitted):
    features = fitted.outlines()["features"]
    assert len(features) == 2
    corners = np.concatenate(
        [ring for one in features for part in one["geometry"]["coordinates"] for ring in part]
    )
    assert (np.abs(corners - 0.613) < 0.02).all()


def test_all_readers_of_a_release_know_where_the_city_is(fitted):
    low, high = place_cells(fitted.release_.values)
    assert (np.abs((low + high) / 2 - 0.613) < 0.02).all()
    table = cluster_table(fitted.release_, ["x", "y"])
    places = table.values[:, [table.names.index(name) for name in ("x", "y")]]
    np.testing.assert_allclose(places, 0.613, atol=0.003)
    picture = draw_release(fitted.release_, ["x", "y"])
    (axis,) = {tuple(layer.encoding["x"]["scale"]["domain"]) for layer in layers(picture, 0)}
    assert (np.abs(np.array(axis) - 0.613) < 0.02).all()
    asked = np.array([CITY[fitted.labels_ >= 0][0], [0.1, 0.9]])
    features = release_features(fitted, asked, np.arange(2))
    assert features[:, 1].tolist() == [1.0, 0.0]


# The promise


def findings(*added, **kwargs):
    pairs = [Neighbors(f"added {one}", CITY[::4], one) for one in added or [[0.613, 0.613]]]
    return replay_estimator(model(**kwargs), pairs, repeats=1)


def test_replay_clears_a_crowd():
    assert model(epsilon=1.0).fit(CITY[::4]).release_.values["metric"] == "boxes"
    for epsilon in (1.0, 4.0):
        found = findings([0.613, 0.613], [0.0, 1.0], epsilon=epsilon)
        assert not found.broken, str(found)
        assert 0.5 * epsilon < found.loss <= epsilon * (1 + 1e-12)


def test_replay_finds_windows_from_exact_counts(monkeypatch):
    right = _crowded._wanted

    def leaking(leaves, records, *budgets):
        return right(leaves, float(leaves.exact.sum() % 2 * 10**9), *budgets)

    monkeypatch.setattr(_crowded, "_wanted", leaking)
    assert findings().broken


def test_replay_finds_a_shape_of_more_than_its_budget(monkeypatch):
    def larger(engine, n, budget, **kwargs):
        return release_shape(engine, n, 9 * budget, **kwargs)

    monkeypatch.setattr(_crowded, "release_shape", larger)
    assert "all releases cost" in str(findings())


def test_replay_finds_an_empty_cell_without_noise(monkeypatch):
    right = PureNoise.counts

    def skipping(self, values, *rest, **kwargs):
        noisy = right(self, values, *rest, **kwargs)
        return np.where(np.asarray(values) == 0, 0, noisy)

    monkeypatch.setattr(PureNoise, "counts", skipping)
    assert findings([0.0, 1.0]).broken  # the first in its cell


@pytest.mark.full
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_one_crowd_is_one_cluster(epsilon):
    """Of 60 tables, more than 8 false ones at alpha .05: probability .005."""
    false = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.uniform(0.1, 0.9, 2) + rng.normal(0, 1 / rng.uniform(200, 2000), (5000, 2))
        found = model(epsilon=epsilon, n_clusters=None, random_state=seed).fit(X)
        false += found.n_clusters_ > 1
    assert false <= 8
