"""Our WaveCluster: all of epsilon on the values of the average band, the threshold for nothing.

One record changes the band by at most ``band.sensitivity`` in all, so discrete Laplace noise on its
values costs epsilon, and the cell counts need not be released: for Haar that is a quarter of
the values in two columns, with half the noise. The threshold follows from the known noise
(``_deconvolve``). Single cells are dropped: noise makes them, clusters seldom are.

In many columns nearly all cells are empty. Then the values below a public limit are not released,
and those of empty cells that pass it are drawn without visiting the others: the same law as noise
on every cell, so the promise is the same (proofs/wavecluster.md).
"""

import math

import numpy as np

from shoal._typing import Floats
from shoal.cluster.wavecluster._components import connected_components
from shoal.cluster.wavecluster._deconvolve import significant
from shoal.cluster.wavecluster._neighbors import with_neighbors
from shoal.cluster.wavecluster._problem import Cells, WaveProblem, exact_counts
from shoal.cluster.wavecluster._sparse_band import sparse_band
from shoal.engines import sparse_grid_counts
from shoal.noise import SparseCounts, SparseLaplaceNoise, privatize

__all__ = ["MAX_DENSE", "dense_values", "one_shot", "one_shot_sparse"]


MAX_DENSE = 2**22  # cells of a grid that is kept as a table
FALSE_CELLS = 256.0  # empty cells expected to pass the limit of a sparse grid


def one_shot(problem: WaveProblem) -> Cells:
    """Release the band and find its significant cells.

    Parameters
    ----------
    problem : WaveProblem
        Records and budget.

    Returns
    -------
    cells : Cells
        Post-processing of the noisy band.
    """
    values = dense_values(problem)
    kept = significant(
        values,
        scale=1.0 / problem.share,
        share=problem.threshold,
        signed=problem.band.signed,
    )
    mask = with_neighbors(kept, scale=1.0 / problem.share)
    return _without_singles(Cells.of(values, mask, kept.threshold), problem)


def dense_values(problem: WaveProblem) -> Floats:
    """Release all values of the band, in units of what one record changes."""
    exact = problem.band.dense(exact_counts(problem))
    unit = problem.band.sensitivity
    noisy = problem.noise.counts(exact, problem.share, unit=unit, source=problem.source)
    return noisy / unit


def one_shot_sparse(problem: WaveProblem) -> Cells:
    """Release the values above a limit, and find the significant cells among them.

    Parameters
    ----------
    problem : WaveProblem
        Records and budget.

    Returns
    -------
    cells : Cells
        Post-processing of the noisy values that were released.
    """
    band, unit = problem.band, problem.band.sensitivity
    counted = sparse_grid_counts(problem.engine, problem.sides, problem.half)
    codes, exact = sparse_band(counted.codes, counted.counts, problem.cells, band)
    total = math.prod(band.shape)
    scale = problem.noise.scales(problem.share, columns=0, reach=0, unit=unit).counts
    limit = max(1, math.ceil(scale * math.log(max(total / FALSE_CELLS, 1.0))))
    law = SparseLaplaceNoise(total, limit, scale)
    shown = privatize(SparseCounts(codes, exact), law, cost=problem.share, source=problem.source)
    seen = shown.values / unit
    kept = significant(
        seen,
        scale=1.0 / problem.share,
        share=problem.threshold,
        signed=band.signed,
        unseen=total - len(shown.codes),
        limit=limit / unit,
        unit=unit,
    )
    cells = Cells(shown.codes[kept.mask], seen[kept.mask], kept.threshold)
    return _without_singles(cells, problem)


def _without_singles(cells: Cells, problem: WaveProblem) -> Cells:
    labels = connected_components(cells.codes, problem.band.shape)
    if not labels.size:
        return cells
    kept = np.bincount(labels)[labels] > 1
    return Cells(cells.codes[kept], cells.values[kept], cells.threshold, cells.everything)
