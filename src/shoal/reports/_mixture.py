"""A Gaussian mixture seen through known noise: extreme deconvolution (Bovy et al. 2011).

Records come from k Gaussians, reports add noise that is a Gaussian scale mixture, so that a report
of component c at node j has distribution N(mean_c, covariance_c + noise_j). All steps of EM are
closed sums of the residuals' first and second moments, taken in chunks of reports.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shoal._typing import Floats
from shoal.reports._report_noise import ReportNoise

__all__ = ["Mixture", "draw_records", "fit_mixture", "log_likelihood", "mean_covariances"]


CHUNK_VALUES = 1 << 20  # responsibilities held at a time
MAX_SCORES = 20_000  # reports that the information is estimated from
PSEUDO = 2.0  # pseudo-reports of the smallest covariance: keeps components from collapsing


@dataclass(frozen=True, eq=False)
class Mixture:
    """Components of the records' distribution.

    Parameters
    ----------
    weights : ndarray of float64, shape (k,)
        Shares of the records.
    means : ndarray of float64, shape (k, d)
        Centers.
    covariances : ndarray of float64, shape (k, d, d)
        Of the records, without the noise.
    objective : ndarray of float64
        Penalized log-likelihood of the reports before each update.
    """

    weights: Floats
    means: Floats
    covariances: Floats
    objective: Floats


class _Part(NamedTuple):
    """Some reports: residuals' moments and responsibilities, one component at a time."""

    log_likelihood: float
    responsibilities: Floats  # (n, k, j)
    features: Floats  # (k, n, d + d * d): residuals and their products


def fit_mixture(
    reports: Floats,
    start: Mixture,
    distribution: ReportNoise,
    *,
    floor: Floats,
    max_iter: int,
    tol: float,
) -> Mixture:
    """Raise the penalized likelihood of reports from a start."""
    mixture = start
    objective: list[float] = []
    for _ in range(max_iter):
        moments, gain = _moments(reports, mixture, distribution)
        objective.append(gain + _penalty(mixture, floor))
        if len(objective) > 1 and objective[-1] - objective[-2] < tol:
            break
        mixture = _update(mixture, moments, distribution, floor)
    return Mixture(mixture.weights, mixture.means, mixture.covariances, np.array(objective))


def log_likelihood(reports: Floats, mixture: Mixture, distribution: ReportNoise) -> float:
    """Return the log-likelihood of reports."""
    return sum(part.log_likelihood for part in _parts(reports, mixture, distribution))


