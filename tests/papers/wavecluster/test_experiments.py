"""Grids of clusters as text, and clusters that keep their numbers."""

import numpy as np

from shoal.papers.wavecluster.experiments import matched_cells, read_cells, write_cells


def test_cells_come_back_and_clusters_keep_their_numbers():
    rng = np.random.default_rng(0)
    true = rng.integers(-1, 4, (6, 5)).astype(np.int32)
    assert np.array_equal(read_cells(write_cells(true)), true)
    names = np.array([2, 0, 3, 1, -1], dtype=np.int32)
    assert np.array_equal(matched_cells(true, names[true]), true)
    empty = np.full((6, 5), -1, dtype=np.int32)
    assert np.array_equal(matched_cells(true, empty), empty)
    alone = matched_cells(empty, true)
    assert np.array_equal(alone < 0, true < 0)
    # A cluster that swallows two has the number of the larger one.
    merged = matched_cells(np.array([0, 1, 1, -1]), np.array([0, 0, 0, 1]))
    assert merged.tolist() == [1, 1, 1, 2]
