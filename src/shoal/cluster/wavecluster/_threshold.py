"""The threshold of a band, chosen from its noisy values alone: post-processing, nothing is spent.

A threshold cuts the density into clusters: the connected components of the cells above it. As it
rises, clusters appear, split and fade, and all of that can be looked at on one noisy band.

1. Each value is drawn to the mean of its window by as much of the variance around it as noise and
   sampling explain (the local filter of Lee 1980): flat ground is averaged, edges stay.
2. Clusters are followed over a ladder of thresholds. One counts where some window inside it lies
   above the level at which it joins a denser one, by more standard deviations of noise and sampling
   than the largest of that many normal numbers.
3. A threshold is worth what its clusters tell apart: the entropy of their records, where every
   split weighs 1 at an empty gap and 0 at one with half the density of its thinner side. Records
   below the threshold tell nothing.
4. The lowest threshold with nearly the best worth decides how many clusters there are; of those
   above it that keep them, the one nearest to the usual threshold, where the lowest tenth of the
   positive values ends, is taken.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import ndimage

from shoal._typing import Bools, Floats, Ints
from shoal.cluster.wavecluster._components import label_grid
from shoal.cluster.wavecluster._deconvolve import significant
from shoal.cluster.wavecluster._problem import SignificantCells, top_cells

__all__ = ["USUAL_PART", "automatic_cells", "denoised"]

USUAL_PART = 0.1  # of the positive values, where nothing speaks for another threshold
MEAN, VARIANCE = 3, 5  # cells to a side of the windows of mean and variance
TESTED = (1, 3, 5, 9)  # cells to a side of the windows that a cluster is tested with
FALSE = 0.05  # chance that the noise of any single cell passes for a cluster
LEVELS = 48  # thresholds of the ladder
EMPTY = 2.0  # standard deviations of an averaged empty cell, where the ladder starts
HALF_DENSITY = 0.5  # of the thinner side: a gap with more than that tells nothing apart
BEST = 0.01  # the lowest threshold that loses no more of the best worth says how many clusters ...
ALIKE = 0.1  # ... and thresholds above it are alike that keep their number and lose no more
TINY = 1e-12


class _Level(NamedTuple):
    """The clusters above one threshold."""

    threshold: float
    peaks: Ints  # shape (k,): flat index of each cluster's highest cell
    saddles: Floats  # where it joins a cluster with a higher peak, or the lowest threshold
    proven: Floats  # what some window inside surely reaches, now or before it lost cells
    parents: Ints  # index of the cluster that holds it, one level down
    masses: Floats  # noisy records
    densities: Floats  # of the cell that its average record is in

    @property
    def real(self) -> Bools:
        """Which clusters noise and sampling do not explain."""
        return np.asarray(self.proven > self.saddles)


def automatic_cells(values: Floats, *, scale: float, signed: bool = False) -> SignificantCells:
    """Choose the threshold of noisy values, in units of one record, and find the cells above it.

    ``scale`` is that of their Laplace noise, 0 for none; ``signed`` values can be negative.
    """
    usual = _usual_threshold(values, scale, signed=signed)
    smooth = denoised(values, scale)
    lowest = max(EMPTY * math.sqrt(2) * scale / math.sqrt(MEAN**values.ndim), MEAN**-values.ndim)
    top = float(smooth.max())
    if not top > lowest:
        return SignificantCells.from_mask(values, np.zeros(values.shape, dtype=bool), lowest)
    if usual <= max(1.0, scale):  # cannot be told from the noise
        usual = lowest
    shift = 1.0 + math.sqrt(2) * scale  # below it levels are even, far above it their ratios are
    ladder = np.geomspace(lowest + shift, top + shift, LEVELS, endpoint=False) - shift
    if lowest < usual < top:
        ladder = np.unique(np.append(ladder, usual))
    levels = _climb(values, smooth, ladder, scale)
    worths = np.array([_worth(levels[: step + 1]) for step in range(len(levels))])
    counts = np.array([level.real.sum() for level in levels])
    first = int((worths >= (1 - BEST) * worths.max()).argmax())
    others = (counts != counts[first]) | (worths < (1 - ALIKE) * worths.max())
    plateau = ladder[first:][~np.logical_or.accumulate(others[first:])]
    gaps = np.abs(np.log((plateau + shift) / (usual + shift)))
    chosen = levels[first + int(gaps.argmin())]
    labels, _ = label_grid(smooth >= chosen.threshold)
    mask = np.isin(labels, labels.ravel()[chosen.peaks[chosen.real]])
    return SignificantCells.from_mask(values, mask, chosen.threshold)


def denoised(values: Floats, scale: float) -> Floats:
    """Average values with their neighbors, where noise and sampling explain how they differ."""
    near = ndimage.uniform_filter(values, MEAN, mode="nearest")
    mean = ndimage.uniform_filter(values, VARIANCE, mode="nearest")
    square = ndimage.uniform_filter(values * values, VARIANCE, mode="nearest")
    variance = np.maximum(square - mean * mean, TINY)
    own = np.clip(1.0 - _noise_variance(mean, scale) / variance, 0.0, 1.0)
    smooth: Floats = near + own * (values - near)
    return smooth


def _noise_variance(density: Floats, scale: float) -> Floats:
    """Return the variance of the noise and of sampling, which is that of a Poisson count."""
    variance: Floats = 2.0 * scale**2 + np.maximum(density, 0.0)
    return variance


def _usual_threshold(values: Floats, scale: float, *, signed: bool) -> float:
    if scale > 0:
        return significant(values, scale=scale, part=USUAL_PART, signed=signed).threshold
    return top_cells(values, (1 - USUAL_PART) * float((values > 0).sum())).threshold


def _climb(values: Floats, smooth: Floats, ladder: Floats, scale: float) -> list[_Level]:
    """Follow the clusters from the lowest threshold up."""
    height, positive = smooth.ravel(), np.maximum(values, 0.0).ravel()
    by_height = np.argsort(height, kind="stable")
    windows = [_surely_reached(values, side, scale) for side in TESTED]
    levels: list[_Level] = []
    below = np.zeros(values.size, dtype=np.int64)
    for threshold in ladder:
        numbered, count = ndimage.label(smooth >= threshold, structure=np.ones((3,) * values.ndim))
        labels = numbered.ravel()
        sizes = np.bincount(labels, minlength=count + 1)
        peaks = _last(labels, by_height, count)
        parents = below[peaks] - 1
        saddles, proven = np.full(count, threshold), np.full(count, -np.inf)
        if levels:
            last = levels[-1]
            same = last.peaks[parents] == peaks
            saddles = np.where(same, last.saddles[parents], last.threshold)
            proven = np.where(same, last.proven[parents], -np.inf)
        for side, (reached, order) in zip(TESTED, windows, strict=True):
            best = reached[_last(labels, order, count)]
            fits = sizes[1:] >= side**values.ndim
            proven = np.where(fits, np.maximum(proven, best), proven)
        masses = _sums(labels, positive, count + 1)[1:]
        moments = _sums(labels, positive * height, count + 1)[1:]
        densities = np.maximum(moments / np.maximum(masses, TINY), threshold)
        level = _Level(float(threshold), peaks, saddles, proven, parents, masses, densities)
        levels.append(level)
        below = labels
    return levels


def _surely_reached(values: Floats, side: int, scale: float) -> tuple[Floats, Ints]:
    """Return lower bounds of the mean density around all cells, and their order."""
    cells, tries = side**values.ndim, max(values.size, 2)
    means = ndimage.uniform_filter(values, side, mode="constant").ravel()
    normal = np.sqrt(2.0 * math.log(tries) * _noise_variance(means, scale) / cells)
    # Laplace noise has longer tails than the normal, which shows where few cells are averaged.
    reached = means - np.maximum(normal, scale * math.log(tries / FALSE) / cells)
    return reached, np.argsort(reached, kind="stable")


def _last(labels: Ints, order: Ints, count: int) -> Ints:
    """Return, for each label from 1, the last of its cells in an order of all."""
    found = np.zeros(count + 1, dtype=np.int64)
    found[labels[order]] = order  # of several the last one stays
    return found[1:]


def _worth(levels: Sequence[_Level]) -> float:
    """Return what the real clusters of the highest of these levels tell apart."""
    top = levels[-1]
    index, masses, densities = (
        np.flatnonzero(top.real),
        top.masses[top.real],
        top.densities[top.real],
    )
    worth = 0.0
    for upper, lower in zip(levels[:0:-1], levels[-2::-1], strict=True):
        parents, group = np.unique(upper.parents[index], return_inverse=True)
        if len(parents) < len(index):
            joined = _sums(group, masses, len(parents))
            thinner = np.full(len(parents), np.inf)
            np.minimum.at(thinner, group, densities)
            emptiness = 1.0 - lower.threshold / thinner
            weight = (emptiness - HALF_DENSITY) / (1.0 - HALF_DENSITY)
            told_apart = _sums(group, _surprise(masses, joined[group]), len(parents))
            worth += float(weight @ told_apart)
            densities = _sums(group, masses * densities, len(parents)) / np.maximum(joined, TINY)
            masses = joined
        else:
            masses, densities = masses[np.argsort(group)], densities[np.argsort(group)]
        index = parents
    return worth + float(_surprise(masses, np.full(len(masses), masses.sum())).sum())


def _sums(groups: Ints, values: Floats, count: int) -> Floats:
    """Add up the values of each group."""
    sums: Floats = np.bincount(groups, weights=values, minlength=count).astype(np.float64)
    return sums


def _surprise(parts: Floats, wholes: Floats) -> Floats:
    """Return the terms of the entropy of parts of a whole."""
    terms: Floats = parts * np.log(np.maximum(wholes, TINY) / np.maximum(parts, TINY))
    return terms
