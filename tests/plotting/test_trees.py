"""Trees of clusters: branches between their densities, as wide as their records, labels apart."""

from types import SimpleNamespace

import numpy as np
import pytest

from helpers.charts import TREE, column, layers
from shoal.exceptions import ParameterError
from shoal.plotting import draw_cluster_tree
from shoal.plotting._theme import cluster_look


def branches(picture):
    """Return the rows of all branches, from left to right."""
    rows = [row for one in layers(picture, mark="rect") for row in one.rows]
    return sorted(rows, key=lambda row: row["x"])


def chain(leaves):
    """Return a tree from which one leaf after another splits off."""
    parent, base, top, size = [-1], [0.0], [1.0], [float(leaves)]
    for step in range(1, leaves):
        above = len(parent) - 1 if step > 1 else 0
        last = step == leaves - 1
        parent += [above, above]
        base += [float(step)] * 2
        top += [step + 3.0, step + (3.5 if last else 1.0)]
        size += [1.0, float(leaves - step)]
    return {"parent": parent, "base": base, "top": top, "size": size}


def test_branches_span_their_densities_and_are_as_wide_as_their_records():
    picture = draw_cluster_tree(TREE)
    rows = {row["size"]: row for row in branches(picture)}
    for base, top, size in zip(TREE["base"], TREE["top"], TREE["size"], strict=True):
        assert (rows[size]["y"], rows[size]["y2"]) == (base, top)
        wide = (rows[size]["x2"] - rows[size]["x"]) / size
        assert wide == pytest.approx((rows[90]["x2"] - rows[90]["x"]) / 90, rel=1e-4)
    joints = layers(picture, mark="rule")[0].rows
    assert sorted(column(joints, "y")) == [2.0, 5.0]  # splits, at their densities
    assert layers(picture, mark="rect")[0].encoding["y"]["scale"]["domain"][0] == 0


def test_parts_stand_above_their_branch_and_siblings_apart():
    rows = {row["size"]: row for row in branches(draw_cluster_tree(TREE))}
    for parent, one, other in ((90, 50, 40), (50, 30, 20)):
        first, second = sorted((rows[one], rows[other]), key=lambda row: row["x"])
        assert first["x2"] < second["x"]
        middle = (rows[parent]["x"] + rows[parent]["x2"]) / 2
        assert first["x"] < middle < second["x2"]


def test_chosen_clusters_have_color_number_and_size():
    tree = SimpleNamespace(**TREE)
    picture = draw_cluster_tree(tree, nodes=np.array([2, 1]), sizes=[38.4, 47.0])
    rows = {row["size"]: row["name"] for row in branches(picture)}
    # What the second splits into is a part of it, and the root is in none.
    part = "cluster 1"
    assert rows == {40: "cluster 0", 50: part, 30: part, 20: part, 90: "no cluster"}
    words = layers(picture, mark="text")[-1]
    assert column(words.rows, "words") == ["0 (38)", "1 (47)"]
    assert column(words.rows, "y") == [9.0, 8.0]  # above the highest part
    inside, chosen = layers(picture, mark="rect")
    assert inside.mark["opacity"] < chosen.mark["opacity"] == 1
    colors = chosen.encoding["color"]["scale"]
    assert colors["range"][colors["domain"].index("cluster 1")] == cluster_look(1).color


@pytest.mark.parametrize("leaves", [1, 2, 35, 150])
def test_labels_stand_apart_whatever_the_number_of_clusters(leaves):
    picture = draw_cluster_tree(chain(leaves))
    words = layers(picture, mark="text")[-1]
    places = np.sort(column(words.rows, "x"))
    assert (np.diff(places) >= 12.5).all()
    assert leaves > 35 or len(places) == leaves
    panel = picture.spec["concat"][0]
    assert panel["width"] <= 630
    assert all(-1e-3 <= row["x"] <= row["x2"] <= panel["width"] + 1e-3 for row in branches(picture))
    assert words.mark.get("angle") == (270 if leaves > 2 else None)


def test_small_clusters_can_be_seen_and_labels_that_do_not_fit_are_turned():
    tree = {"parent": [-1, 0, 0], "base": [0, 1, 1], "top": [1, 5, 4], "size": [1001, 1000, 1]}
    picture = draw_cluster_tree(tree)
    assert all(row["x2"] - row["x"] > 0.4 for row in branches(picture))
    words = layers(picture, mark="text")[-1]
    assert len(words.rows) == 2


def test_no_cluster_at_all():
    picture = draw_cluster_tree({"parent": [-1], "base": [0], "top": [0], "size": [0]}, nodes=[])
    assert [row["name"] for row in branches(picture)] == ["no cluster"]


@pytest.mark.parametrize(
    ("tree", "given", "message"),
    [
        ({"parent": [-1]}, {}, "tree must have parent, base, top, size, got dict without some"),
        (TREE | {"top": [1.0]}, {}, "tree must have arrays of one length"),
        (TREE | {"parent": [-1, 2, 0, 1, 1]}, {}, "root first and each node after its parent"),
        (TREE | {"parent": [0, 0, 0, 1, 1]}, {}, "root first"),
        (TREE, {"nodes": [5]}, "nodes must be indices of the tree's 5 nodes"),
        (TREE, {"nodes": [0.5]}, "nodes must be indices"),
        (TREE, {"nodes": [1, 2], "sizes": [1.0]}, "sizes must be one for each of 2 clusters"),
    ],
)
def test_bad_trees(tree, given, message):
    with pytest.raises(ParameterError, match=message):
        draw_cluster_tree(tree, **given)
