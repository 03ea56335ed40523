"""How noisy Lloyd divides epsilon: rounds, and counts against sums.

Su, Cao, Li, Bertino & Jin (2016) for pure epsilon; the ratio of FastLloyd (Diaa et al. 2024) for
Gaussian noise. Everything here is a function of public numbers. Units: the box is [-1, 1]^d.
"""

import math
from typing import Literal, NamedTuple

__all__ = ["MAX_ROUNDS", "SPLITS", "CountSum", "Split", "lloyd_rounds", "split_pure", "split_zcdp"]

Split = Literal["joint", "analytic", "equal"]
SPLITS = ("joint", "analytic", "equal")

SPREAD = 0.225  # typical distance of a record from its center, in half box widths (Su et al.)
TOLERANCE = 0.004  # largest squared error of a center that a round should add (Su et al.)
MIN_ROUNDS, MAX_ROUNDS = 2, 7


class CountSum(NamedTuple):
    """A share for the counts and one for the sums of a round."""

    counts: float
    sums: float


def lloyd_rounds(n: float, columns: int, n_clusters: int, epsilon: float) -> int:
    """Choose how many rounds epsilon can pay for.

    Parameters
    ----------
    n : float
        Number of records, public or noisy.
    columns : int
        Number of columns.
    n_clusters : int
        Number of clusters.
    epsilon : float
        Budget of all rounds.

    Returns
    -------
    rounds : int
        2 to 7, so that a round moves a center by noise of at most 0.004, squared.
    """
    weight = columns + _count_weight(columns)
    needed = math.sqrt(2 / TOLERANCE * (n_clusters * weight) ** 3) / max(n, 1.0)
    return int(min(max(epsilon / needed, MIN_ROUNDS), MAX_ROUNDS))


def split_pure(epsilon: float, columns: int, split: Split) -> CountSum:
    """Divide the epsilon of a round between counts and sums.

    Parameters
    ----------
    epsilon : float
        Budget of the round: ``counts + sums`` of the result.
    columns : int
        Number of columns.
    split : {"analytic", "equal"}
        ``"equal"``: all columns and the count alike, as DP-KCCM; otherwise the division of Su et
        al., which makes the centers' error least.

    Returns
    -------
    shares : CountSum
        Epsilon of the counts, and of all columns of the sums together.
    """
    weight = 1.0 if split == "equal" else _count_weight(columns)
    return CountSum(
        counts=epsilon * weight / (columns + weight),
        sums=epsilon * columns / (columns + weight),
    )


def split_zcdp(rho: float, columns: int, split: Split) -> CountSum:
    """Divide the rho of a round between counts and sums.

    Parameters
    ----------
    rho : float
        Budget of the round: ``counts + sums`` of the result.
    columns : int
        Number of columns.
    split : {"joint", "analytic", "equal"}
        ``"equal"``: all columns and the count alike, as DP-KCCM; otherwise the ratio of FastLloyd.

    Returns
    -------
    shares : CountSum
        Rho of the counts, and of all columns of the sums together.
    """
    weight = columns if split == "equal" else math.sqrt(4 * columns)
    return CountSum(counts=rho / (1 + weight), sums=rho * weight / (1 + weight))


def _count_weight(columns: int) -> float:
    return math.cbrt(4 * columns * SPREAD**2)
