"""Clusters from reports against plain k-means on the same reports."""

from collections.abc import Iterator

import numpy as np
from sklearn.cluster import KMeans
from timing import Ratio, compare

from shoal.mechanisms import Laplace
from shoal.reports import NoiseAwareKMeans

COUNT = 100_000


def ratios() -> Iterator[Ratio]:
    """Yield one ratio a line: both with 20 restarts; no target, utility is what is paid for."""
    rng = np.random.default_rng(0)
    centers = rng.uniform(-0.9, 0.9, (15, 2))
    records = centers[rng.integers(0, 15, COUNT)] + 0.04 * rng.normal(size=(COUNT, 2))
    for epsilon in (2.0, 8.0):
        mechanism = Laplace(epsilon, bounds=(-1.0, 1.0)).fit(records)
        reports = mechanism.transform(records)
        aware = NoiseAwareKMeans(15, mechanism=mechanism, random_state=0)
        yield compare(
            f"NoiseAwareKMeans 10^5, k = 15, eps {epsilon:g} / KMeans",
            lambda aware=aware, reports=reports: aware.fit(reports),
            lambda reports=reports: KMeans(15, n_init=20, random_state=0).fit(reports),
            count=COUNT,
            turns=2,
        )
