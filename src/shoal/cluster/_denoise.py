"""What the true counts were, as far as noisy counts tell: empirical Bayes with known noise.

Most cells of a grid hold nothing, and their noise drowns the cells that hold something. The noise
is public, so the distribution of the true counts can be learned from the noisy ones by expectation
maximization (Robbins 1956, Laird 1978), and each count replaced by its mean given what was seen.
Small counts of a mostly empty grid go to nearly 0; large ones hardly move. All post-processing.
"""

import numpy as np

from shoal._typing import Floats, Ints
from shoal.cluster._noise import BudgetedNoise

__all__ = ["posterior_counts"]


ROUNDS = 60
FAR = 15.0  # deviations: counts beyond are known well enough as they are
ATOMS = 4  # a deviation holds this many candidates of the true count
BINS = 15  # and noisy counts are told apart this finely
PSEUDO_ZEROS = 0.5  # times the square root of the number of cells: what is weak counts as empty


def posterior_counts(
    noisy: Ints, noise: BudgetedNoise, budget: float, *, contribution: int
) -> Floats:
    """Estimate the counts behind noisy ones: posterior means, none below 0."""
    deviation = noise.count_deviation(budget, contribution=contribution)
    limit = FAR * deviation
    values = noisy.ravel().astype(np.float64)
    near = values < limit
    bin_width = max(1.0, deviation / BINS)
    bins, inverse = np.unique(np.rint(values[near] / bin_width), return_inverse=True)
    seen = bins * bin_width
    atoms = np.arange(0.0, 2 * limit, max(1.0, deviation / ATOMS))
    likelihood = np.exp(
        noise.log_kernel(seen[:, None] - atoms[None], budget, contribution=contribution)
    )
    weights = np.bincount(inverse, minlength=len(bins)).astype(np.float64)
    prior = np.full(len(atoms), 1.0 / len(atoms))
    zeros = PSEUDO_ZEROS * np.sqrt(len(values))
    for _ in range(ROUNDS):
        prior = weights @ _posterior(likelihood, prior)
        prior[0] += zeros
        prior /= prior.sum()
    counts = values.copy()
    counts[near] = (_posterior(likelihood, prior) @ atoms)[inverse]
    return counts.reshape(noisy.shape)


def _posterior(likelihood: Floats, prior: Floats) -> Floats:
    joint: Floats = likelihood * prior
    # A value far below 0 has a likelihood that underflows for all atoms alike: it is noise on 0.
    joint[:, 0] += np.finfo(np.float64).tiny
    joint /= joint.sum(axis=1, keepdims=True)
    return joint
