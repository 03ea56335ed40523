"""Speed and memory of DPWaveCluster beside one pass of numpy, in one run."""

import time
import tracemalloc
from collections.abc import Iterator

import numpy as np
from timing import Ratio, compare

from shoal.cluster import DPWaveCluster
from shoal.metrics import two_ce


def spread(n: int, d: int, k: int = 30) -> np.ndarray:
    """Draw records around k centers in the box."""
    rng = np.random.default_rng(0)
    centers = rng.uniform(-0.9, 0.9, (k, d))
    return np.clip(centers[rng.integers(0, k, n)] + 0.03 * rng.standard_normal((n, d)), -1, 1)


def ratios() -> Iterator[Ratio]:
    """Compare a whole fit with quantizing and counting alone: a target of 2 x is 0.5."""
    n, grid = 10**7, 1024
    X = spread(n, 2)
    model = DPWaveCluster(epsilon=1.0, bounds=(-1.0, 1.0), grid=grid)

    def plain() -> np.ndarray:
        cells = np.clip(((X + 1.0) * (grid / 2)).astype(np.int64), 0, grid - 1)
        return np.bincount(cells[:, 0] * grid + cells[:, 1], minlength=grid * grid)

    yield compare(
        "wavecluster 10^7 x 2, grid 1024 / numpy's counts",
        lambda: model.fit(X),
        plain,
        count=n,
        target=0.5,
        turns=3,
    )


def notes() -> Iterator[str]:
    """Return the memory of a sparse grid, and the time of the pair measure."""
    X = spread(10**6, 6)
    tracemalloc.start()
    start = time.perf_counter()
    model = DPWaveCluster(epsilon=1.0, bounds=(-1.0, 1.0), grid=64).fit(X)
    seconds = time.perf_counter() - start
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    yield (
        f"wavecluster 10^6 x 6, grid 64 (6.9e10 cells): {seconds:.1f} s with memory traced, peak "
        f"{peak / X.nbytes:.2f} x the input, {model.n_clusters_} clusters"
    )
    labels = np.random.default_rng(0).integers(0, 50, (2, 10**6))
    start = time.perf_counter()
    two_ce(*labels)
    seconds = time.perf_counter() - start
    yield f"two_ce on 10^6 labels: {seconds:.2f} s, target 1 {'met' if seconds < 1 else 'MISSED'}"
