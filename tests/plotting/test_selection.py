"""Pictures of what select_n_clusters and select_dbscan_eps return."""

from types import SimpleNamespace

import numpy as np
import pytest

from shoal.exceptions import ParameterError
from shoal.plotting.k_distance import _ordinal, draw_k_distance
from shoal.plotting.n_clusters import draw_n_clusters
from shoal.reports import select_dbscan_eps, select_n_clusters

RNG = np.random.default_rng(0)
BLOBS = RNG.normal(size=(150, 2)) * 0.3 + 9 * np.eye(3, 2).repeat(50, axis=0)
METHODS = ("elbow", "silhouette", "gap")


def ring(axes):
    return axes.collections[0].get_offsets()[0]


def test_three_curves_with_their_choices(figures, tmp_path):
    choices = [
        select_n_clusters(BLOBS, method=method, candidates=range(2, 6), random_state=0)
        for method in METHODS
    ]
    draw_n_clusters(tmp_path / "k.png", choices, title="blobs")
    assert len(figures[0].axes) == 3
    for axes, choice in zip(figures[0].axes, choices, strict=True):
        np.testing.assert_allclose(axes.lines[1].get_ydata(), choice.scores)
        place = list(choice.candidates).index(choice.n_clusters)
        np.testing.assert_allclose(ring(axes), [choice.n_clusters, choice.scores[place]])
        (text,) = axes.get_legend().get_texts()
        assert text.get_text() == f"chosen: k = {choice.n_clusters}"
    assert figures[0].axes[1].get_ylabel() == "silhouette (-1 to 1)"


def test_too_few_reports_for_any_candidate(figures, tmp_path):
    draw_n_clusters(tmp_path / "k.svg", select_n_clusters([[0.0, 0.0]]))
    assert figures[0].axes[0].texts[0].get_text() == "nothing to compare: k = 1"


def test_knee_lies_on_the_curve(figures, tmp_path):
    choice = select_dbscan_eps(BLOBS)
    draw_k_distance(tmp_path / "eps.pdf", choice)
    (axes,) = figures[0].axes
    rank, height = ring(axes)
    assert height == choice.eps
    assert choice.distances[int(rank) - 1] == choice.eps
    assert axes.get_ylabel() == "distance to the 3rd neighbor (records' unit)"


@pytest.mark.parametrize("reports", [[[0.0]], np.zeros((5, 2))])
def test_reports_without_distances(reports, tmp_path):
    assert draw_k_distance(tmp_path / "eps.png", select_dbscan_eps(reports)).exists()


def test_ordinals():
    numbers = (1, 2, 3, 4, 11, 12, 13, 21, 112)
    assert [_ordinal(n) for n in numbers] == [
        "1st",
        "2nd",
        "3rd",
        "4th",
        "11th",
        "12th",
        "13th",
        "21st",
        "112th",
    ]


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
def test_bad_input(draw, given, message, tmp_path):
    with pytest.raises(ParameterError, match=message):
        draw(tmp_path / "a.png", given)
    assert not list(tmp_path.iterdir())
