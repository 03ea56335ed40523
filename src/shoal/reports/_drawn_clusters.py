"""Clusters behind partition responses in many columns, or of records with categories.

The distribution of the records is a weight for each of some thousand atoms that were drawn from
what the reports say of the columns; the centers are those of least k-means cost under it.
"""

from typing import Any, NamedTuple

import numpy as np

from shoal._bounds import Box
from shoal._typing import Floats, Ints
from shoal.partitions import Partitions, spread_over_axes
from shoal.reports._atom_clusters import center_radii, posterior_labels
from shoal.reports._cross_fit import Fit, cross_fit
from shoal.reports._drawn_atoms import POINTS, Counted, Drawn, draw_atoms, partition_axes
from shoal.reports._found_clusters import FoundClusters, Settings
from shoal.reports._partition_clusters import AtomColors
from shoal.reports._partition_likelihood import ColorChannel, tally
from shoal.reports._record_channel import AtomDensity, Atoms
from shoal.reports._report_noise import checked_copy
from shoal.reports._starts import kmeans_centers, thread_pools
from shoal.reports._trimming import trimmed
from shoal.reports.blind import is_better_than_blind

__all__ = ["Estimate", "drawn_clusters", "drawn_density"]

EVEN = 4096  # points that stand for records spread evenly
FEW = 3  # restarts where centers are only compared
NEGLIGIBLE = 1e-6  # of the largest weight


class Estimate(NamedTuple):
    """Distributions by all reports and by each half, and what the halves say of each other."""

    whole: AtomDensity
    halves: tuple[AtomDensity, AtomDensity]
    log_evidence: float


def drawn_clusters(
    reports: Floats, mechanism: Any, box: Box, settings: Settings, rng: np.random.RandomState
) -> FoundClusters:
    """Find the centers of least k-means cost under the distribution behind the reports."""
    columns = len(box.low)
    mechanism = checked_copy(mechanism, columns)
    keep = float(mechanism.keep_probability)
    partitions = mechanism.make_partitions(columns)
    found = drawn_density(reports, partitions, keep, rng, times=settings.counts)
    k = settings.n_clusters
    whole = trimmed(found.whole, k, settings.trim, rng)
    centers = _centers(whole, k, settings.n_init, rng)
    halves = (_centers(found.halves[0], k, FEW, rng), _centers(found.halves[1], k, FEW, rng))
    mixture = whole.mixture(centers)
    return FoundClusters(
        start="partitions",
        centers=np.clip(centers, box.low, box.high),
        weights=mixture.weights,
        covariances=mixture.covariances,
        radii=center_radii(whole, centers, box, settings.confidence),
        labels=posterior_labels(whole, centers)[whole.channel.tally],
        log_likelihood=np.empty(0),
        better_than_blind=is_better_than_blind(found.log_evidence, found.halves, halves, box),
    )


def drawn_density(
    reports: Floats,
    partitions: Partitions,
    keep: float,
    rng: np.random.RandomState,
    *,
    times: Ints | None = None,
) -> Estimate:
    """Estimate the distribution of the records behind reports on atoms that are drawn."""
    # One thread: products this small only wait for a second one.
    with thread_pools().limit(limits=1, user_api="blas"):
        return _estimate(reports, partitions, keep, rng, times)


def _estimate(
    reports: Floats,
    partitions: Partitions,
    keep: float,
    rng: np.random.RandomState,
    times: Ints | None,
) -> Estimate:
    seen = tally(reports, partitions, times)
    counted = Counted(seen.pairs, seen.counts, seen.halves(rng))
    whole, first, second = (
        _SeenAtoms(drawn, ColorChannel.of(partitions, keep, drawn.points, seen.pairs))
        for drawn in draw_atoms(partitions, keep, counted, rng)
    )
    axes = partition_axes(partitions)
    spread = ColorChannel.of(partitions, keep, spread_over_axes(axes, EVEN), seen.pairs)
    even = spread.forward(np.full(EVEN, 1.0 / EVEN))
    fits = whole.fit, first.fit, second.fit
    fitted = cross_fit(fits, counted.whole, counted.halves, even)
    pairs = reports[:, 0].astype(np.int64) * partitions.n_colors + reports[:, 1].astype(np.int64)
    index = np.searchsorted(seen.pairs, pairs)
    low, high = partitions.bounds
    width = (high - low) / POINTS
    densities = [
        AtomDensity(
            own.drawn.points,
            weights,
            width,
            AtomColors(Atoms(own.drawn.points, width), index, own.channel, even),
            counts,
        )
        for own, weights, counts in (
            (whole, fitted.whole, counted.whole),
            (first, fitted.halves[0], counted.halves[0]),
            (second, fitted.halves[1], counted.halves[1]),
        )
    ]
    return Estimate(densities[0], (densities[1], densities[2]), fitted.log_evidence)


class _SeenAtoms(NamedTuple):
    """Drawn atoms, and how the reports see them."""

    drawn: Drawn
    channel: ColorChannel

    @property
    def fit(self) -> Fit:
        return Fit(self.channel, self.drawn.start)


def _centers(density: AtomDensity, k: int, restarts: int, rng: np.random.RandomState) -> Floats:
    kept = density.weights > NEGLIGIBLE * density.weights.max()
    return kmeans_centers(density.points[kept], density.weights[kept], k, restarts, rng)
