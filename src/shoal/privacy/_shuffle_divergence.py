"""Upper bounds of the hockey-stick divergence of a shuffled batch (``proofs/shuffling.md``).

Privacy blanket and clones are one sum. T reports look like the victim's (the victim's own among
them), half of them for either of the victim's two values, and M further reports of the blanket show
neither; then ``delta(epsilon)`` is ``2 keep (1 + e^epsilon) E[(N - theta)_+ / T]`` with
``N ~ Bin(T, 1/2)`` and a threshold theta that grows with T and M. Sums run over windows of the
three binomials. Tails, blocks of T and M, and rounding all go up.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from shoal._typing import Floats

__all__ = ["ShuffledView", "fewest_successes"]

_FINEST_BLOCK = 2**12  # T is counted in blocks of one part in this
_NODES = 64  # points that stand for the distribution of M, by chords of a convex function
_SHIFT = 5_000  # M is counted with a number of trials right to one part in this
_LEFT_OUT = 2.0**-24  # part of a failure that the tails beyond a window may have
_ROUNDING = 2.0**-47  # relative error of products and sums for each of their terms, and to spare
_DOWN = 1 - 2.0**-49  # theta errs by a few units in the last place


class ShuffledView:
    """One report among n, as the analyst sees it after the shuffler.

    Parameters
    ----------
    local_epsilon : float
        Epsilon of one report, > 0.
    n : int
        Number of reports.
    n_colors : int or None
        g of a g-ary randomized response, for its privacy blanket; None for the clones of any
        randomizer.
    tail : float
        Probability that each truncated tail may have; it is charged to delta.
    """

    def __init__(self, local_epsilon: float, n: int, n_colors: int | None, tail: float) -> None:
        growth = math.expm1(local_epsilon)
        self._keep = math.tanh(local_epsilon / 2)
        pair_odds, other_odds = 1 / growth, 0.0
        if n_colors is not None:
            self._keep = growth / (growth + n_colors)
            pair_odds, other_odds = 2 / (growth + (n_colors - 2)), (n_colors - 2) / growth
        pairs = _binomial(n - 1, pair_odds, tail)
        width = max(1, (pairs.first + 1) // _FINEST_BLOCK)
        starts = np.arange(0, pairs.weights.size, width)
        low: Floats = (starts + pairs.first + 1).astype(np.float64)
        high = np.minimum(low + width - 1, pairs.first + pairs.weights.size)
        likes = _upper_halves(low, tail)
        others = _others(n, high, other_odds, tail)
        self._weights = np.add.reduceat(pairs.weights, starts)[:, None] / low[:, None]
        self._weights = self._weights * others.weights
        self._own = low[:, None] / (2 * math.tanh(local_epsilon / 2))
        self._others = others.values * (low / high)[:, None] / growth
        self._low = low[:, None]
        self._likes = likes
        self._outside = pairs.outside + others.outside + likes.outside
        terms = pairs.weights.size + others.terms + likes.at_least.shape[1]
        self._rounding = 1 + _ROUNDING * (terms + 100)

    def delta(self, epsilon: float) -> float:
        """Return an upper bound of the hockey-stick divergence at this epsilon."""
        lean = math.tanh(epsilon / 2)
        theta = (self._low / 2 + lean * (self._own + self._others)) * _DOWN
        least = np.ceil(theta)
        width = self._likes.at_least.shape[1] - 1
        index = np.minimum(least - np.floor(self._low / 2), width).astype(np.intp)
        rows = np.arange(index.shape[0])[:, None]
        # E[(N - theta)_+] is E[(N - least)_+] and the part below `least`, all of them positive.
        excess = self._likes.excess[rows, index]
        excess = excess + (least - theta) * self._likes.at_least[rows, index]
        total = float(np.sum(excess * self._weights))
        seen = self._keep * (1 + math.exp(epsilon)) * total * self._rounding
        return float(2 * (seen + self._outside))


class _Window(NamedTuple):
    """Upper bounds of consecutive probabilities from ``first`` on, and of what is left out."""

    first: int
    weights: Floats
    outside: float


def _binomial(trials: int, odds: float, tail: float) -> _Window:
    """Return the window of Bin(trials, odds / (1 + odds)) that Bernstein's inequality gives."""
    share = odds / (1 + odds)
    mean, log_inverse = trials * share, -math.log(tail)
    reach = log_inverse / 3
    reach += math.sqrt(reach * reach + 2 * log_inverse * mean / (1 + odds)) + 1
    first, last = max(0, math.floor(mean - reach)), min(trials, math.ceil(mean + reach))
    mode = min(max(first, math.floor(mean)), last)
    up = np.arange(mode, last, dtype=np.float64)
    down = np.arange(mode, first, -1, dtype=np.float64)
    above = np.cumprod((trials - up) / (up + 1) * odds)
    below = np.cumprod(down / (trials - down + 1) / odds)
    weights = np.concatenate([below[::-1], [1.0], above])
    # Dividing by the sum over the window, which is less than the whole, rounds up.
    outside = tail * ((first > 0) + (last < trials))
    return _Window(first, weights / weights.sum(), outside)


