"""Our WaveCluster: all of epsilon on the values of the average band, the threshold for nothing.

One record changes the band by at most ``band.sensitivity`` in all, so discrete Laplace noise on its
values costs epsilon, and the cell counts need not be released: for Haar that is a quarter of
the values in two columns, with half the noise. The threshold follows from the known noise
(``_deconvolve``). Single cells are dropped: noise makes them, clusters seldom are.

In many columns nearly all cells are empty. Then the values below a public limit are not released,
and those of empty cells that pass it are drawn without visiting the others: distributed as with
noise on every cell, so the promise is the same (proofs/wavecluster.md).
"""

import math

import numpy as np
from scipy import ndimage

from shoal._typing import Floats
from shoal.cluster.wavecluster._band import sparse_band
from shoal.cluster.wavecluster._components import connected_components
from shoal.cluster.wavecluster._deconvolve import significant, with_neighbors
from shoal.cluster.wavecluster._problem import SignificantCells, WaveProblem, exact_counts
from shoal.cluster.wavecluster._threshold import automatic_cells
from shoal.engines import sparse_grid_counts
from shoal.noise import SparseCounts, SparseLaplaceNoise, privatize

__all__ = [
    "MAX_DENSE",
    "dense_values",
    "density",
    "one_shot",
    "one_shot_automatic",
    "one_shot_sparse",
]

MAX_DENSE = 2**22  # cells of a grid that is kept as a table
FALSE_CELLS = 256.0  # empty cells expected to pass the limit of a sparse grid
CERTAINTY = 2.0  # standard deviations of a neighborhood's noise that its sum must exceed


def one_shot(problem: WaveProblem) -> SignificantCells:
    """Release the band, whole or above a limit, and find its significant cells."""
    if problem.cells**problem.columns > MAX_DENSE:
        return one_shot_sparse(problem)
    values = dense_values(problem)
    kept = significant(
        values,
        scale=1.0 / problem.budget,
        part=problem.threshold,
        signed=problem.band.signed,
    )
    mask = with_neighbors(kept, scale=1.0 / problem.budget)
    return _without_singles(SignificantCells.from_mask(values, mask, kept.threshold), problem)


def one_shot_automatic(problem: WaveProblem) -> SignificantCells:
    """Release the whole band, and choose its threshold from what was released."""
    values = dense_values(problem)
    return automatic_cells(values, scale=1.0 / problem.budget, signed=problem.band.signed)


def dense_values(problem: WaveProblem) -> Floats:
    """Release all values of the band, in units of what one record changes."""
    exact = problem.band.dense(exact_counts(problem))
    sensitivity = problem.band.sensitivity
    noisy = problem.noise.counts(
        exact, problem.budget, contribution=sensitivity, source=problem.source
    )
    return noisy / sensitivity


def one_shot_sparse(problem: WaveProblem) -> SignificantCells:
    """Release the values above a limit, and find the significant cells among them."""
    band, sensitivity = problem.band, problem.band.sensitivity
    counted = sparse_grid_counts(problem.engine, problem.sides, problem.half)
    codes, exact = sparse_band(counted.codes, counted.counts, problem.cells, band)
    total = math.prod(band.shape)
    scale = problem.noise.scales(
        problem.budget, columns=0, clip_radius=0, contribution=sensitivity
    ).counts
    limit = max(1, math.ceil(scale * math.log(max(total / FALSE_CELLS, 1.0))))
    noise = SparseLaplaceNoise(total, limit, scale)
    shown = privatize(SparseCounts(codes, exact), noise, cost=problem.budget, source=problem.source)
    seen = shown.values / sensitivity
    kept = significant(
        seen,
        scale=1.0 / problem.budget,
        part=problem.threshold,
        signed=band.signed,
        unseen=total - len(shown.codes),
        limit=limit / sensitivity,
        steps_per_record=sensitivity,
    )
    cells = SignificantCells(shown.codes[kept.mask], seen[kept.mask], kept.threshold)
    return _without_singles(cells, problem)


def density(problem: WaveProblem) -> SignificantCells:
    """Keep the cells whose neighborhood holds enough records, beyond what noise would.

    A private relative of DBSCAN on the same noisy band: dense neighborhoods that touch.
    """
    values = dense_values(problem)
    sums = values
    for axis in range(problem.columns):
        sums = ndimage.convolve1d(sums, np.ones(3), axis=axis, mode="constant")
    deviation = problem.noise.count_deviation(problem.budget, contribution=1)
    threshold = problem.min_samples + CERTAINTY * deviation * math.sqrt(3.0**problem.columns)
    # An empty cell beside a crowd is not part of it: more likely than not, a record is there.
    scale = 1.0 / problem.budget
    held = significant(values, scale=scale, part=0.0, signed=problem.band.signed).mask
    return SignificantCells.from_mask(sums, (sums >= threshold) & held, threshold)


def _without_singles(cells: SignificantCells, problem: WaveProblem) -> SignificantCells:
    labels = connected_components(cells.codes, problem.band.shape)
    if not labels.size:
        return cells
    kept = np.bincount(labels)[labels] > 1
    return SignificantCells(
        cells.codes[kept], cells.values[kept], cells.threshold, cells.all_values
    )