def mean_covariances(reports: Floats, mixture: Mixture, distribution: ReportNoise) -> Floats:
    """Return the sampling covariance of each mean, from the observed information."""
    k, d = mixture.means.shape
    used = reports[:: max(1, len(reports) // MAX_SCORES)]
    precisions = _precisions(mixture, distribution)
    rows, columns = np.triu_indices(d)
    size = k * (d + len(rows) + 1)
    information = np.zeros((size, size))
    for part in _parts(used, mixture, distribution):
        scores = [part.responsibilities.sum(axis=2) / mixture.weights - 1.0]
        for c in range(k):
            weights = part.responsibilities[:, c]
            along = np.einsum("jab,nb->nja", precisions[:, c], part.features[c][:, :d])
            scores.append(np.einsum("nj,nja->na", weights, along))
            spread = np.einsum("nj,nja,njb->nab", weights, along, along)
            spread -= np.einsum("nj,jab->nab", weights, precisions[:, c])
            scores.append(0.5 * spread[:, rows, columns])
        stacked = np.concatenate(scores, axis=1)
        information += stacked.T @ stacked
    information *= len(reports) / len(used)
    # Shares sum to one, which leaves one direction without information; so do empty components.
    scale = np.sqrt(np.maximum(np.diag(information), np.finfo(float).tiny))
    inverse = np.linalg.pinv(information / scale / scale[:, None], rcond=1e-9, hermitian=True)
    inverse = inverse / scale / scale[:, None]
    firsts = k + (d + len(rows)) * np.arange(k)
    return np.stack([inverse[f : f + d, f : f + d] for f in firsts])


def draw_records(
    reports: Floats,
    mixture: Mixture,
    distribution: ReportNoise,
    draws: int,
    rng: np.random.RandomState,
) -> Floats:
    """Draw records from their distribution given each report."""
    k, d = mixture.means.shape
    nodes = len(distribution.weights)
    precisions = _precisions(mixture, distribution)
    gains = mixture.covariances @ precisions  # (j, k, d, d)
    left = mixture.covariances - gains @ mixture.covariances
    values, axes = np.linalg.eigh((left + np.swapaxes(left, 2, 3)) / 2)
    roots = axes * np.sqrt(np.maximum(values, 0.0))[..., None, :]
    records = []
    for part in _parts(reports, mixture, distribution):
        n = len(part.responsibilities)
        steps = np.cumsum(part.responsibilities.reshape(n, k * nodes), axis=1)
        chosen = (steps[:, None, :] < rng.uniform(size=(n, draws, 1))).sum(axis=2)
        c, j = np.divmod(np.minimum(chosen, k * nodes - 1), nodes)
        gaps = part.features[c, np.arange(n)[:, None], :d]
        pulled = np.einsum("nrab,nrb->nra", gains[j, c], gaps)
        noise = np.einsum("nrab,nrb->nra", roots[j, c], rng.normal(size=gaps.shape))
        records.append(mixture.means[c] + pulled + noise)
    return np.concatenate(records)


def _precisions(mixture: Mixture, distribution: ReportNoise) -> Floats:
    """Inverse covariances of reports, shape (j, k, d, d)."""
    d = mixture.means.shape[1]
    noise = distribution.variances(mixture.means)[..., None] * np.eye(d)
    return np.asarray(np.linalg.inv(mixture.covariances + noise), dtype=np.float64)


def _parts(reports: Floats, mixture: Mixture, distribution: ReportNoise) -> Iterator[_Part]:
    k, d = mixture.means.shape
    precisions = _precisions(mixture, distribution)
    nodes = len(distribution.weights)
    _, logs = np.linalg.slogdet(precisions)
    constants = np.asarray(0.5 * (logs - d * np.log(2.0 * np.pi)), dtype=np.float64)
    constants += np.log(mixture.weights) + np.log(distribution.weights)[:, None]
    rows = max(1, CHUNK_VALUES // (k * (nodes + d + d * d)))
    for begin in range(0, len(reports), rows):
        part = reports[begin : begin + rows]
        densities = np.empty((len(part), k, nodes))
        features = np.empty((k, len(part), d + d * d))
        for c in range(k):
            gaps = part - mixture.means[c]
            features[c, :, :d] = gaps
            features[c, :, d:] = (gaps[:, :, None] * gaps[:, None, :]).reshape(len(part), -1)
            squares = features[c, :, d:] @ precisions[:, c].reshape(nodes, -1).T
            densities[:, c] = constants[:, c] - 0.5 * squares
        best = densities.max(axis=(1, 2), keepdims=True)
        densities -= best
        np.exp(densities, out=densities)
        totals = densities.sum(axis=(1, 2), keepdims=True)
        densities /= totals
        yield _Part(float(np.log(totals).sum() + best.sum()), densities, features)


def _moments(reports: Floats, mixture: Mixture, distribution: ReportNoise) -> tuple[Floats, float]:
    """Sum up responsibilities, residuals and their products, shape (k, j, 1 + d + d * d)."""
    k, d = mixture.means.shape
    moments = np.zeros((k, len(distribution.weights), 1 + d + d * d))
    total = 0.0
    for part in _parts(reports, mixture, distribution):
        moments[..., 0] += part.responsibilities.sum(axis=0)
        for c in range(k):
            moments[c, :, 1:] += part.responsibilities[:, c].T @ part.features[c]
        total += part.log_likelihood
    return moments, total


def _update(mixture: Mixture, moments: Floats, distribution: ReportNoise, floor: Floats) -> Mixture:
    k, d = mixture.means.shape
    counts, first = moments[..., 0], moments[..., 1 : 1 + d]
    second = moments[..., 1 + d :].reshape(k, -1, d, d)
    # The record behind a report of component c at node j: mean + gain (report - mean).
    prior = mixture.covariances[:, None]
    gains = prior @ np.moveaxis(_precisions(mixture, distribution), 0, 1)
    left = prior - gains @ prior
    sizes = counts.sum(axis=1)
    safe = np.maximum(sizes, np.finfo(float).tiny)
    shifts = np.einsum("kjab,kjb->ka", gains, first) / safe[:, None]
    products = gains @ second @ np.swapaxes(gains, 2, 3)
    scatter = (products + counts[..., None, None] * left).sum(axis=1)
    scatter -= sizes[:, None, None] * shifts[:, :, None] * shifts[:, None, :]
    covariances = (scatter + PSEUDO * np.diag(floor)) / (sizes + PSEUDO)[:, None, None]
    covariances = (covariances + np.swapaxes(covariances, 1, 2)) / 2
    # One pseudo-report each, so that a component without reports stays finite.
    weights = (sizes + 1.0) / (sizes.sum() + k)
    return Mixture(weights, mixture.means + shifts, covariances, mixture.objective)


def _penalty(mixture: Mixture, floor: Floats) -> float:
    """Log-density of the pseudo-reports, which the updates raise together with the likelihood."""
    _, logs = np.linalg.slogdet(mixture.covariances)
    traces = np.einsum("kaa,a->k", np.linalg.inv(mixture.covariances), floor)
    return float(-0.5 * PSEUDO * (logs + traces).sum() + np.log(mixture.weights).sum())
