"""Do held-out reports tell a mixture from evenly spread records? By the exact law of the reports.

The approximations that a mixture is fitted with would do harm here: where noise is wide, whatever
they get wrong is larger than what reports say about records.
"""

import math
from dataclasses import replace

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtr

from shoal._bounds import Box
from shoal._report_channel import ColumnChannel
from shoal._typing import Bools, Floats
from shoal.reports._column_tables import column_tables, symbols_of
from shoal.reports._mixture import Mixture, log_likelihood
from shoal.reports._report_noise import ReportNoise, scale_nodes

__all__ = ["mixture_evidence"]

NODES = 40  # of the quadrature of radial noise
CELLS = (48, 128)  # of a column


def mixture_evidence(
    reports: Floats, first: Bools, mixtures: tuple[Mixture, Mixture], noise: ReportNoise, box: Box
) -> float:
    """Return the log of a mean of likelihood ratios, of mixtures over evenly spread records.

    Each mixture was fitted to one half of the reports, and is judged by the other half.
    """
    gain = _column_gain if isinstance(noise.mechanism, ColumnChannel) else _radial_gain
    judges = (reports[~first], reports[first])
    gains = [
        gain(other, mixture, noise, box) for other, mixture in zip(judges, mixtures, strict=True)
    ]
    return float(logsumexp(gains)) - math.log(len(gains))


def _radial_gain(reports: Floats, mixture: Mixture, noise: ReportNoise, box: Box) -> float:
    """Return the log-likelihood ratio where noise is Gaussian, or of the Laplace family."""
    if noise.radial:
        factors, weights = scale_nodes(reports.shape[1], NODES)
        noise = replace(noise, factors=factors, weights=weights)
    middle = (box.low / 2 + box.high / 2)[None]
    deviations = np.sqrt(noise.variances(middle)[:, 0])  # (j, d)
    even = np.log(noise.weights) + np.stack(
        [
            (_log_between(reports, box, each) - np.log(box.high - box.low)).sum(axis=1)
            for each in deviations
        ],
        axis=1,
    )
    return log_likelihood(reports, mixture, noise) - float(logsumexp(even, axis=1).sum())


def _log_between(reports: Floats, box: Box, deviation: Floats) -> Floats:
    """Log-probability that a normal variable around the report lies in the box, a column each."""
    below, above = (box.low - reports) / deviation, (box.high - reports) / deviation
    # In the tail that is small: of two numbers near 1 the difference is rounding.
    flip = below > 0
    below, above = np.where(flip, -above, below), np.where(flip, -below, above)
    lower, upper = log_ndtr(below), log_ndtr(above)
    between: Floats = upper + np.log(-np.expm1(np.minimum(lower - upper, -np.finfo(float).tiny)))
    return between


def _column_gain(reports: Floats, mixture: Mixture, noise: ReportNoise, box: Box) -> float:
    """Return the log-likelihood ratio where columns are perturbed independently.

    Within a component, columns are taken for independent too: a distribution like any other.
    """
    tables = column_tables(noise.mechanism, box, least=0.0, limits=CELLS)
    symbols = symbols_of(tables, reports)
    ratios = np.log(mixture.weights) + np.zeros((len(reports), 1))
    for column, table in enumerate(tables):
        cells = table.probabilities.shape[1]
        edges = np.linspace(box.low[column], box.high[column], cells + 1)
        deviations = np.sqrt(mixture.covariances[:, column, column])
        chances = ndtr((edges[:, None] - mixture.means[:, column]) / deviations)
        chances[0], chances[-1] = 0.0, 1.0  # records lie in the box
        even = np.maximum(table.probabilities.mean(axis=1), np.finfo(float).tiny)
        each = table.probabilities @ np.diff(chances, axis=0) / even[:, None]
        ratios += np.log(np.maximum(each, np.finfo(float).tiny))[symbols[:, column]]
    return float(logsumexp(ratios, axis=1).sum())
