"""Clusters behind reports with noise of mean zero: the record plus something.

Laplace of any kind, Piecewise, and Gaussian noise of others. The mixture that begins at the
clusters is fitted through the noise as a Gaussian scale mixture.
"""

from typing import Any

import numpy as np

from shoal._bounds import Box
from shoal._typing import Bools, Floats
from shoal.reports._found_clusters import FoundClusters, Settings
from shoal.reports._grid_density import deconvolve
from shoal.reports._mixture import Mixture, fit_mixture, mean_covariances
from shoal.reports._record_distributions import PosteriorDraws, RecordDistributions, posterior_draws
from shoal.reports._report_grid import MAX_COLUMNS
from shoal.reports._report_noise import ReportNoise, ball_radii, report_noise
from shoal.reports._starts import Start, best_of_distribution, best_of_plain, distribution_is_better
from shoal.reports.on_device import nearest_centers

__all__ = ["additive_clusters"]

FINEST = 200.0  # parts of the box below which no cluster is resolved
FEW_UPDATES = 10  # of the mixture in few columns, where it begins near the best or hardly matters
UPDATES = 100  # in more columns, where it is the distribution of the records
TOL = 1e-3  # nats over all reports


def additive_clusters(
    reports: Floats, mechanism: Any, box: Box, settings: Settings, rng: np.random.RandomState
) -> FoundClusters:
    """Find the centers of least k-means cost under the distribution behind the reports."""
    noise = report_noise(mechanism, reports.shape[1])
    start = _start(reports, noise, box, settings, rng)
    mixture = _fit_mixture(reports, start.mixture, noise, box, settings)
    centers = np.clip(start.centers, box.low, box.high)
    return FoundClusters(
        start=start.name,
        centers=centers,
        weights=mixture.weights,
        covariances=mixture.covariances,
        radii=_radii(reports, centers, mixture, noise, box=box, confidence=settings.confidence),
        labels=nearest_centers(reports, centers),
        log_likelihood=mixture.objective,
    )


def _start(
    reports: Floats, noise: ReportNoise, box: Box, settings: Settings, rng: np.random.RandomState
) -> Start:
    """Return centers of a distribution of records, unless other reports prefer plain ones."""
    k, restarts = settings.n_clusters, settings.n_init
    if len(reports) > 1:
        first = rng.permutation(len(reports)) % 2 == 0
        distributions = deconvolve(reports, noise, box, k, first=first)
        if distributions is None:
            distributions = _drawn(reports, noise, box, settings, first=first, rng=rng)
        if distribution_is_better(
            reports, distributions, box, k, first=first, restarts=restarts, rng=rng
        ):
            return best_of_distribution(reports, distributions, box, k, restarts=restarts, rng=rng)
    return best_of_plain(reports, noise, box, k, restarts=restarts, rng=rng)


def _drawn(
    reports: Floats,
    noise: ReportNoise,
    box: Box,
    settings: Settings,
    *,
    first: Bools,
    rng: np.random.RandomState,
) -> RecordDistributions:
    """Return distributions by draws from the posterior, with a mixture as the prior."""
    draws: list[PosteriorDraws] = []
    for part in (reports, reports[first], reports[~first]):
        start = best_of_plain(
            part, noise, box, settings.n_clusters, restarts=settings.n_init, rng=rng
        )
        mixture = _fit_mixture(part, start.mixture, noise, box, settings)
        draws.append(posterior_draws(part, mixture, noise, box, rng))
    return RecordDistributions("mixture", draws[0], (draws[1], draws[2]), misfit=0.0)


def _fit_mixture(
    reports: Floats, start: Mixture, noise: ReportNoise, box: Box, settings: Settings
) -> Mixture:
    few = reports.shape[1] <= MAX_COLUMNS
    return fit_mixture(
        reports,
        start,
        noise,
        floor=((box.high - box.low) / FINEST) ** 2,
        max_iter=settings.max_iter or (FEW_UPDATES if few else UPDATES),
        tol=TOL,
    )


def _radii(
    reports: Floats,
    centers: Floats,
    mixture: Mixture,
    noise: ReportNoise,
    *,
    box: Box,
    confidence: float,
) -> Floats:
    """Return radii around the centers that hold the balls around the mixture's means."""
    covariances = mean_covariances(reports, mixture, noise)
    apart = np.linalg.norm(centers - mixture.means, axis=1)
    farthest = float(np.linalg.norm(box.high - box.low))
    radii: Floats = np.minimum(ball_radii(covariances, confidence) + apart, farthest)
    return radii
