"""Measures of centers, against exact arithmetic and all matchings."""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.cluster import KMeans

from shoal.exceptions import DataError, DataTypeError, ParameterError
from shoal.metrics import centroid_index, centroid_relative_error, cost_ratio, match_centers, nicv
from shoal.metrics.centers import CHUNK_VALUES

NUMBERS = st.floats(-1e6, 1e6)


def nicv_brute_force(X, centers):
    """Exact rational arithmetic."""
    total = Fraction(0)
    for x in X:
        total += min(
            sum((Fraction(float(a)) - Fraction(float(b))) ** 2 for a, b in zip(x, c, strict=True))
            for c in centers
        )
    return float(total / len(X))


@settings(max_examples=50, deadline=None, derandomize=True)
@given(
    st.integers(1, 3).flatmap(
        lambda d: st.tuples(
            arrays(float, st.tuples(st.integers(1, 8), st.just(d)), elements=NUMBERS),
            arrays(float, st.tuples(st.integers(1, 4), st.just(d)), elements=NUMBERS),
        )
    )
)
def test_against_exact_arithmetic(tables):
    X, centers = tables
    assert nicv(X, centers) == pytest.approx(nicv_brute_force(X, centers), rel=1e-12, abs=1e-300)


def test_exact_far_from_the_origin():
    """Expanded squares would lose every digit here."""
    X = np.array([[1e8, 1e8], [1e8 + 1, 1e8]])
    assert nicv(X, [[1e8, 1e8]]) == 0.5


def test_pieces_give_the_sum_of_the_whole():
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(CHUNK_VALUES // 1000, 2))
    X = rng.normal(size=(2500, 2))
    nearest = ((X[:, None] - centers[None, :300]) ** 2).sum(axis=2).min(axis=1)
    assert nicv(X, centers[:300]) == pytest.approx(nearest.mean(), rel=1e-13)
    whole = [nicv(part, centers) * len(part) for part in (X[:900], X[900:])]
    assert nicv(X, centers) == pytest.approx(sum(whole) / len(X), rel=1e-13)


def test_one_record_and_more_centers_than_records():
    assert nicv([[1.0, 2.0]], [[1.0, 2.0], [5.0, 5.0]]) == 0.0


def test_tables_of_several_kinds():
    X = [[0, 0], [2, 0]]
    for table in (X, np.array(X, dtype=np.int8), pd.DataFrame(X, columns=["a", "b"])):
        assert nicv(table, [[1, 0]]) == 1.0
    assert nicv(np.array(X, dtype=object), [[1, 0]]) == 1.0


@pytest.mark.parametrize("X", [[], [[]], 1.0, [1.0, 2.0], np.zeros((2, 2, 2)), np.zeros((0, 2))])
def test_not_a_table(X):
    with pytest.raises(DataError, match=r"X must (be a table|hold at least one record)"):
        nicv(X, [[0.0, 0.0]])


@pytest.mark.parametrize(
    "X", [[["a"]], [["1"]], np.array([["17.25"]], dtype=object), [[1j]], [[1.0], [1.0, 2.0]]]
)
def test_not_numbers(X):
    with pytest.raises(DataTypeError, match=r"X must (be a table of|hold) numbers") as caught:
        nicv(X, [[0.0]])
    assert "17" not in str(caught.value)


@pytest.mark.parametrize("X", [None, [[None]]])
def test_nothing_where_a_number_should_be(X):
    with pytest.raises(DataError):
        nicv(X, [[0.0]])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_not_finite(value):
    with pytest.raises(DataError, match="X must hold finite numbers") as caught:
        nicv([[12.5], [value]], [[0.0]])
    assert "12.5" not in str(caught.value)
    with pytest.raises(ParameterError, match="centers must be a table of finite numbers"):
        nicv([[12.5]], [[value]])


def test_too_large_to_square():
    with pytest.raises(DataError, match="squared distances"):
        nicv([[1e200], [0.0]], [[0.0]])


@pytest.mark.parametrize("centers", [[], [0.0, 1.0], [[0.0]], np.zeros((0, 2)), 3.0])
def test_centers_of_another_shape(centers):
    with pytest.raises(ParameterError, match=r"centers must .* columns, as X has"):
        nicv([[0.0, 0.0]], centers)


def test_centers_that_are_not_numbers():
    with pytest.raises(ParameterError, match="centers must be a table"):
        nicv([[0.0]], [["a"]])


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    places = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])
    return places[rng.integers(0, 3, size=300)] + rng.normal(scale=0.3, size=(300, 2))


