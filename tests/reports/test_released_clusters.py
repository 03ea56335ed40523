"""A release is enough: labels bit for bit those of predict, a table in the units of the fields."""

import dataclasses
import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from shoal import load_release
from shoal.cluster import DPDensity, DPKMeans, DPWaveCluster, PrivateCopy
from shoal.exceptions import DataError, ParameterError, ReleaseError
from shoal.mechanisms import Laplace
from shoal.privacy import Release
from shoal.reports import NoiseAwareDensity, NoiseAwareKMeans
from shoal.schema import Category, Date, Flag, Number, Ordinal, Place, Schema

SCHEMA = Schema(
    [
        Number("age", minimum=0, maximum=120, unit="years", whole=True, weight=20.0),
        Number("income", minimum=0, maximum=1_000_000, scale="log", unit="EUR", missing="refuse"),
        Category("city", ["A", "B"], weight=3.0),
        Flag("member", missing="fill", fill="false"),
        Date("joined", minimum="2010-01-01", maximum="2026-12-31"),
        Ordinal("grade", ["low", "mid", "high"], weight=0.1),
    ]
)
N = 400
RNG = np.random.default_rng(0)
PEOPLE = pd.DataFrame(
    {
        "age": np.where(RNG.random(N) < 0.1, np.nan, RNG.integers(-5, 130, N)),
        "income": RNG.lognormal(10, 1, N),
        "city": RNG.choice(np.array(["A", "B", "elsewhere", None], dtype=object), N),
        "member": RNG.choice(np.array(["yes", "no", None], dtype=object), N),
        "joined": RNG.choice(np.array(["2012-05-06", "2024-02-29", None], dtype=object), N),
        "grade": RNG.choice(np.array(["low", "mid", "high", "none"], dtype=object), N),
        "customer": RNG.integers(0, 50, N),
    }
)
X = RNG.normal(size=(N, 2))
MECHANISM = Laplace(epsilon=40.0, bounds=(-3.0, 3.0), random_state=0)


@pytest.fixture(scope="module")
def people():
    """A model of people, and its release as another machine gets it."""
    model = DPKMeans(4, schema=SCHEMA, epsilon=2.0, random_state=0).fit(PEOPLE)
    return model, load_release(Release.from_json(model.release_.to_json()))


def test_labels_are_those_of_predict(people):
    model, clusters = people
    labels = clusters.predict(PEOPLE)
    assert labels.dtype == model.predict(PEOPLE).dtype
    assert (labels == model.labels_).all()
    assert (clusters.predict(pl.from_pandas(PEOPLE)) == labels).all()
    assert (clusters.predict({name: PEOPLE[name] for name in SCHEMA.columns}) == labels).all()
    rows = PEOPLE[list(SCHEMA.columns)].astype(object).to_numpy()
    assert (clusters.predict(rows.tolist()) == labels).all()
    assert (clusters.predict_encoded(SCHEMA.encode(PEOPLE)) == labels).all()
    one = [clusters.predict(PEOPLE.iloc[index].to_dict())[0] for index in range(20)]
    assert one == [clusters.predict(PEOPLE.iloc[index])[0] for index in range(20)]
    assert one == labels[:20].tolist()


@pytest.mark.parametrize(
    "kwargs",
    [
        {"bounds": (-1.0, 2.0)},
        {"bounds": (-1.0, 2.0), "column_weights": [1.0, 7.0]},
        {"metric": "cosine"},
        {
            "schema": Schema(
                [Number("a", minimum=-1, maximum=2), Number("b", minimum=-3, maximum=1)]
            )
        },
    ],
)
def test_every_metric_of_centers(kwargs):
    model = DPKMeans(5, epsilon=5.0, random_state=0, **kwargs).fit(X)
    clusters = load_release(model.release_)
    hard = np.concatenate([X, X * 100, [[-1.0, 2.0], [0.5, 0.5]]])
    assert (clusters.predict(hard) == model.predict(hard)).all()
    distances = clusters.transform(X)
    assert distances.shape == (N, 5)
    nearest = distances.min(axis=1)
    assert (distances[np.arange(N), clusters.predict(X)] == nearest).all()


def test_distances_are_those_of_the_metric(people):
    model, clusters = people
    exact = np.linalg.norm(SCHEMA.encode(PEOPLE)[:, None] - model.cluster_centers_, axis=2)
    assert clusters.transform(PEOPLE) == pytest.approx(exact, abs=1e-4)
    weighted = DPKMeans(
        2, bounds=(-4.0, 4.0), column_weights=[4.0, 9.0], epsilon=5.0, random_state=0
    ).fit(X)
    gaps = (X[:, None] - weighted.cluster_centers_) / 8.0 * [2.0, 3.0]
    found = load_release(weighted.release_).transform(X)
    assert found == pytest.approx(np.linalg.norm(gaps, axis=2), abs=1e-4)


@pytest.mark.parametrize(
    "model",
    [
        DPDensity(bounds=(-3.0, 3.0), epsilon=5.0, random_state=0),
        DPWaveCluster(bounds=(-3.0, 3.0), epsilon=5.0, grid=8, random_state=0),
    ],
)
def test_cells(model):
    model.fit(np.concatenate([X / 3 - 1.5, X / 3 + 1.5]))
    clusters = load_release(model.release_)
    assert (clusters.predict(X) == model.predict(X)).all()
    assert clusters.n_clusters == len(clusters.to_frame()) > 0
    assert "column 1 from" in clusters.to_frame()
    with pytest.raises(ParameterError, match=r"cells of .*, which have no distance: use predict"):
        clusters.transform(X)


