"""Exact statistics against scikit-learn's Lloyd iteration, numpy's bincount and unique; memory."""

import math
import time
import tracemalloc
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.cluster import KMeans
from timing import Ratio, compare

from shoal.engines import (
    DIRECTION_UNIT,
    HALF,
    MOMENT_UNIT,
    ArrayEngine,
    Part,
    grid_counts,
    nearest_statistics,
    project,
    radius_counts,
    second_moments,
    sparse_grid_counts,
    window_statistics,
)
from shoal.engines.nearest import NearestKernel

SHAPES = ((1_000_000, 8, 16), (100_000, 2, 100), (200_000, 50, 8))
WIDE_SHAPES = ((1_000_000, 100, 100), (300_000, 100, 256), (70_000, 784, 10), (70_000, 784, 40))
REACH = HALF // 4
TURNS = 5


def ratios() -> Iterator[Ratio]:
    """Yield one ratio a line; targets are those the project set itself."""
    rng = np.random.default_rng()
    for n, d, k in SHAPES:
        records = rng.integers(-HALF, HALF, (n, d), dtype=np.int32)
        yield from _lloyd(records, records[:k].astype(np.int64))
    for n, d, k in WIDE_SHAPES:
        yield from _windows(_clusters(rng, n, d, k), k)
    yield from _one_center(_clusters(rng, 200_000, 100, 10), rng)
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

    best = _best(
        {
            "one": lambda: fit(1),
            "eleven": lambda: fit(11),
            "sums": lambda: nearest_statistics(engine, centers),
            "cube": lambda: nearest_statistics(engine, centers, clip_radius=REACH),
            "ball": lambda: nearest_statistics(engine, centers, clip_radius=REACH, shape="ball"),
        }
    )
    iteration = (best["eleven"] - best["one"]) / 10
    for name, target in (("sums", 0.5), ("cube", None), ("ball", None)):
        title = f"nearest {name} {n:.0e} x {d}, k = {k} / KMeans"
        yield Ratio(title, best[name] / n * 1e9, iteration / n * 1e9, target)


def _best(runs: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return the best of several turns of each, in seconds."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(TURNS):
        for name, run in runs.items():
            begin = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - begin)
    return best


def _clusters(rng: np.random.Generator, n: int, d: int, k: int) -> np.ndarray:
    """Draw k round clusters of lattice records that overlap: Lloyd's iteration goes on for long."""
    centers = rng.normal(scale=HALF / 4 / math.sqrt(d), size=(k, d))
    records = np.empty((n, d), dtype=np.int32)
    for start in range(0, n, 1 << 14):
        some = records[start : start + (1 << 14)]
        drawn = rng.normal(centers[rng.integers(k, size=len(some))], HALF / 8)
        some[:] = np.clip(drawn, -HALF, HALF)
    return records


def _windows(records: np.ndarray, k: int) -> Iterator[Ratio]:
    """Compare windows of 1.25 root mean squares with iterations, of doubles and of singles."""
    (n, d), engine, centers = records.shape, ArrayEngine(records), records[:k].astype(np.int64)
    doubles, singles = records.astype(np.float64), records.astype(np.float32)

    def fit(X: np.ndarray, rounds: int) -> None:
        start = X[:k].copy()
        KMeans(k, init=start, n_init=1, tol=0, max_iter=rounds, algorithm="lloyd").fit(X)

    longest = 2 * HALF * math.isqrt(d)
    whole = window_statistics(engine, centers, np.full(k, longest))
    squares = whole.moments / np.maximum(whole.counts, 1) / MOMENT_UNIT + 0.5
    radii = np.maximum(1.25 * longest * np.sqrt(squares), 8).astype(np.int64)
    best = _best(
        {
            "double-1": lambda: fit(doubles, 1),
            "double-6": lambda: fit(doubles, 6),
            "single-1": lambda: fit(singles, 1),
            "single-6": lambda: fit(singles, 6),
            "windows": lambda: window_statistics(engine, centers, radii),
            "all clipped": lambda: window_statistics(engine, centers, radii // 8),
        }
    )
    double, single = ((best[f"{kind}-6"] - best[f"{kind}-1"]) / 5 for kind in ("double", "single"))
    shape = f"{n:.0e} x {d}, k = {k}"
    for name, their, iteration, target in (
        ("windows", "KMeans", double, 0.667),
        ("all clipped", "KMeans", double, None),
        ("windows", "float32", single, None),
    ):
        yield Ratio(f"{name} {shape} / {their}", best[name] / n * 1e9, iteration / n * 1e9, target)


def _one_center(records: np.ndarray, rng: np.random.Generator) -> Iterator[Ratio]:
    """Compare statistics around one center with numpy's own, which round."""
    (n, d), engine, X = records.shape, ArrayEngine(records), records.astype(np.float64)
    center, middle = records[0].astype(np.int64), records[0].astype(np.float64)
    edges = np.geomspace(HALF / 64, 16 * HALF, 37).astype(np.int64)
    basis = np.linalg.qr(rng.normal(size=(d, 20)))[0].T
    directions = np.rint(basis * DIRECTION_UNIT).astype(np.int64)
    runs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "radius_counts 2e5 x 100 / norm, histogram": (
            lambda: radius_counts(engine, center, edges),
            lambda: np.histogram(np.linalg.norm(X - middle, axis=1), edges),
        ),
        "second_moments 2e5 x 100 / X.T @ X": (
            lambda: second_moments(engine, center, 4 * HALF),
            lambda: (X - middle).T @ (X - middle),
        ),
        "project 2e5 x 100 to 20 / X @ V": (
            lambda: project(engine, center, directions, 4 * HALF),
            lambda: (X - middle) @ basis.T,
        ),
    }
    for name, (ours, theirs) in runs.items():
        yield compare(name, ours, theirs, count=n, turns=TURNS)


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
