"""Shares, covariances, radii and labels of clusters of a distribution on the atoms of a channel."""

from dataclasses import replace

import numpy as np

from shoal._bounds import Box
from shoal._typing import Floats, Labels
from shoal.reports._record_channel import AtomDensity
from shoal.reports._record_distributions import nearest
from shoal.reports._report_noise import ball_radii

__all__ = ["center_radii", "posterior_labels"]

SMALLEST = 1e-300  # probability of a report that no atom explains
CONSTANT = 1e-9  # of the largest information in records: what is the same in all, as sums of levels
FEW_COLUMNS = 10  # up to which covariances are parameters, and not variances alone


def center_radii(density: AtomDensity, centers: Floats, box: Box, confidence: float) -> Floats:
    """Return the radius around each center that holds the mean of its records.

    From the observed information of shares, means and covariances of the clusters, as in a mixture
    of Gaussians whose components are these clusters; at most the diameter of the box. Computed in
    units of the box, so that means and covariances are of one size.
    """
    unit = float((box.high - box.low).max())
    centers = (centers - box.low) / unit
    density = replace(density, points=(density.points - box.low) / unit, width=density.width / unit)
    mixture = density.mixture(centers)
    labels = nearest(density.points, centers)
    k, d = centers.shape
    seen = density.counts > 0
    counts, totals = density.counts[seen], density.channel.forward(density.weights)[seen]
    totals = np.maximum(totals, SMALLEST)
    precisions = np.linalg.inv(mixture.covariances)
    rows, columns = np.triu_indices(d) if d <= FEW_COLUMNS else (np.arange(d), np.arange(d))
    size = 1 + d + len(rows)
    scores = np.empty((k, size, len(counts)))
    complete = np.empty((k, size, size))
    for c in range(k):
        own = np.flatnonzero(labels == c)
        along = (density.points[own] - mixture.means[c]) @ precisions[c]
        spread = 0.5 * (along[:, rows] * along[:, columns] - precisions[c][rows, columns])
        share = np.full((len(own), 1), 1.0 / mixture.weights[c])
        of_records = np.hstack([share, along, spread])
        complete[c] = counts.sum() * (of_records.T * density.weights[own]) @ of_records
        for index, values in enumerate(of_records.T):
            weights = np.zeros(len(density.weights))
            weights[own] = density.weights[own] * values
            scores[c, index] = density.channel.forward(weights)[seen] / totals
    scores[:, 0] -= 1.0  # shares sum to one
    stacked = scores.reshape(k * size, -1)
    information = (stacked * counts) @ stacked.T
    # Known without reports: shares are at most 1, and records are within the sides of the box.
    sides = (box.high - box.low) / unit
    before = np.tile(np.concatenate([np.ones(1), sides, sides[rows] * sides[columns]]), k) ** -2.0
    inverse = _inverse(information + np.diag(before), complete)
    firsts = 1 + size * np.arange(k)
    covariances = np.stack([inverse[f : f + d, f : f + d] for f in firsts])
    apart = np.linalg.norm(centers - mixture.means, axis=1)
    farthest = float(np.linalg.norm((box.high - box.low) / unit))
    radii: Floats = unit * np.minimum(ball_radii(covariances, confidence) + apart, farthest)
    return radii


def _inverse(information: Floats, complete: Floats) -> Floats:
    """Return the covariance of estimates; what is the same in all records has none.

    Parameters
    ----------
    information : ndarray of float64, shape (k * size, k * size)
        In reports, and before them.
    complete : ndarray of float64, shape (k, size, size)
        In the records themselves, a block a cluster: singular where they have a constant.

    Returns
    -------
    covariance : ndarray of float64, shape (k * size, k * size)
        Inverse of the information along what varies.
    """
    k, size, _ = complete.shape
    blocks = []
    for c, block in enumerate(complete):
        scale = np.sqrt(np.maximum(np.diag(block), np.finfo(float).tiny))
        values, vectors = np.linalg.eigh(block / scale / scale[:, None])
        varies = values > CONSTANT * values.max()
        blocks.append(np.zeros((k * size, varies.sum())))
        blocks[-1][c * size : (c + 1) * size] = (
            vectors[:, varies] / np.sqrt(values[varies]) / scale[:, None]
        )
    basis = np.hstack(blocks)
    covariance: Floats = basis @ np.linalg.inv(basis.T @ information @ basis) @ basis.T
    return covariance


def posterior_labels(density: AtomDensity, centers: Floats) -> Labels:
    """Return the most probable cluster of the record behind each cell of the tally."""
    labels = nearest(density.points, centers)
    shares = [
        density.channel.forward(np.where(labels == c, density.weights, 0.0))
        for c in range(len(centers))
    ]
    best: Labels = np.argmax(shares, axis=0).astype(np.int32)
    return best
