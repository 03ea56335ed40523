"""Peaks, passes and the tree of clusters, against components of level sets computed one by one."""

import numpy as np
import pytest
from scipy import ndimage

from shoal.density import (
    BoxCells,
    DensityEstimate,
    GridCells,
    build_tree,
    choose_nodes,
    find_merges,
    prominence_for,
)

SHAPES = [(40,), (9, 11), (5, 4, 6), (3, 4, 3, 3)]


def estimate_of(density, deviation=1.0):
    flat = np.asarray(density, dtype=float).ravel()
    return DensityEstimate(flat, np.full(flat.size, deviation))


def level_set_pairs(density):
    """Return (peak, pass) of each peak but the highest, by labeling the level sets one by one."""
    structure = np.ones((3,) * density.ndim)
    pairs = []
    alive = {}  # peak value of each component at the level above, by its highest cell
    for level in np.sort(np.unique(density))[::-1]:
        labels, count = ndimage.label(density >= level, structure=structure)
        now = {}
        for component in range(1, count + 1):
            inside = labels == component
            now[int(np.argmax(np.where(inside, density, -np.inf)))] = float(density[inside].max())
        pairs += [(alive[cell], float(level)) for cell in alive if cell not in now]
        alive = now
    return sorted(pairs)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_merges_are_those_of_level_sets(shape, seed):
    density = np.random.default_rng(seed).permutation(np.prod(shape)).reshape(shape).astype(float)
    merges = find_merges(estimate_of(density), GridCells(shape).edges)
    peaks = density.ravel()[merges.peaks[merges.lower]]
    assert sorted(zip(peaks.tolist(), merges.passes.tolist(), strict=True)) == level_set_pairs(
        density
    )
    np.testing.assert_allclose(merges.prominence, (peaks - merges.passes) / np.sqrt(2))


@pytest.mark.parametrize("shape", SHAPES)
def test_edges_are_all_pairs_that_touch(shape):
    cells = GridCells(shape)
    corners = np.argwhere(np.ones(shape, dtype=bool))
    far = np.abs(corners[:, None] - corners[None]).max(axis=2)
    one, other = np.nonzero(np.triu(far == 1))
    found = {tuple(sorted(pair)) for pair in zip(*map(np.ndarray.tolist, cells.edges), strict=True)}
    assert found == set(zip(one.tolist(), other.tolist(), strict=True))
    assert len(cells.edges.one) == len(found)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("min_size", [0.0, 400.0])
def test_the_tree_keeps_its_rules(seed, min_size):
    rng = np.random.default_rng(seed)
    density = ndimage.gaussian_filter(rng.normal(size=(40, 40)), 2.0) * 40 + 2
    estimate, cells = estimate_of(density, 0.5), GridCells((40, 40))
    tree = build_tree(estimate, cells, threshold=3.0, min_size=min_size)
    nodes = len(tree.parent)
    assert (tree.parent[1:] < np.arange(1, nodes)).all(), "parents come first"
    assert tree.parent[0] == -1
    children = [np.flatnonzero(tree.parent == node) for node in range(nodes)]
    assert {len(one) for one in children} <= {0, 2}
    for node, pair in enumerate(children):
        if len(pair):
            np.testing.assert_allclose(tree.size[node], tree.size[pair].sum())
            np.testing.assert_allclose(tree.base[pair], tree.top[node])
            assert (tree.top[pair] > tree.base[pair]).all()
    leaves = np.flatnonzero(tree.is_leaf)
    assert set(np.unique(tree.leaf)) == set(leaves), "every cell is in a leaf"
    masses = np.maximum(estimate.density, 0)
    for leaf in leaves:
        assert tree.leaf[tree.peak[leaf]] == leaf
        np.testing.assert_allclose(tree.size[leaf], masses[tree.leaf == leaf].sum())
        labels, _ = ndimage.label((tree.leaf == leaf).reshape(40, 40), structure=np.ones((3, 3)))
        assert labels.max() == 1, "a leaf is one piece"
    if nodes > 1:
        assert tree.size[leaves].min() >= min_size
        if min_size == 0:
            significant = find_merges(estimate, cells.edges).prominence >= 3.0
            assert len(leaves) == significant.sum() + 1
            assert tree.prominence[1:].min() >= 3.0


def test_stability_is_the_excess_of_mass():
    density = np.array([0.0, 16.0, 4.0, 9.0, 0.0])
    tree = build_tree(estimate_of(density, 0.1), GridCells((5,)), threshold=3.0)
    # In one column the depth of a record is its density itself.
    root, one, other = tree.stability
    assert root == pytest.approx(16 * 4 + 4 * 4 + 9 * 4)
    assert sorted([one, other]) == pytest.approx([9 * 5, 16 * 12])


def test_a_higher_peak_that_is_too_small_joins_the_lower_one():
    density = np.array([50.0, 1.0, 20.0, 20.5, 20.0, 20.0])
    estimate = estimate_of(density, 0.1)
    tree = build_tree(estimate, GridCells((6,)), threshold=3.0, min_size=60.0)
    assert tree.parent.tolist() == [-1]
    three = np.concatenate([[30.0, 1.0], np.tile([20.0, 25.0, 20.0, 2.0], 2)])
    tree = build_tree(estimate_of(three, 0.1), GridCells((10,)), threshold=3.0, min_size=60.0)
    leaves = np.flatnonzero(tree.is_leaf)
    assert len(leaves) == 2, "the two wide ones stay apart"
    assert tree.leaf[0] == tree.leaf[3]


def test_boxes_and_grids_have_the_same_tree():
    rng = np.random.default_rng(5)
    density = ndimage.gaussian_filter(rng.normal(size=(16, 16)), 1.5) * 30
    corners = np.argwhere(np.ones((16, 16), dtype=bool)).astype(np.int64)
    boxes = BoxCells(corners, corners + 1)
    estimate = estimate_of(density, 0.3)
    grid = build_tree(estimate, GridCells((16, 16)), threshold=3.0)
    tree = build_tree(estimate, boxes, threshold=3.0)
    np.testing.assert_array_equal(grid.parent, tree.parent)
    np.testing.assert_array_equal(grid.leaf, tree.leaf)
    np.testing.assert_allclose(tree.size * 256, grid.size)
    np.testing.assert_array_equal(choose_nodes(grid), choose_nodes(tree))


@pytest.mark.parametrize("wanted", [1, 2, 3, 7])
def test_a_number_of_clusters(wanted):
    rng = np.random.default_rng(1)
    density = ndimage.gaussian_filter(rng.normal(size=(30, 30)), 2.0) * 40
    estimate, cells = estimate_of(density), GridCells((30, 30))
    merges = find_merges(estimate, cells.edges)
    threshold = prominence_for(merges, wanted)
    tree = build_tree(estimate, cells, threshold=threshold, merges=merges)
    assert tree.is_leaf.sum() == wanted


def test_flat_densities_and_single_cells():
    for shape in ((1,), (6,), (4, 4)):
        tree = build_tree(estimate_of(np.zeros(shape)), GridCells(shape), threshold=3.0)
        assert tree.parent.tolist() == [-1]
        assert choose_nodes(tree).tolist() == [0]
        assert prominence_for(find_merges(estimate_of(np.zeros(shape)), GridCells(shape).edges), 3)