def fewest_successes(trials: int, share: float, failure: float) -> int:
    """Return a number that Bin(trials, share) is below with at most this probability.

    It is the largest such number, or a smaller one where rounding leaves that open.

    Parameters
    ----------
    trials : int
        Number of trials.
    share : float
        Probability of a success, in (0, 1).
    failure : float
        Upper bound of the probability of fewer successes, in (0, 1).
    """
    # A smaller chance of success has the larger lower tail, and so covers the rounding of the odds.
    odds = share / (1 - share) * _DOWN
    window = _binomial(trials, odds, failure * _LEFT_OUT)
    up_to = np.cumsum(window.weights) * (1 + _ROUNDING * (2 * window.weights.size + 100))
    return window.first + int(np.count_nonzero(up_to + window.outside <= failure))


class _Halves(NamedTuple):
    """Of N ~ Bin(T, 1/2), a row for each T, from floor(T/2) on: P(N >= k) and E[(N - k)_+]."""

    at_least: Floats
    excess: Floats
    outside: float


def _upper_halves(trials: Floats, tail: float) -> _Halves:
    largest = float(trials[-1])
    reach = math.ceil(math.sqrt(largest * -math.log(tail) / 2)) + 1  # Hoeffding
    full = math.ceil(largest / 2)
    steps = np.arange(min(reach, full), dtype=np.float64)
    start = np.floor(trials / 2)[:, None]
    ratios = np.maximum(trials[:, None] - start - steps, 0.0) / (start + steps + 1)
    weights = np.cumprod(np.hstack([np.ones_like(start), ratios]), axis=1)
    # The lower half mirrors the upper one, whose first entry is the middle (or one of two).
    whole = 2 * weights.sum(axis=1, keepdims=True) - 1 - trials[:, None] % 2
    at_least = _sums_from_the_right(weights / whole)
    excess = _sums_from_the_right(at_least)
    nothing = np.zeros_like(start)
    return _Halves(
        np.hstack([at_least, nothing]),
        np.hstack([excess[:, 1:], nothing, nothing]),
        tail if reach < full else 0.0,
    )


def _sums_from_the_right(values: Floats) -> Floats:
    return np.cumsum(values[:, ::-1], axis=1)[:, ::-1]


class _Others(NamedTuple):
    """A few values of M with weights, a row for each T."""

    values: Floats
    weights: Floats
    outside: float
    terms: int


def _others(n: int, high: Floats, odds: float, tail: float) -> _Others:
    """Replace M ~ Bin(n - T, ...) by few values of the same mean, farther apart.

    A convex function of it does not fall by that. Trials are those of the largest T of a group:
    fewer others hide less.
    """
    rows = high.size
    if odds == 0:
        return _Others(np.zeros((rows, 1)), np.ones((rows, 1)), 0.0, 0)
    span = high[-1] - high[0]
    groups = np.array_split(np.arange(rows), min(rows, math.ceil(span * _SHIFT / n) + 1))
    values, weights = np.zeros((rows, _NODES)), np.zeros((rows, _NODES))
    outside, terms = 0.0, 0
    for group in groups:
        window = _binomial(n - int(high[group[-1]]), odds, tail)
        size = window.weights.size
        step = max(1, math.ceil((size - 1) / (_NODES - 1)))
        node, part = np.divmod(np.arange(size), step)
        mass = np.bincount(node, window.weights * (1 - part / step), _NODES)
        mass[1:] += np.bincount(node, window.weights * (part / step), _NODES)[:-1]
        values[group] = window.first + step * np.arange(_NODES)
        weights[group] = mass
        outside, terms = max(outside, window.outside), max(terms, size)
    return _Others(values, weights, outside, terms)
