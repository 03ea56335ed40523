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
from shoal.metrics import two_ce
from shoal.metrics.two_ce import inconsistent_share

LABELS = st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), min_size=2, max_size=12)


def brute_force(true, private):
    """Look at every pair."""
    pairs = list(combinations(range(len(true)), 2))
    wrong = sum((true[a] == true[b]) != (private[a] == private[b]) for a, b in pairs)
    return wrong / len(pairs)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(LABELS)
def test_against_all_pairs(samples):
    true, private = map(list, zip(*samples, strict=True))
    assert two_ce(true, private) == brute_force(true, private)


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
def test_bad_labels(labels, words):
    with pytest.raises(ParameterError, match=words):
        two_ce([0, 0], labels)
