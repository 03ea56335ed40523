"""The posterior in four and more columns, where no dense grid fits any memory.

The prior is a mixture of Gaussians around candidates made from reports. Three widths: one Gaussian
for all (its posterior mean is the best linear estimate), one around each candidate as wide as
kernel estimates of a density have it (Silverman 1986), and one a third of that. Candidates are some
of the reports, drawn together so that their covariance is that of the records, not of the reports;
weights come from the iterative Bayesian update on the other reports. Noise counts by its variance.
Points in place of Gaussians would do harm where noise is smaller than the gaps between them.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from shoal._typing import Floats
from shoal.remap._channel import Channel
from shoal.remap.geometry import Cloud, geometric_medians, squared_distances
from shoal.remap.ibu import Update, climb

__all__ = ["SparsePosterior"]


NARROW = 1 / 3  # of the width of a kernel estimate
MAX_FITTED = 4096  # reports that weights are learned from: more change little
CHUNK_VALUES = 1 << 18  # weights of candidates at a time, so that memory stays bounded


class Layer(NamedTuple):
    """Gaussians of one width: where they are, and what a report says about a record in them."""

    centers: Floats  # of shape (m, d)
    whiten: Floats  # turns differences of reports into standard normal ones
    log_peak: float
    gain: Floats  # a record in the layer is at center + (report - center) @ gain, on average


class SparsePosterior:
    """Layers of Gaussians, learned from reports.

    Parameters
    ----------
    channel : Channel
        Distribution of the noise.
    reports : ndarray of float64, shape (n, d)
        Reports that the layers come from.
    candidates : int
        Largest number of candidates.
    """

    def __init__(self, channel: Channel, reports: Floats, candidates: int) -> None:
        self.channel = channel
        n, d = reports.shape
        noise = channel.spread**2
        self._mean, covariance = _moments(reports)
        values, axes = np.linalg.eigh(covariance)
        values = np.maximum(values, 0.0)
        # What is left after the noise, but no less than n reports cannot rule out.
        records = np.maximum(values - noise, values * math.sqrt(2.0 / n))
        together = np.sqrt(records / np.maximum(values, np.finfo(float).tiny))
        self._step = max(1, -(-n // candidates))
        drawn = (reports[:: self._step] - self._mean) @ ((axes * together) @ axes.T)
        box = channel.box
        self.candidates: Floats = np.clip(self._mean + drawn, box.low, box.high)
        wide = (4.0 / (d + 2.0) / len(self.candidates)) ** (1.0 / (d + 4.0))

        def layer(centers: Floats, width: float) -> Layer:
            spread = width**2 * records + noise
            # Narrower around the mean by as much as the Gaussians are wide: same covariance.
            nearer = math.sqrt(max(0.0, 1.0 - width**2))
            return Layer(
                self._mean + (centers - self._mean) * nearer,
                axes / np.sqrt(spread),
                -0.5 * float(np.log(2.0 * math.pi * spread).sum()),
                (axes * (width**2 * records / spread)) @ axes.T,
            )

        self._layers = [
            layer(self._mean[None, :], 1.0),
            layer(self.candidates, min(wide, 1.0)),
            layer(self.candidates, NARROW * min(wide, 1.0)),
        ]

    def learn_prior(self, reports: Floats, *, max_iter: int, tol: float) -> Update:
        """Weights of all Gaussians, layer after layer, by the iterative Bayesian update."""
        others = np.arange(len(reports)) % self._step != 0
        if others.sum() >= len(self.candidates):
            # A report explains itself best: those that became candidates would overrate them.
            reports = reports[others]
        fitted = reports[:: max(1, -(-len(reports) // MAX_FITTED))]
        logs = self._log_densities(fitted)
        best = logs.max(axis=1, keepdims=True)
        densities = np.exp(logs - best)

        def log_likelihood(prior: Floats) -> tuple[float, Floats]:
            mixed = densities @ prior
            return float(np.log(mixed).sum() + best.sum()), mixed

        def update(prior: Floats, mixed: Floats) -> Floats:
            updated: Floats = prior * ((1.0 / mixed) @ densities)
            updated /= updated.sum()
            return updated

        sizes = [len(layer.centers) for layer in self._layers]
        start = np.concatenate([np.full(size, 1.0 / (len(sizes) * size)) for size in sizes])
        return climb(log_likelihood, update, start, max_iter, tol)

    def prepare(self, prior: Floats, *, loss: str, radius: float | None) -> None:
        """Note the prior, the loss and the radius."""
        with np.errstate(divide="ignore"):
            self._log_prior = np.log(prior)
        self._loss, self._radius = loss, radius

    def move(self, reports: Floats) -> Floats:
        """Posterior mean or geometric median of the record for each report."""
        points = np.empty_like(reports)
        box = self.channel.box
        rows = max(1, CHUNK_VALUES // len(self._log_prior))
        for start in range(0, len(reports), rows):
            part = reports[start : start + rows]
            weights = self._weights(part)
            clouds = []
            moved = np.zeros_like(part)
            for layer, share in zip(self._layers, self._split(weights), strict=True):
                # What a report says differs between Gaussians by where their centers are only.
                still = layer.centers - layer.centers @ layer.gain
                along = part @ layer.gain
                moved += share @ still + share.sum(axis=1)[:, None] * along
                clouds.append(Cloud(share, still, along))
            if self._loss == "linear":
                moved = geometric_medians(clouds, moved, scale=self.channel.spread)
            points[start : start + rows] = np.clip(moved, box.low, box.high)
        return points

    def _weights(self, reports: Floats) -> Floats:
        """Posterior weights of all Gaussians for each report."""
        logs = self._log_densities(reports)
        logs += self._log_prior
        if self._radius is not None:
            # The first Gaussian stays: it is near every report.
            centered = self.candidates - self._mean
            beyond = squared_distances(reports - self._mean, centered) > self._radius**2
            logs[:, 1:][np.tile(beyond, len(self._layers) - 1)] = -np.inf
        logs -= logsumexp(logs, axis=1, keepdims=True)
        weights: Floats = np.exp(logs, out=logs)
        return weights

    def _log_densities(self, reports: Floats) -> Floats:
        """Log-density of reports under each Gaussian, layer after layer."""
        blocks = []
        for layer in self._layers:
            block = squared_distances(
                (reports - self._mean) @ layer.whiten, (layer.centers - self._mean) @ layer.whiten
            )
            block *= -0.5
            block += layer.log_peak
            blocks.append(block)
        return np.hstack(blocks)

    def _split(self, weights: Floats) -> list[Floats]:
        ends = np.cumsum([len(layer.centers) for layer in self._layers])[:-1]
        return np.split(weights, ends, axis=1)


def _moments(reports: Floats) -> tuple[Floats, Floats]:
    """Mean and covariance, in chunks: a centered copy of all reports would double the memory."""
    columns = reports.shape[1]
    rows = max(1, CHUNK_VALUES // columns)
    mean = reports.mean(axis=0)
    products = np.zeros((columns, columns))
    for start in range(0, len(reports), rows):
        part = reports[start : start + rows] - mean
        products += part.T @ part
    return mean, products / len(reports)
