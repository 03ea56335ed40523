"""Mechanisms that read records by a schema: the same reports as of encoded records."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from shoal import (
    Category,
    Duchi,
    Hybrid,
    KdLaplace,
    Laplace,
    Ledger,
    NoiseAwareKMeans,
    Number,
    Piecewise,
    Place,
    PlanarLaplace,
    Schema,
    SquareWave,
)
from shoal.exceptions import DataError, ParameterError
from shoal.remap import BayesRemap
from shoal.schema import Field

HOME = Place(
    "home",
    longitude="lon",
    latitude="lat",
    center=(24.94, 60.17),
    radius=50.0,
    missing="refuse",
)
PLACES = Schema([HOME])
MIXED = Schema([Number("age", minimum=0, maximum=100), Category("city", ["A", "B"])])
PEOPLE = pd.DataFrame({"city": ["A", "B", None, "C"] * 5, "age": [30, 40, None, 90] * 5})
RNG = np.random.default_rng(0)
HOMES = pd.DataFrame(HOME.unproject(RNG.normal(0, 10, (300, 2))), columns=["lon", "lat"])


@pytest.mark.parametrize("kind", [Laplace, Piecewise, SquareWave, Duchi, Hybrid])
def test_reports_are_those_of_encoded_records(kind):
    by_schema = kind(epsilon=4.0, schema=MIXED, random_state=0)
    by_bounds = kind(epsilon=4.0, bounds=MIXED.space.bounds, random_state=0)
    reports = by_schema.fit(PEOPLE).transform(PEOPLE)
    assert np.array_equal(reports, by_bounds.fit_transform(MIXED.encode(PEOPLE)))
    assert list(by_schema.get_feature_names_out()) == list(MIXED.space.names)
    assert by_schema.feature_names_in_.tolist() == ["age", "city"]
    assert by_schema.variance() == by_bounds.variance()
    assert by_schema.guarantee_ == by_bounds.guarantee_
    of_encoded = clone(by_schema).of_encoded()
    assert np.array_equal(of_encoded.fit_transform(MIXED.encode(PEOPLE)), reports)


def test_one_record_is_a_dict_or_a_row():
    one = Laplace(schema=MIXED, random_state=0).randomize({"age": 30, "city": "A"})
    row = Laplace(schema=MIXED, random_state=0).randomize([30, "A"])
    assert np.array_equal(one, row)
    assert one.shape == (MIXED.space.columns,)


def test_an_epsilon_per_kilometer_is_kept_on_the_ground():
    mechanism = PlanarLaplace(epsilon=0.5, schema=PLACES).fit(HOMES)
    assert (mechanism.guarantee_.epsilon, mechanism.guarantee_.unit) == (0.5, "km")
    # Any report, and two places a kilometer apart.
    one, two = PLACES.encode({"lon": [24.94, 24.94], "lat": [60.17, 60.178993]})
    assert np.linalg.norm(one - two) * HOME.kilometers == pytest.approx(1.0, rel=1e-4)
    losses = np.abs(
        mechanism.log_density([[0.9, 0.7]], one) - mechanism.log_density([[0.9, 0.7]], two)
    )
    beyond = mechanism.log_density([two + 3 * (two - one)], two) - mechanism.log_density(
        [two + 3 * (two - one)], one
    )
    assert losses[0] <= 0.5
    assert beyond[0] == pytest.approx(0.5, rel=0.01)
    assert beyond[0] <= 0.5  # less what the ground may be shorter by than the plane
    # Noise in kilometers: the mean distance of planar Laplace noise is 2 / epsilon.
    drawn = PlanarLaplace(epsilon=0.5, schema=PLACES, random_state=0).fit_transform(HOMES)
    far = np.linalg.norm(drawn - PLACES.encode(HOMES), axis=1).mean() * HOME.kilometers
    assert far == pytest.approx(4.0 * HOME.stretch, rel=0.2)  # 300 draws: 0.7 of 12 sigma


def test_units_of_length_convert():
    per_km = PlanarLaplace(epsilon=2.0, schema=PLACES, random_state=0)
    per_m = PlanarLaplace(epsilon=0.002, unit="m", schema=PLACES, random_state=0)
    by_level = PlanarLaplace(level=1.0, radius=0.5, schema=PLACES, random_state=0)
    first = per_km.fit_transform(HOMES[:20])
    assert per_m.fit_transform(HOMES[:20]) == pytest.approx(first, abs=1e-3)
    assert np.array_equal(by_level.fit_transform(HOMES[:20]), first)
    assert per_m.guarantee_.unit == "m"
    ledger = Ledger(epsilon=1.0, metric_epsilon=3.0, metric_unit="km")
    PlanarLaplace(epsilon=0.002, unit="m", schema=PLACES, ledger=ledger).fit_transform(HOMES[:20])
    assert "2" in str(ledger)


def test_reports_go_back_to_degrees():
    mechanism = PlanarLaplace(epsilon=5.0, schema=PLACES, random_state=0)
    decoded = PLACES.decode(mechanism.fit_transform(HOMES))
    again = PLACES.encode(decoded)
    assert HOME.project(np.stack([decoded["lon"], decoded["lat"]], axis=1)) == pytest.approx(
        (again - 0.5) * HOME.kilometers
    )
    assert np.abs(decoded["lat"] - HOMES["lat"]).max() < 0.05  # 5 km: e^-25 of the noise


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_files(tmp_path, form):
    path = tmp_path / f"homes.{form}"
    HOMES.to_csv(path, index=False) if form == "csv" else HOMES.to_parquet(path)
    mechanism = PlanarLaplace(epsilon=50.0, schema=PLACES, random_state=0).fit(path)
    table = mechanism.transform(path, out=tmp_path / "out").to_table().to_pandas()
    assert list(table) == ["home east", "home north"]
    far = np.linalg.norm(table.to_numpy() - PLACES.encode(HOMES), axis=1) * HOME.kilometers
    assert far.max() < 1.0  # e^-50
    again = PlanarLaplace(epsilon=50.0, schema=PLACES, random_state=0).fit(path)
    assert table.equals(again.transform(path, out=tmp_path / "again").to_table().to_pandas())


def test_clusters_and_remaps_of_reports():
    centers = np.array([[-20.0, 0.0], [20.0, 5.0]])
    plane = np.repeat(centers, 300, axis=0) + RNG.normal(0, 1, (600, 2))
    towns = pd.DataFrame(HOME.unproject(plane), columns=["lon", "lat"])
    mechanism = PlanarLaplace(epsilon=0.5, schema=PLACES, random_state=0)
    reports = mechanism.fit_transform(towns)
    model = NoiseAwareKMeans(2, mechanism=mechanism, random_state=0).fit(reports)
    found = (model.cluster_centers_ - 0.5) * HOME.kilometers
    assert np.sort(found, axis=0) == pytest.approx(np.sort(centers, axis=0), abs=2.0)
    assert model.guarantee_.unit == "km"
    moved = BayesRemap(mechanism).fit_transform(reports)
    true = PLACES.encode(towns)
    assert (
        np.linalg.norm(moved - true, axis=1).mean() < np.linalg.norm(reports - true, axis=1).mean()
    )
    kd = KdLaplace(epsilon=0.5, schema=PLACES, random_state=0)
    assert kd.fit_transform(towns).shape == (600, 2)
    assert kd.randomize({"lon": 25.0, "lat": 60.0}).shape == (2,)
    assert list(kd.get_feature_names_out()) == ["home east", "home north"]
    assert kd.guarantee_.unit == "km"


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (Laplace(schema=MIXED, bounds=(0, 1)), "bounds must be left out"),
        (Laplace(schema={"fields": []}), "schema must be a Schema"),
        *(
            (Laplace(schema=MIXED, unit=unit), "unit must be left out")
            for unit in ("km", "s", "year")
        ),
        (Laplace(schema=Schema([*MIXED.fields, Field("id", role="user")])), "promise is to rows"),
        (Laplace(), "bounds must be given"),
    ],
)
def test_wrong_settings_spend_nothing(mechanism, words):
    with pytest.raises((ParameterError, DataError), match=words):
        mechanism.fit(PEOPLE.assign(id=1) if mechanism.schema else [[1.0]])


def test_a_place_needs_a_length_and_two_columns():
    with pytest.raises(ParameterError, match="unit must be a length"):
        PlanarLaplace(schema=PLACES, unit="year").fit(HOMES)
    missing = Schema([Place("home", longitude="lon", latitude="lat", center=(25, 60), radius=5)])
    with pytest.raises(DataError, match="a place that may be missing is three"):
        PlanarLaplace(schema=missing).fit(HOMES)
    assert Laplace(schema=missing, random_state=0).fit_transform(HOMES).shape == (300, 3)
