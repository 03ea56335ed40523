"""Measures of labeled cells, against all matchings."""

import math
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from shoal.exceptions import DataError, MissingBoundsError, ParameterError
from shoal.metrics import classify_with_cells, dsg, ocm, two_ce
from shoal.metrics.cells import unmatched_share


def classes_random_cells(rng, shape, clusters):
    """Cells of any cluster next to each other: a hard task for a tree."""
    return rng.integers(-1, clusters, size=shape)


def midpoints(shape, low, high):
    """Midpoint of each cell, in C order, one cell at a time."""
    return np.array(
        [
            [low[j] + (high[j] - low[j]) * (place[j] + 0.5) / shape[j] for j in range(len(shape))]
            for place in np.ndindex(*shape)
        ]
    )


@pytest.mark.parametrize("shape", [(13,), (8, 5), (4, 3, 5)])
def test_midpoints_of_significant_cells_get_their_own_label(shape):
    rng = np.random.default_rng(0)
    cells = classes_random_cells(rng, shape, 4)
    low, high = np.arange(len(shape)) - 5.0, np.arange(len(shape)) * 3.0 + 1.0
    known = cells.ravel() != -1
    X = midpoints(shape, low, high)[known]
    predicted = classify_with_cells(cells, X, bounds=(low, high))
    np.testing.assert_array_equal(predicted, cells.ravel()[known])


def test_against_a_tree_on_midpoints_in_the_unit_of_the_records():
    """Clusters in strips along the first column: every tree must split at the same places."""
    rng = np.random.default_rng(1)
    cells = np.full((12, 9), -1)
    cells[:3], cells[5:7], cells[10:] = 4, 8, 2
    low, high = np.array([-2.0, 10.0]), np.array([4.0, 10.9])
    known = cells.ravel() != -1
    tree = DecisionTreeClassifier(criterion="entropy", random_state=3)
    tree.fit(midpoints((12, 9), low, high)[known], cells.ravel()[known])
    X = rng.uniform(low, high, size=(2000, 2))
    np.testing.assert_array_equal(
        classify_with_cells(cells, X, bounds=(low, high)), tree.predict(X)
    )


def test_gaps_are_split_in_the_middle():
    cells = [5, -1, -1, -1, 6, -1]
    X = [[0.0], [2.49], [2.51], [6.0]]
    assert classify_with_cells(cells, X, bounds=(0, 6)).tolist() == [5, 5, 6, 6]


def test_a_box_far_away_or_tiny_loses_no_digit():
    """In float32 all these records would be one."""
    rng = np.random.default_rng(2)
    cells = classes_random_cells(rng, (16, 16), 3)
    X = rng.integers(0, 64, size=(500, 2)) / 64 + 1 / 128
    plain = classify_with_cells(cells, X, bounds=(0, 1))
    far = classify_with_cells(cells, X + 2.0**30, bounds=(2.0**30, 2.0**30 + 1))
    tiny = classify_with_cells(cells, X * 2.0**-200, bounds=(0, 2.0**-200))
    huge = classify_with_cells(cells, (X - 0.5) * 2.0**1000, bounds=(-(2.0**999), 2.0**999))
    for other in (far, tiny, huge):
        np.testing.assert_array_equal(other, plain)


def test_records_outside_the_box_count_as_on_its_border():
    cells = [[0, 1], [2, 3]]
    X = np.array([[-9.0, 0.2], [0.2, 1e300], [-1e308, 1e308], [2.0, 2.0]])
    inside = np.clip(X, 0, 1)
    np.testing.assert_array_equal(
        classify_with_cells(cells, X, bounds=(0, 1)),
        classify_with_cells(cells, inside, bounds=(0, 1)),
    )


def test_names_change_nothing_else():
    """Also where two splits are equally good: then the last digit of an entropy would decide."""
    rng = np.random.default_rng(3)
    X = rng.random((400, 2))
    for _ in range(60):
        cells = classes_random_cells(rng, (20, 20), 5)
        names = rng.permutation(np.setdiff1d(np.arange(-20, 20), [-1]))[:5]
        renamed = np.where(cells == -1, -1, names[cells])
        np.testing.assert_array_equal(
            names[classify_with_cells(cells, X, bounds=(0, 1))],
            classify_with_cells(renamed, X, bounds=(0, 1)),
        )


def test_one_cluster_and_none():
    X = [[0.1, 0.1], [0.9, 0.4]]
    one = np.full((3, 3), -1)
    assert classify_with_cells(one, X, bounds=(0, 1)).tolist() == [-1, -1]
    one[2, 2] = 6
    assert classify_with_cells(one, X, bounds=(0, 1)).tolist() == [6, 6]


def test_every_cell_its_own_cluster_gives_no_warning():
    cells = np.arange(36).reshape(6, 6)
    X = midpoints((6, 6), [0, 0], [1, 1])
    assert classify_with_cells(cells, X, bounds=(0, 1)).tolist() == list(range(36))


