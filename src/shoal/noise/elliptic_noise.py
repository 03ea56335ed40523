"""Elliptic noise: the Laplace distribution in many columns, with a scale for every entry.

A row of a release (a count, sums of clipped offsets, a moment) that one person moves inside an
ellipsoid gets noise of that ellipsoid's own norm: the K-norm mechanism of Hardt & Talwar (2010). In
d columns its length grows as d, where Laplace noise on every column grows as d^(3/2).
"""

import math
from dataclasses import dataclass

import numpy as np

from shoal._optional import require
from shoal._typing import Floats, Ints
from shoal.noise.distributions import whole, whole_gap
from shoal.noise.k_norm_sampler import elliptic_k_norm, rounding_steps
from shoal.noise.releases import PrivacyMeasure
from shoal.noise.source import RandomSource

__all__ = ["EllipticNoise"]

TAIL_ROOTS = 40.0  # a chi is as far from the root of its freedom with probability below e^-600
TAIL_PARTS = 1 << 12
TINY = 1e-9  # instead of a division by 0


@dataclass(frozen=True, eq=False)
class EllipticNoise:
    """Multivariate Laplace noise in the shape of an ellipsoid, on whole rows, rounded.

    Parameters
    ----------
    scales : ndarray, shape (n, d), or (1, d) for any number of rows
        Scale of every entry. The noise z of a row has a density in proportion to
        e^(-||z / scales||).

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.noise import EllipticNoise
    >>> noise = EllipticNoise(scales=np.array([[5.0, 50.0], [5.0, 10.0]]))
    >>> noise.privacy_loss(np.array([[7, 50], [3, 1]]), np.array([[10, 90], [3, 1]]))
    1.0
    """

    scales: Floats

    def __post_init__(self) -> None:
        """Keep a copy of the scales that nobody can change."""
        scales = np.array(self.scales, dtype=np.float64)
        scales.flags.writeable = False
        object.__setattr__(self, "scales", scales)

    def __str__(self) -> str:
        widths = f"{self.scales.min():.4g} to {self.scales.max():.4g}"
        return f"elliptic noise in {self.scales.shape[1]} columns, scales {widths}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EllipticNoise):
            return NotImplemented
        return np.array_equal(self.scales, other.scales)

    def __hash__(self) -> int:
        return hash(self.scales.tobytes())

    @property
    def privacy_measure(self) -> PrivacyMeasure:
        """Return the privacy measure: epsilon."""
        return "epsilon"

    def sample(self, exact: Ints, source: RandomSource) -> Ints:
        """Add the noise, and round to steps far below it."""
        return elliptic_k_norm(whole(exact), scales=self.scales, source=source)

    def upper_tail(self, values: Ints) -> Floats:
        """Bound the probability that the noise of the first column is at least each value.

        One column of d is distributed as scale * sqrt(W) * N, with W from chi^2(d + 1) and N
        normal. So the tail is the mean of Phi(-t / sqrt(W)), with t = (v - step/2) / scale. It
        grows with W: evaluating it at the upper ends of short intervals of W (at the lower ends if
        t is negative) bounds it from above.
        """
        special = require("scipy.special", extra="")
        scale, freedom = self.scales[:, 0], self.scales.shape[1] + 1
        step = rounding_steps(self.scales)[:, 0]
        t = (np.asarray(values, dtype=np.float64) - step / 2) / scale
        t, index = np.unique(t, return_inverse=True)
        middle = math.sqrt(freedom)
        roots = np.linspace(max(0.0, middle - TAIL_ROOTS), middle + TAIL_ROOTS, TAIL_PARTS)
        beyond = special.chdtrc(freedom, roots**2)
        parts = np.concatenate([[1.0 - beyond[0]], beyond[:-1] - beyond[1:], [beyond[-1]]])
        lower, upper = np.maximum([0.0, *roots], TINY), np.maximum([*roots, math.inf], TINY)
        below = special.ndtr(t[t < 0, None] / lower) @ parts
        above = special.ndtr(-t[t >= 0, None] / upper) @ parts
        tail: Floats = np.concatenate([1.0 - below, above])[index]
        return tail

    def privacy_loss(self, exact: Ints, other: Ints) -> float:
        """Return the sum over rows of the Euclidean length of the scaled difference."""
        gap = whole_gap(exact, other)
        return math.inf if gap is None else float(np.linalg.norm(gap / self.scales, axis=1).sum())
