"""Ours against diffprivlib, scikit-learn and plain numpy, on the same records in one run.

diffprivlib needs an older scikit-learn than ours, so it lives in an environment of its own, which
`make bench` makes in the folder `peers` of this one's. A process there holds the records too, and
fits them when a line is written to its input. Without that environment, the others are compared.
"""

import argparse
import itertools
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits
from timing import PEERS, Ratio

from shoal.cluster import DPKMeans
from shoal.engines import HALF, ArrayEngine, nearest_statistics
from shoal.noise import Lattice

SHAPES = tuple(itertools.product((10**5, 10**6), (4, 8), (8, 16)))
BOX = (-1.0, 1.0)
EPSILON = 1.0
TURNS = 3
LONG = 2.0  # seconds: what takes longer is not timed again, its ratio is far from 1
CHUNK = 1 << 14  # records whose distances stay in the processor's cache

# A line "file k" makes it load records, an empty one fit them; it answers with a line for each.
FITTER = f"""
import sys
import diffprivlib
import numpy as np
from diffprivlib.models import KMeans
print(diffprivlib.__version__, flush=True)
for line in sys.stdin:
    if line.strip():
        file, k = line.rsplit(maxsplit=1)
        X = np.load(file)
        bounds = (np.full(X.shape[1], {BOX[0]}), np.full(X.shape[1], {BOX[1]}))
    else:
        KMeans(int(k), epsilon={EPSILON}, bounds=bounds).fit(X)
    print("done", flush=True)
"""


@dataclass(frozen=True)
class Diffprivlib:
    """A process in another environment that fits its records when asked to."""

    process: subprocess.Popen[str]

    def load(self, X: np.ndarray, k: int) -> None:
        """Hand over records; not timed."""
        with tempfile.TemporaryDirectory(prefix="shoal-bench-") as folder:
            file = Path(folder) / "records.npy"
            np.save(file, X)
            self.ask(f"{file} {k}")

    def fit(self) -> None:
        """Fit them; asking and answering takes microseconds, the fit much longer."""
        self.ask("")

    def ask(self, line: str) -> None:
        """Write a line and wait for the answer."""
        print(line, file=self.process.stdin, flush=True)
        if self.process.stdout.readline() != "done\n":
            raise RuntimeError("the process of diffprivlib ended; its error is above")


def ratios(python: Path = PEERS) -> Iterator[Ratio]:
    """Compare whole fits, and one pass over the records."""
    with _diffprivlib(python) as peer:
        for n, d, k in SHAPES:
            yield from _shape(blobs(n, d, k), k, peer)


def blobs(n: int, d: int, k: int) -> np.ndarray:
    """Draw records around k centers in the box."""
    rng = np.random.default_rng(0)
    centers = rng.uniform(*BOX, (k, d))
    return np.clip(centers[rng.integers(0, k, n)] + 0.25 * rng.standard_normal((n, d)), *BOX)


def _shape(X: np.ndarray, k: int, peer: Diffprivlib | None) -> Iterator[Ratio]:
    n, d = X.shape
    private = {"epsilon": EPSILON, "bounds": BOX}
    lloyd = DPKMeans(k, method="lloyd", **private).fit(X)
    usual = DPKMeans(k, **private).fit(X)
    records = Lattice.box(np.full(d, BOX[0]), np.full(d, BOX[1]), half=HALF).encode(X)
    # As estimators hold them: few columns one after the other.
    engine, centers = ArrayEngine(np.asfortranarray(records)), records[:k].astype(np.int64)
    runs: dict[str, Callable[[], object]] = {
        "lloyd": lambda: lloyd.fit(X),
        "default": lambda: usual.fit(X),
        "nearest_statistics": lambda: nearest_statistics(engine, centers),
    }
    rivals: dict[str, Callable[[], object]] = {
        "KMeans, as lloyd": lambda: _kmeans(k, lloyd.n_iter_).fit(X),
        "KMeans, as default": lambda: _kmeans(k, usual.n_iter_).fit(X),
        "numpy": lambda: numpy_pass(X, X[:k]),
    }
    # Where work is little or the machine is shared, theirs may be faster on one thread: the better
    # of both is compared.
    alone = {f"{name}, one thread": _on_one_thread(run) for name, run in rivals.items()}
    runs |= rivals | alone
    if peer is not None:
        peer.load(X, k)
        runs["diffprivlib"] = peer.fit
    best = {name: seconds / n * 1e9 for name, seconds in _best(runs).items()}
    for name in rivals:
        best[name] = min(best[name], best[f"{name}, one thread"])
    pairs = [
        ("lloyd", "diffprivlib", "diffprivlib"),
        ("default", "diffprivlib", "diffprivlib"),
        ("lloyd", "KMeans, as lloyd", f"KMeans({lloyd.n_iter_})"),
        ("default", "KMeans, as default", f"KMeans({usual.n_iter_})"),
        ("nearest_statistics", "numpy", "numpy"),
    ]
    for ours, theirs, title in pairs:
        if theirs in best:
            shape = f"{n:.0e} x {d}, k={k}"
            yield Ratio(f"{ours} {shape} / {title}", best[ours], best[theirs])


def _on_one_thread(run: Callable[[], object]) -> Callable[[], object]:
    def limited() -> None:
        with threadpool_limits(1):
            run()

    return limited


def _kmeans(k: int, passes: int) -> KMeans:
    """Make scikit-learn's, with as many passes as ours."""
    return KMeans(k, n_init=1, max_iter=passes, tol=0.0)


def numpy_pass(X: np.ndarray, centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Count and add up the records of each center, as one writes it with numpy."""
    k, d = centers.shape
    counts, sums = np.zeros(k, dtype=np.int64), np.zeros((k, d))
    lengths = (centers**2).sum(axis=1)
    for start in range(0, len(X), CHUNK):
        part = X[start : start + CHUNK]
        nearest = (lengths - 2.0 * part @ centers.T).argmin(axis=1)
        counts += np.bincount(nearest, minlength=k)
        for j in range(d):
            sums[:, j] += np.bincount(nearest, weights=part[:, j], minlength=k)
    return counts, sums


def _best(runs: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Take the least of several seconds each, turn about."""
    best = dict.fromkeys(runs, float("inf"))
    for turn in range(TURNS):
        for name, run in runs.items():
            if turn and best[name] > LONG:
                continue
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


@contextmanager
def _diffprivlib(python: Path) -> Iterator[Diffprivlib | None]:
    """Start the process, or say that there is none."""
    if not python.exists():
        print(f"no diffprivlib in {python.parents[1]}: compared without it; run: make bench")
        yield None
        return
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([python, "-c", FITTER], **pipes) as process:
        version = process.stdout.readline().strip()
        if not version:
            print(f"diffprivlib does not start in {python.parents[1]}: compared without it")
            yield None
            return
        print(f"diffprivlib {version}")
        yield Diffprivlib(process)


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--python", type=Path, default=PEERS, help="of diffprivlib's environment")
    for ratio in ratios(words.parse_args().python):
        print(ratio, flush=True)
