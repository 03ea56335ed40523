"""Centers of several fields: a table whose words and colors are those of the release."""

import numpy as np
import pytest

from helpers.charts import layers, release, released_centers, titles
from shoal.plotting import draw_release
from shoal.schema import Category, Flag, Number, Schema

SCHEMA = Schema(
    [
        Number("age", minimum=0, maximum=100, unit="years"),
        Category("city", ["A", "B", "a city with a very long name"]),
        Flag("member"),
    ]
)
PEOPLE = {
    "age": [20, 60, None],
    "city": ["A", "a city with a very long name", "A"],
    "member": [True, False, None],
}


def released_people(**values):
    """Three centers, each a mean of its own people and a few of all others."""
    points = SCHEMA.encode(PEOPLE)
    centers = 0.7 * points + 0.3 * points.mean(axis=0)
    shared = {"low": np.zeros(points.shape[1]), "high": SCHEMA.space.widths}
    given = {"sizes": np.array([30.0, 10.0, 20.0]), "certain": np.ones(3, dtype=bool), **values}
    return release(centers=centers, schema=SCHEMA.to_dict(), **shared, **given)


def cells(picture, panel=0):
    """Words and colors by field and cluster."""
    (rects,), (words,) = (layers(picture, panel, mark) for mark in ("rect", "text"))
    texts = {(row["y"], row["x"]): row["words"] for row in words.rows}
    colors = {(row["y"], row["x"]): row["value"] for row in rects.rows}
    return texts, colors


def test_words_of_the_schema():
    texts, _ = cells(draw_release(released_people()))
    assert [texts["noisy size", one] for one in "012"] == ["30", "10", "20"]
    assert texts["age", "0"] == "24.4 years"
    assert texts["age", "2"] == "missing 80%"
    assert texts["city", "0"] == "A 90%"
    assert texts["city", "1"] == "a city with a ver… 80%"
    assert [texts["member", one] for one in "012"] == ["true 80%", "false 80%", "missing 80%"]


def test_colors_compare_with_all_clusters_by_their_sizes():
    given = released_people()
    _, colors = cells(draw_release(given))
    centers = given.values["centers"]
    mean = np.average(centers, axis=0, weights=[30, 10, 20])
    assert colors["age", "0"] == pytest.approx(centers[0, 0] - mean[0], abs=1e-5)
    share = (centers - mean)[:, SCHEMA.space.names.index("city=A")] * np.sqrt(2)
    assert colors["city", "0"] == pytest.approx(share[0], abs=1e-5)
    gone = (centers - mean)[:, 1] / np.sqrt(0.75)
    assert colors["age", "2"] == pytest.approx(gone[2], abs=1e-5)
    assert {colors["noisy size", one] for one in "012"} == {0.0}


def test_what_may_be_noise_is_marked_and_left_out_of_the_mean():
    given = released_people(certain=np.array([True, True, False]))
    picture = draw_release(given)
    texts, colors = cells(picture)
    assert ("age", "2 ?") in texts
    mean = np.average(given.values["centers"][:2, 0], weights=[30, 10])
    assert colors["age", "0"] == pytest.approx(given.values["centers"][0, 0] - mean, abs=1e-5)
    assert "? may be noise alone" in picture.to_json()


def test_columns_without_a_schema():
    given = released_centers(4)
    texts, colors = cells(draw_release(given, ["a'", "b", "c", "d"]))
    centers = given.values["centers"]
    assert float(texts["a'", "0"]) == pytest.approx(centers[0, 0], abs=1e-2)
    places = (centers + 1) / 2
    mean = np.average(places[:2], axis=0, weights=[5, 9])  # the third may be noise
    assert colors["d", "1"] == pytest.approx(places[1, 3] - mean[3], abs=1e-5)
    assert "nothing is promised" in titles(draw_release(released_centers(3, holds=False)))[0]


def test_many_clusters_form_rows():
    given = released_people(sizes=np.ones(30), certain=np.ones(30, dtype=bool))
    given.values["centers"] = np.repeat(given.values["centers"], 10, axis=0)
    picture = draw_release(given)
    drawn = [len(layers(picture, panel, "text")[0].rows) for panel in range(len(titles(picture)))]
    assert sum(drawn) == 30 * 4
    assert max(drawn) <= 4 * 6
