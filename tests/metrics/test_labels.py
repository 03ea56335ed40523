"""Measures of labels, against all pairs of samples."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import rand_score

from shoal.exceptions import ParameterError
from shoal.metrics import f_measure, two_ce
from shoal.metrics.labels import inconsistent_share

F_MEASURE_LABELS = st.lists(
    st.tuples(st.integers(-1, 3), st.integers(-1, 3)), min_size=1, max_size=14
)


def f_measure_brute_force(true, private, *, noise_is_cluster):
    """Sets, precision, recall and exact fractions."""
    names = {-1} if not noise_is_cluster else set()
    ours, theirs = (
        [{i for i, v in enumerate(labels) if v == name} for name in set(labels) - names]
        for labels in (true, private)
    )
    if not ours:
        return 0.0 if theirs else 1.0
    total = Fraction(0)
    for cluster in ours:
        best = Fraction(0)
        for found in theirs:
            if cluster & found:
                recall = Fraction(len(cluster & found), len(cluster))
                precision = Fraction(len(cluster & found), len(found))
                best = max(best, 2 * recall * precision / (recall + precision))
        total += len(cluster) * best
    return float(total / sum(map(len, ours)))


@pytest.mark.parametrize("noise_is_cluster", [False, True])
@settings(max_examples=150, deadline=None, derandomize=True)
@given(samples=F_MEASURE_LABELS)
def test_against_exact_sets(noise_is_cluster, samples):
    true, private = map(list, zip(*samples, strict=True))
    expected = f_measure_brute_force(true, private, noise_is_cluster=noise_is_cluster)
    got = f_measure(true, private, noise_is_cluster=noise_is_cluster)
    assert got == pytest.approx(expected, rel=1e-14)


def test_several_true_clusters_share_one_private_cluster():
    """What the source reproaches it with: halves of one cluster still get F = 2/3 each."""
    assert f_measure([0, 0, 1, 1], [0, 0, 0, 0]) == pytest.approx(2 / 3)
    # Pieces that are nobody's best do not matter.
    pieces, joined = [0] * 4 + [1, 2, 3, 4], [0] * 4 + [1, 1, 1, 1]
    assert f_measure([0] * 8, pieces) == f_measure([0] * 8, joined) == pytest.approx(2 / 3)


def test_noise():
    true, private = [0, 0, 0, 0, -1, -1], [3, 3, -1, -1, 3, -1]
    assert f_measure(true, private) == pytest.approx(2 * 2 / (4 + 3))
    both = (4 * (4 / 7) + 2 * (2 / 5)) / 6
    assert f_measure(true, private, noise_is_cluster=True) == pytest.approx(both)


def test_no_cluster_at_all():
    assert f_measure([-1, -1], [-1, -1]) == 1.0
    assert f_measure([-1, -1], [-1, 0]) == 0.0
    assert f_measure([-1, 0], [-1, -1]) == 0.0
    assert f_measure([-1, -1], [-1, -1], noise_is_cluster=True) == 1.0


def test_identity_and_names():
    rng = np.random.default_rng(0)
    true, private = rng.integers(-1, 6, size=500), rng.integers(-1, 6, size=500)
    names = np.array([9, 10**12, -8, 0, 3, 5, -1])  # The last one belongs to label -1.
    assert f_measure(true, true) == 1.0
    assert f_measure(true, names[true]) == 1.0
    assert f_measure(names[true], private) == pytest.approx(f_measure(true, private), rel=1e-14)
    assert f_measure(true, names[private]) == f_measure(true, private)


def test_weights_are_sizes():
    assert f_measure([0] * 9 + [1], [0] * 9 + [-1]) == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([0.0, 1.0], "private_labels must be integers, got float64"),
        ([0], "private_labels must have the shape of true_labels"),
        ([], "private_labels must have one label or more"),
    ],
)
def test_f_measure_bad_labels(labels, words):
    with pytest.raises(ParameterError, match=words):
        f_measure([0, 0], labels)


def test_bad_flag():
    with pytest.raises(ParameterError, match="noise_is_cluster must be True or False, got 'no'"):
        f_measure([0], [0], noise_is_cluster="no")


TWO_CE_LABELS = st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), min_size=2, max_size=12)


def two_ce_brute_force(true, private):
    """Look at every pair."""
    pairs = list(combinations(range(len(true)), 2))
    wrong = sum((true[a] == true[b]) != (private[a] == private[b]) for a, b in pairs)
    return wrong / len(pairs)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(TWO_CE_LABELS)
def test_against_all_pairs(samples):
    true, private = map(list, zip(*samples, strict=True))
    assert two_ce(true, private) == two_ce_brute_force(true, private)


def test_is_one_minus_the_rand_index():
    rng = np.random.default_rng(0)
    true, private = rng.integers(0, 40, size=5000), rng.integers(0, 60, size=5000)
    assert two_ce(true, private) == pytest.approx(1 - rand_score(true, private), rel=1e-12)


def test_formula_of_the_source():
    """Moving k of n samples of one class to a class of their own parts k (n - k) pairs."""
    n, k = 50, 7
    assert two_ce([0] * n, [1] * k + [0] * (n - k)) == k * (n - k) / math.comb(n, 2)


def test_symmetric_and_blind_to_names():
    rng = np.random.default_rng(1)
    true, private = rng.integers(0, 6, size=300), rng.integers(0, 6, size=300)
    names = np.array([7, -1, 10**12, -8, 0, 3])
    assert two_ce(names[true], names[::-1][private]) == two_ce(true, private)
    assert two_ce(private, true) == two_ce(true, private)
    assert two_ce(true, names[true]) == 0.0


def test_extremes():
    assert two_ce([0] * 5, range(5)) == 1.0
    assert two_ce([3] * 5, [-1] * 5) == 0.0
    assert two_ce([3], [4]) == 0.0


def test_a_billion_and_more_samples_are_exact():
    """Squares of these sizes pass int64, and their differences pass the digits of a float."""
    half = 2**33
    sizes = np.array([half, half])
    shifted = np.array([half + 1, half - 1])
    overlaps = np.array([half, 1, half - 1])
    n = 2 * half
    wrong = Fraction(half + half - 1, math.comb(n, 2))  # One sample changed its class.
    assert inconsistent_share(sizes, shifted, overlaps) == float(wrong)
    assert inconsistent_share(sizes, sizes, sizes) == 0.0


def test_labels_of_several_kinds():
    true, private = [0, 0, 1, 1], [5, 7, 7, 7]
    assert two_ce(pd.Series(true), pd.Series(private)) == 0.5
    assert two_ce(np.array(true, dtype=np.uint64), np.array(private, dtype=np.int8)) == 0.5
    assert two_ce(np.reshape(true, (2, 2)), np.reshape(private, (2, 2))) == 0.5


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([0.0, 1.0], "private_labels must be integers, got float64"),
        ([0, 1, 2], "private_labels must have the shape of true_labels"),
        ([], "private_labels must have one label or more"),
        (None, "private_labels must have one label or more"),
    ],
)
def test_two_ce_bad_labels(labels, words):
    with pytest.raises(ParameterError, match=words):
        two_ce([0, 0], labels)