def test_ratio_to_given_centers(blobs):
    good, bad = np.array([[0, 0], [5, 0], [0, 5]]), np.array([[1, 1], [2, 2]])
    assert cost_ratio(blobs, bad, reference=good) == nicv(blobs, bad) / nicv(blobs, good)
    assert cost_ratio(blobs, good, reference=good) == 1.0


def test_ratio_to_k_means(blobs):
    model = KMeans(3, n_init=10, random_state=7).fit(blobs)
    assert cost_ratio(blobs, model.cluster_centers_, random_state=7) == 1.0
    assert cost_ratio(blobs, [[0, 0], [5, 0], [0, 5]], random_state=7) == pytest.approx(
        nicv(blobs, [[0, 0], [5, 0], [0, 5]]) * len(blobs) / model.inertia_, rel=1e-6
    )


def test_no_reference_of_cost_zero():
    X = [[0.0], [1.0]]
    assert cost_ratio(X, [[0.0], [1.0], [2.0]]) == 1.0
    assert cost_ratio(X, [[0.0], [0.5]]) == math.inf
    assert cost_ratio(X, [[0.0], [0.5]], reference=X) == math.inf


def test_fewer_distinct_records_than_centers_needs_no_k_means():
    X = np.zeros((50, 2))
    assert cost_ratio(X, [[0.0, 0.0], [1.0, 1.0]]) == 1.0


def test_names_the_parameter_that_is_wrong():
    with pytest.raises(ParameterError, match="reference must"):
        cost_ratio([[0.0]], [[0.0]], reference=[[0.0, 1.0]])
    with pytest.raises(ParameterError, match="centers must"):
        cost_ratio([[0.0]], [[0.0, 1.0]])
    with pytest.raises(DataError, match="X must be a table"):
        cost_ratio([0.0], [[0.0]])


def centroid_index_brute_force(first, second):
    def orphans(ours, theirs):
        chosen = {
            min(range(len(theirs)), key=lambda j: math.dist(center, theirs[j])) for center in ours
        }
        return len(theirs) - len(chosen)

    return max(orphans(first, second), orphans(second, first))


def test_against_sets():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        first = rng.random((rng.integers(1, 12), 2))
        second = rng.random((rng.integers(1, 12), 2))
        index = centroid_index(first, second)
        assert index == centroid_index_brute_force(first.tolist(), second.tolist())
        assert type(index) is int
        assert abs(len(first) - len(second)) <= index <= max(len(first), len(second)) - 1
        assert centroid_index(second, first) == index


def test_both_directions_are_needed():
    """Every true center has a neighbor in the other set, but not the other way round."""
    first, second = [[0.0], [10.0]], [[0.0], [10.0], [10.5]]
    assert centroid_index(first, second) == 1
    assert centroid_index(second, first) == 1


def test_small_moves_do_not_count():
    rng = np.random.default_rng(0)
    lattice = np.array([[i, j] for i in range(5) for j in range(5)], dtype=float)
    moved = rng.permutation(lattice + rng.uniform(-0.3, 0.3, size=lattice.shape))
    assert centroid_index(lattice, moved) == 0


def test_k_misplaced_centers():
    truth = np.arange(10)[:, np.newaxis] * 10.0
    wrong = truth.copy()
    wrong[:3] = 90 + np.arange(3)[:, np.newaxis] * 0.1
    assert centroid_index(wrong, truth) == 3


def test_equal_centers_are_one_place():
    assert centroid_index([[0.0], [0.0]], [[0.0], [0.0]]) == 1
    assert centroid_index([[1.0]], [[0.0]]) == 0


def test_centroid_index_shift_and_unit_do_not_matter():
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 1000, size=(2, 9, 3)) / 8
    index = centroid_index(first, second)
    assert centroid_index(first * 4 + 4096, second * 4 + 4096) == index > 0


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ([[0.0]], "second must have 2 columns, as first has, got 1"),
        ([[0.0, np.nan]], "second must be a table of finite numbers, 2 columns, as first has"),
        ([], "second must be a table of finite numbers"),
        (None, "second must be a table of finite numbers"),
        ([["a", "b"]], "second must be a table of finite numbers"),
        ([[1e200, 0.0]], "first and second must be small enough .* rescale both"),
    ],
)
def test_centroid_index_bad_centers(second, words):
    with pytest.raises(ParameterError, match=words):
        centroid_index([[0.0, 1.0]], second)


