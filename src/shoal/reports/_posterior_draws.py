"""The law of records as draws of the record behind each report, where no grid fits.

The prior is a Gaussian mixture that was fitted through the noise. It hardly matters where the noise
is small: as the noise vanishes every draw becomes its report, and the law that of the records.
"""

from dataclasses import dataclass

import numpy as np

from shoal._bounds import Box
from shoal._typing import Floats
from shoal.reports._laws import Expected, Law
from shoal.reports._mixture import Mixture, draw_records
from shoal.reports._noise_law import NoiseLaw

__all__ = ["PosteriorDraws", "posterior_draws"]


MAX_DRAWS = 8  # for each report
MAX_POINTS = 40_000  # more reports than this get one draw each
FINEST = 1000.0  # parts of the box that a draw stands for: clusters of one draw have a size


@dataclass(frozen=True, eq=False)
class PosteriorDraws(Law):
    """Equally many draws for each report, those of a report one after the other.

    Parameters
    ----------
    draws : int
        Draws for each report.
    """

    draws: int

    def expected(self, values: Floats) -> Expected:
        """Return means of values over the draws of each report."""
        means = values.reshape(-1, self.draws).mean(axis=1)
        return Expected(means, np.ones(len(means)))


def posterior_draws(
    reports: Floats, mixture: Mixture, law: NoiseLaw, box: Box, rng: np.random.RandomState
) -> PosteriorDraws:
    """Draw records behind reports, within the box.

    Parameters
    ----------
    reports : ndarray of float64, shape (n, d)
        Reports as drawn, not clipped.
    mixture : Mixture
        Prior law of the records.
    law : NoiseLaw
        The known noise.
    box : Box
        Public box of the records.
    rng : RandomState
        For the draws; nothing private depends on it.

    Returns
    -------
    law : PosteriorDraws
        Several draws for each report.
    """
    draws = int(np.clip(MAX_POINTS // len(reports), 1, MAX_DRAWS))
    points = draw_records(reports, mixture, law, draws, rng)
    points = np.clip(points, box.low, box.high).reshape(-1, reports.shape[1])
    weights = np.full(len(points), 1.0 / len(points))
    return PosteriorDraws(points, weights, (box.high - box.low) / FINEST, draws)
