"""Which method to use, from public or noisy numbers alone, and why."""

import math
from typing import NamedTuple

from shoal.cluster._grid import WIDEST_GRID
from shoal.cluster._noise import Noise, PureNoise, noise_for

__all__ = ["METHODS", "Choice", "choose"]

METHODS = ("auto", "lloyd", "grid", "lsh", "kccm")


class Choice(NamedTuple):
    """A method, its currency, and why."""

    method: str
    noise: Noise
    reason: str


def choose(columns: int, epsilon: float, delta: float) -> Choice:
    """Choose the method that is expected to cost least.

    Parameters
    ----------
    columns : int
        Number of columns.
    epsilon, delta : float
        The promise.

    Returns
    -------
    choice : Choice
        ``"grid"`` for up to 16 columns, ``"lsh"`` beyond; pure noise where it is the smaller one.
    """
    pure = PureNoise(float(epsilon))
    if columns <= WIDEST_GRID:
        method, why = "grid", f"a grid in {columns} columns has few enough cells for exact seeding"
    else:
        method, why = "lsh", f"a grid in {columns} columns would have too many cells"
    if delta == 0.0:
        return Choice(method, pure, f"{why}; delta is 0, so the noise is pure")
    gaussian = noise_for(epsilon, delta)
    if _step_noise(gaussian, columns) < _step_noise(pure, columns):
        return Choice(method, gaussian, f"{why}; with delta Gaussian noise is the smaller one")
    return Choice(method, pure, f"{why}; pure noise is the smaller one, so delta is not used")


def _step_noise(noise: Noise, columns: int) -> float:
    """Give the noise of a step around centres, and of counts, as their geometric mean."""
    half = 2**19
    reach = round(half * (math.sqrt(columns) if noise.shape == "ball" else 1.0))
    step = noise.pair_deviations(noise.budget / 2, columns=columns, reach=reach, unit=1)
    return math.sqrt(step.sums * noise.count_deviation(noise.budget / 2, unit=1))
