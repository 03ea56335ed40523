"""Which noisy values are significant: the law of the true ones, learned through the known noise.

WaveCluster keeps the top share of the positive values. With noise, half of the empty cells look
positive, and counting them ruins the threshold; the published techniques spend budget to repair it.
The noise law is public, so nothing need be spent: expectation maximization over candidate values
finds the law of the true values whose noisy versions look like those released; its positive part
gives the threshold, and a cell is kept when it is more likely than not above it.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats

__all__ = ["Kept", "significant"]


ROUNDS = 200
# Times the square root of the number of cells: values that count as empty beforehand.
PSEUDO_ZEROS = (0.5, 1.0, 2.0, 4.0, 8.0)
FINE = 80  # candidates are one record apart up to here, or up to the noise's reach, ...
GROWTH = 1.04  # ... and then this factor
ALLOWED = 1.0  # the log likelihood may fall by this much for more empty cells
FAR = 40.0  # scales of the noise: values beyond are known well enough as they are


class Kept(NamedTuple):
    """Which values are significant, the threshold, and how likely each and any is above it."""

    mask: npt.NDArray[np.bool_]
    threshold: float
    chances: Floats
    share: float


def significant(
    noisy: Floats,
    *,
    scale: float,
    share: float,
    signed: bool = False,
    unseen: int = 0,
    limit: float = 0.0,
    unit: int = 1,
) -> Kept:
    """Find the values above the quantile of the true positive ones.

    Parameters
    ----------
    noisy : ndarray of float64
        Released values, in units of what one record changes.
    scale : float
        Scale of their Laplace noise, in the same unit.
    share : float
        Part of the positive values that is not significant.
    signed : bool, default=False
        Whether true values can be negative.
    unseen : int, default=0
        Cells that were not released because their noisy value was below ``limit``.
    limit : float, default=0.0
        That limit.
    unit : int, default=1
        Steps of a value from one integer to the next.

    Returns
    -------
    kept : Kept
        Post-processing of the values.
    """
    values = noisy.ravel()
    far = values >= max(FINE, FAR * scale)
    near = values[~far]
    step = max(1e-9, scale / 50.0)
    bins, inverse = np.unique(np.rint(near / step), return_inverse=True)
    seen = bins * step
    weights = np.bincount(inverse, minlength=len(bins)).astype(np.float64)
    atoms = _candidates(seen, scale, signed=signed)
    if unseen:  # smaller values cannot be told from none: hardly any of them was released
        atoms = np.union1d(atoms[(atoms == 0.0) | (np.abs(atoms) >= limit)], [float(limit)])
    gaps = np.abs(seen[:, None] - atoms)
    # Relative to the nearest candidate, so that no row vanishes however far off that is.
    likelihood = np.exp((gaps.min(axis=1, keepdims=True) - gaps) / scale)
    if unseen:  # one more row: all that is known of these cells is that they stayed below
        likelihood = np.vstack([likelihood, _below((limit - atoms) * unit, scale * unit)])
        weights = np.append(weights, float(unseen))
    zero = int(np.flatnonzero(atoms == 0.0)[0])
    law = _sparsest(likelihood, weights, zero)
    threshold = _quantile(atoms, law * weights.sum(), values[far], share)
    posterior = _posterior(likelihood[: len(seen)], law)
    chances = (values >= threshold).astype(np.float64)
    chances[~far] = posterior[:, atoms >= threshold].sum(axis=1)[inverse]
    chances = chances.reshape(noisy.shape)
    return Kept(chances > 0.5, threshold, chances, float(law[atoms >= threshold].sum()))


def _candidates(seen: Floats, scale: float, *, signed: bool) -> Floats:
    # Below one record nothing is positive; below the noise's scale candidates cannot be told apart.
    first = max(1.0, scale)
    top = max(float(seen.max(initial=0.0)) + 3 * scale, first)
    fine = np.arange(first, min(top, max(FINE, first + 1)) + 1.0)
    coarse: list[float] = []
    value = float(fine[-1])
    while value < top:
        value = max(value + 1.0, value * GROWTH)
        coarse.append(value)
    positive = np.concatenate([fine, coarse])
    if not signed:
        return np.concatenate([[0.0], positive])
    lowest = float(-seen.min(initial=0.0)) + 3 * scale
    return np.concatenate([-positive[positive <= lowest][::-1], [0.0], positive])


def _sparsest(likelihood: Floats, weights: Floats, zero: int) -> Floats:
    """Learn the law with the fewest positive values that explains what was seen.

    Noise on empty cells looks like small counts, and a handful too many of them ruins a low
    quantile. So more and more cells are taken to be empty beforehand, as long as the law explains
    the values nearly as well.
    """
    law = _learn(likelihood, weights, zero, PSEUDO_ZEROS[0])
    best = _fit(likelihood, weights, law)
    for more in PSEUDO_ZEROS[1:]:
        emptier = _learn(likelihood, weights, zero, more)
        if _fit(likelihood, weights, emptier) < best - ALLOWED:
            break
        law = emptier
    return law


def _fit(likelihood: Floats, weights: Floats, law: Floats) -> float:
    """Return the log likelihood of the values."""
    return float(weights @ np.log(likelihood @ law + np.finfo(np.float64).tiny))


def _learn(likelihood: Floats, weights: Floats, zero: int, pseudo: float) -> Floats:
    law = np.full(likelihood.shape[1], 1.0 / likelihood.shape[1])
    zeros = pseudo * np.sqrt(max(weights.sum(), 1.0))  # some, where all values are far
    for _ in range(ROUNDS):
        law = weights @ _posterior(likelihood, law)
        law[zero] += zeros
        law /= law.sum()
    return law


def _posterior(likelihood: Floats, law: Floats) -> Floats:
    joint: Floats = likelihood * law
    # Candidates that the law has given up may be a value's only ones: the total must not vanish.
    joint += np.finfo(np.float64).tiny * likelihood.shape[1] * law
    joint /= joint.sum(axis=1, keepdims=True)
    return joint


def _below(steps: Floats, scale: float) -> Floats:
    """Return the chance that integer noise is below these numbers of steps."""
    ratio = math.exp(-1 / scale)
    tails: Floats = np.exp(-np.where(steps > 0, steps, 1 - steps) / scale) / (1 + ratio)
    below: Floats = np.where(steps > 0, 1.0 - tails, tails)
    return below


def _quantile(atoms: Floats, masses: Floats, far: Floats, share: float) -> float:
    """Return the value that the top ``1 - share`` of the positive values reach."""
    positive = atoms > 0
    places = np.concatenate([atoms[positive], far])
    weights = np.concatenate([masses[positive], np.ones(len(far))])
    order = np.argsort(places, kind="stable")
    reached = np.cumsum(weights[order])
    # Where values are counted exactly, the next after the share is the first to keep.
    wanted = share * reached[-1] * (1 + 1e-9)
    first = np.searchsorted(reached, wanted, side="right")
    return float(places[order][min(first, len(order) - 1)])
