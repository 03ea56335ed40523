"""Maps of places: kilometers around the public point, and a scale."""

import numpy as np
import pandas as pd
import pytest

from shoal import DPDensity, DPKMeans, Place, Schema, load_release
from shoal.exceptions import ParameterError
from shoal.plotting import draw_map, draw_release

PLACE = Place("home", center=(179.9, -16.5), radius=50.0, missing="refuse")  # at the dateline
TOWNS = np.array([[-20.0, 10.0], [25.0, 15.0]])


@pytest.fixture(scope="module")
def homes():
    plane = np.repeat(TOWNS, 500, axis=0) + np.random.default_rng(0).normal(0, 2, (1000, 2))
    return pd.DataFrame({"home": [f"{x}, {y}" for x, y in PLACE.unproject(plane)]})


def test_a_map_of_centers(homes, tmp_path):
    model = DPKMeans(2, epsilon=5.0, schema=Schema([PLACE]), random_state=0).fit(homes)
    clusters = load_release(model.release_)
    features = clusters.to_geojson()["features"]
    found = PLACE.project([one["geometry"]["coordinates"] for one in features])
    assert found[found[:, 0].argsort()] == pytest.approx(TOWNS, abs=1.0)
    draw_release(model.release_, path=tmp_path / "map.png")
    assert (tmp_path / "map.png").stat().st_size > 5000


def test_a_map_of_outlines(homes):
    model = DPDensity(epsilon=5.0, schema=Schema([PLACE]), n_clusters=2, random_state=0).fit(homes)
    features = load_release(model.release_).to_geojson()["features"]
    assert features == model.outlines()["features"]
    rings = [one["geometry"]["coordinates"][0][0] for one in features]
    widths = [np.ptp(np.array(ring), axis=0)[0] for ring in rings]
    assert max(widths) < 1.0  # degrees: no jump at the dateline


def test_the_scale_is_in_kilometers():
    features = {"features": []}
    for radius, words in ((50.0, "10 km"), (7.0, "2 km"), (1.0, "0.2 km"), (3000.0, "500 km")):
        picture = draw_map(features, center=(0, 0), radius=radius)
        assert words in str(picture.spec)


@pytest.mark.parametrize(
    ("feature", "words"),
    [
        ({"properties": {"cluster": 0}, "geometry": None}, "geometries"),
        ({"properties": {}, "geometry": {"type": "Point", "coordinates": [0, 0]}}, "cluster"),
    ],
)
def test_what_is_no_map_is_refused(feature, words):
    with pytest.raises(ParameterError, match=words):
        draw_map({"features": [feature]}, center=(0, 0), radius=1.0)


def test_a_release_without_places_has_no_map():
    X = np.random.default_rng(0).random((100, 2))
    clusters = load_release(DPKMeans(2, bounds=(0, 1), random_state=0).fit(X).release_)
    with pytest.raises(ParameterError, match="with a place"):
        clusters.to_geojson()
