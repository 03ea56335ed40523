"""Clusters behind partition responses in few columns.

The distribution of the records is estimated on cells of the box through the true channel; the
centers are those of least k-means cost under it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal._bounds import Box
from shoal._typing import Floats, Ints
from shoal.reports._atom_clusters import center_radii, posterior_labels
from shoal.reports._found_clusters import FoundClusters, Settings
from shoal.reports._partition_density import CellDensity, cell_density
from shoal.reports._partition_likelihood import ColorChannel, tally
from shoal.reports._record_channel import AtomDensity, Atoms
from shoal.reports._report_noise import checked_copy
from shoal.reports._starts import kmeans_centers
from shoal.reports._trimming import trimmed
from shoal.reports.blind import is_better_than_blind

__all__ = ["partition_clusters"]

FEW = 3  # restarts where centers are only compared
NEGLIGIBLE = 1e-6  # of the largest weight


@dataclass(frozen=True, eq=False)
class AtomColors:
    """Colors of atoms as a channel of reports.

    Parameters
    ----------
    atoms : Atoms
        Places of records.
    tally : ndarray of int64, shape (n,)
        Pair of partition and color of each report, as an index of those that were seen.
    colors : ColorChannel
        Of the atoms.
    even : ndarray of float64
        Probability of each seen pair where records are spread evenly.
    """

    atoms: Atoms
    tally: Ints
    colors: ColorChannel
    even: Floats

    def forward(self, weights: Floats) -> Floats:
        """Return the probability of each seen pair, from weights of the atoms."""
        # Of any sum: labels and radii ask for the part of some atoms.
        probabilities: Floats = self.colors.keep * (self.colors.members @ weights)
        probabilities += weights.sum() * (1.0 - self.colors.keep) / self.colors.n_colors
        return probabilities

    def backward(self, values: Floats) -> Floats:
        """Apply the adjoint."""
        return self.colors.backward(values)

    def blind(self) -> Floats:
        """Return the probability of each seen pair where records are spread evenly."""
        return self.even


def partition_clusters(
    reports: Floats, mechanism: Any, box: Box, settings: Settings, rng: np.random.RandomState
) -> FoundClusters:
    """Find the centers of least k-means cost under the distribution behind the reports."""
    columns = len(box.low)
    mechanism = checked_copy(mechanism, columns)
    partitions = mechanism.make_partitions(columns)
    counted = tally(reports, partitions, settings.counts)
    keep, k = float(mechanism.keep_probability), settings.n_clusters
    density = cell_density(
        lambda atoms: ColorChannel.of(partitions, keep, atoms, counted.pairs), counted, box, k, rng
    )
    pairs = reports[:, 0].astype(np.int64) * partitions.n_colors + reports[:, 1].astype(np.int64)
    found = _densities(density, np.searchsorted(counted.pairs, pairs))
    whole = trimmed(found[0], k, settings.trim, rng)
    centers = _centers(whole, k, settings.n_init, rng)
    halves = (_centers(found[1], k, FEW, rng), _centers(found[2], k, FEW, rng))
    mixture = whole.mixture(centers)
    return FoundClusters(
        start="partitions",
        centers=np.clip(centers, box.low, box.high),
        weights=mixture.weights,
        covariances=mixture.covariances,
        radii=center_radii(whole, centers, box, settings.confidence),
        labels=posterior_labels(whole, centers)[whole.channel.tally],
        log_likelihood=np.empty(0),
        better_than_blind=is_better_than_blind(
            density.weights.log_evidence, found[1:], halves, box
        ),
    )


def _densities(density: CellDensity, index: Ints) -> tuple[AtomDensity, AtomDensity, AtomDensity]:
    """Return the distributions by all reports and by each half."""
    reports, weights = density.reports, density.weights
    width = density.cells.width(weights.whole)
    atoms = Atoms(density.cells.points, width)
    colors = AtomColors(atoms, index, density.channel, density.channel.forward(reports.even))
    whole, first, second = (
        AtomDensity(atoms.points, own, width, colors, counts)
        for own, counts in (
            (weights.whole, reports.counts),
            (weights.halves[0], reports.halves[0]),
            (weights.halves[1], reports.halves[1]),
        )
    )
    return whole, first, second


def _centers(density: AtomDensity, k: int, restarts: int, rng: np.random.RandomState) -> Floats:
    kept = density.weights > NEGLIGIBLE * density.weights.max()
    return kmeans_centers(density.points[kept], density.weights[kept], k, restarts, rng)