def test_tables_of_other_kinds():
    X = pd.DataFrame({"a": [0.2, 0.8]})
    assert classify_with_cells([3, 4], X, bounds=([0], [1])).tolist() == [3, 4]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([0, 1], "cells must have one dimension for each of the 2 columns of X, got 1"),
        (np.zeros((2, 2, 2), dtype=int), "of the 2 columns of X, got 3"),
        ([[0.5]], "cells must be integers"),
        ([[]], "cells must have one label or more"),
    ],
)
def test_classes_bad_cells(cells, words):
    with pytest.raises(ParameterError, match=words):
        classify_with_cells(cells, [[0.0, 0.0]], bounds=(0, 1))


def test_more_cells_than_float32_can_number():
    cells = np.zeros(2**24 + 1, dtype=np.int8)
    with pytest.raises(ParameterError, match="at most 16777216 cells in a column"):
        classify_with_cells(cells, [[0.0]], bounds=(0, 1))


@pytest.mark.parametrize(
    "bounds",
    [
        (1, 0),
        (0, 0),
        (0, np.inf),
        (np.nan, 1),
        3,
        (0, 1, 2),
        ([0] * 3, 1),
        ("a", 1),
    ],
)
def test_bad_bounds(bounds):
    with pytest.raises(ParameterError, match="bounds must"):
        classify_with_cells([[0]], [[0.0, 0.0]], bounds=bounds)


def test_missing_bounds():
    with pytest.raises(MissingBoundsError, match="bounds must be given"):
        classify_with_cells([[0]], [[0.0, 0.0]], bounds=None)


def test_bad_records():
    with pytest.raises(DataError, match="X must hold finite numbers") as caught:
        classify_with_cells([0], [[12.5], [np.nan]], bounds=(0, 1))
    assert "12.5" not in str(caught.value)
    with pytest.raises(DataError, match="X must be a table"):
        classify_with_cells([0], [12.5], bounds=(0, 1))


# The source's example: cells g1 .. g9, {g1, g3, g5} against {g1, g5, g7, g9}.
TRUE = np.array([0, -1, 0, -1, 0, -1, -1, -1, -1])
PRIVATE = np.array([0, -1, -1, -1, 0, -1, 0, -1, 0])


def as_sets(cells):
    """Clusters as sets of positions."""
    flat = np.asarray(cells).ravel().tolist()
    return [{i for i, v in enumerate(flat) if v == name} for name in set(flat) - {-1}]


def partial_matchings(left, right):
    """Yield every set of pairs in which no cluster occurs twice, also those that match nobody."""
    chosen = list(range(right)) + [None] * left
    for picked in set(permutations(chosen, left)):
        yield [(i, j) for i, j in enumerate(picked) if j is not None]


def dsg_brute_force(true, private, *, full_only):
    """Try all matchings of sets: those of all clusters of the smaller side, or all there are."""
    ours, theirs = as_sets(true), as_sets(private)
    costs = []
    for pairs in partial_matchings(len(ours), len(theirs)):
        if full_only and len(pairs) < min(len(ours), len(theirs)):
            continue
        matched = sum(max(len(ours[i] - theirs[j]), len(theirs[j] - ours[i])) for i, j in pairs)
        alone = sum(map(len, ours)) + sum(map(len, theirs))
        for i, j in pairs:
            alone -= len(ours[i]) + len(theirs[j])
        costs.append(matched + alone)
    return min(costs) / sum(map(len, ours))


def dsg_random_cells(rng, shape, most_clusters):
    return rng.integers(-1, rng.integers(1, most_clusters + 1), size=shape)


def renamed(rng, cells):
    """Return every cluster another name, with gaps and below -1."""
    names = rng.permutation(np.setdiff1d(np.arange(-50, 51), [-1]))
    return np.where(cells == -1, -1, names[cells])


def test_example_of_the_source():
    assert dsg(TRUE, PRIVATE) * 3 == pytest.approx(2, abs=1e-12)
    assert dsg(PRIVATE, TRUE) == 2 / 4


def test_dsg_against_all_matchings():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        shape = [(9,), (4, 3), (2, 3, 2)][seed % 3]
        true, private = dsg_random_cells(rng, shape, 4), dsg_random_cells(rng, shape, 4)
        true.flat[0] = 0  # At least one significant cell.
        assert dsg(true, private) == dsg_brute_force(true, private, full_only=True)


def test_leaving_a_pair_unmatched_is_never_cheaper():
    for seed in range(30):
        rng = np.random.default_rng(1000 + seed)
        true, private = dsg_random_cells(rng, 10, 4), dsg_random_cells(rng, 10, 3)
        true[0] = 0
        assert dsg_brute_force(true, private, full_only=False) == dsg(true, private)


