"""Clusters behind reports of any law that can be written down: SquareWave, Hybrid, Duchi, samples.

The distribution of the records on atoms is estimated through the exact law of the reports; the
centers are those of least k-means cost under it. Reports of sampled columns say how each column is
distributed, and little or nothing about how columns go together: then columns are taken for
independent, as far as reports do not speak against it. Reports of Duchi's mechanism speak of means
(and means of products) alone.
"""

from typing import Any

import numpy as np

from shoal._bounds import Box
from shoal._typing import Floats
from shoal.reports._atom_clusters import center_radii, posterior_labels
from shoal.reports._found_clusters import FoundClusters, Settings
from shoal.reports._held_out_density import HeldOutDensity, held_out_density
from shoal.reports._record_channel import AtomDensity
from shoal.reports._record_distributions import squared_distances
from shoal.reports._report_distributions import (
    ReportDistribution,
    even_atoms,
    open_distribution,
    open_halves,
)
from shoal.reports._report_noise import checked_copy
from shoal.reports._starts import kmeans_centers
from shoal.reports._trimming import trimmed
from shoal.reports.blind import is_better_than_blind, spread_centers, spread_points

__all__ = ["channel_clusters"]

FEW = 3  # restarts where centers are only compared
NEGLIGIBLE = 1e-9  # of the largest weight


def channel_clusters(
    reports: Floats, mechanism: Any, box: Box, settings: Settings, rng: np.random.RandomState
) -> FoundClusters:
    """Find the centers of least k-means cost under the distribution behind the reports."""
    k = settings.n_clusters
    distribution = open_distribution(checked_copy(mechanism, len(box.low)), box, k)
    first = rng.permutation(len(reports)) % 2 == 0
    density = held_out_density(*open_halves(distribution, reports, box, first, rng))
    blind = spread_centers(k, box)
    if density.blind:
        start, centers, whole = "blind", blind, _even(density, distribution, reports, box)
    else:
        start, whole = "channel", trimmed(density.whole, k, settings.trim, rng)
        centers = _centers(whole, blind, settings.n_init, rng)
    halves = tuple(_centers(half, blind, FEW, rng) for half in density.halves)
    mixture = whole.mixture(centers)
    return FoundClusters(
        start=start,
        centers=np.clip(centers, box.low, box.high),
        weights=mixture.weights,
        covariances=mixture.covariances,
        radii=center_radii(whole, centers, box, settings.confidence),
        labels=posterior_labels(whole, centers)[whole.channel.tally],
        log_likelihood=np.empty(0),
        better_than_blind=is_better_than_blind(
            density.log_evidence, density.halves, (halves[0], halves[1]), box
        ),
    )


def _centers(
    density: AtomDensity, blind: Floats, restarts: int, rng: np.random.RandomState
) -> Floats:
    """Return the best centers of restarts, and of what evenly spread centers lead to."""
    kept = density.weights > NEGLIGIBLE * density.weights.max()
    points, weights = density.points[kept], density.weights[kept]
    candidates = [
        kmeans_centers(points, weights, len(blind), start, rng) for start in (restarts, blind)
    ]
    costs = [weights @ squared_distances(points, centers) for centers in candidates]
    return candidates[int(np.argmin(costs))]


def _even(
    density: HeldOutDensity, distribution: ReportDistribution, reports: Floats, box: Box
) -> AtomDensity:
    """Return evenly spread records; on atoms that were drawn, those are others."""
    whole = density.whole
    if whole.channel.atoms.cells:
        return whole
    points = spread_points(len(whole.points), box)
    channel = even_atoms(distribution, reports, points, box)
    counts = np.bincount(channel.tally, minlength=len(channel.blind())).astype(np.float64)
    return AtomDensity(points, whole.weights, channel.atoms.width, channel, counts)
