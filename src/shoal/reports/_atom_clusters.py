"""Shares, covariances, radii and labels of clusters of a distribution on the atoms of a channel."""

import numpy as np
from sklearn.metrics import pairwise_distances_argmin

from shoal._bounds import Box
from shoal._typing import Floats, Ints, Labels
from shoal.reports._record_channel import AtomDensity
from shoal.reports._report_noise import ball_radii

__all__ = ["center_radii", "posterior_labels"]

SMALLEST = 1e-300  # probability of a report that no atom explains
UNKNOWN = 1e-9  # of the largest information: a level that no record of the cluster has
FEW_COLUMNS = 10  # up to which covariances are parameters, and not variances alone


def center_radii(density: AtomDensity, centers: Floats, box: Box, confidence: float) -> Floats:
    """Return the radius around each center that holds the mean of its records.

    From the observed information of shares, means and covariances of the clusters, as in a mixture
    of Gaussians whose components are these clusters; at most the diameter of the box.
    """
    mixture = density.mixture(centers)
    labels = pairwise_distances_argmin(density.points, centers)
    k, d = centers.shape
    seen = density.counts > 0
    counts, totals = density.counts[seen], density.channel.forward(density.weights)[seen]
    totals = np.maximum(totals, SMALLEST)
    precisions = np.linalg.inv(mixture.covariances)
    rows, columns = np.triu_indices(d) if d <= FEW_COLUMNS else (np.arange(d), np.arange(d))
    size = 1 + d + len(rows)
    scores = np.empty((k, size, len(counts)))
    for c in range(k):
        own = np.flatnonzero(labels == c)
        along = (density.points[own] - mixture.means[c]) @ precisions[c]
        spread = 0.5 * (along[:, rows] * along[:, columns] - precisions[c][rows, columns])
        share = np.full((len(own), 1), 1.0 / mixture.weights[c])
        for index, values in enumerate(np.hstack([share, along, spread]).T):
            weights = np.zeros(len(density.weights))
            weights[own] = density.weights[own] * values
            scores[c, index] = density.channel.forward(weights)[seen] / totals
    scores[:, 0] -= 1.0  # shares sum to one
    stacked = scores.reshape(k * size, -1)
    information = (stacked * counts) @ stacked.T
    known = np.diag(information)
    scale = np.sqrt(np.maximum(known, max(UNKNOWN * known.max(), np.finfo(float).tiny)))
    inverse = np.linalg.pinv(information / scale / scale[:, None], rcond=1e-9, hermitian=True)
    inverse = inverse / scale / scale[:, None]
    firsts = 1 + size * np.arange(k)
    covariances = np.stack([inverse[f : f + d, f : f + d] for f in firsts])
    apart = np.linalg.norm(centers - mixture.means, axis=1)
    farthest = float(np.linalg.norm(box.high - box.low))
    radii: Floats = np.minimum(ball_radii(covariances, confidence) + apart, farthest)
    return radii


def posterior_labels(density: AtomDensity, centers: Floats) -> Labels:
    """Return the most probable cluster of the record behind each cell of the tally."""
    labels: Ints = pairwise_distances_argmin(density.points, centers)
    shares = [
        density.channel.forward(np.where(labels == c, density.weights, 0.0))
        for c in range(len(centers))
    ]
    best: Labels = np.argmax(shares, axis=0).astype(np.int32)
    return best