def test_names_the_side_that_is_wrong():
    with pytest.raises(ParameterError, match="first must be a table of finite numbers, one center"):
        centroid_index([0.0], [[0.0]])


def relative_error_brute_force(centers, reference):
    """Try every matching; who is left over goes to the nearest of the other side."""
    few, many = sorted((centers, reference), key=len)
    totals = []
    for chosen in permutations(range(len(many)), len(few)):
        matched = sum(math.dist(few[i], many[j]) for i, j in enumerate(chosen))
        left = set(range(len(many))) - set(chosen)
        totals.append(matched + sum(min(math.dist(many[j], a) for a in few) for j in left))
    mean = [sum(column) / len(reference) for column in zip(*reference, strict=True)]
    return min(totals) / sum(math.dist(r, mean) for r in reference)


def test_against_all_matchings():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        centers = rng.normal(size=(rng.integers(1, 6), 2))
        reference = rng.normal(size=(rng.integers(2, 6), 2))
        expected = relative_error_brute_force(centers.tolist(), reference.tolist())
        assert centroid_relative_error(centers, reference) == pytest.approx(expected, rel=1e-12)


def test_order_does_not_matter_and_perfect_is_zero():
    rng = np.random.default_rng(0)
    reference = rng.normal(size=(20, 4))
    assert centroid_relative_error(rng.permutation(reference), reference) == 0.0


def test_the_nearest_is_not_always_the_partner():
    """Both centers are nearest to 0, but only one of them can have it."""
    assert centroid_relative_error([[0.0], [1.0]], [[0.0], [10.0]]) == 9 / 10


def test_relative_error_shift_and_unit_do_not_matter():
    rng = np.random.default_rng(1)
    centers, reference = rng.integers(0, 100, size=(2, 5, 3)) / 8
    error = centroid_relative_error(centers, reference)
    for shift, unit in [(2.0**30, 1.0), (0.0, 1e-9), (-(2.0**20), 2.0**10)]:
        moved = centroid_relative_error(centers * unit + shift, reference * unit + shift)
        assert moved == pytest.approx(error, rel=1e-9)


def test_knowing_the_mean_only_is_one():
    reference = np.random.default_rng(2).normal(size=(6, 3))
    mean = reference.mean(axis=0)
    for copies in (1, 4, 6):
        error = centroid_relative_error(np.tile(mean, (copies, 1)), reference)
        assert error == pytest.approx(1.0, rel=1e-12)


def test_centers_too_many_or_too_few():
    reference = [[0.0], [10.0], [20.0]]
    assert centroid_relative_error([[0.0], [10.0]], reference) == 10 / 20
    assert centroid_relative_error([[0.0], [10.0], [20.0], [20.0]], reference) == 0.0
    assert centroid_relative_error([[0.0], [10.0], [20.0], [26.0]], reference) == 6 / 20


@pytest.mark.parametrize("reference", [[[3.0]], [[0.1, 0.7]] * 3])
def test_no_spread(reference):
    words = f"reference must have two different .* got {len(reference)} in one place"
    with pytest.raises(ParameterError, match=words):
        centroid_relative_error(np.zeros((2, len(reference[0]))), reference)


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ([[0.0], [1.0]], "reference must have 2 columns, as centers has, got 1"),
        ([[0.0, np.inf]], "reference must be a table of finite numbers, 2 columns, as centers"),
        ([[1e200, 0.0], [0, 0]], "centers and reference must be small enough .* rescale both"),
    ],
)
def test_bad_reference(reference, words):
    with pytest.raises(ParameterError, match=words):
        centroid_relative_error([[0.0, 1.0]], reference)


def test_relative_error_bad_centers():
    with pytest.raises(ParameterError, match="centers must be a table of finite numbers"):
        centroid_relative_error("a", [[0.0]])


def test_centers_are_matched_to_their_own():
    rng = np.random.default_rng(0)
    centers = rng.uniform(size=(6, 3))
    order = rng.permutation(6)
    matched = match_centers(centers, centers[order] + 1e-6)
    assert order[matched.second].tolist() == list(range(6))
    assert matched.distances.max() < 1e-5
    fewer = match_centers(centers[:2], centers)
    assert (fewer.first.tolist(), fewer.second.tolist()) == ([0, 1], [0, 1])
    with pytest.raises(ParameterError, match="second"):
        match_centers(centers, centers[:, :2])
