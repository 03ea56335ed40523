"""The published baseline: synthetic records from a private adaptive grid, then plain WaveCluster.

After Qardaji, Yang & Li (2013), for any number of columns: noisy counts of a coarse grid say how
finely each of its cells is cut; noisy counts of the parts are made consistent with them; records
are drawn evenly from each part. Each record is in one coarse cell and in one part.
"""

import math

import numpy as np

from shoal._typing import Floats, Ints
from shoal.cluster._centers import uniforms
from shoal.cluster.wavecluster._problem import Cells, WaveProblem
from shoal.cluster.wavecluster._reference import plain_cells
from shoal.engines import adaptive_counts, grid_counts

__all__ = ["baseline"]


COARSE_SHARE = 0.5
COARSE, FINE = 10.0, 5.0  # records times epsilon for a cell of each grid (Qardaji et al.)
MIN_COARSE = 100  # cells: 10 x 10 in two columns
THINNER = 16.0  # the coarse grid has so many times fewer cells than one grid alone should have
MAX_PARTS = 2**22
MAX_RECORDS = 2**26
CHUNK = 1 << 20  # records drawn at a time


def baseline(problem: WaveProblem) -> Cells:
    """Draw synthetic records and cluster them.

    Parameters
    ----------
    problem : WaveProblem
        Records and budget.

    Returns
    -------
    cells : Cells
        Post-processing of two tables of noisy counts.
    """
    d, half = problem.columns, problem.half
    paid = COARSE_SHARE * problem.share
    wanted = max(MIN_COARSE, problem.n * problem.share / (THINNER * COARSE))
    side = max(1, min(round(wanted ** (1 / d)), math.floor(MAX_PARTS ** (1 / d))))
    exact = grid_counts(problem.engine, (side,) * d, half).ravel()
    noise, source = problem.noise, problem.source
    coarse = noise.counts(exact, paid, unit=1, source=source)
    rest = problem.share - paid
    parts = np.maximum(coarse, 0) * rest / FINE
    sides = np.maximum(np.ceil(np.maximum(parts, 1.0) ** (1 / d)), 1).astype(np.int64)
    sides = np.minimum(sides, max(1, math.floor((MAX_PARTS / len(coarse)) ** (1 / d))))
    fine = noise.counts(
        adaptive_counts(problem.engine, side, sides, half), rest, unit=1, source=source
    )
    owner = np.repeat(np.arange(len(coarse)), sides**d)
    estimate = _consistent(
        coarse,
        fine,
        owner,
        noise.count_deviation(paid, unit=1),
        noise.count_deviation(rest, unit=1),
    )
    drawn = np.maximum(np.rint(estimate), 0).astype(np.int64)
    if drawn.sum() > MAX_RECORDS:  # more noise than records: their proportions are enough
        drawn = np.floor(drawn * (MAX_RECORDS / drawn.sum())).astype(np.int64)
    counts = _synthetic_counts(problem, side, sides, drawn)
    return plain_cells(counts, problem.band, problem.threshold)


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
            place = (coarse + (own + even) / cut) / side
            code = code * cells + np.minimum((place * cells).astype(np.int64), cells - 1)
        counts += np.bincount(code, minlength=cells**d)
    return counts.reshape(problem.sides)
