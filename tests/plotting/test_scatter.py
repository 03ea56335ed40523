import numpy as np
import pytest
from matplotlib.colors import same_color

from shoal.exceptions import DataError, ParameterError
from shoal.plotting.scatter import SHOWN, draw_scatter
from shoal.plotting.style import COLORS

RNG = np.random.default_rng(0)
POINTS = RNG.uniform(-1.0, 1.0, (400, 3))
LABELS = np.arange(400) % 3 - 1


@pytest.mark.parametrize("columns", [2, 3])
def test_sets_have_panels_colors_and_the_same_axes(columns, figures, tmp_path):
    points = POINTS[:, :columns]
    sets = {"records": points, "reports": 3 * points, "remapped": points, "clusters": points}
    marks, middles = {"clusters": LABELS}, {"clusters": points[:2]}
    path = draw_scatter(tmp_path / "a.png", sets, labels=marks, centers=middles)
    assert path.stat().st_size > 5_000
    every = figures[0].axes
    assert len({axes.get_xlim() for axes in every}) == len({axes.get_ylim() for axes in every}) == 1
    for axes, name in zip(every, ("records", "reports", "remapped"), strict=False):
        (dots,) = axes.collections
        assert same_color(dots.get_facecolor()[0][:3], COLORS[name])
    assert len(every[3].collections) == 4
    names = [text.get_text() for text in figures[0].legends[0].get_texts()]
    assert names == ["no cluster", "cluster 0", "cluster 1", "centers"]


def test_at_most_so_many_points_evenly_taken_and_far_ones_counted(figures, tmp_path):
    points = np.column_stack([np.arange(10_000.0), RNG.normal(size=10_000)])
    points[::150, 1] = 1e6  # less than a hundredth is far away
    draw_scatter(tmp_path / "a.png", {"records": points})
    axes = figures[0].axes[0]
    shown = axes.collections[0].get_offsets()
    assert 0.9 * SHOWN < len(shown) < SHOWN
    assert shown[:, 0].max() > 9_900
    assert axes.get_title("left") == f"records ({SHOWN - len(shown)} of {SHOWN} outside)"
    assert axes.get_ylim()[1] < 10


def test_one_point_many_clusters_and_names(figures, tmp_path):
    draw_scatter(tmp_path / "a.svg", {"one": [[1.0, 2.0]]}, columns=["age (years)", "$ (USD)"])
    assert figures[0].axes[0].get_xlabel() == "age (years)"
    draw_scatter(tmp_path / "a.svg", {"a": POINTS[:, :2]}, labels={"a": np.arange(400)})
    assert not figures[1].legends


@pytest.mark.parametrize(
    ("sets", "words", "message"),
    [
        ({}, {}, "sets must be a dict of at least one table"),
        ({"a": POINTS[:, :1]}, {}, "sets must have 2 or 3 columns, got 1 in 'a'"),
        ({"a": POINTS, "b": POINTS[:, :2]}, {}, "the same number of columns"),
        ({"a": POINTS}, {"labels": {"b": LABELS}}, "labels must be of a, got 'b'"),
        ({"a": POINTS}, {"labels": LABELS}, "labels must be a dict by set, got ndarray"),
        ({"a": POINTS}, {"labels": {"a": LABELS[:3]}}, "labels must be one whole number a point"),
        ({"a": POINTS}, {"centers": {"a": POINTS[:, :2]}}, "centers must have 3 columns, got 2"),
        ({"a": POINTS}, {"columns": ["x"]}, "columns must be 3 names"),
    ],
)
def test_bad_input(sets, words, message, tmp_path):
    with pytest.raises(ParameterError, match=message):
        draw_scatter(tmp_path / "a.png", sets, **words)
    assert not list(tmp_path.iterdir())


def test_no_value_of_a_record_is_told(tmp_path):
    with pytest.raises(DataError, match="finite numbers") as caught:
        draw_scatter(tmp_path / "a.png", {"a": [[12345.0, np.nan]]})
    assert "12345" not in str(caught.value)
