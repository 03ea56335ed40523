"""Which noisy values are significant: the distribution of the true ones, learned through the noise.

WaveCluster keeps the top share of the positive values. With noise, half of the empty cells look
positive, and counting them ruins the threshold; the published techniques spend budget to repair it.
The noise is public, so nothing need be spent: expectation maximization over candidate values finds
the distribution of the true values whose noisy versions look like those released; its positive part
gives the threshold, and a cell is kept when it is more likely than not above it.

Significant cells lie together. Where the noise is as large as the threshold, that is worth knowing:
each cell's odds are multiplied by e^strength for every neighbor that is significant, beyond what
chance would give (the mean field of an Ising model). Where values are clear of the noise their own
odds decide, and the strength is 0: thin gaps between clusters must not be bridged.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import ndimage

from shoal._typing import Bools, Floats

__all__ = ["Significance", "significant", "with_neighbors"]


ROUNDS = 200
# Times the square root of the number of cells: values that count as empty beforehand.
PSEUDO_ZEROS = (0.5, 1.0, 2.0, 4.0, 8.0)
FINE = 80  # candidates are one record apart up to here, or up to where the noise ends, ...
GROWTH = 1.04  # ... and then this factor
ALLOWED = 1.0  # the log likelihood may fall by this much for more empty cells
FAR = 40.0  # scales of the noise: values beyond are known well enough as they are
STRONGEST = 0.5
SLOPE, DOUBT = 2.0, 0.3  # strength grows with noise over threshold, from 0.3 on
NEIGHBOR_ROUNDS = 5
TINY = float(np.finfo(np.float64).tiny)
CERTAIN = 1e-9  # no cell is more certain than this


class Significance(NamedTuple):
    """Which values are significant, and how likely."""

    mask: Bools
    threshold: float
    chances: Floats  # of each value to be above the threshold
    above: float  # part of all values that is


def significant(
    noisy: Floats,
    *,
    scale: float,
    part: float,
    signed: bool = False,
    unseen: int = 0,
    limit: float = 0.0,
    steps_per_record: int = 1,
) -> Significance:
    """Find the values above the quantile of the true positive ones.

    ``noisy`` values and the ``scale`` of their Laplace noise are in units of what one record
    changes, which are ``steps_per_record`` of the integers that noise was added to; ``part`` of the
    positive values is not significant; ``unseen`` values were not released, for they were below
    ``limit``; ``signed`` values can be negative.
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
        below = _below((limit - atoms) * steps_per_record, scale * steps_per_record)
        likelihood = np.vstack([likelihood, below])
        weights = np.append(weights, float(unseen))
    zero = int(np.flatnonzero(atoms == 0.0)[0])
    prior = _sparsest(likelihood, weights, zero)
    threshold = _quantile(atoms, prior * weights.sum(), values[far], part)
    posterior = _posterior(likelihood[: len(seen)], prior)
    chances = (values >= threshold).astype(np.float64)
    chances[~far] = posterior[:, atoms >= threshold].sum(axis=1)[inverse]
    chances = chances.reshape(noisy.shape)
    return Significance(chances > 0.5, threshold, chances, float(prior[atoms >= threshold].sum()))


def with_neighbors(kept: Significance, *, scale: float) -> Bools:
    """Decide which cells are significant, with a look at those around them."""
    strength = min(STRONGEST, SLOPE * (scale / kept.threshold - DOUBT))
    if not strength > 0:
        return kept.mask
    own = np.clip(kept.chances, CERTAIN, 1 - CERTAIN)
    odds = np.log(own / (1 - own))
    strength *= 8.0 / (3**own.ndim - 1)  # eight neighbors in two columns set the unit
    chances = kept.chances
    for _ in range(NEIGHBOR_ROUNDS):
        chances = 1 / (1 + np.exp(-(odds + strength * _around(chances - kept.above))))
    return np.asarray(chances > 0.5)


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
    """Learn the prior with the fewest positive values that explains what was seen.

    Noise on empty cells looks like small counts, and a handful too many of them ruins a low
    quantile. So more and more cells are taken to be empty beforehand, as long as the prior explains
    the values nearly as well.
    """
    prior = _learn(likelihood, weights, zero, PSEUDO_ZEROS[0])
    best = _fit(likelihood, weights, prior)
    for more in PSEUDO_ZEROS[1:]:
        emptier = _learn(likelihood, weights, zero, more)
        if _fit(likelihood, weights, emptier) < best - ALLOWED:
            break
        prior = emptier
    return prior


def _fit(likelihood: Floats, weights: Floats, prior: Floats) -> float:
    """Return the log likelihood of the values."""
    return float(weights @ np.log(likelihood @ prior + TINY))


def _learn(likelihood: Floats, weights: Floats, zero: int, pseudo: float) -> Floats:
    prior = np.full(likelihood.shape[1], 1.0 / likelihood.shape[1])
    zeros = pseudo * np.sqrt(max(weights.sum(), 1.0))  # some, where all values are far
    joint = np.empty_like(likelihood)
    for _ in range(ROUNDS):
        prior = weights @ _posterior(likelihood, prior, out=joint)
        prior[zero] += zeros
        prior /= prior.sum()
    return prior


def _posterior(likelihood: Floats, prior: Floats, out: Floats | None = None) -> Floats:
    joint: Floats = np.multiply(likelihood, prior, out=out)
    # Candidates that the prior has given up may be a value's only ones: the total must not vanish.
    joint += TINY * likelihood.shape[1] * prior
    joint /= np.add.reduce(joint, axis=1, keepdims=True)
    return joint


def _below(steps: Floats, scale: float) -> Floats:
    """Return the chance that integer noise is below these numbers of steps."""
    ratio = math.exp(-1 / scale)
    tails: Floats = np.exp(-np.where(steps > 0, steps, 1 - steps) / scale) / (1 + ratio)
    below: Floats = np.where(steps > 0, 1.0 - tails, tails)
    return below


def _quantile(atoms: Floats, masses: Floats, far: Floats, part: float) -> float:
    """Return the value that the top ``1 - part`` of the positive values reach."""
    positive = atoms > 0
    values = np.concatenate([atoms[positive], far])
    weights = np.concatenate([masses[positive], np.ones(len(far))])
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    # Where values are counted exactly, the next after that part is the first to keep.
    wanted = part * reached[-1] * (1 + 1e-9)
    first = np.searchsorted(reached, wanted, side="right")
    return float(values[order][min(first, len(order) - 1)])


def _around(values: Floats) -> Floats:
    """Add up the neighbors of each cell, corners included, one column after the other."""
    sums = values
    for axis in range(values.ndim):
        sums = ndimage.convolve1d(sums, np.ones(3), axis=axis, mode="constant")
    around: Floats = sums - values
    return around
