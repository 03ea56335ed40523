"""Pictures of what select_n_clusters and select_dbscan_eps return."""

from types import SimpleNamespace

import numpy as np
import pytest

from helpers.charts import column, layers, legend, titles
from shoal.exceptions import ParameterError
from shoal.plotting import draw_k_distance, draw_n_clusters
from shoal.plotting._selection import ordinal
from shoal.reports import select_dbscan_eps, select_n_clusters

RNG = np.random.default_rng(0)
BLOBS = RNG.normal(size=(150, 2)) * 0.3 + 9 * np.eye(3, 2).repeat(50, axis=0)


def ring(picture, panel=0):
    return layers(picture, panel, "point")[0].rows[0]


def test_three_curves_with_their_choices():
    choices = [
        select_n_clusters(BLOBS, method=method, candidates=range(2, 6), random_state=0)
        for method in ("elbow", "silhouette", "gap")
    ]
    picture = draw_n_clusters(choices, title="blobs")
    assert len(titles(picture)) == 3
    for panel, choice in enumerate(choices):
        (line,) = layers(picture, panel, "line")
        np.testing.assert_allclose(column(line.rows, "y"), choice.scores, rtol=1e-4, atol=1e-5)
        place = list(choice.candidates).index(choice.n_clusters)
        assert ring(picture, panel)["x"] == choice.n_clusters
        assert ring(picture, panel)["y"] == pytest.approx(choice.scores[place], rel=1e-4)
        assert [*legend(picture, panel)] == [f"chosen: k = {choice.n_clusters}"]
    assert layers(picture, 1, "line")[0].encoding["y"]["axis"]["title"] == "silhouette (-1 to 1)"


def test_too_few_reports_for_any_candidate():
    (words,) = layers(draw_n_clusters(select_n_clusters([[0.0, 0.0]])), mark="text")
    assert words.rows == [{"words": "nothing to compare: k = 1"}]


def test_knee_lies_on_the_curve():
    choice = select_dbscan_eps(BLOBS)
    picture = draw_k_distance(choice)
    at = ring(picture)
    assert at["y"] == pytest.approx(choice.eps, rel=1e-5)
    assert choice.distances[at["x"] - 1] == choice.eps
    (line,) = layers(picture, mark="line")
    assert line.encoding["y"]["axis"]["title"] == "distance to the 3rd neighbor (records' unit)"
    assert len(line.rows) == len(BLOBS)


@pytest.mark.parametrize("reports", [[[0.0]], np.zeros((5, 2))])
def test_reports_without_distances(reports):
    assert draw_k_distance(select_dbscan_eps(reports))


def test_ordinals():
    numbers = (1, 2, 3, 4, 11, 12, 13, 21, 112)
    assert " ".join(map(ordinal, numbers)) == "1st 2nd 3rd 4th 11th 12th 13th 21st 112th"


@pytest.mark.parametrize(
    ("draw", "given", "message"),
    [
        (draw_n_clusters, [], "choices must hold at least one choice, got none"),
        (draw_n_clusters, [3], "choices must have method, got a int"),
        (
            draw_n_clusters,
            SimpleNamespace(method="gap", n_clusters=2, candidates=[2, 3], scores=[1.0]),
            "choices must have one score a candidate, got 1 scores for 2 candidates",
        ),
        (draw_k_distance, 3, "choice must have eps, got a int"),
        (
            draw_k_distance,
            SimpleNamespace(eps=1.0, neighbor=2, distances=[2.0, 1.0]),
            "distances of the choice must be a sorted curve",
        ),
    ],
)
def test_bad_input(draw, given, message):
    with pytest.raises(ParameterError, match=message):
        draw(given)
