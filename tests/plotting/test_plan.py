"""The picture of a plan: what is finite is drawn, with its levels."""

import math
from types import SimpleNamespace

from helpers.charts import (
    DEVICE_PLAN,
    PLAN,
    SHUFFLED_PLAN,
    column,
    layers,
    legend,
    titles,
)
from shoal.plotting import draw_device_plan, draw_plan, draw_shuffled_plan


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


def test_devices():
    picture = draw_device_plan(DEVICE_PLAN)
    assert titles(picture) == [
        "What the clusters cost",
        "Devices that are needed",
        "What a shuffler makes of it",
    ]
    assert [*legend(picture, 0)] == ["ε = 0.5", "ε = 1", "ε = 4", "good enough: 1.2"]
    bars = layers(picture, 0, "rule")[0]
    assert column(bars.rows, "y2") == [3.5, 4.0, 3.5, 3.0, 3.5, 2.25]
    (line,) = layers(picture, 1, "line")
    assert column(line.rows, "y") == [90_000.0, 1000.0]  # a million are not enough at 0.5
    (line,) = layers(picture, 2, "line")
    assert column(line.rows, "y") == [0.5, 1.0, 4.0, 0.0166667, 0.0333333, 0.133333]


def test_a_shuffled_batch():
    picture = draw_shuffled_plan(SHUFFLED_PLAN)
    assert titles(picture) == ["What each device may report with", "What the clusters cost"]
    (line,) = layers(picture, 0, "line")
    assert column(line.rows, "y") == [6.1, 6.5, 7.0]
    row = SimpleNamespace(epsilon=1.0, local_epsilon=8.5, cost_ratio=math.nan)
    assert titles(draw_shuffled_plan(SimpleNamespace(rows=[row]))) == [
        "What each device may report with"
    ]
