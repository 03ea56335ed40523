"""The picture of a plan: what is finite is drawn, with its levels."""

from helpers.charts import PLAN, column, layers, legend, titles
from shoal.plotting import draw_plan


def test_three_panels():
    picture = draw_plan(PLAN)
    assert titles(picture) == [
        "What the clusters cost",
        "Smallest cluster that is seen",
        "Error of a profile",
    ]
    assert not picture.records
    (line,) = layers(picture, 0, "line")
    assert column(line.rows, "y") == [row.cost_ratio for row in PLAN.rows]
    (rule,) = layers(picture, 1, "rule")
    assert column(rule.rows, "y") == [PLAN.smallest_without_noise]
    assert [*legend(picture, 2)] == ["share of a category", "median, in widths of its bounds"]


def test_what_is_not_seen_is_not_drawn():
    (line,) = layers(draw_plan(PLAN), 1, "line")
    assert column(line.rows, "x") == [1.0, 4.0]  # at 0.5 there is none
    (line,) = layers(draw_plan(PLAN), 2, "line")
    assert column(line.rows, "y") == [40.0, 20.0, 5.0]  # there are no numbers
