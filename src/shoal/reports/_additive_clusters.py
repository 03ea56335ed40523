"""Clusters behind reports with noise of mean zero: the record plus something.

Laplace of any kind, Piecewise, and Gaussian noise of others. The mixture that begins at the
clusters is fitted through the noise as a Gaussian scale mixture.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from shoal._bounds import Box
from shoal._typing import Bools, Floats
from shoal.labels import nearest_centers
from shoal.reports._additive_evidence import mixture_evidence
from shoal.reports._found_clusters import FoundClusters, Settings
from shoal.reports._grid_density import deconvolve
from shoal.reports._mixture import Mixture, fit_mixture, mean_covariances
from shoal.reports._record_distributions import PosteriorDraws, RecordDistributions, posterior_draws
from shoal.reports._report_grid import MAX_COLUMNS
from shoal.reports._report_noise import ReportNoise, ball_radii, report_noise
from shoal.reports._starts import (
    Start,
    best_of_distribution,
    best_of_plain,
    distribution_is_better,
    kmeans_centers,
)
from shoal.reports._trimming import trimmed
from shoal.reports.blind import is_better_than_blind

__all__ = ["additive_clusters"]

FINEST = 200.0  # parts of the box below which no cluster is resolved
FEW_UPDATES = 10  # of the mixture in few columns, where it begins near the best or hardly matters
FEW = 3  # restarts where centers are only compared
UPDATES = 100  # in more columns, where it is the distribution of the records
TOL = 1e-3  # nats over all reports


def additive_clusters(
    reports: Floats, mechanism: Any, box: Box, settings: Settings, rng: np.random.RandomState
) -> FoundClusters:
    """Find the centers of least k-means cost under the distribution behind the reports."""
    noise = report_noise(mechanism, reports.shape[1])
    start, halves = _start(reports, noise, box, settings, rng)
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
        better_than_blind=halves is not None and _is_better(start, halves, box, settings, rng),
    )


class _Halves(NamedTuple):
    """Distributions of records, and the reports of the halves that they are from."""

    distributions: RecordDistributions
    reports: tuple[Floats, Floats]


def _start(
    reports: Floats, noise: ReportNoise, box: Box, settings: Settings, rng: np.random.RandomState
) -> tuple[Start, _Halves | None]:
    """Return centers of a distribution of records, unless other reports prefer plain ones."""
    k, restarts = settings.n_clusters, settings.n_init
    if len(reports) == 1:
        return best_of_plain(reports, noise, box, k, restarts=restarts, rng=rng), None
    first = rng.permutation(len(reports)) % 2 == 0
    distributions = deconvolve(reports, noise, box, k, first=first)
    if distributions is None:
        distributions = _drawn(reports, noise, box, settings, first=first, rng=rng)
    if settings.trim is not None:
        distributions = replace(distributions, misfit=0.0)  # of lies, not of another noise
    halves = _Halves(distributions, (reports[first], reports[~first]))
    if distribution_is_better(
        reports, distributions, box, k, first=first, restarts=restarts, rng=rng
    ):
        whole = trimmed(distributions.whole, k, settings.trim, rng)
        start = best_of_distribution(
            reports, replace(distributions, whole=whole), box, k, restarts=restarts, rng=rng
        )
    else:
        start = best_of_plain(reports, noise, box, k, restarts=restarts, rng=rng)
    return start, halves


def _is_better(
    start: Start, halves: _Halves, box: Box, settings: Settings, rng: np.random.RandomState
) -> bool:
    """Return whether held-out reports tell centers that are found so from spread ones."""
    distributions, k, few = halves.distributions, settings.n_clusters, min(FEW, settings.n_init)
    centers = []
    for half, reports in zip(distributions.halves, halves.reports, strict=True):
        if start.name == "reports":
            points, weights = np.clip(reports, box.low, box.high), None
        else:
            points, weights = half.points, half.weights
        centers.append(kmeans_centers(points, weights, k, few, rng))
    return is_better_than_blind(
        distributions.log_evidence, distributions.halves, (centers[0], centers[1]), box
    )


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
    mixtures: list[Mixture] = []
    for part in (reports, reports[first], reports[~first]):
        start = best_of_plain(
            part, noise, box, settings.n_clusters, restarts=settings.n_init, rng=rng
        )
        mixtures.append(_fit_mixture(part, start.mixture, noise, box, settings))
        draws.append(posterior_draws(part, mixtures[-1], noise, box, rng))
    evidence = mixture_evidence(reports, first, (mixtures[1], mixtures[2]), noise, box)
    return RecordDistributions(
        "mixture", draws[0], (draws[1], draws[2]), misfit=0.0, log_evidence=evidence
    )


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
