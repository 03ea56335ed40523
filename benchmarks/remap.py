"""Remaps against numpy passing over the same reports once; KdLaplace's time and memory."""

import tracemalloc
from collections.abc import Iterator

import numpy as np
from timing import Ratio, compare

from shoal.mechanisms import KdLaplace, Laplace
from shoal.remap import BayesRemap, GridRemap

COUNT = 1_000_000
BOX = (-1.0, 1.0)


def ratios() -> Iterator[Ratio]:
    """Yield one ratio a line; targets are those the project set itself."""
    rng = np.random.default_rng()
    for d in (9, 2):
        reports = rng.uniform(-1.2, 1.2, (COUNT, d))
        grid = GridRemap(BOX, cells=64)
        yield compare(
            f"GridRemap, d = {d} / np.round",
            lambda grid=grid, reports=reports: grid.transform(reports),
            lambda reports=reports: np.round(reports),
            count=COUNT,
            target=0.25,
        )
    places = rng.uniform(-0.8, 0.8, (15, 2))
    records = places[rng.integers(0, 15, COUNT)] + rng.normal(0.0, 0.05, (COUNT, 2))
    for epsilon in (2.0, 8.0, 32.0):
        mechanism = Laplace(epsilon, bounds=BOX)
        reports = mechanism.fit_transform(records)
        remap = BayesRemap(mechanism, cells=128)
        yield compare(
            f"BayesRemap 128 x 128, epsilon {epsilon:g} / histogram2d",
            lambda remap=remap, reports=reports: remap.fit_transform(reports),
            lambda reports=reports: np.histogram2d(reports[:, 0], reports[:, 1], bins=128),
            count=COUNT,
            target=0.2,
        )
    heart = rng.uniform(*BOX, (2126, 9))
    kd = KdLaplace(4.0, bounds=BOX)
    once = compare("KdLaplace", lambda: kd.fit_transform(heart), lambda: None, count=1)
    yield Ratio("KdLaplace 2,126 x 9, ms / 100 ms", once.ours / 1e6, 100.0, 2.0)
    yield Ratio("KdLaplace 10^6 x 9, peak MB / 6 x input", *_peak(), 1.0)


def _peak() -> tuple[float, float]:
    """Megabytes allocated at once for perturbing and remapping, and six times the input."""
    records = np.random.default_rng(0).uniform(*BOX, (COUNT, 9))
    tracemalloc.start()
    KdLaplace(4.0, bounds=BOX).fit_transform(records)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6, 6.0 * records.nbytes / 1e6
