"""The published techniques with their promises kept: PrivQT, PrivTHR, PrivTHR_EM and the baseline.

After Chen, Yu & Chirkova (2015). Sensitivities are those of adding or removing one record, from the
wavelet's own filter: a count changes by 1; at most ``band.touched`` band values change, so the
number of non-positive ones and the rank of any threshold change by at most that
(proofs/wavecluster.md).

The baseline draws synthetic records from a private adaptive grid, after Qardaji, Yang & Li (2013)
for any number of columns, and runs plain WaveCluster on them: noisy counts of a coarse grid say how
finely each of its cells is cut; noisy counts of the parts are made consistent with them; records
are drawn evenly from each part. Each record is in one coarse cell and in one part.
"""

import math
from fractions import Fraction

import numpy as np

from shoal._typing import Floats, Ints
from shoal.cluster._centers import uniforms
from shoal.cluster.wavecluster._problem import (
    SignificantCells,
    WaveProblem,
    exact_counts,
    noisy_counts,
    plain_cells,
    top_cells,
)
from shoal.engines import adaptive_counts, grid_counts
from shoal.noise import ExponentialMechanism, privatize

__all__ = ["baseline", "priv_qt", "priv_thr", "priv_thr_em"]

THR_PART = 0.9  # of the budget, for the counts, as in the source
THR_EM_PART = 0.7
MAX_CANDIDATES = 1 << 16  # thresholds that the exponential mechanism chooses from
FREQUENCIES = 4096  # points of the integral for the chance that noise cancels
COARSE_PART = 0.5
COARSE, FINE = 10.0, 5.0  # records times epsilon for a cell of each grid (Qardaji et al.)
MIN_COARSE = 100  # cells: 10 x 10 in two columns
THINNER = 16.0  # the coarse grid has so many times fewer cells than one grid alone should have
MAX_PARTS = 2**22
MAX_RECORDS = 2**26
CHUNK = 1 << 20  # records drawn at a time


def priv_qt(problem: WaveProblem) -> SignificantCells:
    """Keep the top share of the positive noisy values, those of empty cells among them."""
    values = _band(problem, problem.budget)
    return top_cells(values, (1 - problem.threshold) * float((values > 0).sum()))


def priv_thr(problem: WaveProblem) -> SignificantCells:
    """Take off the positive values that noise alone is expected to make, then keep the top share.

    The source takes off half of the non-positive values, which is right for continuous noise;
    discrete noise can cancel, so its own chance to be positive takes the place of the half.
    """
    counts_budget = THR_PART * problem.budget
    values = _band(problem, counts_budget)
    empty = np.array([(problem.band.dense(exact_counts(problem)) <= 0).sum()], dtype=np.int64)
    noisy = problem.noise.counts(
        empty,
        problem.budget - counts_budget,
        contribution=problem.band.touched,
        source=problem.source,
    )
    lifted = _positive_chance(problem, counts_budget) * max(float(noisy[0]), 0.0)
    return top_cells(values, (1 - problem.threshold) * max((values > 0).sum() - lifted, 1.0))


def priv_thr_em(problem: WaveProblem) -> SignificantCells:
    """Choose the threshold by the exponential mechanism on the rank it has among the true values.

    Candidates come from the noisy counts, not from the true maximum as in the source, so that
    neighboring tables have the same ones.
    """
    counts_budget = THR_EM_PART * problem.budget
    values = _band(problem, counts_budget)
    sensitivity = problem.band.sensitivity
    top = max(int(values.max()), 1) * sensitivity
    candidates = np.unique(np.linspace(1, top, min(top, MAX_CANDIDATES)).astype(np.int64))
    exact = problem.band.dense(exact_counts(problem)).ravel()
    positive = np.sort(exact[exact > 0])
    ranks = len(positive) - np.searchsorted(positive, candidates)
    # In integers: a rounded penalty could move by more than its record.
    wanted = len(positive) - math.floor(Fraction(problem.threshold) * len(positive))
    # One record moves rank and wanted rank in the same direction, by at most `touched` each.
    budget = problem.budget - counts_budget
    rate = math.nextafter(budget / (2 * problem.band.touched), 0.0)
    penalties = np.abs(ranks - wanted)
    chosen = privatize(penalties, ExponentialMechanism(rate), cost=budget, source=problem.source)
    threshold = candidates[chosen] / sensitivity
    return SignificantCells.from_mask(values, values >= threshold, threshold)