def test_unmatched_clusters_cost_their_cells_on_either_side():
    one, three = [0, 0, 0, -1, -1, -1, -1], [5, 5, 5, -1, 6, -1, 7]
    assert dsg(three, one) == 2 / 5
    assert dsg(one, three) == 2 / 3
    merged = [0, 0, 0, 0, 0]
    assert dsg([0, 0, 0, 1, 1], merged) == (2 + 2) / 5


def test_overlap_alone_does_not_decide():
    """Clusters of 10 and 2 cells on both sides, each overlapping only the one of the other size.

    The pairs with common cells would cost 8 + 8; the pairs of one size cost 10 + 2.
    """
    true = [0] * 10 + [1] * 2 + [-1] * 8
    private = [-1] * 8 + [1] * 2 + [0] * 10
    assert dsg(true, private) == 12 / 12


def test_names_do_not_matter():
    rng = np.random.default_rng(7)
    for _ in range(20):
        true, private = dsg_random_cells(rng, (6, 6), 6), dsg_random_cells(rng, (6, 6), 6)
        true[0, 0] = 0
        assert dsg(renamed(rng, true), renamed(rng, private)) == dsg(true, private)
        assert dsg(true, renamed(rng, true)) == 0.0


def test_only_which_cell_is_which_counts():
    rng = np.random.default_rng(8)
    true, private = dsg_random_cells(rng, 24, 4), dsg_random_cells(rng, 24, 4)
    order = rng.permutation(24)
    assert dsg(true[order].reshape(2, 3, 4), private[order].reshape(2, 3, 4)) == dsg(true, private)


def test_nothing_significant():
    nothing = np.full((3, 3), -1)
    something = nothing.copy()
    something[1, 1:] = 4
    assert dsg(nothing, nothing) == 0.0
    assert dsg(nothing, something) == math.inf
    assert dsg(something, nothing) == 1.0


def test_unsigned_and_small_types():
    true, private = np.array([200, 200, 3], dtype=np.uint8), np.array([1, 1, -1], dtype=np.int8)
    assert dsg(true, private) == 1 / 3


def test_thousands_of_clusters_on_both_sides():
    """Rows of cells whose last one is lost: the sum is known, the names are shuffled."""
    rng = np.random.default_rng(9)
    clusters, length = 3000, 20
    true = np.repeat(rng.permutation(clusters), length).reshape(clusters, length)
    private = np.repeat(rng.permutation(clusters), length).reshape(clusters, length)
    private[:, -1] = -1
    assert dsg(true, private) == 1 / length


def test_more_pairs_of_clusters_than_memory():
    cells = np.arange(20_000)
    with pytest.raises(ParameterError, match="pairs of clusters, got 20000 times 20000"):
        dsg(cells, cells)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([0.0, 1.0], "private_cells must be integers, got float64"),
        ([True, False], "private_cells must be integers, got bool"),
        (["a", "b"], "private_cells must be integers"),
        ([None, 1], "private_cells must be integers, got object"),
        ([[0, 1], [0]], "private_cells must be an array of integers, got uneven lists"),
        ([0, 1, 2], r"private_cells must have the shape of true_cells, \(2,\), got \(3,\)"),
        ([[0, 1]], "private_cells must have the shape"),
        ([], "private_cells must have one label or more"),
        (3, "private_cells must have one label or more"),
    ],
)
def test_dsg_bad_cells(cells, words):
    with pytest.raises(ParameterError, match=words) as caught:
        dsg([0, 0], cells)
    assert "\n" not in str(caught.value)


def test_names_the_side_that_is_wrong():
    with pytest.raises(ParameterError, match="true_cells must be integers"):
        dsg([0.5], [0])


BOX = (0.0, 1.0)


def ocm_brute_force(true, private):
    """Try every one-to-one matching of classes and count the records that agree."""
    ours, theirs = sorted(set(true)), sorted(set(private))
    if len(ours) > len(theirs):
        return ocm_brute_force(private, true)
    common = max(
        sum(
            dict(zip(ours, chosen, strict=True))[a] == b for a, b in zip(true, private, strict=True)
        )
        for chosen in permutations(theirs, len(ours))
    )
    return (len(true) - common) / len(true)


def test_ocm_against_all_matchings():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        true = rng.integers(-1, rng.integers(1, 5), size=15).tolist()
        private = rng.integers(-1, rng.integers(1, 5), size=15).tolist()
        assert unmatched_share(true, private) == ocm_brute_force(true, private)


def test_is_the_matching_of_what_the_two_trees_say():
    for seed in range(10):
        rng = np.random.default_rng(100 + seed)
        true, private = rng.integers(-1, 4, size=(2, 5, 6))
        X = rng.random((80, 2))
        labels = [classify_with_cells(cells, X, bounds=BOX).tolist() for cells in (true, private)]
        assert ocm(true, private, X, bounds=BOX) == ocm_brute_force(*labels)


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
