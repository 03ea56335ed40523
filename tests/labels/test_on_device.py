"""Labels from a release are those of predict, bit for bit, whatever the box and the columns."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics import adjusted_rand_score

from helpers.cases import case
from shoal._registry import choices
from shoal.cluster import DPKMeans, DPWaveCluster
from shoal.exceptions import DataError, ParameterError, ReleaseError
from shoal.mechanisms import Laplace
from shoal.privacy import Guarantee, Release
from shoal.reports import NoiseAwareKMeans, label_on_device

RNG = np.random.default_rng(0)
NAMES = ["age", "income", "visits"]
LOW, HIGH = np.array([18.0, 0.0, 0.0]), np.array([100.0, 500_000.0, 500.0])
SEGMENTS = np.array(
    [[25.0, 90e3, 60.0], [45.0, 180e3, 250.0], [65.0, 135e3, 400.0], [35.0, 400e3, 120.0]]
)
PLANTED = RNG.integers(0, 4, 8000)
PEOPLE = SEGMENTS[PLANTED] + RNG.normal(size=(8000, 3)) * [5.0, 60e3, 40.0]
PROMISE = Guarantee("central", epsilon=1.0)


def kmeans(k=4, **kwargs):
    return DPKMeans(k, **{"bounds": (LOW, HIGH), "random_state": 0, **kwargs})


def read_back(model):
    """The release as a device gets it."""
    return Release.from_json(model.release_.to_json())


def hard_records():
    """Far outside of the box, on its edges, and on lattice points."""
    steps = RNG.integers(-(2**19), 2**19, (500, 3)) / 2**20 + 0.5
    wide = LOW + RNG.uniform(-2.0, 3.0, (500, 3)) * (HIGH - LOW)
    ends = [LOW, HIGH, LOW - 1e300, HIGH * 1e300]
    return np.concatenate([LOW + steps * (HIGH - LOW), wide, ends])


def test_ages_incomes_and_visits_find_their_segments():
    """Boxes 82, 500,000 and 500 wide: in raw units income alone decided, 63% agreed."""
    model = kmeans().fit(PEOPLE)
    labels = label_on_device(read_back(model), PEOPLE)
    assert (labels == model.predict(PEOPLE)).all()
    assert labels.dtype == model.predict(PEOPLE).dtype
    assert adjusted_rand_score(PLANTED, labels) > 0.9


@pytest.mark.parametrize("method", choices("DPKMeans", "method"))
def test_all_bits_of_predict(method):
    for scale in [1.0, 1e-9, 1e12]:
        with case(scale=scale):
            model = kmeans(9, method=method, bounds=(LOW * scale, HIGH * scale)).fit(PEOPLE * scale)
            X = np.concatenate([PEOPLE[:500], hard_records()])
            with np.errstate(over="ignore"):
                X = np.clip(X * scale, -1e300, 1e300)
            assert (label_on_device(read_back(model), X) == model.predict(X)).all()
            one_by_one = [label_on_device(model.release_, x) for x in X[:50]]
            assert one_by_one == model.predict(X[:50]).tolist()


def test_ties_go_to_the_lowest_index():
    """Midpoints of two centers on the lattice are as far from one as from the other."""
    low, high = np.array([0.0, -8.0]), np.array([4.0, 1.0])
    model = kmeans(2, bounds=(low, high)).fit(RNG.uniform(low, high, (50, 2)))
    step = (high - low) / 2**20
    tied = 0
    for _ in range(200):
        middle, gap = RNG.integers(-(2**18), 2**18, (2, 2))
        model.cluster_centers_ = (low + high) / 2 + step * np.array([middle + gap, middle - gap])
        values = {**model.release_.values, "centers": model.cluster_centers_}
        x = (low + high) / 2 + step * middle
        label = label_on_device(Release("DPKMeans", values, PROMISE), x)
        assert label == model.predict(x[None])[0]
        tied += label == 0
    assert tied == 200


@pytest.mark.parametrize("technique", ["oneshot", "density"])
@pytest.mark.parametrize("wavelet", ["haar", "db2"])
def test_cells(technique, wavelet):
    kwargs = {"epsilon": 2.0, "grid": 16, "technique": technique, "wavelet": wavelet}
    model = DPWaveCluster(bounds=(LOW, HIGH), random_state=0, **kwargs).fit(PEOPLE)
    X = np.concatenate([PEOPLE, hard_records()])
    labels = label_on_device(read_back(model), X)
    assert (labels == model.predict(X)).all()
    assert (labels >= 0).any()
    assert (labels < 0).any()


def test_without_significant_cells_there_is_no_cluster():
    model = DPWaveCluster(epsilon=2.0, grid=16, bounds=(LOW, HIGH), random_state=0).fit(PEOPLE)
    none = {"cells": np.zeros(0, np.int64), "clusters": np.zeros(0, np.int32)}
    release = Release("DPWaveCluster", {**model.release_.values, **none}, PROMISE)
    assert label_on_device(release, PEOPLE[0]) == -1
    assert (label_on_device(release, PEOPLE) == -1).all()


@pytest.mark.full
def test_reports_are_measured_in_their_own_unit():
    """The noise of the reports is round in their unit, so distance is measured in it."""
    box = (np.array([0.0, 0.0]), np.array([1.0, 50.0]))
    X = np.repeat([[0.5, 10.0], [0.5, 40.0]], 100, axis=0)
    mechanism = Laplace(1.0, bounds=box, random_state=0)
    reports = mechanism.fit_transform(X)
    model = NoiseAwareKMeans(2, mechanism=mechanism, n_init=1, random_state=0).fit(reports)
    assert model.release_.values["metric"] == "euclidean"
    far = np.concatenate([X, reports, [[1e200, -1e200]], model.cluster_centers_.mean(0)[None]])
    labels = label_on_device(read_back(model), far)
    assert (labels == model.predict(far)).all()
    # A label is its own row's, whatever it is asked together with.
    few = [*range(0, len(far), 25), len(far) - 2, len(far) - 1]
    assert [label_on_device(model.release_, far[row]) for row in few] == labels[few].tolist()


MAKERS = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_columns_go_by_their_names(make):
    columns = dict(zip(NAMES, PEOPLE.T, strict=True))
    model = kmeans().fit(make(columns))
    release = read_back(model)
    assert release.values["columns"] == NAMES
    labels = model.labels_
    turned = make({name: columns[name] for name in ("visits", "age", "income")})
    assert (label_on_device(release, make(columns)) == labels).all()
    assert (label_on_device(release, turned) == labels).all()
    assert (label_on_device(release, PEOPLE) == labels).all()
    for estimator in (model.predict, model.score):
        with pytest.raises(DataError, match="feature names"):
            estimator(turned)
    other = make({"age": PEOPLE[:, 0], "wage": PEOPLE[:, 1], "visits": PEOPLE[:, 2]})
    for call in (lambda X: label_on_device(release, X), model.predict, model.score):
        with pytest.raises(DataError, match=r"columns of the release|feature names") as caught:
            call(other)
        assert "41" not in str(caught.value)


def test_a_single_record_may_have_names_too():
    frame = pd.DataFrame(PEOPLE, columns=NAMES)
    model = kmeans().fit(frame)
    row = frame.iloc[7]
    expected = model.labels_[7]
    assert label_on_device(model.release_, row) == expected
    assert label_on_device(model.release_, row[["visits", "income", "age"]]) == expected
    assert label_on_device(model.release_, row.to_numpy()) == expected
    assert label_on_device(model.release_, dict(reversed(row.to_dict().items()))) == expected
    with pytest.raises(DataError, match="x must have a value for each of"):
        label_on_device(model.release_, {"age": 41.0})
    with pytest.raises(DataError, match="must have the columns of the release"):
        label_on_device(model.release_, row.rename({"age": "wage"}))
    unnamed = kmeans().fit(PEOPLE)
    assert unnamed.release_.values["columns"] is None
    assert label_on_device(unnamed.release_, row) == unnamed.labels_[7]


def test_bare_centers_need_a_metric():
    centers = np.array([[0.0, 0.0], [1.0, 1.0]])
    assert label_on_device(centers, [[0.9, 0.9], [0.1, 0.0]], metric="euclidean").tolist() == [1, 0]
    with pytest.raises(ParameterError, match=r'^metric must be "euclidean" for bare centers'):
        label_on_device(centers, [0.9, 0.9])
    with pytest.raises(ParameterError, match=r"^metric must be that of the release, 'bounds'"):
        label_on_device(kmeans().fit(PEOPLE).release_, PEOPLE, metric="euclidean")


CENTERS = [[0.0, 0.0], [1.0, 1.0]]
BOX = {"centers": np.array(CENTERS), "metric": "bounds", "half": 2**19}


def test_releases_that_cannot_be_labeled():
    corners = {"low": np.zeros(2), "high": np.ones(2)}
    cell = {"cells": np.array([0]), "clusters": np.array([0]), "half": 2**19, **corners}
    for values in [
        {"k": 2},
        {"centers": np.array(CENTERS)},
        {"centers": np.array(CENTERS), "metric": "manhattan"},
        {"metric": "euclidean"},
        {"metric": "euclidean", "centers": np.array([[np.nan]])},
        {"metric": "euclidean", "centers": np.zeros((0, 2))},
        {"metric": "euclidean", "centers": np.array(CENTERS), "columns": ["a", "a"]},
        BOX,
        {**BOX, "low": np.ones(2), "high": np.zeros(2)},
        {**BOX, "low": np.zeros(3), "high": np.ones(3)},
        {**BOX, **corners, "half": 2**40},
        {"metric": "cells", **cell, "shape": [0, 0], "grid": 4},
        {"metric": "cells", **cell, "shape": [4, 4], "grid": 2},
        {"metric": "cells", **cell, "shape": [4, 4], "grid": 4, "cells": np.array([16])},
        {"metric": "cells", **cell, "shape": [4, 4], "grid": 4, "clusters": np.array([0, 1])},
    ]:
        with case(values=values), pytest.raises(ReleaseError) as refused:
            label_on_device(Release("counts", values, PROMISE), [0.0, 0.0])
        assert (refused.value.parameter, refused.value.code) == ("release", "format")


def test_bad_records():
    for bad in ("centers", None, [[np.nan, 0.0]], [], [1.0, 2.0]):
        with pytest.raises(ParameterError, match="release must"):
            label_on_device(bad, [0.0, 0.0], metric="euclidean")
    for record in ([np.nan, 0.0], [0.0], "record", [["a", "b"]], 1.0):
        with pytest.raises(DataError, match="X must"):
            label_on_device(CENTERS, record, metric="euclidean")
    with pytest.raises(DataError, match="x must have one number for each column"):
        label_on_device(CENTERS, [[0.0, 1.0], 2.0], metric="euclidean")
    with pytest.raises(DataError, match="x must be a list of numbers, got a dict"):
        label_on_device(CENTERS, {"east": 0.0, "north": 1.0}, metric="euclidean")


def test_a_record_in_no_box_has_no_cluster():
    boxes = {"cell_low": np.array([[-8, -8], [0, -8]]), "cell_high": np.array([[0, 0], [8, 0]])}
    known = {"cells": np.array([0, 1]), "clusters": np.array([1, 0]), "half": 8}
    values = {"metric": "boxes", **boxes, **known, "low": np.zeros(2), "high": np.ones(2)}
    release = Release("DPDensity", values, PROMISE)
    assert label_on_device(release, [[0.1, 0.1], [0.9, 0.1], [0.9, 0.9]]).tolist() == [1, 0, -1]
