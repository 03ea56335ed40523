"""The clusters of one stratum's noisy cells, and what is published of them: post-processing."""

import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
from scipy import sparse

from shoal._typing import Floats, Ints, Labels
from shoal.cluster.density._calibration import Chance, laplace_variance
from shoal.cluster.density._cells import NoisyCells
from shoal.density import (
    ClusterTree,
    FlatClusters,
    build_tree,
    cell_memberships,
    choose_nodes,
    cut_nodes,
    find_merges,
    label_cells,
    prominence_for,
)

__all__ = ["DensityClusters", "find_clusters", "holds_records", "without_clusters"]

DIGITS = 4  # decimals of a released density: finer ones are far below its error


@dataclass(frozen=True, eq=False)
class DensityClusters:
    """Clusters of noisy cells."""

    noisy: NoisyCells
    tree: ClusterTree
    flat: FlatClusters
    threshold: float
    density: Floats  # records of each cell
    chance: Chance | None = None  # where it was simulated

    @property
    def cells(self) -> Labels:
        """Cluster of each cell, -1 for none."""
        return self.flat.labels.reshape(self.noisy.shape)

    def memberships(self) -> sparse.csr_array:
        """Return to what degree each cell belongs to each cluster."""
        return cell_memberships(self.noisy.estimate(), self.noisy.cells, self.flat)

    def values(self) -> dict[str, Any]:
        """Return what is published."""
        inside = np.flatnonzero(self.flat.labels >= 0)
        return {
            "cells": inside,
            "clusters": self.flat.labels[inside],
            "values": self.density.ravel()[inside],
            "density": self.density.round(DIGITS),
            **self.noisy.values(),
            "sizes": self.flat.sizes,
            "nodes": self.flat.nodes,
            "tree": self.tree.values(),
            "threshold": self.threshold if math.isfinite(self.threshold) else None,
            "background": self.flat.background,
        }


def find_clusters(
    noisy: NoisyCells,
    *,
    alpha: float,
    n_clusters: int | None,
    min_size: float,
    level: float | None = None,
    chance: Chance | None = None,
) -> DensityClusters:
    """Find the clusters of released counts; ``chance``: what was simulated for them before."""
    cells = noisy.cells
    estimate = noisy.estimate()
    merges = find_merges(estimate, cells.edges)
    if n_clusters is None:
        chance = noisy.chance(estimate, merges, cells) if chance is None else chance
        threshold = chance.threshold(alpha)
    else:
        threshold = prominence_for(merges, n_clusters)
    tree = build_tree(estimate, cells, threshold=threshold, min_size=min_size, merges=merges)
    if level is not None:
        nodes = cut_nodes(tree, level)
    else:
        nodes = choose_nodes(tree) if n_clusters is None else np.flatnonzero(tree.is_leaf)
    flat = label_cells(estimate, cells, tree, nodes, level=level, min_size=min_size)
    density = (estimate.density * cells.volumes).reshape(noisy.shape)
    return DensityClusters(noisy, tree, flat, threshold, density, chance)


def without_clusters(found: DensityClusters) -> DensityClusters:
    """Return the same density, of which nothing is more than chance."""
    none: Ints = np.empty(0, dtype=np.int64)
    flat = FlatClusters(
        np.full_like(found.flat.labels, -1), none, np.empty(0), found.flat.background
    )
    return replace(found, flat=flat)


def holds_records(noisy: NoisyCells, alpha: float) -> bool:
    """Return whether noisy counts are more than noise, by chance with probability alpha at most."""
    deviation = math.sqrt(noisy.counts.size * laplace_variance(noisy.scale))
    return float(noisy.counts.sum()) > -NormalDist().inv_cdf(alpha) * deviation
