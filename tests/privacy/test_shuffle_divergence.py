"""The bounds of a shuffled batch are never below the truth, and equal to it where they are tight.

The truth is enumerated in whole numbers over everything that the other devices may hold.
"""

import functools
import math
from fractions import Fraction

import numpy as np
import pytest

from helpers.shuffled_views import (
    blanket_delta,
    clone_delta,
    randomized_response,
    true_delta,
    variation_ratio_delta,
    worst_others,
)
from shoal.privacy import _shuffle_divergence
from shoal.privacy._shuffle_divergence import ShuffledView

TAIL = 1e-30
RATIOS = [Fraction(1), Fraction(101, 100), Fraction(11, 10), Fraction(3, 2), Fraction(5, 2)]
BATCHES = [(2, 2, 12), (2, 8, 12), (3, 3, 2), (3, 2, 7), (3, 3, 12), (4, 3, 6), (4, 8, 3)]


@functools.cache
def truth(n_colors, keep_ratio, n, ratio):
    return worst_others(randomized_response(n_colors, keep_ratio), n, ratio)


def numeric(n_colors, keep_ratio, n, ratio, tail=TAIL):
    view = ShuffledView(math.log(keep_ratio), n, n_colors, tail)
    return Fraction(view.delta(math.log(ratio)))


def batches_below_the_truth(bound):
    """Count the cases in which a bound claims less than enumeration shows."""
    cases = [(*batch, ratio) for batch in BATCHES for ratio in RATIOS]
    return sum(bound(*case) < truth(*case) for case in cases)


def test_both_bounds_are_never_below_the_truth():
    assert batches_below_the_truth(numeric) == 0
    clones = lambda g, *case: numeric(None, *case)  # noqa: E731
    assert batches_below_the_truth(clones) == 0


@pytest.mark.full
def test_every_small_batch_is_covered():
    for n_colors, keep_ratio in [(2, 2), (2, 3), (2, 8), (3, 2), (3, 8), (4, 2), (5, 3)]:
        for n in range(1, 13 if n_colors < 4 else 8 if n_colors < 5 else 6):
            for ratio in RATIOS:
                exact = truth(n_colors, keep_ratio, n, ratio)
                assert exact <= numeric(n_colors, keep_ratio, n, ratio), (n_colors, n, ratio)


@pytest.mark.parametrize(("n_colors", "keep_ratio", "n"), BATCHES)
def test_arithmetic_rounds_up_and_by_almost_nothing(n_colors, keep_ratio, n):
    for ratio in RATIOS:
        exact = blanket_delta(n_colors, Fraction(keep_ratio), n, ratio)
        assert exact <= numeric(n_colors, keep_ratio, n, ratio) <= exact * (1 + 1e-11) + 1e-13
        exact = clone_delta(Fraction(keep_ratio), n, ratio)
        assert exact <= numeric(None, keep_ratio, n, ratio) <= exact * (1 + 1e-11) + 1e-13


@pytest.mark.parametrize(
    ("n_colors", "keep_ratio", "n", "ratio"),
    [(2, 3, 1, 2), (2, 3, 2, 2), (3, 3, 12, 1), (3, 3, 12, "11/10"), (3, 8, 5, 2), (4, 3, 6, 1)],
)
def test_the_blanket_is_tight_where_the_others_hold_a_third_color(n_colors, keep_ratio, n, ratio):
    # With g >= 3, as long as the number of blanket reports cannot change the sign of the gap: at
    # small epsilon. With two colors only one or two reports are as bad as the bound.
    ratio = Fraction(ratio)
    others = (n_colors - 1,) * (n - 1)
    exact = true_delta(randomized_response(n_colors, keep_ratio), others, ratio)
    assert exact == blanket_delta(n_colors, Fraction(keep_ratio), n, ratio)


def test_the_variation_ratio_pair_is_no_bound():
    case = (3, 3, 2, Fraction(5, 2))
    assert truth(*case) == Fraction(3, 50)
    assert blanket_delta(3, Fraction(3), 2, Fraction(5, 2)) == Fraction(3, 50)
    claimed = variation_ratio_delta(3, Fraction(3), 2, Fraction(5, 2))
    assert claimed == Fraction(1, 50)

    def planted(n_colors, keep_ratio, n, ratio):
        return variation_ratio_delta(n_colors, Fraction(keep_ratio), n, ratio)

    assert batches_below_the_truth(planted) > 0


def test_one_clone_too_many_is_noticed():
    def planted(n_colors, keep_ratio, n, ratio):
        return numeric(None if n_colors == 2 else n_colors, keep_ratio, n + 1, ratio)

    assert batches_below_the_truth(planted) > 0
    assert numeric(None, 3, 2, Fraction(2)) < truth(2, 3, 1, Fraction(2)) <= numeric(None, 3, 1, 2)


