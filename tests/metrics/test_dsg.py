import math
from itertools import permutations

import numpy as np
import pytest

from shoal.exceptions import ParameterError
from shoal.metrics import dsg

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


def brute_force(true, private, *, full_only):
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


def random_cells(rng, shape, most_clusters):
    return rng.integers(-1, rng.integers(1, most_clusters + 1), size=shape)


def renamed(rng, cells):
    """Return every cluster another name, with gaps and below -1."""
    names = rng.permutation(np.setdiff1d(np.arange(-50, 51), [-1]))
    return np.where(cells == -1, -1, names[cells])


def test_example_of_the_source():
    assert dsg(TRUE, PRIVATE) * 3 == pytest.approx(2, abs=1e-12)
    assert dsg(PRIVATE, TRUE) == 2 / 4


@pytest.mark.parametrize("seed", range(60))
def test_against_all_matchings(seed):
    rng = np.random.default_rng(seed)
    shape = [(9,), (4, 3), (2, 3, 2)][seed % 3]
    true, private = random_cells(rng, shape, 4), random_cells(rng, shape, 4)
    true.flat[0] = 0  # At least one significant cell.
    assert dsg(true, private) == brute_force(true, private, full_only=True)


@pytest.mark.parametrize("seed", range(30))
def test_leaving_a_pair_unmatched_is_never_cheaper(seed):
    rng = np.random.default_rng(1000 + seed)
    true, private = random_cells(rng, 10, 4), random_cells(rng, 10, 3)
    true[0] = 0
    assert brute_force(true, private, full_only=False) == dsg(true, private)


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
        true, private = random_cells(rng, (6, 6), 6), random_cells(rng, (6, 6), 6)
        true[0, 0] = 0
        assert dsg(renamed(rng, true), renamed(rng, private)) == dsg(true, private)
        assert dsg(true, renamed(rng, true)) == 0.0


def test_only_which_cell_is_which_counts():
    rng = np.random.default_rng(8)
    true, private = random_cells(rng, 24, 4), random_cells(rng, 24, 4)
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
def test_bad_cells(cells, words):
    with pytest.raises(ParameterError, match=words) as caught:
        dsg([0, 0], cells)
    assert "\n" not in str(caught.value)


def test_names_the_side_that_is_wrong():
    with pytest.raises(ParameterError, match="true_cells must be integers"):
        dsg([0.5], [0])
