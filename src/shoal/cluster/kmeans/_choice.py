"""Which method to use, from public or noisy numbers alone, and why."""

import math
from typing import NamedTuple

from shoal.cluster._noise import Noise, PureNoise, noise_for
from shoal.cluster.kmeans._grid import GRID_SHARE, WIDEST_GRID
from shoal.cluster.kmeans._lsh import LEAF_SHARE
from shoal.engines import HALF

__all__ = ["METHODS", "Choice", "choose"]

METHODS = ("auto", "lloyd", "grid", "lsh", "kccm")


class Choice(NamedTuple):
    """A method, its privacy measure, and why."""

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
    # A tree is as good as its sums are; a grid needs its counts as much.
    share, counts = (LEAF_SHARE, 0.0) if method == "lsh" else (GRID_SHARE, 0.5)
    if _noise(gaussian, columns, share, counts) < _noise(pure, columns, share, counts):
        return Choice(method, gaussian, f"{why}; with delta Gaussian noise is the smaller one")
    return Choice(method, pure, f"{why}; pure noise is the smaller one, so delta is not used")


def _noise(noise: Noise, columns: int, share: float, counts: float) -> float:
    """Return the noise of sums and of counts, as their weighted geometric mean."""
    reach = round(HALF * (math.sqrt(columns) if noise.shape == "ball" else 1.0))
    paid = share * noise.budget
    step = noise.pair_deviations(paid, columns=columns, reach=reach, unit=1)
    return float(step.sums ** (1 - counts) * noise.count_deviation(paid, unit=1) ** counts)