@pytest.mark.parametrize("n_colors", [None, 3])
def test_forgotten_tails_are_noticed(n_colors, monkeypatch):
    keep_ratio, n, ratio, wide = 2, 40, Fraction(3, 2), 0.3
    if n_colors is None:
        exact = clone_delta(Fraction(keep_ratio), n, ratio)
    else:
        exact = blanket_delta(n_colors, Fraction(keep_ratio), n, ratio)
    assert exact <= numeric(n_colors, keep_ratio, n, ratio, tail=wide)
    view = ShuffledView(math.log(keep_ratio), n, n_colors, wide)
    assert view._outside > 0
    monkeypatch.setattr(view, "_outside", 0.0)
    assert Fraction(view.delta(math.log(ratio))) < exact


def test_a_public_partition_changes_nothing_and_shared_colors_only_help():
    # Records by their colors in two partitions, drawn with odds 2 : 1; reports are (j, s).
    def rows(records):
        answer = randomized_response(2, 3)
        return [[2 * w for w in answer[a]] + list(answer[b]) for a, b in records]

    apart = rows([(0, 0), (1, 1), (0, 1)])
    shared = rows([(0, 0), (1, 0), (0, 1)])
    for n in (1, 2, 4):
        for ratio in (Fraction(1), Fraction(11, 10), Fraction(2)):
            bound = blanket_delta(2, Fraction(3), n, ratio)
            assert worst_others(shared, n, ratio) <= worst_others(apart, n, ratio) <= bound
    assert worst_others(apart, 1, Fraction(2)) == blanket_delta(2, Fraction(3), 1, Fraction(2))


RANDOMIZERS = [
    [[4, 1, 1], [1, 4, 1], [2, 2, 2], [1, 1, 4]],
    [[4, 1, 2, 2], [1, 4, 2, 2], [2, 2, 4, 1], [3, 3, 1, 2]],
    [[8, 8, 2, 2], [2, 2, 8, 8], [8, 2, 8, 2]],
]


@pytest.mark.parametrize("matrix", RANDOMIZERS)
def test_clones_bound_every_randomizer(matrix):
    ratios = [Fraction(x, y) for a in matrix for b in matrix for x, y in zip(a, b, strict=True)]
    keep_ratio = max(ratios)
    assert len({sum(row) for row in matrix}) == 1
    for n in (1, 2, 4, 6):
        for ratio in (Fraction(1), Fraction(5, 4), Fraction(2)):
            assert worst_others(matrix, n, ratio) <= clone_delta(keep_ratio, n, ratio)


def test_coarser_sums_are_never_lower(monkeypatch):
    cases = [(2.0, 40_000, 4, 0.05), (1.0, 60_000, None, 0.02), (6.0, 300_000, 16, 0.3)]
    coarse = [ShuffledView(e, n, g, 1e-14).delta(at) for e, n, g, at in cases]
    monkeypatch.setattr(_shuffle_divergence, "_FINEST_BLOCK", 2**40)
    monkeypatch.setattr(_shuffle_divergence, "_SHIFT", 20_000)
    monkeypatch.setattr(_shuffle_divergence, "_NODES", 256)
    fine = [ShuffledView(e, n, g, 1e-14).delta(at) for e, n, g, at in cases]
    ratios = np.array(coarse) / np.array(fine)
    assert ratios.min() >= 1 - 1e-9
    assert ratios.max() < 1.01


def test_a_batch_that_is_summed_another_way():
    local_epsilon, n, n_colors, epsilon = 2.0, 150, 8, 0.6
    keep, share = math.exp(local_epsilon), 1 / (math.exp(local_epsilon) + n_colors - 1)
    log_factorial = np.cumsum(np.log(np.maximum(np.arange(n + 1), 1)))
    first, second, other = np.meshgrid(*3 * [np.arange(n + 1)], indexing="ij", sparse=True)
    left = n - first - second - other
    logs = log_factorial[n] - sum(log_factorial[k] for k in (first, second, other))
    logs = np.where(left >= 0, logs - log_factorial[np.maximum(left, 0)], -np.inf)
    logs = logs + (first + second) * math.log(share) + other * math.log((n_colors - 2) * share)
    logs = logs + np.maximum(left, 0) * math.log(1 - n_colors * share)
    up = math.exp(epsilon)
    value = (keep - up) * first + (1 - keep * up) * second + (1 - up) * other
    expected = float((np.exp(logs) * np.maximum(value, 0)).sum()) / n
    found = ShuffledView(local_epsilon, n, n_colors, TAIL).delta(epsilon)
    assert expected <= found * (1 + 1e-9)
    assert found == pytest.approx(expected, rel=1e-2)
