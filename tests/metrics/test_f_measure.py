from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.exceptions import ParameterError
from shoal.metrics import f_measure

LABELS = st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), min_size=1, max_size=14)


def brute_force(true, private, *, noise_is_cluster):
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
@given(samples=LABELS)
def test_against_exact_sets(noise_is_cluster, samples):
    true, private = map(list, zip(*samples, strict=True))
    expected = brute_force(true, private, noise_is_cluster=noise_is_cluster)
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
def test_bad_labels(labels, words):
    with pytest.raises(ParameterError, match=words):
        f_measure([0, 0], labels)


def test_bad_flag():
    with pytest.raises(ParameterError, match="noise_is_cluster must be True or False, got 'no'"):
        f_measure([0], [0], noise_is_cluster="no")
