"""The picture of three trust models: every curve at what it promises to one person."""

from dataclasses import replace

from helpers.charts import column, layers, legend
from helpers.made_up_comparison import BASELINE, comparison, row
from shoal.experiments.compare.curves import cost_levels, draw_costs, trust_model_points
from shoal.plotting import draw_lines
from shoal.plotting._theme import COLORS


def reported(name, cost, *, model="local", epsilon=1.0, shuffled=0.1):
    return replace(row(name, model, epsilon, cost), shuffled_epsilon=shuffled)


FOUND = comparison(
    row("DPKMeans-grid", "central", 1.0, 1.1),
    row("DPKMeans-lloyd", "central", 1.0, 1.2),
    row("DPWaveCluster-qt", "central", 1.0, None),
    reported("Laplace", 4.0, shuffled=0.2),
    reported("Piecewise", 3.0, shuffled=0.2),
    reported("PartitionResponse", 2.0),
    reported("PartitionResponse", 1.3, model="shuffled", shuffled=0.99),
)


def test_reports_are_drawn_twice_where_they_promise_a_local_epsilon():
    points = trust_model_points(FOUND)
    drawn = [(one["model"], one["method"], one["epsilon"], one["mean"]) for one in points]
    assert drawn == [
        ("central", "DPKMeans-grid", 1.0, 1.1),
        ("shuffled", "Piecewise", 0.2, 3.0),
        ("shuffled", "PartitionResponse", 0.1, 2.0),
        ("shuffled", "PartitionResponse", 0.99, 1.3),
        ("local", "Piecewise", 1.0, 3.0),
        ("local", "PartitionResponse", 1.0, 2.0),
    ]


def test_a_method_without_the_promise_is_not_drawn():
    weak = replace(row("my:Sketch", "central", 1.0, 1.0), equal=False)
    drawn = trust_model_points(comparison(weak, *FOUND.rows))
    assert {one["method"] for one in drawn} == {"DPKMeans-grid", "Piecewise", "PartitionResponse"}


def test_one_color_a_method_one_dash_a_trust_model():
    picture = draw_lines(
        trust_model_points(FOUND),
        x="epsilon",
        y="mean",
        group="method",
        dash="model",
        low="low",
        high="high",
        reference=cost_levels(BASELINE.trivial_costs),
    )
    shown = legend(picture)
    assert shown["PartitionResponse"] == COLORS["partitionresponse"]
    assert list(shown)[3:] == [
        "central",
        "shuffled",
        "local",
        "k-means without privacy",
        "spread over the box (blind)",
    ]
    (central, shuffled, local) = layers(picture, mark="line")
    assert column(central.rows, "x") == [1.0]
    assert sorted(column(shuffled.rows, "x")) == [0.1, 0.2, 0.99]
    assert column(local.rows, "x") == [1.0, 1.0]
    rules = [one for layer in layers(picture, mark="rule") for one in layer.rows]
    assert [one["y"] for one in rules] == [1.0, 6.0]
    # All dashes differ: in gray nothing but these tells a trust model from a level.
    dashes = [
        str(one.mark["strokeDash"])
        for mark in ("line", "rule")
        for one in layers(picture, mark=mark)
    ]
    assert len(set(dashes)) == 5


def test_costs_of_all_trust_models_in_one_panel():
    """Points say which method, model and epsilon they are: the studio opens them by that."""
    picture = draw_costs(FOUND)
    (drawn,) = picture.spec["concat"]
    assert drawn["width"] == 700
    points = {
        (row["name"], row["version"], row["x"], row["y"])
        for layer in layers(picture, mark="point")
        for row in layer.rows
    }
    assert ("PartitionResponse", "local", 1.0, 2.0) in points
    assert ("PartitionResponse", "shuffled", 1.0, 1.3) in points
    assert ("DPKMeans-lloyd", "central", 1.0, 1.2) in points
    assert len(points) == 6, "what has no centers has no cost"