@pytest.mark.full
def test_clusters_of_reports():
    reports = MECHANISM.fit_transform(np.concatenate([X / 9 - 1.5, X / 9 + 1.5]))
    centers = NoiseAwareKMeans(2, mechanism=MECHANISM).fit(reports)
    density = NoiseAwareDensity(mechanism=MECHANISM).fit(reports)
    for model in (centers, density):
        clusters = load_release(model.release_)
        assert (clusters.predict(X) == model.predict(X)).all()
        assert len(clusters.to_frame()) == clusters.n_clusters == 2
        assert clusters.plot()
    exact = np.linalg.norm(X[:, None] - centers.cluster_centers_, axis=2)
    assert load_release(centers.release_).transform(X) == pytest.approx(exact)


def test_a_frame_in_the_units_of_the_fields(people):
    model, clusters = people
    frame = clusters.to_frame()
    assert frame.index.name == "cluster"
    assert len(frame) == clusters.n_clusters == 4
    assert list(frame.columns[:3]) == ["age", "age missing", "income"]
    assert list(frame.columns[-3:]) == ["noisy_size", "radius", "certain"]
    decoded = SCHEMA.decode(model.cluster_centers_)
    assert frame["age"].tolist() == decoded["age"].tolist()
    assert frame["income"].between(0, 1_000_000).all()
    assert "income missing" not in frame
    assert set(frame["city"].dropna()) <= {"A", "B", "other"}  # of one, all are missing
    pairs = zip(decoded["city"], frame["city"], strict=True)
    shares = [each.get(city, 0.0) for each, city in pairs]
    assert frame["city share"].tolist() == shares
    assert frame["city missing"].tolist() == [each["missing"] for each in decoded["city"]]
    assert all(isinstance(day, datetime.date) for day in frame["joined"])
    assert set(frame["grade"]) <= {"low", "mid", "high"}
    assert frame["certain"].dtype == bool
    assert (frame["noisy_size"] == model.cluster_sizes_).all()


def test_what_is_known_of_a_release(people, tmp_path):
    model, clusters = people
    model.release_.save(tmp_path / "release.json")
    again = load_release(tmp_path / "release.json")
    assert again.schema == SCHEMA
    assert again.guarantee == model.guarantee_
    assert again.release == model.release_
    assert repr(again) == "ReleasedClusters(DPKMeans, n_clusters=4)"
    assert load_release(DPKMeans(2, bounds=(0, 1)).fit([[0.5]] * 9).release_).schema is None
    clusters.plot(tmp_path / "release.png")
    assert (tmp_path / "release.png").stat().st_size > 10_000


def test_what_is_refused(people):
    _, clusters = people
    with pytest.raises(DataError, match="got none named 'city'"):
        clusters.predict(PEOPLE.drop(columns="city"))
    with pytest.raises(DataError, match="at least one record"):
        clusters.predict(PEOPLE[:0])
    with pytest.raises(DataError, match="must have no missing value"):
        clusters.predict({**PEOPLE.iloc[0].to_dict(), "income": None})
    with pytest.raises(ReleaseError, match="cannot be read"):
        load_release("no such file")
    copy = PrivateCopy(bounds=(-3.0, 3.0), random_state=0).fit(X).release_
    with pytest.raises(ReleaseError, match="must hold clusters, got one of PrivateCopy"):
        load_release(copy)
    profile = dataclasses.replace(copy, kind="ClusterProfile", values={"clusters": [0]})
    with pytest.raises(ReleaseError, match="must hold clusters, got one of ClusterProfile"):
        load_release(profile)
    wave = DPWaveCluster(bounds=(-3.0, 3.0), epsilon=5.0, grid=8, random_state=0).fit(X).release_
    held = {name: value for name, value in wave.values.items() if name != "band"}
    sparse = dataclasses.replace(wave, values=held)
    with pytest.raises(ParameterError, match="sparse grid alone: use to_frame"):
        load_release(sparse).plot()


def test_strata_and_cells_of_a_schema():
    """Of a density: where each cluster is, in the units of the fields, and in which category."""
    fields = [
        Number("age", minimum=0, maximum=120, unit="years", missing="refuse"),
        Category("city", ["A", "B"], other="B", missing="refuse"),
    ]
    rng = np.random.default_rng(0)
    city = np.repeat(["A", "B"], 2000)
    table = {"age": np.where(city == "A", 25, 75) + rng.normal(size=4000), "city": city}
    model = DPDensity(schema=Schema(fields), epsilon=2.0, random_state=0).fit(table)
    clusters = load_release(Release.from_json(model.release_.to_json()))
    assert (clusters.predict(table) == model.predict(table)).all()
    frame = clusters.to_frame()
    assert len(frame) == clusters.n_clusters == model.n_clusters_
    assert sorted(frame["city"]) == ["A", "B"]
    assert frame["age"].tolist() == pytest.approx([25.0, 75.0], abs=3.0)
    assert frame["noisy_size"].tolist() == pytest.approx([2000.0, 2000.0], rel=0.2)
    page = clusters._repr_html_()
    assert " years" in page
    assert "cluster 1" in page
    alone = DPDensity(schema=Schema(fields[:1]), epsilon=2.0, n_clusters=2, random_state=0)
    ages = load_release(alone.fit(table).release_).to_frame()["age"]
    assert sorted(ages) == pytest.approx([25.0, 75.0], abs=3.0)


def test_a_place_beside_a_number_is_drawn():
    """It has one name in the table, and two columns of cells."""
    home = Place("home", center=(8.5, 47.4), radius=20.0, missing="refuse")
    age = Number("age", minimum=0, maximum=120, missing="refuse")
    table = {"home": ["8.5, 47.4", "8.6, 47.3"] * 300, "age": [30, 70] * 300}
    model = DPDensity(schema=Schema([home, age]), epsilon=0.5, random_state=0).fit(table)
    assert load_release(model.release_).plot()
