"""The published techniques with their promises kept: PrivQT, PrivTHR and PrivTHR_EM.

Sensitivities are those of adding or removing one record, from the wavelet's own filter: a count
changes by 1; at most ``band.touched`` band values change, so the number of non-positive ones and
the rank of any threshold change by at most that (proofs/wavecluster.md).
"""

import math
from fractions import Fraction

import numpy as np

from shoal._typing import Floats
from shoal.cluster.wavecluster._problem import Cells, WaveProblem, exact_counts, noisy_counts
from shoal.cluster.wavecluster._reference import top_cells
from shoal.noise import ExponentialMechanism, privatize

__all__ = ["priv_qt", "priv_thr", "priv_thr_em"]


THR_SHARE = 0.9  # of the source, for the counts
THR_EM_SHARE = 0.7
MAX_CANDIDATES = 1 << 16  # thresholds that the exponential mechanism chooses from
FREQUENCIES = 4096  # points of the integral for the chance that noise cancels


def priv_qt(problem: WaveProblem) -> Cells:
    """Keep the top share of the positive noisy values, those of empty cells among them.

    Parameters
    ----------
    problem : WaveProblem
        Records and budget.

    Returns
    -------
    cells : Cells
        Post-processing of noisy counts.
    """
    values = _band(problem, problem.share)
    return top_cells(values, (1 - problem.threshold) * float((values > 0).sum()))


def priv_thr(problem: WaveProblem) -> Cells:
    """Take off the positive values that noise alone is expected to make, then keep the top share.

    The source takes off half of the non-positive values, which is right for continuous noise;
    discrete noise can cancel, so its own chance to be positive takes the place of the half.

    Parameters
    ----------
    problem : WaveProblem
        Records and budget.

    Returns
    -------
    cells : Cells
        Post-processing of noisy counts and a noisy number of non-positive values.
    """
    paid = THR_SHARE * problem.share
    values = _band(problem, paid)
    empty = np.array([(problem.band.dense(exact_counts(problem)) <= 0).sum()], dtype=np.int64)
    noisy = problem.noise.counts(
        empty, problem.share - paid, unit=problem.band.touched, source=problem.source
    )
    lifted = _positive_chance(problem, paid) * max(float(noisy[0]), 0.0)
    return top_cells(values, (1 - problem.threshold) * max((values > 0).sum() - lifted, 1.0))


def priv_thr_em(problem: WaveProblem) -> Cells:
    """Choose the threshold by the exponential mechanism on the rank it has among the true values.

    Candidates come from the noisy counts, not from the true maximum as in the source, so that
    neighboring tables have the same ones.

    Parameters
    ----------
    problem : WaveProblem
        Records and budget.

    Returns
    -------
    cells : Cells
        Post-processing of noisy counts and a noisy threshold.
    """
    paid = THR_EM_SHARE * problem.share
    values = _band(problem, paid)
    unit = problem.band.sensitivity
    top = max(int(values.max()), 1) * unit
    candidates = np.unique(np.linspace(1, top, min(top, MAX_CANDIDATES)).astype(np.int64))
    exact = problem.band.dense(exact_counts(problem)).ravel()
    positive = np.sort(exact[exact > 0])
    ranks = len(positive) - np.searchsorted(positive, candidates)
    # In integers: a rounded penalty could move by more than its record.
    wanted = len(positive) - math.floor(Fraction(problem.threshold) * len(positive))
    # One record moves rank and wanted rank in the same direction, by at most `touched` each.
    share = problem.share - paid
    rate = math.nextafter(share / (2 * problem.band.touched), 0.0)
    penalties = np.abs(ranks - wanted)
    chosen = privatize(penalties, ExponentialMechanism(rate), cost=share, source=problem.source)
    threshold = candidates[chosen] / unit
    return Cells.of(values, values >= threshold, threshold)


def _band(problem: WaveProblem, share: float) -> Floats:
    noisy = problem.band.dense(noisy_counts(problem, share))
    return noisy / problem.band.sensitivity


def _positive_chance(problem: WaveProblem, share: float) -> float:
    """Return the chance that the noise of an empty block is positive."""
    if problem.band.signed or problem.band.sensitivity > 1:
        return 0.5  # unequal weights hardly ever cancel
    cells = problem.band.block**problem.columns
    ratio = math.exp(-share)
    # Chance of 0 for a sum of discrete Laplace draws: the mean of its characteristic function.
    turns = 2 * math.pi * (np.arange(FREQUENCIES) + 0.5) / FREQUENCIES
    one = (1 - ratio) ** 2 / (1 - 2 * ratio * np.cos(turns) + ratio**2)
    return float(1 - np.mean(one**cells)) / 2
