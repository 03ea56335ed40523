"""Hockey-stick divergences worked out independently of the library, to check it against."""

import math
from collections.abc import Callable

import numpy as np
from scipy import special


def response_delta(epsilon: float, times: int, at: float) -> float:
    """Composition of randomized response, term by term (Kairouz, Oh and Viswanath)."""
    k = np.arange(times + 1)
    loss = (2 * k - times) * epsilon
    log_mass = (
        special.gammaln(times + 1)
        - special.gammaln(k + 1)
        - special.gammaln(times - k + 1)
        - k * math.log1p(math.exp(-epsilon))
        - (times - k) * math.log1p(math.exp(epsilon))
    )
    above = loss > at
    return float((-np.expm1(at - loss[above]) * np.exp(log_mass[above])).sum())


def gaussian_delta(ratio: float, at: float) -> float:
    """One Gaussian step, by integrating the densities."""
    log_tail = special.log_ndtr(-ratio / 2 - at / ratio)
    return float(special.ndtr(ratio / 2 - at / ratio) - math.exp(at + log_tail))


def lattice_gaussian_delta(sigma: float, shift: tuple[int, ...], at: float) -> float:
    """One discrete Gaussian vector, summed over a box of integers."""
    reach = int(12 * sigma + max(shift))
    x = np.arange(-reach, reach + 1)
    mass = np.exp(-(x**2) / (2 * sigma**2))
    mass /= mass.sum()
    p = q = np.ones(())
    for one in shift:
        moved = np.exp(-((x - one) ** 2) / (2 * sigma**2))
        p = np.multiply.outer(p, mass)
        q = np.multiply.outer(q, moved / moved.sum())
    return float(np.maximum(0, p - math.exp(at) * q).sum())


def renyi(p: np.ndarray, q: np.ndarray, order: float) -> float:
    terms = order * np.log(p) + (1 - order) * np.log(q)
    return float(special.logsumexp(terms) / (order - 1))


def invert(delta_at: Callable[[float], float], delta: float, high: float) -> float:
    """The smallest epsilon whose delta is at most the one given."""
    low = 0.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if delta_at(middle) <= delta else (middle, high)
    return high