def baseline(problem: WaveProblem) -> SignificantCells:
    """Draw synthetic records and cluster them."""
    d, half = problem.columns, problem.half
    counts_budget = COARSE_PART * problem.budget
    wanted = max(MIN_COARSE, problem.n * problem.budget / (THINNER * COARSE))
    side = max(1, min(round(wanted ** (1 / d)), math.floor(MAX_PARTS ** (1 / d))))
    exact = grid_counts(problem.engine, (side,) * d, half).ravel()
    noise, source = problem.noise, problem.source
    coarse = noise.counts(exact, counts_budget, contribution=1, source=source)
    rest = problem.budget - counts_budget
    parts = np.maximum(coarse, 0) * rest / FINE
    sides = np.maximum(np.ceil(np.maximum(parts, 1.0) ** (1 / d)), 1).astype(np.int64)
    sides = np.minimum(sides, max(1, math.floor((MAX_PARTS / len(coarse)) ** (1 / d))))
    fine = noise.counts(
        adaptive_counts(problem.engine, side, sides, half), rest, contribution=1, source=source
    )
    owner = np.repeat(np.arange(len(coarse)), sides**d)
    estimate = _consistent(
        coarse,
        fine,
        owner,
        noise.count_deviation(counts_budget, contribution=1),
        noise.count_deviation(rest, contribution=1),
    )
    drawn = np.maximum(np.rint(estimate), 0).astype(np.int64)
    if drawn.sum() > MAX_RECORDS:  # more noise than records: their proportions are enough
        drawn = np.floor(drawn * (MAX_RECORDS / drawn.sum())).astype(np.int64)
    counts = _synthetic_counts(problem, side, sides, drawn)
    return plain_cells(counts, problem.band, problem.threshold)


def _band(problem: WaveProblem, budget: float) -> Floats:
    noisy = problem.band.dense(noisy_counts(problem, budget))
    return noisy / problem.band.sensitivity


def _positive_chance(problem: WaveProblem, budget: float) -> float:
    """Return the chance that the noise of an empty block is positive."""
    if problem.band.signed or problem.band.sensitivity > 1:
        return 0.5  # unequal weights hardly ever cancel
    cells = problem.band.block**problem.columns
    ratio = math.exp(-budget)
    # Chance of 0 for a sum of discrete Laplace draws: the mean of its characteristic function.
    turns = 2 * math.pi * (np.arange(FREQUENCIES) + 0.5) / FREQUENCIES
    one = (1 - ratio) ** 2 / (1 - 2 * ratio * np.cos(turns) + ratio**2)
    return float(1 - np.mean(one**cells)) / 2


def _consistent(
    coarse: Ints, fine: Ints, owner: Ints, coarse_noise: float, fine_noise: float
) -> Floats:
    """Weigh each coarse count against the sum of its parts, and spread the rest evenly."""
    sums = np.bincount(owner, weights=fine, minlength=len(coarse))
    parts = np.bincount(owner, minlength=len(coarse))
    trust = 1 / coarse_noise**2, 1 / (parts * fine_noise**2)
    best = (trust[0] * coarse + trust[1] * sums) / (trust[0] + trust[1])
    return fine + ((best - sums) / parts)[owner]


def _synthetic_counts(problem: WaveProblem, side: int, sides: Ints, drawn: Ints) -> Ints:
    """Draw records evenly in their parts and count them in the problem's own cells."""
    d, cells = problem.columns, problem.cells
    first = np.cumsum(sides**d) - sides**d
    before = np.cumsum(drawn)
    counts = np.zeros(cells**d, dtype=np.int64)
    for start in range(0, int(before[-1]), CHUNK):
        records = np.arange(start, min(start + CHUNK, int(before[-1])))
        part = np.searchsorted(before, records, side="right")
        owner = np.searchsorted(first, part, side="right") - 1
        within = part - first[owner]
        cut = sides[owner]
        code = np.zeros(len(part), dtype=np.int64)
        for column in range(d):
            coarse = owner // side ** (d - 1 - column) % side
            own = within // cut ** (d - 1 - column) % cut
            even = (uniforms((len(part),), problem.source) + 1) / 2
            position = (coarse + (own + even) / cut) / side
            code = code * cells + np.minimum((position * cells).astype(np.int64), cells - 1)
        counts += np.bincount(code, minlength=cells**d)
    return counts.reshape(problem.sides)
