"""Exact hockey-stick divergences of shuffled batches, and of the bounds, in whole numbers."""

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

__all__ = [
    "Matrix",
    "blanket_delta",
    "clone_delta",
    "delta_of_batches",
    "randomized_response",
    "true_delta",
    "variation_ratio_delta",
    "worst_others",
]

Matrix = list[list[int]]  # a row for each input, in whole numbers that add up to the same total


def randomized_response(n_colors: int, ratio: int) -> Matrix:
    """Return g-ary randomized response with e^eps0 = ratio."""
    return [[ratio if i == j else 1 for j in range(n_colors)] for i in range(n_colors)]


def _batch(rows: Iterator[list[int]], size: int, outputs: int) -> np.ndarray:
    """Return the weights of all histograms of independent reports, as whole numbers."""
    shape = (size + 1,) * (outputs - 1)  # the last color is what is left
    weights = np.zeros(shape, dtype=object)
    weights[(0,) * (outputs - 1)] = 1
    for row in rows:
        total = row[-1] * weights
        for color in range(outputs - 1):
            moved = np.roll(weights, 1, axis=color)  # never wraps: there are at most `size` reports
            total = total + row[color] * moved
        weights = total
    return weights


def true_delta(matrix: Matrix, others: tuple[int, ...], ratio: Fraction) -> Fraction:
    """Return the divergence at e^eps = ratio of inputs 0 and 1 beside these others, both ways."""
    n, outputs = len(others) + 1, len(matrix[0])
    beside = _batch((matrix[other] for other in others), n, outputs)
    first = _add(beside, matrix[0], outputs)
    second = _add(beside, matrix[1], outputs)
    whole = sum(matrix[0]) ** n

    def divergence(p: np.ndarray, q: np.ndarray) -> int:
        gaps = ratio.denominator * p - ratio.numerator * q
        return int(np.where(gaps > 0, gaps, 0).sum())

    largest = max(divergence(first, second), divergence(second, first))
    return Fraction(largest, ratio.denominator * whole)


def delta_of_batches(
    matrix: Matrix, first: list[tuple[int, ...]], second: list[tuple[int, ...]], ratio: Fraction
) -> Fraction:
    """Return the divergence at e^eps = ratio of two lists of batches, seen one beside the other."""
    p, q = (_law_of_batches(matrix, batches) for batches in (first, second))
    gaps = ratio.denominator * p - ratio.numerator * q
    whole = sum(matrix[0]) ** sum(map(len, first))
    return Fraction(int(np.where(gaps > 0, gaps, 0).sum()), ratio.denominator * whole)


def _law_of_batches(matrix: Matrix, batches: list[tuple[int, ...]]) -> np.ndarray:
    outputs = len(matrix[0])
    laws = [_batch((matrix[one] for one in batch), len(batch), outputs) for batch in batches]
    weights = np.array([1], dtype=object)
    for law in laws:
        weights = np.outer(weights, law.ravel())
    return weights.ravel()


def _add(weights: np.ndarray, row: list[int], outputs: int) -> np.ndarray:
    total = row[-1] * weights
    for color in range(outputs - 1):
        total = total + row[color] * np.roll(weights, 1, axis=color)
    return total


def worst_others(matrix: Matrix, n: int, ratio: Fraction) -> Fraction:
    """Return the largest divergence over all inputs that the other n - 1 devices may have."""
    inputs = itertools.combinations_with_replacement(range(len(matrix)), n - 1)
    return max(true_delta(matrix, others, ratio) for others in inputs)


def blanket_delta(n_colors: int, keep_ratio: Fraction, n: int, ratio: Fraction) -> Fraction:
    """Return the privacy-blanket bound, summed over the number of reports in the blanket."""
    in_blanket = Fraction(n_colors) / (keep_ratio + n_colors - 1)
    gain, loss, rest = keep_ratio - ratio, 1 - keep_ratio * ratio, 1 - ratio

    def given(size: int) -> Fraction:
        total = Fraction(0)
        for first in range(size + 1):
            for second in range(size + 1 - first):
                left = size - first - second
                if n_colors == 2 and left:
                    continue
                ways = math.comb(size, first) * math.comb(size - first, second)
                value = gain * first + loss * second + rest * left
                total += ways * (n_colors - 2) ** left * max(value, Fraction(0))
        return total / Fraction(n_colors) ** size * in_blanket / size

    return _mixed(n, in_blanket, given)


def clone_delta(keep_ratio: Fraction, n: int, ratio: Fraction) -> Fraction:
    """Return the clone bound as it was published, by its two distributions."""
    right = keep_ratio / (1 + keep_ratio)

    def given(size: int) -> Fraction:
        total = Fraction(0)
        for k in range(size + 1):
            below = Fraction(math.comb(size - 1, k - 1) if k else 0, 2 ** (size - 1))
            here = Fraction(math.comb(size - 1, k), 2 ** (size - 1))
            first = right * below + (1 - right) * here
            second = (1 - right) * below + right * here
            total += max(first - ratio * second, Fraction(0))
        return total

    return _mixed(n, 1 / keep_ratio, given)


def _mixed(n: int, share: Fraction, given: Callable[[int], Fraction]) -> Fraction:
    """Average over the size of the crowd, which is the victim and Bin(n - 1, share) others."""
    sizes = range(n)
    chances = [math.comb(n - 1, k) * share**k * (1 - share) ** (n - 1 - k) for k in sizes]
    return sum((c * given(k + 1) for k, c in zip(sizes, chances, strict=True)), Fraction(0))


def variation_ratio_delta(n_colors: int, keep_ratio: Fraction, n: int, ratio: Fraction) -> Fraction:
    """Return what the pair with Bin(n - 1, 2r) clones claims for randomized response: no bound."""
    share = 1 / (keep_ratio + n_colors - 1)
    first: dict[tuple[int, int], Fraction] = {}
    second: dict[tuple[int, int], Fraction] = {}
    for clones in range(n):
        size = (
            math.comb(n - 1, clones) * (2 * share) ** clones * (1 - 2 * share) ** (n - 1 - clones)
        )
        for ones in range(clones + 1):
            chance = size * Fraction(math.comb(clones, ones), 2**clones)
            for table, one, zero in ((first, keep_ratio, 1), (second, 1, keep_ratio)):
                for seen, weight in (
                    ((ones + 1, clones - ones), one),
                    ((ones, clones - ones + 1), zero),
                    ((ones, clones - ones), n_colors - 2),
                ):
                    table[seen] = table.get(seen, Fraction(0)) + weight * share * chance
    gaps = (chance - ratio * second[seen] for seen, chance in first.items())
    return sum((gap for gap in gaps if gap > 0), Fraction(0))
