"""What the report draws and prints: means with intervals, printed figures beside ours."""

from helpers.wavecluster_measurements import made_up
from shoal.papers.wavecluster.claims import PUBLISHED_K
from shoal.papers.wavecluster.page import mean_rows, printed_figures


def test_rows_of_curves():
    rows = mean_rows(made_up())
    assert rows[0]["version"] == "corrected"  # full lines
    [row] = [
        row
        for row in rows
        if (row["dataset"], row["mechanism"], row["epsilon"], row["measure"], row["version"])
        == ("ds2", "thr", 1.0, "k", "as published")
    ]
    assert (row["value"], row["published"]) == (199, PUBLISHED_K[1.0]["thr"])
    assert sum(row["published"] is not None for row in rows) == 6
    assert all(row["low"] <= row["value"] <= row["high"] for row in rows)
    wide = mean_rows([{**one, "ocm": float(one["repeat"] == 0)} for one in made_up()])
    assert {(row["low"], row["high"]) for row in wide if row["measure"] == "ocm"} == {(0.0, 1.0)}


def test_printed_figures_stand_beside_ours():
    rows = {row[0]: row[1:] for row in printed_figures(made_up(), [])}
    assert rows["k' of baseline on ds2 at epsilon 1"] == ["284.0", "300.0 ± 0.0", "300.0 ± 0.0"]
    assert sum(name.startswith("k' of") for name in rows) == 6
    some = [row for row in made_up() if row["epsilon"] != 0.1]
    rows = {row[0]: row[1:] for row in printed_figures(some, [])}
    assert rows["k' of thr on ds2 at epsilon 0.1"] == ["131.2", "not run", "not run"]
