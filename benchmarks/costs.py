"""What a whole fit costs: time against records, columns, clusters and cells, and peak memory.

One quantity is varied at a time. Times are nanoseconds for each record of the table, so a number
that falls with n is a cost that does not depend on the records, and one that stays is a cost of
each record.
"""

import multiprocessing
import resource
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from sklearn.base import BaseEstimator

from shoal.cluster import DPKMeans, DPWaveCluster, PrivateCopy

BOX = (-1.0, 1.0)
USUAL = {"n": 1_000_000, "d": 4, "k": 8, "side": 16}
RANGES = {
    "n": (10**4, 10**5, 10**6, 10**7),
    "d": (2, 4, 8, 16, 32),
    "k": (2, 8, 32, 128),
    "side": (16, 32, 64, 128, 256),
}
GRID, LLOYD, WAVE, COPY = NAMES = (
    "DPKMeans(grid)",
    "DPKMeans(lloyd)",
    "DPWaveCluster",
    "PrivateCopy",
)
LARGE = 4_000_000  # records of the table whose fits' memory is measured
MAX_CELLS = 2**62  # of DPWaveCluster
TURNS = 3
LONG = 1.5  # seconds: what takes longer is not timed again
CHUNK = 1 << 16
UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss, in bytes


def notes() -> Iterator[str]:
    """Yield a short table for each quantity, and one of memory."""
    n, d, k, side = USUAL.values()
    yield (
        f"Cost of a whole fit in ns/record, one quantity varied at a time: "
        f"n = {n:.0e}, d = {d}, k = {k}, {side} cells a side"
    )
    yield from _table("n", "n", NAMES)
    yield from _table("d", "d", NAMES)
    yield from _table("k", "k", (GRID, LLOYD))
    yield from _table("cells a side, d = 2", "side", (WAVE,), d=2)
    yield f"Peak memory of a fit beyond its table of {LARGE:.0e} x {d}, over the table's size"
    for name in NAMES:
        yield f"  {name:<24}{peak_memory(name):>10.2f}"


def model(name: str, *, k: int = USUAL["k"], side: int = USUAL["side"]) -> BaseEstimator:
    """Make an estimator: secure randomness, noisy number of records."""
    if name == WAVE:
        return DPWaveCluster(bounds=BOX, grid=side)
    if name == COPY:
        return PrivateCopy(bounds=BOX)
    return DPKMeans(k, bounds=BOX, method="grid" if name == GRID else "lloyd")


def blobs(n: int, d: int, k: int = USUAL["k"]) -> np.ndarray:
    """Draw records around k centers in the box, a few at a time, so that memory is the table's."""
    rng = np.random.default_rng(0)
    centers = rng.uniform(*BOX, (k, d))
    X = np.empty((n, d))
    for start in range(0, n, CHUNK):
        part = X[start : start + CHUNK]
        part[:] = centers[rng.integers(0, k, len(part))]
        part += 0.25 * rng.standard_normal(part.shape)
        np.clip(part, *BOX, out=part)
    return X


def peak_memory(name: str) -> float:
    """Fit in a process of its own, and give its peak beyond the table, over the table's size."""
    # A process that is started from this one would count this one's peak as its own; a fork of the
    # small server does not.
    context = multiprocessing.get_context("forkserver")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(_growth, name).result()


def _growth(name: str) -> float:
    X = blobs(LARGE, USUAL["d"])
    before = _peak()
    model(name).fit(X)
    return (_peak() - before) / X.nbytes


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT


def _table(title: str, quantity: str, names: tuple[str, ...], **fixed: int) -> Iterator[str]:
    """Time each estimator at each value of one quantity; a dash where it cannot be fitted."""
    found: dict[str, list[str]] = {name: [] for name in names}
    values = RANGES[quantity]
    for value in values:
        n, d, k, side = (USUAL | fixed | {quantity: value}).values()
        X = blobs(n, d)
        for name in names:
            possible = name != WAVE or side**d < MAX_CELLS
            cost = f"{_seconds(model(name, k=k, side=side), X) / n * 1e9:.0f}" if possible else "-"
            found[name].append(cost)
    yield f"  {title:<24}" + "".join(f"{value:>10.4g}" for value in values)
    for name, costs in found.items():
        yield f"    {name:<22}" + "".join(f"{cost:>10}" for cost in costs)


def _seconds(estimator: BaseEstimator, X: np.ndarray) -> float:
    """Take the least of several times: what disturbs a fit only ever makes it longer."""
    best = float("inf")
    for turn in range(TURNS):
        if turn and best > LONG:
            break
        start = time.perf_counter()
        estimator.fit(X)
        best = min(best, time.perf_counter() - start)
    return best


if __name__ == "__main__":
    for note in notes():
        print(note, flush=True)
