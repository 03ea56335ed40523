"""Which nodes are clusters, and which cells belong to none."""

import numpy as np
import pytest
from sklearn.cluster import HDBSCAN

from shoal.density import (
    DensityEstimate,
    GridCells,
    build_tree,
    cell_memberships,
    choose_nodes,
    label_cells,
)
from shoal.density.selection import PARENT_ODDS


def hills(*centers, side=40, width=3.0, background=0.0):
    """Return the density of round hills (height, row, column) on a grid."""
    rows, columns = np.indices((side, side))
    density = np.full((side, side), background)
    for height, row, column in centers:
        squares = (rows - row) ** 2 + (columns - column) ** 2
        density += height * np.exp(-squares / (2 * width**2))
    return DensityEstimate(density.ravel(), np.full(side * side, 0.2))


def chosen(estimate, side=40):
    cells = GridCells((side, side))
    tree = build_tree(estimate, cells, threshold=4.0)
    return tree, label_cells(estimate, cells, tree, choose_nodes(tree))


def test_a_parent_is_kept_where_its_children_hardly_part():
    # Two hills close together, and a third far away.
    tree, clusters = chosen(hills((20, 10, 10), (20, 10, 17.5), (20, 32, 32)))
    assert tree.is_leaf.sum() == 3
    assert len(clusters.nodes) == 2
    tree, clusters = chosen(hills((20, 10, 8), (20, 10, 20), (20, 32, 32)))
    assert len(clusters.nodes) == 3


def test_the_root_alone_or_not_at_all():
    tree, clusters = chosen(hills((20, 20, 20)))
    assert clusters.nodes.tolist() == [0]
    tree, clusters = chosen(hills((20, 20, 17), (20, 20, 24)))
    assert tree.is_leaf.sum() == 2
    assert 0 not in clusters.nodes, "two peaks that are more than chance are two clusters"


@pytest.mark.parametrize("seed", range(5))
def test_choice_is_the_best_of_all_antichains(seed):
    """Against the best of all choices of nodes, tried one by one."""
    rng = np.random.default_rng(seed)
    centers = [(rng.uniform(8, 30), *rng.uniform(3, 37, size=2)) for _ in range(6)]
    tree, _ = chosen(hills(*centers))
    children = {node: np.flatnonzero(tree.parent == node) for node in range(len(tree.parent))}

    def choices(node):
        below = [()]
        for child in children[node]:
            below = [one + other for one in below for other in choices(child)]
        return ([(node,)] if node or not len(children[0]) else []) + (
            below if len(children[node]) else []
        )

    def depth(node):
        return 0 if node == 0 else 1 + depth(int(tree.parent[node]))

    def worth(nodes):
        # A parent counts for less: by the odds that it must have over its children.
        leaves = tree.is_leaf
        return sum(tree.stability[node] / (1.0 if leaves[node] else PARENT_ODDS) for node in nodes)

    if all(len(children[int(child)]) == 0 for child in children[0]):
        assert set(choose_nodes(tree)) == set(max(choices(0), key=worth))
    mine = choose_nodes(tree)
    index = tree.members(mine)
    assert (index[tree.is_leaf] >= 0).all(), "every leaf is in one chosen node"
    for node in mine:
        above = tree.parent[node]
        while above >= 0:
            assert above not in mine
            above = tree.parent[above]


def test_cells_of_the_background_belong_to_none():
    estimate = hills((20, 12, 12), (20, 28, 28), background=3.0)
    _, clusters = chosen(estimate)
    assert clusters.background == pytest.approx(3.0, abs=0.1)
    np.testing.assert_array_equal(clusters.labels < 0, estimate.density < 2 * clusters.background)


def test_what_is_cut_off_belongs_to_none():
    density = np.array([0.0, 9.0, 9.0, 9.0, 0.0, 0.0, 1.2, 0.0, 0.0, 0.0])
    estimate = DensityEstimate(density, np.full(10, 0.5))
    cells = GridCells((10,))
    tree = build_tree(estimate, cells, threshold=3.0)
    labels = label_cells(estimate, cells, tree, choose_nodes(tree)).labels
    assert labels.tolist() == [-1, 0, 0, 0, -1, -1, -1, -1, -1, -1]


def test_clusters_are_numbered_by_their_size():
    _, clusters = chosen(hills((8, 10, 10), (30, 30, 30)))
    assert (np.diff(clusters.sizes) < 0).all()
    assert clusters.labels.reshape(40, 40)[30, 30] == 0


def test_memberships():
    estimate = hills((20, 20, 12), (20, 20, 26))
    cells = GridCells((40, 40))
    tree = build_tree(estimate, cells, threshold=4.0)
    clusters = label_cells(estimate, cells, tree, choose_nodes(tree))
    degrees = cell_memberships(estimate, cells, clusters).toarray()
    total = degrees.sum(axis=1)
    assert degrees.min() >= 0
    assert total.max() <= 1 + 1e-12
    assert (total[clusters.labels < 0] == 0).all()
    inside = clusters.labels >= 0
    np.testing.assert_allclose(total[inside], 1.0)
    at = degrees.reshape(40, 40, 2)[20, [12, 19, 26]]
    assert at[0].max() > 0.99
    assert 0.3 < at[1].max() < 0.7, "divided where they meet"
    assert at[0].argmax() != at[2].argmax()


def test_the_clusters_of_hdbscan_on_records():
    """The same parts as HDBSCAN of scikit-learn, where both see clear shapes."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, np.pi, size=(2, 3000))
    moons = np.concatenate(
        [
            np.column_stack([np.cos(angle[0]), np.sin(angle[0])]),
            np.column_stack([1 - np.cos(angle[1]), 0.4 - np.sin(angle[1])]),
        ]
    ) + rng.normal(scale=0.05, size=(6000, 2))
    steps = np.clip(((moons + np.array([1.3, 1.0])) / [3.6, 2.6] * 30).astype(int), 0, 29)
    counts = np.zeros((30, 30))
    np.add.at(counts, tuple(steps.T), 1.0)
    estimate = DensityEstimate(counts.ravel(), np.sqrt(counts.ravel() + 1))
    tree = build_tree(estimate, GridCells((30, 30)), threshold=5.0)
    clusters = label_cells(estimate, GridCells((30, 30)), tree, choose_nodes(tree))
    mine = clusters.labels.reshape(30, 30)[tuple(steps.T)]
    theirs = HDBSCAN(min_cluster_size=100, copy=True).fit_predict(moons)
    both = (mine >= 0) & (theirs >= 0)
    assert both.mean() > 0.9
    assert len({*zip(mine[both].tolist(), theirs[both].tolist(), strict=True)}) == 2
