"""The distribution of the noise that reports carry, as a function of z - x alone."""

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from shoal._bounds import Box
from shoal._report_channel import ReportChannel
from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.remap.geometry import squared_distances

__all__ = ["Channel"]


NEAR = 2  # cells around the record within which the density is averaged over the cell
PARTS = 6  # points in each column of a cell for that average


class Channel:
    """Density of reports around a record, from a mechanism's ``log_density``.

    Parameters
    ----------
    mechanism : Mechanism
        What made the reports; a copy of it is used, which draws and spends nothing.
    box : Box
        Public box of the records.
    """

    def __init__(self, mechanism: Any, box: Box) -> None:
        if not isinstance(mechanism, ReportChannel):
            raise ParameterError(
                "mechanism must be the shoal mechanism that made the reports, "
                f"got {type(mechanism).__name__}",
                parameter="mechanism",
                code="type",
            )
        self.box = box
        self.middle = box.low / 2 + box.high / 2
        copy = mechanism.of_encoded().set_params(ledger=None, random_state=None)
        self.mechanism = copy.fit(self.middle[None, :])
        self.peak = float(self.log_density(np.zeros((1, len(self.middle))))[0])
        self._learn_distribution(box)
        self.spread = float(np.sqrt(np.max(self.mechanism.variance())))

    def log_density(self, offsets: Floats) -> Floats:
        """Log-density of z - x, for offsets of shape (n, d)."""
        densities: Floats = self.mechanism.log_density(offsets, np.zeros_like(self.middle))
        return densities

    def log_densities(self, reports: Floats, candidates: Floats) -> Floats:
        """Log-density of each report given each candidate, shape (n, m)."""
        if self._rate is not None:
            # One product of matrices instead of n m differences of d columns each.
            logs = squared_distances(reports - self.middle, candidates - self.middle)
            np.sqrt(logs, out=logs)
            logs *= -self._rate
            logs += self.peak
            return logs
        densities = [self.log_density(reports - candidate) for candidate in candidates]
        return np.stack(densities, axis=1)

    def log_kernel(self, width: Floats, radius: npt.NDArray[np.int64]) -> Floats:
        """Log-density at whole numbers of cells from the record, 0 at the record itself."""
        sides = [np.arange(-r, r + 1) * w for r, w in zip(radius, width, strict=True)]
        offsets = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1)
        densities = self.log_density(offsets.reshape(-1, len(sides)))
        return densities.reshape(offsets.shape[:-1]) - self.peak

    def counted_kernel(self, log_kernel: Floats, width: Floats) -> Floats:
        """Turn densities at centers into those of counts: averages over the cell of the report.

        Only near the record does the density bend within a cell; elsewhere its center will do.
        """
        columns = log_kernel.ndim
        middle = tuple(side // 2 for side in log_kernel.shape)
        steps = (np.arange(PARTS) + 0.5) / PARTS - 0.5
        within = np.array(list(itertools.product(steps, repeat=columns))) * width
        radius = [np.arange(-min(NEAR, m), min(NEAR, m) + 1) for m in middle]
        near = np.array(list(itertools.product(*radius)))
        offsets = (near * width)[:, None, :] + within
        densities = self.log_density(offsets.reshape(-1, columns)).reshape(len(near), -1)
        logs = log_kernel.copy()
        # In logarithms: cells much wider than the noise hold densities that no double can.
        averages = logsumexp(densities, axis=1) - math.log(len(within)) - self.peak
        logs[tuple((near + middle).T)] = averages
        kernel: Floats = np.exp(logs - logs.max())
        return kernel

    def _learn_distribution(self, box: Box) -> None:
        """Refuse noise that depends on the record; note how fast exponential noise falls."""
        shares = np.array([-4.0, -0.7, -0.5, -0.3, -0.1, 0.1, 0.3, 0.5, 0.7, 4.0])[:, None]
        side = box.high / 2 - box.low / 2
        offsets = np.concatenate([shares * side, shares[:, ::-1] * side[::-1] * 0.1])
        distribution = self.log_density(offsets)
        same = bool(
            np.isfinite([self.peak, *distribution]).all()
        )  # additive noise reaches everywhere
        for corner in (box.low, box.high):
            there = corner + offsets
            expected = self.log_density(there - corner)  # far from zero, offsets are rounded
            same = same and np.allclose(self.mechanism.log_density(there, corner), expected)
        if not same:
            raise ParameterError(
                "mechanism must have noise that does not depend on the record, such as "
                f"Laplace, got {type(self.mechanism).__name__}: use Clip or GridRemap",
                parameter="mechanism",
                code="unsupported",
            )
        distances = np.linalg.norm(offsets, axis=1)
        rate = float((self.peak - distribution).sum() / distances.sum())
        # The Laplace family falls by the same rate everywhere.
        exponential = np.allclose(self.peak - distribution, rate * distances, rtol=1e-9)
        self._rate = rate if exponential else None
