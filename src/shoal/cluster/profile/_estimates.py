"""From noisy counts to shares, quantiles and sizes, with intervals: all of it post-processing.

Every field counts each record once, so the counts of all fields have one sum in a cluster: its
size. Least squares weighted by the known variances give that size and move the counts to it. What
comes out is linear in the noise, so the variance of any sum of it is known exactly: with the mean a
of its coefficients a_l over the m levels of a field, deviation s, and the variance V of the size,

    Var(sum of a_l x_l) = s^2 (sum of a_l^2 - m a^2) + a^2 V.

Intervals hold the exact value in the table with 95% confidence, each by itself. They are of these
linear estimates; values shown are brought to what is possible (no share below 0), and an interval
is widened where it would not hold the value shown (proofs/profile.md).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from shoal._typing import Floats, Ints

__all__ = ["QUANTILES", "Consistent", "Interval", "Tail", "consistent_counts", "quantile_values"]

HALVINGS = 60  # of the search for a quantile
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
ROUNDING = 0.5  # a whole count lies this far beyond a bound of continuous noise, at most


class Tail(NamedTuple):
    """How many standard deviations hold a sum of noises, except with probability ``miss``.

    Of Laplace noise two bounds are known, and the smaller one is taken: that of a single noise,
    which sums do not exceed at the levels used here; and Chernoff's for a sum of independent ones,
    none of which has more than 1 / ``terms`` of the variance: it is that of as many equal ones.
    """

    miss: float
    approximate: bool

    def deviations(self, terms: Floats | float = 1.0) -> Floats:
        """Return the number of standard deviations."""
        terms = np.asarray(terms, dtype=np.float64)
        if self.approximate:
            return np.full_like(terms, NormalDist().inv_cdf(1 - self.miss / 2))
        single = math.log(1 / self.miss) / math.sqrt(2)
        low, high = np.zeros_like(terms), np.full_like(terms, 2 * single + 10)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            enough = _log_chernoff(middle, terms) <= math.log(self.miss / 2)
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return np.minimum(single, high)


def _log_chernoff(deviations: Floats, terms: Floats) -> Floats:
    """Bound the logarithm of the probability that equal Laplace noises add up to so much."""
    # The moment generating function of each is 1 / (1 - u^2); this u makes the bound least.
    slope = np.maximum(deviations, 1e-12) * np.sqrt(2 / terms)
    u = (np.sqrt(1 + slope**2) - 1) / slope
    bound: Floats = -terms * (np.log1p(-(u**2)) + slope * u)
    return bound


class Interval(NamedTuple):
    """Values, and where the exact ones are."""

    value: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Consistent:
    """Counts of one field that add up to the sizes of the clusters.

    Parameters
    ----------
    counts : ndarray of shape (groups, levels)
        Not brought above 0. A group is a cluster, or several together.
    sizes : ndarray of shape (groups,)
        Their sums.
    count_variance : float
        Of the noise of one count, before it was moved.
    size_variance : float
        Of the noise of one size.
    size_part : float
        Largest standard deviation of a single noise in a size.
    unit : float
        Distance of two neighboring counts.
    groups : int
        How many clusters a group is.
    """

    counts: Floats
    sizes: Floats
    count_variance: float
    size_variance: float
    size_part: float
    unit: float = 1.0
    groups: int = 1

    @property
    def _single_variance(self) -> float:
        return self.count_variance / self.groups

    @property
    def total(self) -> "Consistent":
        """All groups together, as one."""
        groups = len(self.sizes)
        return Consistent(
            self.counts.sum(axis=0, keepdims=True),
            self.sizes.sum(keepdims=True),
            self.count_variance * groups,
            self.size_variance * groups,
            self.size_part,
            self.unit,
            groups,
        )

    def size_interval(self, tail: Tail) -> Interval:
        """Return sizes, and where they are."""
        factor = tail.deviations(self.size_variance / self.size_part**2)
        half = ROUNDING * self.unit + factor * np.sqrt(self.size_variance)
        value = np.maximum(self.sizes, 0.0)
        return Interval(value, np.maximum(self.sizes - half, 0.0), np.maximum(self.sizes, 0) + half)

    def share_interval(self, tail: Tail) -> Interval:
        """Return the share of each level in each group, and where it is.

        By Fieller: p is possible where count - p size is within its noise.
        """
        levels = self.counts.shape[1]
        value = self.shares()
        x, size = self.counts, self.sizes[:, None]
        squared = float(tail.deviations()) ** 2
        level_part = squared * self.count_variance * (1 - 1 / levels)
        size_part = squared * self.size_variance
        a = size**2 - size_part
        b = x * size - size_part / levels
        c = x**2 - level_part - size_part / levels**2
        known = size > np.sqrt(size_part) + ROUNDING * self.unit
        safe = np.where(known, a, 1.0)
        root = np.sqrt(np.maximum(b**2 - safe * c, 0.0))
        slack = ROUNDING * self.unit / np.where(known, size - np.sqrt(size_part), 1.0)
        low = np.where(known, (b - root) / safe - slack, 0.0)
        high = np.where(known, (b + root) / safe + slack, 1.0)
        low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
        return Interval(value, np.minimum(low, value), np.maximum(high, value))

    def shares(self) -> Floats:
        """Return possible shares, nearest to the estimated ones: none below 0, together 1."""
        totals = np.maximum(self.sizes, self.unit)
        return np.stack(
            [project(row / total) for row, total in zip(self.counts, totals, strict=True)]
        )

    def quantile_bins(self, q: float, bins: int, tail: Tail) -> tuple[Ints, Ints]:
        """Return the first and the last bin that the q-quantile of the first `bins` may be in.

        It is in the first bin j with T_j >= 0, where T_j counts the records up to bin j, less q of
        all. Bin j is possible where T_j may be >= 0 and the one before below 0.
        """
        levels = self.counts.shape[1]
        coefficients = np.zeros((bins, levels))
        coefficients[:, :bins] = np.tri(bins) - q
        means = coefficients.mean(axis=1)
        variance = (
            self.count_variance * ((coefficients**2).sum(axis=1) - levels * means**2)
            + means**2 * self.size_variance
        )
        single = np.maximum(
            self._single_variance * np.abs(coefficients).max(axis=1) ** 2,
            (means * self.size_part) ** 2,
        )
        factor = tail.deviations(np.maximum(variance / single, 1.0))
        half = ROUNDING * self.unit + factor * np.sqrt(np.maximum(variance, 0.0))
        sums = self.counts @ coefficients.T
        may_reach = sums + half >= 0
        may_be_below = np.concatenate(
            [np.ones((len(sums), 1), dtype=bool), (sums - half < 0)[:, :-1]], axis=1
        )
        may_reach[:, -1] = True  # all records are up to the last bin
        possible = may_reach & may_be_below
        possible[~possible.any(axis=1)] = True
        first = possible.argmax(axis=1)
        last = bins - 1 - possible[:, ::-1].argmax(axis=1)
        return first, last


def consistent_counts(
    noisy: Sequence[Ints], deviations: Sequence[float], *, record: int = 1
) -> tuple[Consistent, ...]:
    """Move the counts of all fields to common sizes of clusters, by weighted least squares.

    Parameters
    ----------
    noisy : sequence of ndarray of shape (clusters, levels)
        Noisy counts, of every field.
    deviations : sequence of float
        Standard deviations of their noise.
    record : int, default=1
        What one record adds to a count.

    Returns
    -------
    consistent : tuple of Consistent
        For each field, in records.
    """
    counts = [table / record for table in noisy]
    variances = [(deviation / record) ** 2 for deviation in deviations]
    sums = np.stack([table.sum(axis=1) for table in counts])
    weights = np.array(
        [1 / (table.shape[1] * one) for table, one in zip(counts, variances, strict=True)]
    )
    sizes = weights @ sums / weights.sum()
    part = float((weights * np.sqrt(variances)).max() / weights.sum())
    return tuple(
        Consistent(
            table + ((sizes - total) / table.shape[1])[:, None],
            sizes,
            variance,
            float(1 / weights.sum()),
            part,
            1 / record,
        )
        for table, variance, total in zip(counts, variances, sums, strict=True)
    )


def project(row: Floats) -> Floats:
    """Return the nearest row of numbers from 0 on that add up to 1."""
    ordered = np.sort(row)[::-1]
    excess = (np.cumsum(ordered) - 1.0) / np.arange(1, len(row) + 1)
    kept = np.flatnonzero(ordered > excess)[-1]
    nearest: Floats = np.maximum(row - excess[kept], 0.0)
    return nearest


def quantile_values(shares: Floats, edges: Floats, q: float) -> Floats:
    """Return the q-quantile of each row of shares of bins, even inside a bin."""
    values = np.empty(len(shares))
    for index, row in enumerate(shares):
        total = row.sum()
        if total <= 0:
            values[index] = (edges[0] + edges[-1]) / 2
            continue
        below = np.concatenate([[0.0], np.cumsum(row / total)])
        bin_ = min(int(np.searchsorted(below[1:], q, side="left")), len(row) - 1)
        inside = below[bin_ + 1] - below[bin_]
        part = (q - below[bin_]) / inside if inside > 0 else 0.5
        values[index] = edges[bin_] + part * (edges[bin_ + 1] - edges[bin_])
    return values
