"""Moments of the d-dimensional Laplace law that is cut to a box.

The law is a Gaussian scale mixture: with T distributed as chi with d + 1 degrees of freedom,
(T / epsilon) times a standard normal vector has density proportional to e^(-epsilon ||z||). Given T
the columns are independent, so that every integral over the box is a product of one-dimensional
ones, averaged over T by Gauss-Legendre quadrature: no grid over the box, whatever d is.
"""

from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.special import ndtr

from shoal._bounds import Box
from shoal._typing import Floats

__all__ = ["Truncated", "corner_mass", "truncated"]


NODES = 400
TAIL = 1e-14  # mass of T beyond the last node


class Truncated(NamedTuple):
    """What the box leaves of the law around each record."""

    mass: Floats  # of the uncut law inside the box, shape (n,)
    mean: Floats  # of each column of the cut law, shape (n, d)
    variance: Floats  # likewise


def truncated(records: Floats, box: Box, rate: float) -> Truncated:
    """Integrate the Laplace law around each record over the box.

    Parameters
    ----------
    records : ndarray of float64, shape (n, d)
        Centers, inside the box.
    box : Box
        The public box.
    rate : float
        Epsilon of the law.

    Returns
    -------
    moments : Truncated
        Mass inside, mean and variance.
    """
    if len(records) > 1 and (records == records[0]).all():
        # Many reports of one record, as audits and tests ask for.
        one = truncated(records[:1], box, rate)
        return Truncated(*(np.broadcast_to(part, (len(records), *part.shape[1:])) for part in one))
    low, high = box.low - records, box.high - records
    law = stats.chi(records.shape[1] + 1, scale=1.0 / rate)
    end = float(law.isf(TAIL))
    nodes, weights = _legendre()
    spreads = (nodes + 1.0) * end / 2
    weights = weights * end / 2 * law.pdf(spreads)
    mass = np.zeros(len(records))
    first, second = np.zeros_like(records), np.zeros_like(records)
    for spread, weight in zip(spreads, weights, strict=True):
        a, b = low / spread, high / spread
        inside = ndtr(b) - ndtr(a)  # the record is inside, so that nothing cancels
        at_a, at_b = np.exp(-0.5 * a * a), np.exp(-0.5 * b * b)
        share = weight * inside.prod(axis=1)
        mass += share
        each = share[:, np.newaxis] / (inside * np.sqrt(2 * np.pi))
        first += each * spread * (at_a - at_b)
        second += each * spread * (low * at_a - high * at_b)
        second += share[:, np.newaxis] * spread**2
    first /= mass[:, np.newaxis]
    second /= mass[:, np.newaxis]
    return Truncated(mass, records + first, second - first**2)


@lru_cache(maxsize=64)  # asked before every report, and the same each time
def corner_mass(widths: tuple[float, ...], rate: float) -> float:
    """Mass inside the box for a record in one of its corners, the worst (proofs/laplace.md).

    Parameters
    ----------
    widths : tuple of float
        Of the box, in each column.
    rate : float
        Epsilon of the law.

    Returns
    -------
    mass : float
        Between 0 and 1/2^d.
    """
    corner = np.zeros((1, len(widths)))
    with np.errstate(under="ignore"):
        return float(truncated(corner, Box(corner[0], np.array(widths)), rate).mass[0])


@cache
def _legendre() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return nodes, weights
