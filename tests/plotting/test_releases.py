"""Releases: centers in the public box, told apart from noise; nothing else is in the picture."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from helpers.charts import (
    column,
    layers,
    legend,
    release,
    released_centers,
    released_density,
    titles,
)
from shoal.cluster import DPKMeans
from shoal.exceptions import ParameterError
from shoal.plotting import draw_release


@pytest.mark.parametrize("columns", [1, 2, 40])
def test_centers_and_what_may_be_noise(columns):
    model = DPKMeans(3, epsilon=5.0, bounds=(-1.0, 1.0), random_state=0)
    model.fit(np.full((500, columns), -0.9))
    assert model.certain_.any()
    assert not model.certain_.all()
    picture = draw_release(model.release_, [f"${place} <b>" for place in range(columns)])
    assert {"center", "may be noise alone"} <= set(legend(picture))
    points = layers(picture, mark="point")
    sure = [one for one in points if one.rows and one.rows[0]["name"] == "center"]
    unsure = [one for one in points if one.rows and one.rows[0]["name"] != "center"]
    assert all(one.mark["filled"] for one in sure)
    assert not any(one.mark["filled"] for one in unsure)
    notes = {row["note"] for one in unsure for row in one.rows}
    assert len(notes) == (~model.certain_).sum()
    assert all("may be noise alone" in note for note in notes)


def test_places_and_sizes_are_those_of_the_release():
    given = released_centers(2)
    picture = draw_release(given, ["age", "income"])
    centers = given.values["centers"]
    dots = [row for one in layers(picture, mark="point") for row in one.rows]
    np.testing.assert_allclose([[row["x"], row["y"]] for row in dots], centers, atol=1e-5)
    assert dots[0]["area"] / dots[1]["area"] == pytest.approx(5 / 9, rel=1e-4)
    (box,) = layers(picture, mark="line")
    assert {(row["x"], row["y"]) for row in box.rows} == {(-1, -1), (1, -1), (1, 1), (-1, 1)}
    assert box.encoding["x"]["axis"]["title"] == "age (records' unit)"


def test_clusters_of_reports_are_drawn_too():
    """Their releases have shares instead of sizes, and a density in clusters alone."""
    given = released_centers(2).values
    box = {name: given[name] for name in ("centers", "low", "high")}
    picture = draw_release(release(**box, weights=np.array([0.2, 0.5, 0.3])))
    dots = [row for one in layers(picture, mark="point") for row in one.rows]
    assert dots[0]["area"] / dots[1]["area"] == pytest.approx(2 / 5, rel=1e-4)
    whole = released_density()
    inside = {name: value for name, value in whole.values.items() if name != "density"}
    heights = whole.values["density"].ravel()[inside["cells"]]
    part = release(**inside, values=heights, shape=[6, 6], columns=["a", "b"])
    drawn, same = draw_release(part), draw_release(whole, ["a", "b"])
    assert [one.rows for one in layers(drawn)] == [one.rows for one in layers(same)]


def test_more_columns_than_names_fit_are_turned_into_the_plane_of_the_centers():
    given = released_centers(30)
    picture = draw_release(given, [f"column {number}" for number in range(30)])
    dots = [row for one in layers(picture, mark="point") for row in one.rows]
    drawn = np.array([[row["x"], row["y"]] for row in dots])
    centers = given.values["centers"] / 2  # three of them lie in a plane: no distance is lost
    np.testing.assert_allclose(np.sort(pdist(drawn)), np.sort(pdist(centers)), rtol=1e-4)
    assert not layers(picture, mark="line")


def test_a_release_without_a_promise_says_so_and_is_for_the_curator():
    picture = draw_release(released_centers(2, holds=False), ["a", "b"])
    assert picture.records
    assert "nothing is promised: not to be published" in titles(picture)[0]


def test_a_sparse_grid_has_no_picture():
    assert draw_release(release(cells=[1], clusters=[0]), ["a", "b"]) is None


@pytest.mark.parametrize("columns", [2, 30])
def test_labels_of_centers_lie_apart_and_inside(columns):
    given = released_centers(columns)
    labels = ["first & <b>", "second one", "third"]
    picture = draw_release(given, [f"c{number}" for number in range(columns)], labels=labels)
    halo, words = layers(picture, mark="text")[-2:]
    assert column(words.rows, "words") == column(halo.rows, "words") == labels
    dots = [row for one in layers(picture, mark="point") for row in one.rows]
    assert {row["note"].split("(")[1].split(")")[0] for row in dots} == set(labels)
    places = np.array([[row["x"], row["y"]] for row in words.rows])
    for axis, name in enumerate("xy"):
        low, high = words.encoding[name]["scale"]["domain"]
        assert ((low < places[:, axis]) & (places[:, axis] < high)).all()
    assert pdist(places).min() > 0


def test_as_many_labels_as_centers():
    with pytest.raises(ParameterError, match="labels must be one for each of 3 centers, got 2"):
        draw_release(released_centers(2), ["a", "b"], labels=["x", "y"])
