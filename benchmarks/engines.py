"""Exact statistics against scikit-learn's Lloyd iteration, numpy's bincount and unique; memory."""

import time
import tracemalloc
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.cluster import KMeans
from timing import Ratio, compare

from shoal.engines import (
    HALF,
    ArrayEngine,
    Part,
    grid_counts,
    nearest_statistics,
    sparse_grid_counts,
    window_statistics,
)
from shoal.engines.nearest import NearestKernel

SHAPES = ((1_000_000, 8, 16), (100_000, 2, 100), (200_000, 50, 8), (200_000, 100, 100))
REACH = HALF // 4
TURNS = 5


def ratios() -> Iterator[Ratio]:
    """Yield one ratio a line; targets are those the project set itself."""
    rng = np.random.default_rng()
    for n, d, k in SHAPES:
        records = rng.integers(-HALF, HALF, (n, d), dtype=np.int32)
        yield from _lloyd(records, records[:k].astype(np.int64))
    points = rng.integers(-HALF, HALF, (10_000_000, 2), dtype=np.int32)
    engine = ArrayEngine(points)
    yield compare(
        "grid_counts 10^7 x 2, 1024^2 cells / bincount",
        lambda: grid_counts(engine, (1024, 1024)),
        lambda: _bincount(points, 1024),
        count=len(points),
        target=0.5,
        turns=TURNS,
    )
    yield _sparse("uniform", rng.integers(-HALF, HALF, (1_000_000, 6), dtype=np.int32))
    clusters = rng.normal(rng.uniform(-0.5, 0.5, (8, 6)).repeat(125_000, axis=0), 1 / 32)
    yield _sparse("clusters", (np.clip(clusters, -1, 1) * HALF).astype(np.int32))
    yield _peak(
        points[:1_000_000].repeat(4, axis=1), points[:16].astype(np.int64).repeat(4, axis=1)
    )
    yield _small(points[:10], points[:3].astype(np.int64))


def _lloyd(records: np.ndarray, centers: np.ndarray) -> Iterator[Ratio]:
    """Compare one pass with one of scikit-learn's iterations: ten of them, without the start."""
    (n, d), k = records.shape, len(centers)
    X, start = records.astype(np.float64), centers.astype(np.float64)
    # As estimators hold them: few columns one after the other.
    engine = ArrayEngine(np.asfortranarray(records) if d < 16 else records)

    def fit(rounds: int) -> None:
        KMeans(k, init=start, n_init=1, tol=0, max_iter=rounds, algorithm="lloyd").fit(X)

    runs: dict[str, Callable[[], object]] = {
        "one": lambda: fit(1),
        "eleven": lambda: fit(11),
        "sums": lambda: nearest_statistics(engine, centers),
        "cube": lambda: nearest_statistics(engine, centers, clip_radius=REACH),
        "ball": lambda: nearest_statistics(engine, centers, clip_radius=REACH, shape="ball"),
        "windows": lambda: window_statistics(engine, centers, np.full(k, REACH)),
    }
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(TURNS):
        for name, run in runs.items():
            begin = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - begin)
    iteration = (best["eleven"] - best["one"]) / 10
    windows = 1 / 1.5 if d == k == 100 else None
    for name, target in (("sums", 0.5), ("cube", None), ("ball", None), ("windows", windows)):
        title = f"nearest {name} {n:.0e} x {d}, k = {k} / KMeans"
        yield Ratio(title, best[name] / n * 1e9, iteration / n * 1e9, target)


def _bincount(points: np.ndarray, cells: int) -> np.ndarray:
    places = np.minimum((points + HALF) * cells >> 20, cells - 1)
    return np.bincount(places[:, 0] * cells + places[:, 1], minlength=cells**2)


def _sparse(name: str, records: np.ndarray) -> Ratio:
    """Count in 64^6 cells: uniform records have one each, those of clusters share some."""
    engine = ArrayEngine(records)
    return compare(
        f"sparse_grid_counts 10^6 x 6, {name} / unique",
        lambda: sparse_grid_counts(engine, (64,) * 6),
        lambda: _unique(records, 64),
        count=len(records),
        target=0.5,
        turns=TURNS,
    )


def _unique(records: np.ndarray, cells: int) -> tuple[np.ndarray, np.ndarray]:
    places = np.minimum((records + HALF) * cells >> 20, cells - 1)
    codes = np.ravel_multi_index(tuple(places.T), (cells,) * records.shape[1])
    return np.unique(codes, return_counts=True)


def _peak(records: np.ndarray, centers: np.ndarray) -> Ratio:
    """Megabytes that one pass allocates beside the records, and the records' own."""
    engine = ArrayEngine(records)
    tracemalloc.start()
    nearest_statistics(engine, centers, clip_radius=REACH, shape="ball")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return Ratio("nearest 10^6 x 8, peak MB / input", peak / 1e6, records.nbytes / 1e6, 2.0)


def _small(records: np.ndarray, centers: np.ndarray) -> Ratio:
    """Microseconds of a call on ten records, and those of its arithmetic plus 30."""
    engine, part = ArrayEngine(records), Part(records)
    calls = 2000

    def whole() -> None:
        for _ in range(calls):
            nearest_statistics(engine, centers)

    def arithmetic() -> None:
        for _ in range(calls):
            NearestKernel(centers)(part)

    once = compare("small", whole, arithmetic, count=calls, turns=TURNS)
    title = "nearest 10 x 2, k = 3, us / arithmetic + 30"
    return Ratio(title, once.ours / 1e3, once.theirs / 1e3 + 30.0, 1.0)
