"""Exact laws, computed apart from the samplers, and goodness-of-fit tests against them.

Every test built on these has a fixed seed; FALSE_ALARM is the chance that a right sampler would
have failed it when the seed was chosen.
"""

import numpy as np
from scipy import stats

from helpers import sizes

FALSE_ALARM = 1e-6
DRAWS = sizes.draws(1_000_000, quick=200_000)


def laplace_pmf(x, scale):
    q = np.exp(-1.0 / scale)
    return (1 - q) / (1 + q) * q ** np.abs(x)


def rounded_gaussian_pmf(x, sigma):
    """Probability of each integer: the normal distribution's between x - 1/2 and x + 1/2."""
    low, high = (np.abs(x) - 0.5) / sigma, (np.abs(x) + 0.5) / sigma
    return stats.norm.sf(low) - stats.norm.sf(high)


def binned(draws, pmf, least=25.0):
    """Observed and expected counts over single integers, the tails pooled to `least` expected."""
    reach = int(np.abs(draws).max()) + 1
    values = np.arange(-reach, reach + 1)
    expected = len(draws) * pmf(values)
    kept = np.flatnonzero(expected >= least)
    first, last = kept[0], kept[-1]
    observed = np.bincount(draws + reach, minlength=len(values)).astype(float)
    body = slice(first + 1, last)
    pooled = [observed[: first + 1].sum(), *observed[body], observed[last:].sum()]
    low = expected[: first + 1].sum()
    middle = expected[body]
    return np.array(pooled), np.array([low, *middle, len(draws) - low - middle.sum()])


def chi_square_p(draws, pmf):
    return stats.chisquare(*binned(draws, pmf)).pvalue


def two_sample_p(a, b):
    """Chi-square of homogeneity of two integer samples, rare values pooled."""
    low, high = min(a.min(), b.min()), max(a.max(), b.max())
    table = np.stack([np.bincount(s - low, minlength=high - low + 1) for s in (a, b)])
    common = table.sum(axis=0) >= 50
    table = np.column_stack([table[:, common], table[:, ~common].sum(axis=1)])
    return stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue
