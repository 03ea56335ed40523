"""DPDensity: what a fit gives, what changes for nothing afterward, and what is refused."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest

from shoal.cluster import DPDensity
from shoal.cluster.density import _cells
from shoal.exceptions import ParameterError, ReleaseError
from shoal.privacy import Ledger, Release
from shoal.reports import label_on_device

BOX = (-1.0, 1.0)


def blobs(columns, n=900):
    """Make three crowds on a line through the box, of 1 to 3 parts of the records."""
    rng = np.random.default_rng(3)
    which = np.repeat([0, 1, 2], [n // 6, n // 3, n // 2])
    return (which - 1)[:, None] * 0.6 + rng.normal(scale=0.05, size=(len(which), columns))


X = blobs(2)


@pytest.fixture(scope="module")
def fitted():
    """A fit that chose everything by itself."""
    ledger = Ledger(epsilon=2.0)
    return DPDensity(epsilon=2.0, bounds=BOX, ledger=ledger, random_state=0).fit(X)


def test_attributes(fitted):
    assert fitted.n_clusters_ == 3
    assert fitted.cluster_sizes_ == pytest.approx([450.0, 300.0, 150.0], rel=0.2)
    assert fitted.n_records_ == fitted.release_.values["records"] > 0
    assert fitted.cells_.shape == fitted.density_.shape
    assert fitted.cells_.dtype == np.int32
    assert set(np.unique(fitted.cells_)) == {-1, 0, 1, 2}
    assert len(fitted.cluster_nodes_) == 3
    assert fitted.threshold_ > 0
    assert fitted.n_features_in_ == 2
    assert fitted.guarantee_.epsilon == 2.0


def test_sizes_are_sums_of_the_density(fitted):
    for cluster, size in enumerate(fitted.cluster_sizes_):
        density = fitted.density_[fitted.cells_ == cluster]
        assert np.maximum(density, 0.0).sum() == pytest.approx(size)


def test_predict_gives_labels(fitted):
    assert (fitted.predict(X) == fitted.labels_).all()
    assert (fitted.labels_[-450:] == 0).mean() > 0.9
    assert (fitted.labels_[:150] == 2).mean() > 0.8


def test_a_fit_that_fails_leaves_the_labels_of_the_one_before(monkeypatch):
    model = DPDensity(epsilon=2.0, bounds=BOX, random_state=0).fit(X)
    labels = model.labels_

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(DPDensity, "_find_clusters", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:5])
    assert model.labels_ is labels


def test_predict_outside_of_the_box_is_that_of_its_border(fitted):
    corners = np.array([[9.0, 9.0], [-9.0, 0.3], [1e300, -1e300]])
    assert (fitted.predict(corners) == fitted.predict(np.clip(corners, *BOX))).all()


def test_degrees_follow_the_labels(fitted):
    degrees = fitted.predict_proba(X)
    assert degrees.shape == (len(X), 3)
    assert (degrees >= 0).all()
    assert (degrees.sum(axis=1) <= 1 + 1e-12).all()
    held = fitted.labels_ >= 0
    assert (degrees.argmax(axis=1) == fitted.labels_)[held].mean() > 0.95


def test_the_release_comes_back_from_json(fitted):
    release = Release.from_json(fitted.release_.to_json())
    assert release == fitted.release_
    assert (label_on_device(release, X) == fitted.labels_).all()
    assert all(np.size(value) != len(X) for value in release.values.values())


def test_refine_costs_nothing(fitted):
    spent = len(fitted.ledger)
    other = fitted.refine(n_clusters=2)
    assert len(fitted.ledger) == spent == 1
    assert other.release_.ledger == fitted.release_.ledger
    assert other.guarantee_ == fitted.guarantee_
    assert (other.release_.values["counts"] == fitted.release_.values["counts"]).all()
    assert fitted.n_clusters_ == 3  # as it was
    assert not hasattr(other, "labels_")
    assert hasattr(fitted, "labels_")


def test_refine_gives_what_a_fit_would_have_given(fitted):
    settings = {"n_clusters": 2, "min_cluster_size": 10.0}
    other = fitted.refine(**settings)
    anew = DPDensity(epsilon=2.0, bounds=BOX, random_state=0, **settings).fit(X)
    assert (other.cells_ == anew.cells_).all()
    assert other.get_params()["n_clusters"] == 2
    assert (fitted.refine().cells_ == fitted.cells_).all()


def test_a_release_is_enough_to_refine(fitted):
    release = Release.from_json(fitted.release_.to_json())
    again = DPDensity.from_release(release)
    assert again.release_ == fitted.release_
    assert (again.predict(X) == fitted.labels_).all()
    one, other = (model.refine(alpha=0.3, min_cluster_size=9.0) for model in (again, fitted))
    assert one.release_ == other.release_
    with pytest.raises(ReleaseError, match="of a DPDensity"):
        DPDensity.from_release(Release("DPKMeans", release.values, release.guarantee))
    lacking = {name: value for name, value in release.values.items() if name != "counts"}
    with pytest.raises(ReleaseError, match="counts"):
        DPDensity.from_release(Release("DPDensity", lacking, release.guarantee))


def test_refine_simulates_chance_once(fitted, monkeypatch):
    anew = DPDensity(epsilon=2.0, bounds=BOX, random_state=0, alpha=0.2).fit(X)
    monkeypatch.setattr(_cells, "simulate_chance", None)
    other = fitted.refine(alpha=0.2)
    assert other.threshold_ == anew.threshold_
    assert (other.cells_ == anew.cells_).all()


def test_a_level_cuts_the_tree(fitted):
    tree = fitted.cluster_tree_
    peaks = np.sort(tree.top[tree.is_leaf])
    between, high = max(tree.base.max(), 0.1) * 1.01, peaks[-2] * 1.01
    for level, count in ((between, len(peaks)), (high, 1), (peaks[-1] * 2, 0)):
        cut = fitted.refine(level=level)
        assert cut.n_clusters_ == count
        assert (cut.density_[cut.cells_ >= 0] >= level).all()
    assert fitted.refine(level=between).refine().release_ == fitted.refine().release_
    for wrong in ({"level": 0.0}, {"level": 1.0, "n_clusters": 2}):
        with pytest.raises(ParameterError):
            fitted.refine(**wrong)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_n_clusters(fitted, k):
    assert fitted.refine(n_clusters=k).n_clusters_ == k


def test_min_cluster_size(fitted):
    assert fitted.refine(n_clusters=3, min_cluster_size=50.0).n_clusters_ == 3
    assert fitted.refine(n_clusters=3, min_cluster_size=220.0).n_clusters_ == 2
    assert fitted.refine(min_cluster_size=220.0).n_clusters_ == 2


def test_a_larger_alpha_asks_for_less(fitted):
    assert (
        fitted.refine(alpha=0.5).threshold_
        < fitted.threshold_
        < fitted.refine(alpha=1e-4).threshold_
    )


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
def test_numbers_of_columns(columns):
    records = blobs(columns)
    model = DPDensity(epsilon=1.0, bounds=BOX, n_clusters=3, random_state=0).fit(records)
    assert model.n_features_in_ == columns
    assert model.n_clusters_ == 3
    assert (model.labels_[-450:] == 0).mean() > 0.8


@pytest.mark.parametrize("records", [np.zeros((1, 2)), np.zeros((500, 2)), np.full((500, 1), 0.3)])
def test_one_record_and_equal_records(records):
    model = DPDensity(epsilon=1.0, bounds=BOX, random_state=1).fit(records)
    assert len(set(model.labels_)) == 1
    assert len(records) == 1 or model.labels_[0] == 0


def inside(points, feature):
    """Return which points are in polygons: a ray crosses these an odd number of times."""
    crossed = np.zeros(len(points), dtype=int)
    for ring in (np.array(ring) for part in feature["geometry"]["coordinates"] for ring in part):
        for one, other in itertools.pairwise(ring):
            between = (points[:, 1] >= one[1]) != (points[:, 1] >= other[1])
            crossed += between & (points[:, 0] < one[0])  # sides run along the columns
    return crossed % 2 == 1


def test_a_point_is_in_an_outline_if_predict_says_so(fitted):
    collection = json.loads(json.dumps(fitted.outlines()))
    assert [one["properties"]["cluster"] for one in collection["features"]] == [0, 1, 2]
    points = np.concatenate([X, np.random.default_rng(4).uniform(*BOX, (2000, 2))])
    labels = fitted.predict(points)
    for cluster, feature in enumerate(collection["features"]):
        assert feature["properties"]["size"] == fitted.cluster_sizes_[cluster]
        assert (inside(points, feature) == (labels == cluster)).all()


@pytest.mark.parametrize(
    ("names", "longitude", "east"),
    [
        (["lon", "lat"], None, 0),
        (["Latitude", "lng"], None, 1),
        (["y", "x"], None, 1),
        (["age", "income"], None, 0),
        (["age", "income"], "income", 1),
        (["lat", "lon"], 0, 0),
    ],
)
def test_longitude_comes_first(names, longitude, east):
    low, high = [[10.0, 10.0], [13.0, 13.0]]
    low[east], high[east] = 100.0, 103.0
    records = np.empty((200, 2))
    records[:, east], records[:, 1 - east] = 101.5, 11.5
    model = DPDensity(bounds=(low, high), n_clusters=1, random_state=0)
    model.fit(pd.DataFrame(records, columns=names))
    (feature,) = model.outlines(longitude=longitude)["features"]
    ring = np.array(feature["geometry"]["coordinates"][0][0])
    assert (ring[:, 0] >= 100.0).all()
    assert (ring[:, 1] <= 13.0).all()


def test_outlines_of_one_column_are_intervals():
    model = DPDensity(epsilon=1.0, bounds=BOX, n_clusters=3, random_state=0).fit(blobs(1))
    features = model.outlines()["features"]
    middles = [np.mean(one["properties"]["intervals"]) for one in features]
    assert middles == pytest.approx([0.6, 0.0, -0.6], abs=0.1)
    assert {one["geometry"] for one in features} == {None}


def test_outlines_that_are_refused(fitted):
    model = DPDensity(bounds=BOX, n_clusters=1, random_state=0).fit(blobs(3))
    with pytest.raises(ParameterError, match=r"^outlines must be of .* 1 or 2 columns, got 3: use"):
        model.outlines()
    for wrong in ("lon", 2, -1):
        with pytest.raises(ParameterError, match=r"^longitude must be 0, 1 or one of the columns"):
            fitted.outlines(longitude=wrong)


WRONG = [
    ({"alpha": 0.0}, r"^alpha must be a number in \(0, 1\), got 0.0"),
    ({"alpha": 1.0}, r"^alpha must be a number in \(0, 1\), got 1.0"),
    ({"alpha": "few"}, r"^alpha must be a number in \(0, 1\), got 'few'"),
    ({"alpha": np.nan}, r"^alpha must be a number in \(0, 1\), got nan"),
    ({"n_clusters": 0}, r"^n_clusters must be a whole number from 1"),
    ({"n_clusters": 2.5}, r"^n_clusters must be a whole number from 1"),
    ({"n_clusters": "auto"}, r"^n_clusters must be a whole number from 1"),
    ({"min_cluster_size": 0}, r"^min_cluster_size must be a finite number > 0, got 0"),
    ({"min_cluster_size": -3}, r"^min_cluster_size must be a finite number > 0, got -3"),
    ({"min_cluster_size": np.inf}, r"^min_cluster_size must be a finite number > 0, got inf"),
]


@pytest.mark.parametrize(("wrong", "text"), WRONG)
def test_refine_refuses_what_fit_does(fitted, wrong, text):
    with pytest.raises(ParameterError, match=text):
        fitted.refine(**wrong)


def test_two_narrow_peaks_of_one_column():
    """They fill 7% of it: a grid shows them, and the cells of crowds took them for one."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(middle, 1.0, 2000) for middle in (25.0, 75.0)])[:, None]
    model = DPDensity(epsilon=2.0, bounds=(0.0, 100.0), random_state=0).fit(X)
    assert model.n_clusters_ == 2
