from itertools import permutations

import numpy as np
import pytest

from shoal.exceptions import DataError, MissingBoundsError, ParameterError
from shoal.metrics import classify_with_cells, ocm, two_ce
from shoal.metrics.ocm import unmatched_share

BOX = (0.0, 1.0)


def brute_force(true, private):
    """Try every one-to-one matching of classes and count the records that agree."""
    ours, theirs = sorted(set(true)), sorted(set(private))
    if len(ours) > len(theirs):
        return brute_force(private, true)
    common = max(
        sum(
            dict(zip(ours, chosen, strict=True))[a] == b for a, b in zip(true, private, strict=True)
        )
        for chosen in permutations(theirs, len(ours))
    )
    return (len(true) - common) / len(true)


@pytest.mark.parametrize("seed", range(40))
def test_against_all_matchings(seed):
    rng = np.random.default_rng(seed)
    true = rng.integers(-1, rng.integers(1, 5), size=15).tolist()
    private = rng.integers(-1, rng.integers(1, 5), size=15).tolist()
    assert unmatched_share(true, private) == brute_force(true, private)


@pytest.mark.parametrize("seed", range(10))
def test_is_the_matching_of_what_the_two_trees_say(seed):
    rng = np.random.default_rng(100 + seed)
    true, private = rng.integers(-1, 4, size=(2, 5, 6))
    X = rng.random((80, 2))
    labels = [classify_with_cells(cells, X, bounds=BOX).tolist() for cells in (true, private)]
    assert ocm(true, private, X, bounds=BOX) == brute_force(*labels)


def test_greedy_matching_is_not_enough():
    """The largest overlap, 5, is given up for two of 4: CT is 8 of 14, not 6."""
    true = [0] * 9 + [1] * 5
    private = [0] * 5 + [1] * 4 + [0] * 4 + [1]
    assert unmatched_share(true, private) == 6 / 14


def test_identity_and_names():
    rng = np.random.default_rng(1)
    true, private = rng.integers(-1, 5, size=(2, 8, 8))
    X = rng.random((300, 2))
    names = np.array([40, -7, 3, 0, 1, -1])  # The last one belongs to label -1.
    value = ocm(true, private, X, bounds=BOX)
    assert 0 < value < 1
    assert ocm(names[true], private, X, bounds=BOX) == value
    assert ocm(true, names[private], X, bounds=BOX) == value
    assert ocm(private, true, X, bounds=BOX) == value
    assert ocm(true, names[true], X, bounds=BOX) == 0.0


def test_a_side_without_clusters_is_one_class():
    cells, nothing = np.array([0, 0, 1, 2]), np.full(4, -1)
    X = [[0.1], [0.2], [0.3], [0.7], [0.9]]
    assert ocm(cells, nothing, X, bounds=BOX) == 2 / 5
    assert ocm(nothing, cells, X, bounds=BOX) == 2 / 5
    assert ocm(cells, [8, -1, -1, -1], X, bounds=BOX) == 2 / 5
    assert ocm(nothing, nothing, X, bounds=BOX) == 0.0
    assert ocm(nothing, [8, -1, -1, 8], X, bounds=BOX) == 0.0


def test_a_cluster_that_is_lost_and_a_bridge():
    """Three strips; the private result joins two. Records are even, so a third is lost."""
    true, bridged = np.full((9, 9), -1), np.full((9, 9), -1)
    true[:, :2], true[:, 3:5], true[:, 7:] = 0, 1, 2
    bridged[:, :5], bridged[:, 7:] = 0, 1
    X = [[0.5, (column + 0.5) / 9] for column in (0, 1, 3, 4, 7, 8)]
    assert ocm(true, bridged, X, bounds=BOX) == 2 / 6
    labels = [classify_with_cells(cells, X, bounds=BOX) for cells in (true, bridged)]
    assert two_ce(*labels) == 4 / 15


def test_one_record():
    assert ocm([0, 1], [1, 1], [[0.3]], bounds=BOX) == 0.0


def test_bad_input():
    X = [[0.5]]
    with pytest.raises(ParameterError, match="true_cells must be integers"):
        ocm([0.5], [0], X, bounds=BOX)
    with pytest.raises(ParameterError, match="private_cells must have the shape of true_cells"):
        ocm([0], [0, 1], X, bounds=BOX)
    with pytest.raises(
        ParameterError, match="true_cells must have one dimension for each of the 2"
    ):
        ocm([0], [0], [[0.5, 0.5]], bounds=BOX)
    with pytest.raises(ParameterError, match="low < high"):
        ocm([0], [0], X, bounds=(1, 0))
    with pytest.raises(MissingBoundsError):
        ocm([0], [0], X, bounds=None)
    with pytest.raises(DataError, match="X must hold finite numbers"):
        ocm([0], [0], [[np.inf]], bounds=BOX)
    with pytest.raises(ParameterError, match="private_labels must have the shape"):
        unmatched_share([0], [0, 1])
