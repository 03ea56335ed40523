"""Places become kilometers around a public point, and back."""

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shoal import Number, Place, Schema, SchemaEncoder
from shoal.exceptions import DataError, ParameterError
from shoal.schema import Field
from shoal.schema.places import EARTH_RADIUS
from shoal.tables import ArrowTable, read_table

HELSINKI = (24.94, 60.17)
HOME = Place("home", center=HELSINKI, radius=50.0)
CENTERS = [HELSINKI, (179.9, -16.5), (0.0, 90.0), (30.0, -89.9), (-180.0, 0.0)]


def haversine(one, two):
    """Great-circle kilometers: an independent formula."""
    lon1, lat1, lon2, lat2 = np.radians([*np.transpose(one), *np.transpose(two)])
    h = np.sin((lat2 - lat1) / 2) ** 2
    h = h + np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2) ** 2
    return 2 * EARTH_RADIUS * np.arcsin(np.sqrt(h))


def around(center, radius, n=400, seed=0):
    """Return places within the radius of the center, and their plane coordinates."""
    rng = np.random.default_rng(seed)
    place = Place("p", center=center, radius=radius)
    far, turn = radius * np.sqrt(rng.random(n)), rng.random(n) * 2 * np.pi
    plane = np.stack([far * np.cos(turn), far * np.sin(turn)], axis=1)
    return place, place.unproject(plane), plane


@pytest.mark.parametrize("center", CENTERS)
@pytest.mark.parametrize("radius", [1.0, 500.0])
def test_distances_are_those_of_the_sphere(center, radius):
    place, degrees, plane = around(center, radius)
    assert (np.abs(degrees) <= [180.0, 90.0]).all()
    from_center = np.linalg.norm(plane, axis=1)
    assert haversine([center] * len(degrees), degrees) == pytest.approx(from_center, abs=1e-6)
    assert place.project(degrees) == pytest.approx(plane, abs=1e-6 * radius)
    ground = haversine(degrees[:-1], degrees[1:])
    ratio = np.linalg.norm(np.diff(plane, axis=0), axis=1) / ground
    bound = (radius / EARTH_RADIUS) / math.sin(radius / EARTH_RADIUS)
    assert (ratio >= 1 - 1e-6).all()
    assert (ratio <= bound + 1e-6).all()


def test_directions_are_east_and_north():
    plane = HOME.project([(24.95, 60.17), (24.94, 60.18)])
    assert plane[0] == pytest.approx([0.5532, 0.0], abs=1e-3)
    assert plane[1] == pytest.approx([0.0, 1.1119], abs=1e-3)


@pytest.mark.parametrize("radius", [50.0, 9_000.0])
def test_no_two_places_of_the_globe_are_further_apart_than_the_stretch_says(radius):
    """Also outside the disc, on the other side of the globe, and on the ellipsoid."""
    rng = np.random.default_rng(1)
    place = Place("p", center=HELSINKI, radius=radius)
    lon, lat = rng.uniform(-180, 180, 20_000), np.degrees(np.arcsin(rng.uniform(-1, 1, 20_000)))
    lon[:5000] = -155.06 + rng.normal(size=5000)  # around the opposite point
    lat[:5000] = -60.17 + rng.normal(size=5000)
    step = rng.normal(size=(20_000, 2)) * 1e-6
    moved = place.project(np.stack([lon, lat], axis=1) + step) - place.project(
        np.stack([lon, lat], axis=1)
    )
    # The metric of WGS84 at the place.
    a, e2, phi = 6378.137, 0.00669437999014, np.radians(lat)
    normal = a / np.sqrt(1 - e2 * np.sin(phi) ** 2)
    meridian = normal * (1 - e2) / (1 - e2 * np.sin(phi) ** 2)
    ground = np.hypot(
        normal * np.cos(phi) * np.radians(step[:, 0]), meridian * np.radians(step[:, 1])
    )
    inside = np.abs(lat) < 89.9
    assert (np.linalg.norm(moved, axis=1) <= ground * place.stretch * (1 + 1e-4))[inside].all()


