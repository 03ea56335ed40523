"""The demonstration: both models, and costs whose numbers stay apart."""

import numpy as np

from helpers.charts import COSTS, EXAMPLE, column, layers, legend, titles
from shoal.plotting import draw_demo


def test_both_models_and_what_they_cost():
    picture = draw_demo(EXAMPLE, COSTS)
    assert not picture.records  # they are made up
    assert [one.split(":")[0] for one in titles(picture)[:2]] == ["Central", "Local"]
    dots, centers = layers(picture, 0)[:2]
    assert len(dots.rows) == (np.abs(EXAMPLE.records) <= 1.6).all(axis=1).sum()
    assert [[row["x"], row["y"]] for row in centers.rows] == EXAMPLE.central.tolist()
    assert [*legend(picture, 2)] == ["central: k", "local: k", "k-means without privacy"]
    (line,) = layers(picture, 2, "line")
    assert column(line.rows, "y") == [float(f"{np.median(row.costs):.6g}") for row in COSTS]
    assert column(line.rows, "low") == [float(f"{min(row.costs):.6g}") for row in COSTS]


def test_numbers_below_the_costs_stay_apart():
    axis = layers(draw_demo(EXAMPLE, COSTS), 2, "line")[0].encoding["x"]["axis"]
    assert len(axis["values"]) == 6
    assert axis["labelOverlap"] == "greedy"
    assert axis["format"] == ",.3~r"  # 5.66, 11.3, 22.6 and 45.3