def test_the_width_of_the_disc_is_the_weight():
    place = Place("p", center=HELSINKI, radius=50.0, weight=2.0)
    rim = place.unproject([(-50.0, 0.0), (50.0, 0.0), (-5000.0, 0.0), (0.0, 0.0)])
    schema = Schema([place])
    texts = [f"{lon}, {lat}" for lon, lat in rim]
    west, east, beyond, center, missing = schema.encode({"p": [*texts, None]})
    assert ((west - east) ** 2).sum() == pytest.approx(2.0)
    assert beyond == pytest.approx(west, abs=1e-9)
    assert ((west - missing) ** 2).sum() == pytest.approx(2.0)
    assert ((center - missing) ** 2).sum() == pytest.approx(1.5)
    assert place.kilometers * math.sqrt(2.0) == pytest.approx(100.0)
    assert schema.space.names == ("p east", "p north", "p missing")


PAIR = Place("home", longitude="lon", latitude="lat", center=HELSINKI, radius=50.0)
LON, LAT = [24.9, None, 25.3, 400.0], [60.1, 60.2, 60.3, 60.0]
OBJECTS = [{"lon": lon, "lat": lat} for lon, lat in zip(LON, LAT, strict=True)]
TEXT = ["24.9, 60.1", "", "25.3,60.3", "400.0, 60"]
FORMS = {
    "text": {"home": TEXT},
    "array": {"home": [[24.9, 60.1], None, (25.3, 60.3), [400.0, 60.0]]},
    "array text": {"home": ["[24.9, 60.1]", "[null, 60.2]", "[25.3, 60.3]", "[400, 60]"]},
    "object": {"home": OBJECTS},
    "pandas": pd.DataFrame({"home": TEXT}),
    "polars lists": pl.DataFrame({"home": [[24.9, 60.1], None, [25.3, 60.3], [400.0, 60.0]]}),
    "Arrow structs": pa.table(
        {"home": [{"lon": a, "lat": b} for a, b in zip(LON, LAT, strict=True)]}
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_same_bits_however_a_place_is_written(form):
    pair = Schema([PAIR]).encode({"lon": LON, "lat": LAT})
    assert np.array_equal(Schema([HOME]).encode(FORMS[form]), pair)
    assert pair[1].tolist() == [0.5, 0.5, math.sqrt(0.75)]


def test_same_bits_from_files_and_alone(tmp_path):
    _, degrees, _ = around(HELSINKI, 60.0, n=1001)
    schema = Schema([PAIR])
    frame = pd.DataFrame(degrees, columns=["lon", "lat"])
    frame.to_csv(tmp_path / "p.csv", index=False)
    frame.to_parquet(tmp_path / "p.parquet")
    whole = schema.encode(frame)
    for name in ("p.csv", "p.parquet"):
        assert np.array_equal(read_table(tmp_path / name, schema=schema).X, whole)
        table = ArrowTable(tmp_path / name, schema=schema)
        (blocks,) = table.on_threads(lambda pieces: [b for _, part in pieces for b in part])
        assert np.array_equal(np.concatenate([np.stack(b, axis=1) for b in blocks]), whole)
    for start in (0, 1, 3, 500):
        assert np.array_equal(schema.encode(frame[start : start + 7]), whole[start : start + 7])
        assert np.array_equal(schema.encode(frame[start : start + 1]), whole[start : start + 1])


def test_a_place_is_encoded_by_itself_alone():
    """A center that is the mean of the records would be moved by each of them."""
    schema = Schema([HOME])
    one = schema.encode({"home": ["24.9, 60.1"]})
    among = schema.encode({"home": ["24.9, 60.1", "25.9, 61.1", "0, 0"]})
    assert np.array_equal(one[0], among[0])


@pytest.mark.parametrize("format", ["default", "array", "object"])
def test_the_way_back(format):
    schema = Schema(
        [Place("home", center=HELSINKI, radius=50.0, format=format), Field("id", role="user")]
    )
    encoder = SchemaEncoder(schema)
    encoded = encoder.transform({"home": ["24.9, 60.1", None]})
    back = encoder.inverse_transform(encoded)
    assert back[1, 0] is None
    assert encoder.transform(back) == pytest.approx(encoded)
    decoded = Schema([PAIR]).decode(encoded)
    assert list(decoded) == ["lon", "lat", "home missing"]
    assert (decoded["lon"][0], decoded["lat"][0]) == pytest.approx((24.9, 60.1))
    mean = Schema([PAIR]).decode(encoded.mean(axis=0)[None])  # half of them missing
    assert (mean["lon"][0], mean["lat"][0]) == pytest.approx((24.9, 60.1))


def test_fill_and_refuse():
    filled = Place("p", center=HELSINKI, radius=50.0, missing="fill", fill=(25.0, 60.0))
    values = Schema([filled]).encode({"p": [None, "25, 60"]})
    assert np.array_equal(values[0], values[1])
    refused = Schema([Place("p", center=HELSINKI, radius=50.0, missing="refuse")])
    with pytest.raises(DataError, match="'p' must have no missing value"):
        refused.encode({"p": [None]})


def test_files():
    theirs = {
        "name": "home",
        "type": "geopoint",
        "format": "array",
        "shoal": {"center": [24.94, 60.17], "radius": 50},
    }
    schema = Schema.from_dict({"fields": [theirs]})
    assert schema["home"] == Place("home", center=HELSINKI, radius=50.0, format="array")
    assert schema.to_dict()["fields"][0] == theirs
    for field in (PAIR, Place("p", center=HELSINKI, radius=1, missing="fill", fill=HELSINKI)):
        plain = json.loads(json.dumps(Schema([field]).to_dict()))
        assert Schema.from_dict(plain)[field.name] == field
    ignored = Schema([Place("p", center=HELSINKI, role="ignore"), HOME])
    assert Schema.from_dict(ignored.to_dict()) == ignored
    assert Schema([Place("p")]).lacking() == {"p": "a center and a radius"}


@pytest.mark.parametrize(
    ("kwargs", "words"),
    [
        ({"center": (60.17, 124.94)}, "longitude comes first"),
        ({"center": 3}, "in degrees"),
        ({"center": "24.9, 60.1"}, "in degrees"),
        ({"radius": 0}, "radius of field 'p' must be"),
        ({"radius": 20_000}, "at most 10000 km"),
        ({"longitude": "lon"}, "names of two columns"),
        ({"format": "wkt"}, "format of field 'p'"),
        ({"missing": "fill", "fill": 3.0}, "fill of field 'p'"),
    ],
)
def test_wrong_places_get_one_line(kwargs, words):
    with pytest.raises(ParameterError, match=words) as caught:
        Place("p", **kwargs)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", ["Helsinki", "1, 2, 3", "[1", 3.0, "1_0, 2", [1]])
def test_what_is_no_place_is_refused_without_its_value(value):
    with pytest.raises(DataError, match="'home' must hold places") as caught:
        Schema([HOME]).encode({"home": [value]})
    assert str(value) not in str(caught.value).replace("'home'", "")


def test_columns_of_a_pair_are_not_those_of_other_fields():
    with pytest.raises(ParameterError, match="'lon' twice"):
        Schema([PAIR, Number("lon")])


@pytest.mark.parametrize("radius", [1e-3, 50.0, 6371.0, 10_000.0])
def test_the_stretch_is_that_of_a_sine_but_for_rounding(radius):
    angle = radius / EARTH_RADIUS
    exact = EARTH_RADIUS / 6335.439 * angle / math.sin(angle)
    assert Place("p", center=HELSINKI, radius=radius).stretch == pytest.approx(exact, rel=1e-15)
